// Friends-of-friends of a GPU for points of one type and dimension, KITH_SCALAR and KITH_DIMENSION; compiled by
// CMake's kith_add_device_instances().
#include "groups/device_entry.hpp"
#include "groups/link_async.hpp"
#include "groups/link_device.hpp"

namespace kith::detail::inline KITH_GPU {

template <Coordinate T, int D>
void label_tree_on_device(DeviceContext& context, const DeviceTreeHandle& handle, LinkingLength length,
                          std::span<std::int32_t> labels, FofSummary& result) {
    const DevicePlaneTree<T>& tree = handle.as<T>();
    const Frame<T>& frame = tree.points.frame;
    label_on_device(
        context, frame, tree.points.count, length, labels, result, [&] { return given_rows(context, tree); },
        [&](std::int32_t* there) {
            return label_groups(context, tree.points.view(), frame.working_period,
                                frame.squared_radius(result.linking_length), there,
                                [&](const DeviceUnionFind& groups, const LinkFrame<T>* in_frame) {
                                    link_tree<T, D>(context, tree.view(), frame.periodic, in_frame, groups);
                                });
        });
}

template void label_tree_on_device<KITH_SCALAR, KITH_DIMENSION>(DeviceContext&, const DeviceTreeHandle&, LinkingLength,
                                                                std::span<std::int32_t>, FofSummary&);
template void label_async_on_device<KITH_SCALAR, KITH_DIMENSION>(DeviceWork&, const DeviceFofAsync&);

} // namespace kith::detail::inline KITH_GPU
