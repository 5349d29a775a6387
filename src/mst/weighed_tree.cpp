#include "mst/weighed_tree.hpp"

#include "mst/height.hpp"
#include "neighbors/unresolved.hpp"
#include "support/allocation_errors.hpp"
#include "support/fill_vector.hpp"
#include "support/parallel.hpp"
#include "support/parallel_sort.hpp"

namespace kith::detail {

namespace {

constexpr std::int64_t grain = 1 << 14;

} // namespace

template <Coordinate T>
void finish_tree(Context& context, const Frame<T>& frame, WeighedTree<T>& tree, HdbscanResult& result) {
    parallel_sort(context, tree.edges);
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

template void finish_tree(Context&, const Frame<float>&, WeighedTree<float>&, HdbscanResult&);
template void finish_tree(Context&, const Frame<double>&, WeighedTree<double>&, HdbscanResult&);
template void count_unresolved(Context&, const Frame<float>&, const PointsView&, HdbscanResult&);
template void count_unresolved(Context&, const Frame<double>&, const PointsView&, HdbscanResult&);

} // namespace kith::detail
