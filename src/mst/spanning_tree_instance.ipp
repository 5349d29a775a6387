// The spanning tree of a GPU for points of one type and dimension, KITH_SCALAR and KITH_DIMENSION; compiled by
// CMake's kith_add_device_instances().
#include "mst/boruvka_device.hpp"
#include "mst/device_entry.hpp"
#include "mst/edges.hpp"
#include "mst/edges_device.hpp"
#include "support/context.hpp"

#include <optional>
#include <vector>

namespace kith::detail::inline KITH_GPU {

template <Coordinate T, int D>
void span_tree_on_device(DeviceContext& context, const DeviceTreeHandle& handle, Context& host, SpanningTree& result,
                         const ResolvedLengths* lengths) {
    const DevicePlaneTree<T>& tree = handle.as<DevicePlaneTree<T>>();
    const Frame<T>& frame = tree.points.frame;
    lengths != nullptr ? SpanningTreeAccess::describe_phase_space(frame, *lengths, result)
                       : SpanningTreeAccess::describe(frame, result);
    if (const EdgeMemory<T> memory = SpanningTreeAccess::memory<T>(result); memory.count > 0) {
        const DeviceBuffer<std::uint64_t> ends = context.buffer<std::uint64_t>(memory.count);
        const DeviceBuffer<T> squared = context.buffer<T>(memory.count);
        const DeviceEdges<T> edges{ends.data(), squared.data()};
        {
            std::optional<DeviceBoruvka<T, D>> boruvka;
            context.stage("neighbors", [&] {
                boruvka.emplace(context, tree, edges);
                boruvka->find_rows();
            });
            context.stage("connect", [&] { boruvka->connect(); });
        }
        context.stage("download", [&] { deliver_sorted(context, edges, memory); });
    }
    host.stage("edges", [&] { SpanningTreeAccess::measure(host, frame, result); });
    if (lengths == nullptr && frame.has_tiny) {
        const std::vector<T> given = given_rows(context, tree);
        SpanningTreeAccess::count_unresolved(host, frame, PointsView(given, D), result);
    }
}

template void span_tree_on_device<KITH_SCALAR, KITH_DIMENSION>(DeviceContext&, const DeviceTreeHandle&, Context&,
                                                               SpanningTree&, const ResolvedLengths*);

} // namespace kith::detail::inline KITH_GPU
