// The public searches over ranks: checked on every rank, agreed on by all, dispatched once.
#include <kith/distributed.hpp>

#include "calls/one_rank.hpp"
#include "distributed/arguments.hpp"
#include "distributed/knn.hpp"
#include "distributed/ownership.hpp"
#include "distributed/radius.hpp"
#include "distributed/ranks.hpp"
#include "neighbors/checks.hpp"
#include "neighbors/radius_checks.hpp"
#include "support/context.hpp"
#include "support/dimension.hpp"
#include "support/message.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace kith {

namespace detail {

namespace {

/// Checks a call; allocate() is part of what may fail on one rank.
template <class Allocate>
void check(Ranks& ranks, RankFunction function, const KnnOverRanks& call, const Allocate& allocate) {
    const KnnOptions& options = call.options;
    ranks.agreed([&] {
        check_request(call.k, options, call.queries != nullptr);
        check_view(call.points, "points");
        if (call.queries != nullptr) {
            check_view(*call.queries, "queries");
            check_queries(*call.queries, call.points.dimension(), call.points.dtype());
        }
        allocate();
    });
    std::vector<Argument> arguments = shape_arguments(call.points, options.box);
    arguments.insert(arguments.end(), {{"k", static_cast<double>(call.k)},
                                       {"max_distance", options.max_distance},
                                       flag("exclude_self", options.exclude_self),
                                       flag("squared", options.squared),
                                       flag("separate queries", call.queries != nullptr),
                                       flag("rebalance", call.of_ranks.rebalance)});
    require_same(ranks, function, arguments);
}

DistributedKnnResult knn_over(Communicator& communicator, const PointsView& points, const PointsView* queries,
                              std::int64_t k, const KnnOptions& options, const RankOptions& of_ranks) {
    return on_all_ranks(communicator, [&](Ranks& ranks) {
        if (ranks.size() == 1 && of_ranks.ids.empty()) {
            return run_on_one_rank(ranks, options.execution, [&] {
                KnnOptions serial = options;
                serial.index_type = IndexType::int64;
                return DistributedKnnResult{
                    queries != nullptr ? knn(points, *queries, k, serial) : knn(points, k, serial), 0, {}};
            });
        }
        std::optional<Context> context;
        std::optional<DistributedKnnResult> result;
        const KnnOverRanks call{points, queries, k, options, of_ranks};
        check(ranks, RankFunction::knn, call, [&] {
            context.emplace(options.execution);
            const std::int64_t rows = queries != nullptr ? queries->count() : points.count();
            result.emplace(DistributedKnnResult{KnnResult(rows, k, IndexType::int64, points.dtype()), 0, {}});
        });
        with_dtype(points.dtype(),
                   [&]<Coordinate T>(T) { knn_over_ranks<T>(ranks, *context, call, result->neighbors, result->work); });
        result->first_query = Ownership(ranks, result->neighbors.rows()).first();
        result->traffic = ranks.traffic();
        return std::move(*result);
    });
}

DistributedSummary visit_over(Communicator& communicator, const DistributedNeighborVisitor& visitor,
                              const PointsView& points, const PointsView* queries, std::int64_t k,
                              const KnnOptions& options, const RankOptions& of_ranks) {
    return on_all_ranks(communicator, [&](Ranks& ranks) {
        std::optional<Context> context;
        const KnnOverRanks call{points, queries, k, options, of_ranks};
        check(ranks, RankFunction::knn_visit, call, [&] { context.emplace(options.execution); });
        DistributedSummary summary;
        static_cast<SearchSummary&>(summary) = with_dtype(
            points.dtype(), [&]<Coordinate T>(T) { return knn_visit_over_ranks<T>(ranks, *context, call, visitor); });
        summary.traffic = ranks.traffic();
        return summary;
    });
}

/// Checks a call, and finds its smallest radius.
void check(Ranks& ranks, RankFunction function, RadiusOverRanks& call, std::optional<Context>& context) {
    const RadiusOptions& options = call.options;
    ranks.agreed([&] {
        check_view(call.points, "points");
        if (call.queries != nullptr) {
            check_view(*call.queries, "queries");
            check_queries(*call.queries, call.points.dimension(), call.points.dtype());
            require_no_self(options.exclude_self);
        }
        if (options.max_result_bytes < 0) {
            throw error(ErrorKind::invalid_argument, of_value(options.max_result_bytes), "max_result_bytes is ",
                        options.max_result_bytes, "; it must be 0 or more");
        }
        context.emplace(options.execution);
        call.smallest_radius = check_radii(call.radii, (call.queries != nullptr ? *call.queries : call.points).count());
    });
    const bool is_uniform = call.radii.is_uniform();
    std::vector<Argument> arguments = shape_arguments(call.points, options.box);
    arguments.insert(arguments.end(), {flag("one radius for all queries", is_uniform),
                                       {"radius", is_uniform ? call.radii[0] : 0.0},
                                       flag("exclude_self", options.exclude_self),
                                       flag("squared", options.squared),
                                       flag("rows by index", options.order == RowOrder::index),
                                       flag("separate queries", call.queries != nullptr)});
    require_same(ranks, function, arguments);
}

DistributedRadiusResult radius_rows_over(Communicator& communicator, const PointsView& points,
                                         const PointsView* queries, const Radii& radii, const RadiusOptions& options,
                                         const RankOptions& of_ranks) {
    return on_all_ranks(communicator, [&](Ranks& ranks) {
        if (ranks.size() == 1 && of_ranks.ids.empty()) {
            return run_on_one_rank(ranks, options.execution, [&] {
                RadiusOptions serial = options;
                serial.index_type = IndexType::int64;
                return DistributedRadiusResult{queries != nullptr ? radius_search(points, *queries, radii, serial)
                                                                  : radius_search(points, radii, serial),
                                               0,
                                               {}};
            });
        }
        std::optional<Context> context;
        RadiusOverRanks call{points, queries, radii, -1, options, of_ranks};
        check(ranks, RankFunction::radius_search, call, context);
        DistributedRadiusResult result;
        result.neighbors =
            with_dtype(points.dtype(), [&]<Coordinate T>(T) { return radius_over_ranks<T>(ranks, *context, call); });
        result.first_query = Ownership(ranks, result.neighbors.rows()).first();
        result.traffic = ranks.traffic();
        return result;
    });
}

DistributedCounts radius_counts_over(Communicator& communicator, const PointsView& points, const PointsView* queries,
                                     const Radii& radii, const RadiusOptions& options, const RankOptions& of_ranks) {
    return on_all_ranks(communicator, [&](Ranks& ranks) {
        if (ranks.size() == 1 && of_ranks.ids.empty()) {
            return run_on_one_rank(ranks, options.execution, [&] {
                return DistributedCounts{queries != nullptr ? radius_count(points, *queries, radii, options)
                                                            : radius_count(points, radii, options),
                                         {},
                                         {}};
            });
        }
        std::optional<Context> context;
        RadiusOverRanks call{points, queries, radii, -1, options, of_ranks};
        check(ranks, RankFunction::radius_count, call, context);
        DistributedCounts result;
        result.counts = with_dtype(points.dtype(),
                                   [&]<Coordinate T>(T) { return radius_counts_over_ranks<T>(ranks, *context, call); });
        result.stages = context->take_stages();
        result.traffic = ranks.traffic();
        return result;
    });
}

} // namespace

} // namespace detail

DistributedKnnResult knn(Communicator& communicator, const PointsView& points, std::int64_t k,
                         const KnnOptions& options, const RankOptions& of_ranks) {
    return detail::knn_over(communicator, points, nullptr, k, options, of_ranks);
}

DistributedKnnResult knn(Communicator& communicator, const PointsView& points, const PointsView& queries,
                         std::int64_t k, const KnnOptions& options, const RankOptions& of_ranks) {
    return detail::knn_over(communicator, points, &queries, k, options, of_ranks);
}

DistributedRadiusResult radius_search(Communicator& communicator, const PointsView& points, const Radii& radii,
                                      const RadiusOptions& options, const RankOptions& of_ranks) {
    return detail::radius_rows_over(communicator, points, nullptr, radii, options, of_ranks);
}

DistributedRadiusResult radius_search(Communicator& communicator, const PointsView& points, const PointsView& queries,
                                      const Radii& radii, const RadiusOptions& options, const RankOptions& of_ranks) {
    return detail::radius_rows_over(communicator, points, &queries, radii, options, of_ranks);
}

DistributedCounts radius_count(Communicator& communicator, const PointsView& points, const Radii& radii,
                               const RadiusOptions& options, const RankOptions& of_ranks) {
    return detail::radius_counts_over(communicator, points, nullptr, radii, options, of_ranks);
}

DistributedCounts radius_count(Communicator& communicator, const PointsView& points, const PointsView& queries,
                               const Radii& radii, const RadiusOptions& options, const RankOptions& of_ranks) {
    return detail::radius_counts_over(communicator, points, &queries, radii, options, of_ranks);
}

DistributedSummary knn_visit(Communicator& communicator, const DistributedNeighborVisitor& visitor,
                             const PointsView& points, std::int64_t k, const KnnOptions& options,
                             const RankOptions& of_ranks) {
    return detail::visit_over(communicator, visitor, points, nullptr, k, options, of_ranks);
}

DistributedSummary knn_visit(Communicator& communicator, const DistributedNeighborVisitor& visitor,
                             const PointsView& points, const PointsView& queries, std::int64_t k,
                             const KnnOptions& options, const RankOptions& of_ranks) {
    return detail::visit_over(communicator, visitor, points, &queries, k, options, of_ranks);
}

} // namespace kith
