// The edges of a spanning tree on a GPU, from those that were found to the order of edges.
#pragma once

#include "cuda/device_wide.hpp"
#include "cuda/launch.hpp"
#include "mst/device_forest.hpp"
#include "mst/edge_weight.hpp"
#include "mst/edges.hpp"

#include <bit>
#include <cstdint>
#include <type_traits>

namespace kith::detail::inline KITH_GPU {

struct NumberEdges {
    std::int32_t* order;

    __device__ void operator()(std::int64_t edge) const { order[edge] = static_cast<std::int32_t>(edge); }
};

/// The bits of squared lengths and weights, which are not negative, order as they do.
template <class T, class Bits>
struct LengthKeys {
    const T* squared;
    const std::int32_t* order;
    Bits* keys;

    __device__ void operator()(std::int64_t place) const { keys[place] = std::bit_cast<Bits>(squared[order[place]]); }
};

__device__ inline SpanningEdge unpacked(std::uint64_t ends) {
    return {static_cast<std::int32_t>(ends >> 32), static_cast<std::int32_t>(ends & 0xFFFFFFFFU)};
}

struct UnpackEnds {
    const std::uint64_t* ends;
    const std::int32_t* order;
    SpanningEdge* edges;

    __device__ void operator()(std::int64_t place) const { edges[place] = unpacked(ends[order[place]]); }
};

template <class T>
struct UnpackWeighed {
    DeviceEdges<T> from;
    const std::int32_t* order;
    WeighedEdge<T>* edges;

    __device__ void operator()(std::int64_t place) const {
        const std::int32_t edge = order[place];
        edges[place] = {from.weight[edge], from.length[edge], unpacked(from.ends[edge])};
    }
};

/// The order of edges by their ends.
inline DeviceBuffer<std::int32_t> order_by_ends(DeviceContext& context, const std::uint64_t* ends, std::int64_t count) {
    DeviceBuffer<std::int32_t> order = context.buffer<std::int32_t>(count);
    for_each_index(context, "numbering edges", count, NumberEdges{order.data()});
    DeviceBuffer<std::uint64_t> keys = context.buffer<std::uint64_t>(count);
    context.copy(keys.data(), ends, count * 8);
    sort_by_key(context, keys, order, 64);
    return order;
}

/// Sorts an order stably by squared lengths or weights. Returns these, sorted.
template <Coordinate T>
auto sort_by_length(DeviceContext& context, const T* squared, DeviceBuffer<std::int32_t>& order) {
    using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
    DeviceBuffer<Bits> keys = context.buffer<Bits>(order.size());
    for_each_index(context, "lengths of edges", order.size(), LengthKeys<T, Bits>{squared, order.data(), keys.data()});
    sort_by_key(context, keys, order, 8 * static_cast<int>(sizeof(T)));
    return keys;
}

/// Brings edges to memory of the host, sorted: by their lengths, then their ends.
template <Coordinate T>
void deliver_sorted(DeviceContext& context, const DeviceEdges<T>& edges, const EdgeMemory<T>& to) {
    DeviceBuffer<std::int32_t> order = order_by_ends(context, edges.ends, to.count);
    {
        const auto lengths = sort_by_length(context, edges.weight, order);
        context.copy(to.squared, lengths.data(), to.count * static_cast<std::int64_t>(sizeof(T)));
    }
    const DeviceBuffer<SpanningEdge> sorted = context.buffer<SpanningEdge>(to.count);
    for_each_index(context, "ends of edges", to.count, UnpackEnds{edges.ends, order.data(), sorted.data()});
    context.copy(to.ends, sorted.data(), to.count * static_cast<std::int64_t>(sizeof(SpanningEdge)));
    context.wait();
}

/// The same by weights, then lengths, then ends.
template <Coordinate T>
void deliver_sorted(DeviceContext& context, const DeviceEdges<T>& edges, const WeighedEdges<T>& to) {
    DeviceBuffer<std::int32_t> order = order_by_ends(context, edges.ends, to.count);
    (void)sort_by_length(context, edges.length, order);
    (void)sort_by_length(context, edges.weight, order);
    const DeviceBuffer<WeighedEdge<T>> sorted = context.buffer<WeighedEdge<T>>(to.count);
    for_each_index(context, "weighed edges", to.count, UnpackWeighed<T>{edges, order.data(), sorted.data()});
    context.copy(to.edges, sorted.data(), to.count * static_cast<std::int64_t>(sizeof(WeighedEdge<T>)));
    context.wait();
}

} // namespace kith::detail::inline KITH_GPU
