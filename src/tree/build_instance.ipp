// The tree of a GPU for points of one type and dimension, KITH_SCALAR and KITH_DIMENSION; compiled by
// CMake's kith_add_device_instances().
#include "tree/build_device.hpp"
#include "tree/device_entry.hpp"
#include "tree/tree_in_memory.hpp"

#include <memory>

namespace kith::detail::inline KITH_GPU {

template <Coordinate T, int D>
DeviceTreeHandle build_tree_on_device(DeviceContext& context, const PointsView& points, const Box& box,
                                      const TreeShape& options) {
    auto tree = std::make_shared<DevicePlaneTree<T>>(build_device_tree<T, D>(context, points, box, options));
    DeviceTreeHandle handle = handle_of(tree, tree->points.frame, tree->points.count);
    handle.order = {tree->points.indices.data(), static_cast<std::size_t>(tree->points.count)};
    for (const OwnedDevicePlane<T>& plane : tree->planes) {
        handle.planes.emplace_back(plane.first_point.data(), static_cast<std::size_t>(plane.nodes + 1));
    }
    return handle;
}

template <Coordinate T, int D>
void build_tree_async_on_device(DeviceWork& work, const Execution& execution, const AsyncTree& tree,
                                const PointsView& points, DeviceStatus* status) {
    TreeInMemory<T, D>(execution, tree).build(work, points, status);
}

template <Coordinate T, int D>
std::int64_t bytes_of_async_tree(const Execution& execution, const AsyncTreeSize& size) {
    return TreeInMemory<T, D>(execution, {{}, size, {}}).bytes();
}

template void build_tree_async_on_device<KITH_SCALAR, KITH_DIMENSION>(DeviceWork&, const Execution&, const AsyncTree&,
                                                                      const PointsView&, DeviceStatus*);
template std::int64_t bytes_of_async_tree<KITH_SCALAR, KITH_DIMENSION>(const Execution&, const AsyncTreeSize&);
template DeviceTreeHandle build_tree_on_device<KITH_SCALAR, KITH_DIMENSION>(DeviceContext&, const PointsView&,
                                                                            const Box&, const TreeShape&);

} // namespace kith::detail::inline KITH_GPU
