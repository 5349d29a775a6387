// The receivers of a search over ranks, separate queries or this rank's own points, and the trees of one rank.
#pragma once

#include "distributed/ranks.hpp"
#include "distributed/shared_frame.hpp"
#include "neighbors/knn.hpp"
#include "neighbors/query_tree.hpp"
#include "support/context.hpp"
#include "tree/plane_tree.hpp"

#include <cstdint>
#include <optional>

namespace kith::detail {

/// Collective. Separate queries in the frame of all ranks; none in a self-search.
template <Coordinate T>
std::optional<NormalizedPoints<T>> share_queries(Ranks& ranks, Context& context, const PointsView* queries,
                                                 const Frame<T>& frame) {
    std::optional<NormalizedPoints<T>> shared;
    if (queries != nullptr) {
        ranks.agreed([&] { context.run([&] { shared = normalize_queries(*queries, frame); }); });
    }
    return shared;
}

/// What a rank searches before it asks others: trees of its points and of its separate queries, without planes where
/// there are none.
template <Coordinate T>
struct RankTrees {
    PlaneTree<T> sources;
    std::optional<PlaneTree<T>> queries; ///< none in a self-search

    RankTrees() = default;
    /// Runs stages of the context.
    RankTrees(Context& context, const NormalizedPoints<T>& points,
              const std::optional<NormalizedPoints<T>>& separate_queries) {
        const std::int64_t count = points.view.count();
        if (count > 0) {
            sources = build_plane_tree<T>(context, points, {});
        }
        if (separate_queries) {
            queries.emplace();
            if (const std::int64_t rows = separate_queries->view.count(); rows > 0) {
                queries = build_plane_tree<T>(context, *separate_queries, query_tree_shape({}, count, rows));
            }
        }
    }
    [[nodiscard]] const PlaneTree<T>& receivers() const { return queries ? *queries : sources; }
};

/// A request whose rows hold squared distances in working units, so that candidates of all ranks are ordered before any
/// root is taken.
template <Coordinate T>
KnnRequest<T> working_request(const Frame<T>& frame, std::int64_t k, const KnnOptions& options) {
    KnnRequest<T> request = make_request(frame, k, options);
    request.report = ReportScale<T>(Frame<T>(), true);
    return request;
}

} // namespace kith::detail
