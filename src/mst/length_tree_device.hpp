// The tree by lengths alone on a GPU, as rounds find it, in the memory of the host: edges in order, and their squares.
#pragma once

#include "mst/boruvka_device.hpp"
#include "mst/edges.hpp"
#include "mst/edges_device.hpp"

#include <cstdint>
#include <optional>

namespace kith::detail::inline KITH_GPU {

/// In the stages "neighbors", "connect" and "download"; none without edges.
template <Coordinate T, int D>
void span_by_length(DeviceContext& context, const DevicePlaneTree<T>& tree, const EdgeMemory<T>& to) {
    if (to.count == 0) {
        return;
    }
    const DeviceBuffer<std::uint64_t> ends = context.buffer<std::uint64_t>(to.count);
    const DeviceBuffer<T> squared = context.buffer<T>(to.count);
    const DeviceEdges<T> edges{ends.data(), squared.data()};
    {
        std::optional<DeviceBoruvka<T, D>> boruvka; // its memory is free before edges are sorted
        context.stage("neighbors", [&] {
            boruvka.emplace(context, tree, edges);
            boruvka->find_rows();
        });
        context.stage("connect", [&] { boruvka->connect(); });
    }
    context.stage("download", [&] { deliver_sorted(context, edges, to); });
}

} // namespace kith::detail::inline KITH_GPU
