// The spanning tree of a GPU for points of one type and dimension, KITH_SCALAR and KITH_DIMENSION; compiled by
// CMake's kith_add_device_instances().
#include "mst/device_entry.hpp"
#include "mst/edges.hpp"
#include "mst/length_tree_device.hpp"
#include "support/context.hpp"

#include <vector>

namespace kith::detail::inline KITH_GPU {

template <Coordinate T, int D>
void span_tree_on_device(DeviceContext& context, const DeviceTreeHandle& handle, Context& host, SpanningTree& result,
                         const ResolvedLengths* lengths) {
    const DevicePlaneTree<T>& tree = handle.as<DevicePlaneTree<T>>();
    const Frame<T>& frame = tree.points.frame;
    lengths != nullptr ? SpanningTreeAccess::describe_phase_space(frame, *lengths, result)
                       : SpanningTreeAccess::describe(frame, result);
    span_by_length<T, D>(context, tree, SpanningTreeAccess::memory<T>(result));
    host.stage("edges", [&] { SpanningTreeAccess::measure(host, frame, result); });
    if (lengths == nullptr && frame.has_tiny) {
        const std::vector<T> given = given_rows(context, tree);
        SpanningTreeAccess::count_unresolved(host, frame, PointsView(given, D), result);
    }
}

template void span_tree_on_device<KITH_SCALAR, KITH_DIMENSION>(DeviceContext&, const DeviceTreeHandle&, Context&,
                                                               SpanningTree&, const ResolvedLengths*);

} // namespace kith::detail::inline KITH_GPU
