#include "mst/edges.hpp"

#include <kith/error.hpp>

#include "mst/height.hpp"
#include "mst/ordered_edge.hpp"
#include "neighbors/unresolved.hpp"
#include "support/context.hpp"
#include "support/message.hpp"
#include "support/number_types.hpp"
#include "support/parallel.hpp"
#include "support/parallel_sort.hpp"
#include "support/result_memory.hpp"

#include <algorithm>
#include <cmath>

namespace kith {

namespace detail {

namespace {

constexpr std::int64_t grain = 1 << 14;

/// Sets ends, weights and heights. edge_at(i) may read what is set for the edge i alone.
template <Coordinate T, class EdgeAt>
void set_edges(Context& context, const Frame<T>& frame, const EdgeMemory<T>& memory, const EdgeAt& edge_at) {
    const Heights<T> height_of(frame);
    const PowerOfTwo<T> back(-frame.exponent);
    T* const weights = memory.squared;
    T* const heights = memory.spare;
    context.expect(memory.count);
    parallel_for(0, memory.count, grain, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
            const OrderedEdge<T> edge = edge_at(i);
            memory.ends[i] = edge.ends;
            weights[i] = back(std::sqrt(edge.length));
            heights[i] = height_of(edge.length);
        }
        context.done(end - begin);
    });
}

template <Coordinate T>
void sort_edges(Context& context, const Frame<T>& frame, const EdgeMemory<T>& memory) {
    Buffer<OrderedEdge<T>> edges(context.memory_tracker(), memory.count);
    parallel_each(memory.count, grain, [&](std::int64_t i) { edges[i] = {memory.squared[i], memory.ends[i]}; });
    parallel_sort(context, edges);
    set_edges(context, frame, memory, [&](std::int64_t i) { return edges[i]; });
}

} // namespace

} // namespace detail

std::string UnresolvedEdges::warning() const {
    if (count == 0) {
        return {};
    }
    return detail::message(count, count == 1 ? " edge joins points that " : " edges join points that ",
                           detail::cannot_tell_apart({farthest_point, axis, value}, dtype),
                           "; their lengths have lost digits or are zero, and their order means little. ",
                           detail::remedy_for_unresolved({farthest_point, axis, value}, dtype));
}

void SpanningTree::require_width(bool over_ranks) const {
    if (over_ranks != distribution.has_value()) {
        throw Error(ErrorKind::invalid_argument,
                    over_ranks ? "the spanning tree was found by one process; its edges are edges()"
                               : "this is one rank's part of a spanning tree that was found over ranks; its edges are "
                                 "edges64(), and its groups, levels and hierarchy take an execution over() the ranks");
    }
}

template <Coordinate T>
SpanningTree::SpanningTree(const SpanningTreeFacts& facts, std::span<const SpanningEdge> edges,
                           std::span<const T> weights, std::span<const T> heights)
    : facts_(facts) {
    const auto size = static_cast<std::size_t>(std::max<std::int64_t>(facts.points - 1, 0));
    if (facts.points < 0 || facts.dtype != dtype_of<T> || edges.size() != size || weights.size() != size ||
        heights.size() != size) {
        throw detail::error(ErrorKind::invalid_argument, "a spanning tree of ", facts.points, " points of type ",
                            detail::name_of(facts.dtype), " has ", size, " edges, weights and heights; here are ",
                            edges.size(), ", ", weights.size(), " and ", heights.size(), ", of type ",
                            detail::name_of(dtype_of<T>));
    }
    const auto is_no_edge = [&](const SpanningEdge& edge) {
        return edge.smaller < 0 || edge.smaller >= edge.larger || edge.larger >= facts.points;
    };
    const auto wrong = std::find_if(edges.begin(), edges.end(), is_no_edge);
    if (wrong != edges.end()) {
        throw detail::error(ErrorKind::invalid_argument, "edge ", wrong - edges.begin(), " joins points ",
                            wrong->smaller, " and ", wrong->larger, "; the smaller must come first, and both be below ",
                            facts.points);
    }
    *this = SpanningTreeAccess::make(facts.points, facts.dtype, facts.engine);
    facts_ = facts;
    const detail::EdgeMemory<T> memory = SpanningTreeAccess::memory<T>(*this);
    std::copy(edges.begin(), edges.end(), memory.ends);
    std::copy(weights.begin(), weights.end(), memory.squared);
    std::copy(heights.begin(), heights.end(), memory.spare);
}

template SpanningTree::SpanningTree(const SpanningTreeFacts&, std::span<const SpanningEdge>, std::span<const float>,
                                    std::span<const float>);
template SpanningTree::SpanningTree(const SpanningTreeFacts&, std::span<const SpanningEdge>, std::span<const double>,
                                    std::span<const double>);

SpanningTree SpanningTreeAccess::make(std::int64_t points, DType dtype, Engine engine) {
    SpanningTree result;
    result.facts_.points = points;
    result.facts_.dtype = dtype;
    result.facts_.engine = engine;
    const std::int64_t count = std::max<std::int64_t>(points - 1, 0);
    result.count_ = count;
    const auto what = [&] { return detail::message("the ", count, " edges of the tree"); };
    result.edges_ = detail::allocate_result(count * static_cast<std::int64_t>(sizeof(SpanningEdge)), what);
    result.weights_ = detail::allocate_result(count * detail::item_size(dtype), what);
    result.heights_ = detail::allocate_result(points * detail::item_size(dtype), what);
    return result;
}

SpanningTree SpanningTreeAccess::part_of(std::int64_t points, DType dtype) {
    SpanningTree result;
    result.facts_.points = points;
    result.facts_.dtype = dtype;
    return result;
}

SpanningTree SpanningTreeAccess::without_edges(const SpanningTree& tree) {
    SpanningTree result;
    result.facts_ = tree.facts_;
    return result;
}

template <Coordinate T>
void SpanningTreeAccess::describe(const detail::Frame<T>& frame, SpanningTree& result) {
    result.facts_.box = detail::resolved_box(frame);
    result.facts_.wrapped_points = frame.outside;
    const detail::Separation separation = detail::separation_of(frame, result.facts_.points);
    if (separation.is_defined) {
        result.facts_.mean_separation = separation.mean;
        result.facts_.volume = separation.volume;
        result.facts_.volume_kind = separation.volume_kind;
    }
    result.facts_.shortest_length = separation.shortest;
    result.facts_.largest = separation.largest;
}

template <Coordinate T>
void SpanningTreeAccess::describe_phase_space(const detail::Frame<T>& frame, const ResolvedLengths& lengths,
                                              SpanningTree& result) {
    const detail::Separation separation = detail::separation_of(frame, result.facts_.points);
    result.facts_.shortest_length = separation.shortest;
    result.facts_.largest = separation.largest;
    result.facts_.linking_length = lengths.linking_length;
    result.facts_.velocity_length = lengths.velocity_length;
    result.facts_.velocity_scale = lengths.velocity_scale;
}

template <Coordinate T>
void SpanningTreeAccess::finish(detail::Context& context, const detail::Frame<T>& frame, SpanningTree& result) {
    detail::sort_edges(context, frame, memory<T>(result));
}

template <Coordinate T>
void SpanningTreeAccess::measure(detail::Context& context, const detail::Frame<T>& frame, SpanningTree& result) {
    const detail::EdgeMemory<T> edges = memory<T>(result);
    detail::set_edges(context, frame, edges, [&](std::int64_t i) {
        return detail::OrderedEdge<T>{edges.squared[i], edges.ends[i]};
    });
}

template <Coordinate T>
SpanningTreeAccess::PartMemory<T> SpanningTreeAccess::part_memory(SpanningTree& result, std::int64_t count) {
    const auto what = [&] { return detail::message("the ", count, " edges of this rank"); };
    result.count_ = 0;
    result.edges_ = detail::allocate_result(count * static_cast<std::int64_t>(sizeof(SpanningEdge64)), what);
    result.weights_ = detail::allocate_result(count * static_cast<std::int64_t>(sizeof(T)), what);
    result.heights_ = detail::allocate_result(count * static_cast<std::int64_t>(sizeof(T)), what);
    result.count_ = count;
    return {static_cast<SpanningEdge64*>(result.edges_.get()), static_cast<T*>(result.weights_.get()),
            static_cast<T*>(result.heights_.get())};
}

SpanningTree SpanningTreeAccess::widened(SpanningTree tree, const Execution& execution) {
    const std::shared_ptr<void> narrow = tree.edges_;
    tree.edges_ = detail::allocate_result(tree.count() * static_cast<std::int64_t>(sizeof(SpanningEdge64)),
                                          [&] { return detail::message("the ", tree.count(), " edges of this rank"); });
    const auto* const from = static_cast<const SpanningEdge*>(narrow.get());
    auto* const to = static_cast<SpanningEdge64*>(tree.edges_.get());
    detail::Context(execution).run([&] {
        detail::parallel_each(tree.count(), detail::grain, [&](std::int64_t i) {
            to[i] = {from[i].smaller, from[i].larger};
        });
    });
    tree.distribution.emplace();
    set_part(tree, {.points = tree.points()});
    return tree;
}

template <Coordinate T>
void SpanningTreeAccess::count_unresolved(detail::Context& context, const detail::Frame<T>& frame,
                                          const PointsView& given, SpanningTree& result) {
    detail::UnresolvedCounter<T> counter(frame, given, given);
    context.run([&] {
        detail::parallel_each(result.count(), detail::grain, [&](std::int64_t i) {
            const SpanningEdge& edge = result.edges()[i];
            counter.take(edge.smaller, &edge.larger, 1);
        });
    });
    const UnresolvedRows found = counter.rows();
    result.unresolved = {found.rows, found.farthest_point, found.axis, found.value, found.dtype};
}

detail::Separation SpanningTreeAccess::separation(const SpanningTree& result) {
    return {result.facts_.mean_separation, result.facts_.volume,
            result.facts_.volume_kind,     result.facts_.volume_kind != VolumeKind::none,
            result.facts_.shortest_length, result.facts_.largest};
}

double SpanningTreeAccess::velocity_length(const SpanningTree& result, double linking_length) {
    return result.facts_.velocity_scale == 0
               ? result.facts_.velocity_length
               : result.facts_.velocity_length * (linking_length / result.facts_.linking_length);
}

template void SpanningTreeAccess::describe(const detail::Frame<float>&, SpanningTree&);
template void SpanningTreeAccess::describe(const detail::Frame<double>&, SpanningTree&);
template void SpanningTreeAccess::describe_phase_space(const detail::Frame<float>&, const ResolvedLengths&,
                                                       SpanningTree&);
template void SpanningTreeAccess::describe_phase_space(const detail::Frame<double>&, const ResolvedLengths&,
                                                       SpanningTree&);
template void SpanningTreeAccess::finish(detail::Context&, const detail::Frame<float>&, SpanningTree&);
template void SpanningTreeAccess::finish(detail::Context&, const detail::Frame<double>&, SpanningTree&);
template void SpanningTreeAccess::measure(detail::Context&, const detail::Frame<float>&, SpanningTree&);
template void SpanningTreeAccess::measure(detail::Context&, const detail::Frame<double>&, SpanningTree&);
template SpanningTreeAccess::PartMemory<float> SpanningTreeAccess::part_memory(SpanningTree&, std::int64_t);
template SpanningTreeAccess::PartMemory<double> SpanningTreeAccess::part_memory(SpanningTree&, std::int64_t);
template void SpanningTreeAccess::count_unresolved(detail::Context&, const detail::Frame<float>&, const PointsView&,
                                                   SpanningTree&);
template void SpanningTreeAccess::count_unresolved(detail::Context&, const detail::Frame<double>&, const PointsView&,
                                                   SpanningTree&);

} // namespace kith
