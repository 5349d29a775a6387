// Plane trees over float points (see build_planes.hpp).
#include "tree/build_planes.hpp"

namespace kith::detail {

template PlaneTree<float> build_plane_tree(Context&, const NormalizedPoints<float>&, const TreeShape&,
                                           const DonatedMemory&);
template PlaneTree<float> build_plane_tree(Context&, const PhaseSpacePoints<float>&, const TreeShape&);

} // namespace kith::detail
