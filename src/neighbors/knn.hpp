// k nearest neighbors in the plane tree, from finished trees to rows in a sink.
#pragma once

#include <kith/knn.hpp>

#include "neighbors/search.hpp"
#include "support/context.hpp"
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
    const Frame<T>& frame = sources.points.frame;
    const SearchJob<T> job{
        {&receiver_view, &source_view, frame.dimension, frame.periodic}, self_search, &request, &sink};
    walk_tasks<SearchScratch<T>>(context, job, search_node);
}

} // namespace kith::detail
