#include "mst/weighed_tree.hpp"

#include "groups/resolve_length.hpp"
#include "mst/height.hpp"
#include "neighbors/unresolved.hpp"
#include "support/allocation_errors.hpp"
#include "support/fill_vector.hpp"
#include "support/parallel.hpp"
#include "support/parallel_sort.hpp"

#include <algorithm>
#include <limits>

namespace kith::detail {

namespace {

constexpr std::int64_t grain = 1 << 14;

} // namespace

template <Coordinate T>
void describe(const Frame<T>& frame, std::int64_t points, HdbscanResult& result) {
    result.box = resolved_box(frame);
    result.wrapped_points = frame.outside;
    const Separation separation = separation_of(frame, points);
    result.shortest_length = separation.shortest;
    result.largest = separation.largest;
}

template <Coordinate T>
void set_without_core(const EdgeMemory<T>& edges, const WeighedEdges<T>& to) {
    constexpr T infinity = std::numeric_limits<T>::infinity();
    for (std::int64_t i = 0; i < to.count; ++i) {
        to.edges[i] = {infinity, edges.squared[i], edges.ends[i]};
    }
    std::fill_n(to.spare, to.count + 1, infinity);
}

template <Coordinate T>
void finish_tree(Context& context, const Frame<T>& frame, WeighedTree<T>& tree, HdbscanResult& result) {
    parallel_sort(context, tree.edges);
    measure_tree(frame, tree, result);
}

template <Coordinate T>
void measure_tree(const Frame<T>& frame, const WeighedTree<T>& tree, HdbscanResult& result) {
    with_allocation_errors("the tree", [&] {
        fill_vector(result.edges, tree.edges.size(), SpanningEdge{});
        fill_vector(result.heights, tree.edges.size());
        fill_vector(result.core_distances, tree.core.size());
    });
    const Heights<T> height_of(frame);
    parallel_each(tree.edges.size(), grain, [&](std::int64_t i) {
        result.edges[i] = tree.edges[i].ends;
        result.heights[i] = static_cast<double>(height_of(tree.edges[i].weight));
    });
    parallel_each(tree.core.size(), grain,
                  [&](std::int64_t i) { result.core_distances[i] = static_cast<double>(height_of(tree.core[i])); });
}

template <Coordinate T>
void count_unresolved(Context& context, const Frame<T>& frame, const PointsView& given, HdbscanResult& result) {
    UnresolvedCounter<T> counter(frame, given, given);
    context.run([&] {
        parallel_each(std::ssize(result.edges), grain,
                      [&](std::int64_t i) { counter.take(result.edges[i].smaller, &result.edges[i].larger, 1); });
    });
    const UnresolvedRows found = counter.rows();
    result.unresolved = {found.rows, found.farthest_point, found.axis, found.value, found.dtype};
}

template void describe(const Frame<float>&, std::int64_t, HdbscanResult&);
template void describe(const Frame<double>&, std::int64_t, HdbscanResult&);
template void set_without_core(const EdgeMemory<float>&, const WeighedEdges<float>&);
template void set_without_core(const EdgeMemory<double>&, const WeighedEdges<double>&);
template void finish_tree(Context&, const Frame<float>&, WeighedTree<float>&, HdbscanResult&);
template void finish_tree(Context&, const Frame<double>&, WeighedTree<double>&, HdbscanResult&);
template void measure_tree(const Frame<float>&, const WeighedTree<float>&, HdbscanResult&);
template void measure_tree(const Frame<double>&, const WeighedTree<double>&, HdbscanResult&);
template void count_unresolved(Context&, const Frame<float>&, const PointsView&, HdbscanResult&);
template void count_unresolved(Context&, const Frame<double>&, const PointsView&, HdbscanResult&);

} // namespace kith::detail
