// The spanning tree of mutual reachability distances of a GPU for points of one type and dimension, KITH_SCALAR and
// KITH_DIMENSION; compiled by CMake's kith_add_device_instances().
//
// What cuts the tree, its hierarchy and the condensed tree, stays on the host: one pass over sorted edges, each of
// which needs what the one before has merged.
#include "mst/boruvka_device.hpp"
#include "mst/device_entry.hpp"
#include "mst/edges_device.hpp"
#include "mst/length_tree_device.hpp"
#include "mst/weighed_tree.hpp"
#include "support/context.hpp"

#include <optional>
#include <vector>

namespace kith::detail::inline KITH_GPU {

namespace {

/// Too few points for any to be a core point: all weights are infinite, and lengths alone order the edges.
template <Coordinate T, int D>
void span_without_core(DeviceContext& context, const DevicePlaneTree<T>& tree, Context& host,
                       const WeighedEdges<T>& to) {
    Buffer<SpanningEdge> ends_there(host.memory_tracker(), to.count);
    Buffer<T> lengths_there(host.memory_tracker(), to.count);
    const EdgeMemory<T> on_host{ends_there.data(), lengths_there.data(), to.spare, to.count};
    span_by_length<T, D>(context, tree, on_host);
    set_without_core(on_host, to);
}

template <Coordinate T, int D>
void span(DeviceContext& context, const DevicePlaneTree<T>& tree, std::int64_t min_samples,
          const WeighedEdges<T>& to) {
    using Weight = ReachabilityWeight<T>;
    const std::int64_t count = tree.points.count;
    const DeviceBuffer<std::uint64_t> ends = context.buffer<std::uint64_t>(to.count);
    const DeviceBuffer<T> weights = context.buffer<T>(to.count);
    const DeviceBuffer<T> lengths = context.buffer<T>(to.count);
    const DeviceBuffer<T> core_of_index = context.buffer<T>(count);
    const DeviceEdges<T> edges{ends.data(), weights.data(), lengths.data()};
    {
        const DeviceBuffer<T> core = context.buffer<T>(count);
        const DeviceBuffer<T> frontier = context.buffer<T>(count);
        const CoreMemory<T> cores{core.data(), frontier.data(), core_of_index.data()};
        std::optional<DeviceBoruvka<T, D, Weight>> boruvka;
        context.stage("neighbors", [&] {
            boruvka.emplace(context, tree, edges, cores.weight());
            boruvka->find_rows(min_samples, cores);
        });
        context.stage("connect", [&] { boruvka->connect(); });
    }
    context.stage("download", [&] {
        context.copy(to.spare, core_of_index.data(), count * static_cast<std::int64_t>(sizeof(T)));
        deliver_sorted(context, edges, to);
    });
}

} // namespace

template <Coordinate T, int D>
void span_by_reachability_on_device(DeviceContext& context, const DeviceTreeHandle& handle, Context& host,
                                    HdbscanResult& result) {
    const DevicePlaneTree<T>& tree = handle.as<DevicePlaneTree<T>>();
    const Frame<T>& frame = tree.points.frame;
    const std::int64_t count = tree.points.count;
    describe(frame, count, result);
    if (count == 0) {
        return;
    }
    WeighedTree<T> found(host, count);
    if (count < result.min_samples) {
        span_without_core<T, D>(context, tree, host, found.memory());
    } else if (count == 1) {
        found.core[0] = 0;
    } else {
        span<T, D>(context, tree, result.min_samples, found.memory());
    }
    host.stage("edges", [&] { measure_tree(frame, found, result); });
    if (frame.has_tiny) {
        const std::vector<T> given = given_rows(context, tree);
        count_unresolved(host, frame, PointsView(given, D), result);
    }
}

template void span_by_reachability_on_device<KITH_SCALAR, KITH_DIMENSION>(DeviceContext&, const DeviceTreeHandle&,
                                                                          Context&, HdbscanResult&);

} // namespace kith::detail::inline KITH_GPU
