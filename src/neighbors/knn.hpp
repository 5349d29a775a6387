// k nearest neighbors in the plane tree, from finished trees to rows in a sink.
#pragma once

#include <kith/knn.hpp>

#include "neighbors/search.hpp"
#include "support/context.hpp"
#include "support/parallel.hpp"
#include "tree/plane_tree.hpp"
#include "walk/tasks.hpp"

#include <cstdint>

namespace kith::detail {

template <Coordinate T>
KnnRequest<T> make_request(const Frame<T>& frame, std::int64_t k, const KnnOptions& options) {
    KnnRequest<T> request{k, options.exclude_self, {}, ReportScale<T>(frame, options.squared)};
    request.limit.distance = frame.squared_radius(options.max_distance);
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
    for_each_task(context, tasks, [&](std::int64_t node) { search_node(job, node, scratch.local()); });
}

} // namespace kith::detail
