// The edges of a spanning tree on a GPU, from those that were found to the order of edges.
#pragma once

#include "cuda/device_wide.hpp"
#include "cuda/launch.hpp"
#include "mst/device_forest.hpp"
#include "mst/edges.hpp"

#include <bit>
#include <cstdint>
#include <type_traits>

namespace kith::detail::inline KITH_GPU {

struct NumberEdges {
    std::int32_t* order;

    __device__ void operator()(std::int64_t edge) const { order[edge] = static_cast<std::int32_t>(edge); }
};

/// The bits of squared lengths, which are not negative, order as they do.
template <class T, class Bits>
struct LengthKeys {
    const T* squared;
    const std::int32_t* order;
    Bits* keys;

    __device__ void operator()(std::int64_t place) const { keys[place] = std::bit_cast<Bits>(squared[order[place]]); }
};

struct UnpackEnds {
    const std::uint64_t* ends;
    const std::int32_t* order;
    SpanningEdge* edges;

    __device__ void operator()(std::int64_t place) const {
        const std::uint64_t both = ends[order[place]];
        edges[place] = {static_cast<std::int32_t>(both >> 32), static_cast<std::int32_t>(both & 0xFFFFFFFFU)};
    }
};

/// Puts edges on their way to memory of the host, sorted: by their ends, then stably by their lengths.
template <Coordinate T>
void deliver_sorted(DeviceContext& context, const DeviceEdges<T>& edges, const EdgeMemory<T>& to) {
    using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
    DeviceBuffer<std::int32_t> order = context.buffer<std::int32_t>(to.count);
    for_each_index(context, "numbering edges", to.count, NumberEdges{order.data()});
    {
        DeviceBuffer<std::uint64_t> ends = context.buffer<std::uint64_t>(to.count);
        context.copy(ends.data(), edges.ends, to.count * 8);
        sort_by_key(context, ends, order, 64);
    }
    {
        DeviceBuffer<Bits> lengths = context.buffer<Bits>(to.count);
        for_each_index(context, "lengths of edges", to.count,
                       LengthKeys<T, Bits>{edges.squared, order.data(), lengths.data()});
        sort_by_key(context, lengths, order, 8 * static_cast<int>(sizeof(T)));
        context.copy(to.squared, lengths.data(), to.count * static_cast<std::int64_t>(sizeof(T)));
    }
    const DeviceBuffer<SpanningEdge> sorted = context.buffer<SpanningEdge>(to.count);
    for_each_index(context, "ends of edges", to.count, UnpackEnds{edges.ends, order.data(), sorted.data()});
    context.copy(to.ends, sorted.data(), to.count * static_cast<std::int64_t>(sizeof(SpanningEdge)));
    context.wait();
}

} // namespace kith::detail::inline KITH_GPU
