// A search for neighbors of other labels, from a checked call to rows in a sink.
#pragma once

#include <kith/other_labels.hpp>

#include "calls/calls.hpp"
#include "calls/sources.hpp"
#include "engines/index.hpp"
#include "neighbors/knn.hpp"
#include "neighbors/other_labels.hpp"
#include "neighbors/query_tree.hpp"
#include "neighbors/unresolved.hpp"
#include "support/context.hpp"

#include <cstdint>
#include <optional>

namespace kith::detail {

/// Brings all rows to the sink, and describes them.
template <Coordinate T>
void search_labeled(Context& context, const KnnCall& call, RowSink<T>& sink, SearchSummary& summary) {
    WorkingPoints<T> sources(context, call.points, call.options.box);
    const Frame<T>& frame = sources.frame();
    std::optional<NormalizedPoints<T>> queries;
    if (call.queries != nullptr) {
        context.run([&] { queries = normalize_queries(*call.queries, frame); });
    }
    summary.box = resolved_box(frame);
    summary.wrapped_points = frame.outside;
    const KnnRequest<T> request = make_request(frame, call.k, call.options);
    const auto search = [&](RowSink<T>& rows) {
        if (call.points.count() == 0 && queries && queries->view.count() > 0) { // rows of missing neighbors
            sources.index(context, Engine::brute_force).search_queries(context, *queries, request, rows);
        }
        if (call.points.count() == 0 || call.row_count() == 0) {
            return;
        }
        const PlaneTree<T>& tree = *sources.planes(context, Engine::tree);
        std::optional<PlaneTree<T>> receivers;
        if (queries) {
            receivers =
                build_plane_tree<T>(context, *queries, query_tree_shape({}, call.points.count(), call.row_count()));
        }
        context.stage("search", [&] {
            search_other_labels(context, tree, receivers ? receivers->points : tree.points, call.labels->of_points,
                                call.labels->of_queries, request, rows);
        });
    };
    if (!frame.has_tiny && !(queries && queries->has_tiny)) {
        return search(sink);
    }
    const PointsView given = sources.as_given(context);
    UnresolvedCounter<T> counter(frame, given, queries ? *call.queries : given);
    CountedRows<T> counted(sink, counter);
    search(counted);
    summary.unresolved = counter.rows();
}

} // namespace kith::detail
