// The receivers of a search over ranks, separate queries or this rank's own points, and what searches the points of one
// rank for them.
#pragma once

#include "distributed/ranks.hpp"
#include "distributed/shared_frame.hpp"
#include "neighbors/knn.hpp"
#include "neighbors/part_searcher.hpp"
#include "neighbors/part_searcher_cpu.hpp"
#include "neighbors/part_trees.hpp"
#include "support/context.hpp"

#include <cstdint>
#include <memory>
#include <optional>

namespace kith::detail {

/// Collective. Separate queries in the frame of all ranks; none in a self-search.
template <Coordinate T>
std::optional<NormalizedPoints<T>> share_queries(Ranks& ranks, const PointsView* queries,
                                                 const SharedPoints<T>& points) {
    std::optional<NormalizedPoints<T>> shared;
    if (queries != nullptr) {
        ranks.agreed([&] { shared = points.there->queries(*queries, points.points.frame); });
    }
    return shared;
}

/// Null in a self-search.
template <Coordinate T>
const NormalizedPoints<T>* separate(const std::optional<NormalizedPoints<T>>& queries) {
    return queries ? &*queries : nullptr;
}

/// What searches the points of this rank before others are asked: what on_gpu() makes, if there is such a function,
/// else the context, of which this runs stages.
template <Coordinate T>
std::unique_ptr<PartSearcher<T>> make_searcher(Context& context, const NormalizedPoints<T>& points,
                                               const std::optional<NormalizedPoints<T>>& queries,
                                               const MakePartSearcher<T>& on_gpu) {
    if (on_gpu) {
        return on_gpu(points, separate(queries));
    }
    return std::make_unique<HostPartSearcher<T>>(context, points, separate(queries));
}

/// A request whose rows hold squared distances in working units, so that candidates of all ranks are ordered before any
/// root is taken.
template <Coordinate T>
KnnRequest<T> working_request(const Frame<T>& frame, std::int64_t k, const KnnOptions& options) {
    KnnRequest<T> request = make_request(frame, k, options);
    request.report = ReportScale<T>(Frame<T>(), true);
    return request;
}

} // namespace kith::detail
