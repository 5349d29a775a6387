// Builds the cells of points and their graph. Compiled for each scalar type on its own by CMake's
// kith_add_scalar_instances().
#include "engines/clover/index.hpp"

namespace kith::detail {

template <Coordinate T>
std::unique_ptr<const Index<T>> build_clover_index(Context& context, const UnsortedPoints<T>& points) {
    return std::make_unique<CloverIndex<T>>(context, points);
}

template std::unique_ptr<const Index<KITH_SCALAR>> build_clover_index(Context&, const UnsortedPoints<KITH_SCALAR>&);

} // namespace kith::detail
