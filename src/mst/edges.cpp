#include "mst/edges.hpp"

#include "groups/resolve_length.hpp"
#include "mst/height.hpp"
#include "support/message.hpp"
#include "support/number_types.hpp"
#include "support/parallel.hpp"
#include "support/parallel_sort.hpp"
#include "support/result_memory.hpp"

#include <cmath>

namespace kith {

SpanningTree SpanningTreeAccess::make(std::int64_t points, DType dtype, Engine engine) {
    SpanningTree result;
    result.points_ = points;
    result.dtype_ = dtype;
    result.engine_ = engine;
    const std::int64_t count = result.count();
    const auto what = [&] { return detail::message("the ", count, " edges of the tree"); };
    result.edges_ = detail::allocate_result(count * static_cast<std::int64_t>(sizeof(SpanningEdge)), what);
    result.weights_ = detail::allocate_result(count * detail::item_size(dtype), what);
    result.heights_ = detail::allocate_result(count * detail::item_size(dtype), what);
    return result;
}

template <Coordinate T>
void SpanningTreeAccess::fill(detail::Context& context, const detail::Frame<T>& frame,
                              detail::Buffer<detail::FoundEdge<T>>& edges, SpanningTree& result) {
    result.box_ = detail::resolved_box(frame);
    if (const detail::Separation separation = detail::separation_of(frame, result.points_); separation.is_defined) {
        result.mean_separation_ = separation.mean;
        result.volume_ = separation.volume;
        result.volume_kind_ = separation.volume_kind;
    }
    detail::parallel_sort(context, edges);
    const detail::Heights<T> height_of(frame);
    const detail::PowerOfTwo<T> back(-frame.exponent);
    auto* const ends = static_cast<SpanningEdge*>(result.edges_.get());
    auto* const weights = static_cast<T*>(result.weights_.get());
    auto* const heights = static_cast<T*>(result.heights_.get());
    detail::parallel_for(0, edges.size(), 1 << 14, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
            const detail::FoundEdge<T> edge = edges[i];
            ends[i] = {edge.smaller, edge.larger};
            weights[i] = back(std::sqrt(edge.squared));
            heights[i] = height_of(edge.squared);
        }
    });
}

template void SpanningTreeAccess::fill(detail::Context&, const detail::Frame<float>&,
                                       detail::Buffer<detail::FoundEdge<float>>&, SpanningTree&);
template void SpanningTreeAccess::fill(detail::Context&, const detail::Frame<double>&,
                                       detail::Buffer<detail::FoundEdge<double>>&, SpanningTree&);

} // namespace kith
