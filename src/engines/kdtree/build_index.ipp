// Builds the k-d tree of points. Compiled for each scalar type on its own by CMake's
// kith_add_scalar_instances().
#include "engines/kdtree/index.hpp"

namespace kith::detail {

template <Coordinate T>
std::unique_ptr<const Index<T>> build_kd_tree_index(Context& context, const UnsortedPoints<T>& points) {
    return std::make_unique<KdTreeIndex<T>>(context, points);
}

template std::unique_ptr<const Index<KITH_SCALAR>> build_kd_tree_index(Context&, const UnsortedPoints<KITH_SCALAR>&);

} // namespace kith::detail
