#include "mst/edges.hpp"

#include "mst/height.hpp"
#include "support/message.hpp"
#include "support/number_types.hpp"
#include "support/parallel.hpp"
#include "support/parallel_sort.hpp"
#include "support/result_memory.hpp"

#include <cmath>
#include <tuple>

namespace kith {

namespace detail {

namespace {

/// Ordered by (squared distance, smaller index, larger index).
template <Coordinate T>
struct Edge {
    T squared;
    SpanningEdge ends;

    friend bool operator<(const Edge& a, const Edge& b) noexcept {
        return std::tie(a.squared, a.ends.smaller, a.ends.larger) < std::tie(b.squared, b.ends.smaller, b.ends.larger);
    }
};

template <Coordinate T>
void sort_edges(Context& context, const Frame<T>& frame, const EdgeMemory<T>& memory) {
    constexpr std::int64_t grain = 1 << 14;
    Buffer<Edge<T>> edges(context.memory_tracker(), memory.count);
    parallel_for(0, memory.count, grain, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
            edges[i] = {memory.squared[i], memory.ends[i]};
        }
    });
    parallel_sort(context, edges);
    const Heights<T> height_of(frame);
    const PowerOfTwo<T> back(-frame.exponent);
    T* const weights = memory.squared;
    T* const heights = memory.spare;
    context.expect(memory.count);
    parallel_for(0, memory.count, grain, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
            const Edge<T> edge = edges[i];
            memory.ends[i] = edge.ends;
            weights[i] = back(std::sqrt(edge.squared));
            heights[i] = height_of(edge.squared);
        }
        context.done(end - begin);
    });
}

} // namespace

} // namespace detail

SpanningTree SpanningTreeAccess::make(std::int64_t points, DType dtype, Engine engine) {
    SpanningTree result;
    result.points_ = points;
    result.dtype_ = dtype;
    result.engine_ = engine;
    const std::int64_t count = result.count();
    const auto what = [&] { return detail::message("the ", count, " edges of the tree"); };
    result.edges_ = detail::allocate_result(count * static_cast<std::int64_t>(sizeof(SpanningEdge)), what);
    result.weights_ = detail::allocate_result(count * detail::item_size(dtype), what);
    result.heights_ = detail::allocate_result(points * detail::item_size(dtype), what);

    return result;
}

template <Coordinate T>
void SpanningTreeAccess::finish(detail::Context& context, const detail::Frame<T>& frame, SpanningTree& result) {
    result.box_ = detail::resolved_box(frame);
    const detail::Separation separation = detail::separation_of(frame, result.points_);
    if (separation.is_defined) {
        result.mean_separation_ = separation.mean;
        result.volume_ = separation.volume;
        result.volume_kind_ = separation.volume_kind;
    }
    result.shortest_length_ = separation.shortest;
    result.largest_ = separation.largest;
    detail::sort_edges(context, frame, memory<T>(result));
}

detail::Separation SpanningTreeAccess::separation(const SpanningTree& result) {
    return {result.mean_separation_, result.volume_, result.volume_kind_, result.volume_kind_ != VolumeKind::none,
            result.shortest_length_, result.largest_};
}

template void SpanningTreeAccess::finish(detail::Context&, const detail::Frame<float>&, SpanningTree&);
template void SpanningTreeAccess::finish(detail::Context&, const detail::Frame<double>&, SpanningTree&);

} // namespace kith
