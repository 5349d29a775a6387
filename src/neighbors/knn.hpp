// k nearest neighbors in the plane tree, from finished trees to rows in a sink.
#pragma once

#include "neighbors/search.hpp"
#include "support/context.hpp"
#include "support/parallel.hpp"
#include "tree/plane_tree.hpp"

#include <algorithm>
#include <cstdint>

namespace kith::detail {

template <Coordinate T>
KnnRequest<T> make_request(const Frame<T>& frame, std::int64_t k, const KnnOptions& options) {
    KnnRequest<T> request{k, options.exclude_self, {}, ReportScale<T>(frame, options.squared)};
    const T radius = frame.load_radius(options.max_distance);
    request.limit.distance = radius * radius;
    return request;
}

/// The rows of all receivers, which may be the sources themselves. Neither tree is empty.
template <Coordinate T>
void search_tree(Context& context, const PlaneTree<T>& receivers, const PlaneTree<T>& sources,
                 const KnnRequest<T>& request, RowSink<T>& sink) {
    const bool self_search = &receivers == &sources;
    const TreeView<T> source_view = sources.view();
    const TreeView<T> receiver_view = self_search ? source_view : receivers.view();
    const int plane = plane_of_tasks(receiver_view, context.threads());
    const PlaneView<T>& tasks = receiver_view.planes[plane];
    const std::vector<Step> schedule = make_schedule(receiver_view, plane, source_view);
    const Frame<T>& frame = sources.points.frame;
    const SearchJob<T> job{&receiver_view, &source_view, self_search, frame.dimension,
                           frame.periodic, &schedule,    &request,    &sink};
    context.expect(receivers.points.count);
    PerThread<SearchScratch<T>> scratch;
    parallel_for(0, tasks.nodes, 1, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t node = first; node < last; ++node) {
            search_node(job, node, scratch.local());
            context.done(tasks.points_in(node));
        }
    });
}

/// Leaves of queries about as large in space as the leaves of the sources, so that few queries do not share leaves that
/// span the whole box.
template <Coordinate T>
TreeOptions query_tree_options(const PlaneTree<T>& sources, std::int64_t queries, TreeOptions options) {
    const double share = static_cast<double>(queries) / static_cast<double>(sources.points.count);
    options.leaf_size = static_cast<int>(std::clamp(share * options.leaf_size, 1.0, double(options.leaf_size)));
    return options;
}

} // namespace kith::detail
