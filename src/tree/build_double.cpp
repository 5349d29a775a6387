// Plane trees over double points (see build_planes.hpp).
#include "tree/build_planes.hpp"

namespace kith::detail {

template PlaneTree<double> build_plane_tree(Context&, const NormalizedPoints<double>&, const TreeShape&,
                                            const DonatedMemory&);
template PlaneTree<double> build_plane_tree(Context&, const PhaseSpacePoints<double>&, const TreeShape&);

} // namespace kith::detail
