// The public searches over ranks: checked on every rank, agreed on by all, dispatched once.
#include <kith/distributed.hpp>

#include "calls/one_rank.hpp"
#include "distributed/arguments.hpp"
#include "distributed/knn.hpp"
#include "distributed/radius.hpp"
#include "distributed/rebalance.hpp"
#include "distributed/visit.hpp"
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

struct KnnOverRanks {
    const PointsView& points;
    const PointsView* queries; ///< null: a self-search
    std::int64_t k;
    const KnnOptions& options;
    const RankOptions& of_ranks;
};

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

template <Coordinate T>
void search_rebalanced(Ranks& ranks, Context& context, const KnnOverRanks& call, const SharedPoints<T>& shared,
                       std::span<const std::int64_t> ids, DistributedKnnResult& over_ranks) {
    KnnResult& result = over_ranks.neighbors;
    // Queries are looked at before anything moves, so that an error names the rank and the row that they came from.
    (void)share_queries(ranks, context, call.queries, shared.points.frame);
    const Rebalanced<T> here(ranks, context, shared, ids, call.of_ranks.weights);
    const PointWeights of_queries;
    std::optional<MovedPoints<T>> queries;
    if (call.queries != nullptr) {
        queries.emplace(ranks, context, here.division, *call.queries, std::span<const std::int64_t>(), of_queries);
    }
    const MovedPoints<T>& receivers = queries ? *queries : here.moved;
    std::optional<KnnResult> found;
    ranks.agreed([&] { found.emplace(receivers.view().count(), call.k, IndexType::int64, dtype_of<T>); });
    const PointsView queries_here = receivers.view();
    DistributedSearch<T>(ranks, context, here.points, queries ? &queries_here : nullptr, call.k, call.options,
                         here.ids->order(), receivers.global_indices())
        .run(*found);
    result.unresolved = found->unresolved;
    result.box = found->box;
    result.wrapped_points = found->wrapped_points;
    result.stages = context.take_stages();
    over_ranks.work = here.moved.work(seconds_of(result.stages));
    const auto size = static_cast<std::size_t>(result.rows() * call.k);
    receivers.bring_back(found->indices64(), call.k,
                         std::span(static_cast<std::int64_t*>(result.rows_view().indices()), size));
    receivers.bring_back(found->template distances<T>(), call.k,
                         std::span(static_cast<T*>(result.rows_view().distances()), size));
}

template <Coordinate T>
void search(Ranks& ranks, Context& context, const KnnOverRanks& call, DistributedKnnResult& result) {
    const GivenIds ids(ranks, call.of_ranks.ids, call.points.count());
    SharedPoints<T> shared = share_frame<T>(ranks, context, call.points, call.options.box);
    if (call.of_ranks.rebalance && ranks.size() > 1) {
        search_rebalanced(ranks, context, call, shared, ids.given(), result);
        return;
    }
    ranks.agreed([&] { ids.sort(shared); });
    DistributedSearch<T>(ranks, context, shared, call.queries, call.k, call.options, ids.order()).run(result.neighbors);
    result.neighbors.stages = context.take_stages();
}

DistributedKnnResult knn_over(Communicator& communicator, const PointsView& points, const PointsView* queries,
                              std::int64_t k, const KnnOptions& options, const RankOptions& of_ranks) {
    return on_all_ranks(communicator, [&](Ranks& ranks) {
        if (ranks.size() == 1 && of_ranks.ids.empty()) {
            return alone(ranks, options.execution, [&] {
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
        with_dtype(points.dtype(), [&]<Coordinate T>(T) { search<T>(ranks, *context, call, *result); });
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
        check(ranks, RankFunction::knn_visit, {points, queries, k, options, of_ranks},
              [&] { context.emplace(options.execution); });
        DistributedSummary summary;
        with_dtype(points.dtype(), [&]<Coordinate T>(T) {
            const GivenIds ids(ranks, of_ranks.ids, points.count());
            SharedPoints<T> shared = share_frame<T>(ranks, *context, points, options.box);
            ranks.agreed([&] { ids.sort(shared); });
            summary.box = resolved_box(shared.points.frame);
            summary.wrapped_points = shared.points.frame.outside;
            summary.unresolved = DistributedVisit<T>(ranks, *context, shared, queries, k, options).run(visitor);
        });
        summary.stages = context->take_stages();
        summary.traffic = ranks.traffic();
        return summary;
    });
}

/// Calls function(search, context) with the DistributedRadius<T> of the call.
template <class Function>
void radius_over(Ranks& ranks, RankFunction called, const PointsView& points, const PointsView* queries,
                 const Radii& radii, const RadiusOptions& options, const RankOptions& of_ranks,
                 const Function& function) {
    std::optional<Context> context;
    std::int64_t smallest = -1;
    ranks.agreed([&] {
        check_view(points, "points");
        if (queries != nullptr) {
            check_view(*queries, "queries");
            check_queries(*queries, points.dimension(), points.dtype());
            require_no_self(options.exclude_self);
        }
        if (options.max_result_bytes < 0) {
            throw error(ErrorKind::invalid_argument, of_value(options.max_result_bytes), "max_result_bytes is ",
                        options.max_result_bytes, "; it must be 0 or more");
        }
        context.emplace(options.execution);
        smallest = check_radii(radii, (queries != nullptr ? *queries : points).count());
    });
    std::vector<Argument> arguments = shape_arguments(points, options.box);
    arguments.insert(arguments.end(), {flag("one radius for all queries", radii.is_uniform()),
                                       {"radius", radii.is_uniform() ? radii[0] : 0.0},
                                       flag("exclude_self", options.exclude_self),
                                       flag("squared", options.squared),
                                       flag("rows by index", options.order == RowOrder::index),
                                       flag("separate queries", queries != nullptr)});
    require_same(ranks, called, arguments);
    const GivenIds ids(ranks, of_ranks.ids, points.count());
    with_dtype(points.dtype(), [&]<Coordinate T>(T) {
        DistributedRadius<T> search(ranks, *context, points, queries, radii, smallest, options, ids);
        function(search, *context);
    });
}

DistributedRadiusResult radius_rows_over(Communicator& communicator, const PointsView& points,
                                         const PointsView* queries, const Radii& radii, const RadiusOptions& options,
                                         const RankOptions& of_ranks) {
    return on_all_ranks(communicator, [&](Ranks& ranks) {
        if (ranks.size() == 1 && of_ranks.ids.empty()) {
            return alone(ranks, options.execution, [&] {
                RadiusOptions serial = options;
                serial.index_type = IndexType::int64;
                return DistributedRadiusResult{queries != nullptr ? radius_search(points, *queries, radii, serial)
                                                                  : radius_search(points, radii, serial),
                                               0,
                                               {}};
            });
        }
        DistributedRadiusResult result;
        radius_over(ranks, RankFunction::radius_search, points, queries, radii, options, of_ranks,
                    [&](auto& search, Context& context) {
                        result.neighbors = search.rows();
                        StageReports stages = context.take_stages();
                        stages.insert(stages.end(), result.neighbors.stages.begin(), result.neighbors.stages.end());
                        result.neighbors.stages = std::move(stages);
                    });
        result.first_query = Ownership(ranks, result.neighbors.rows()).first();
        result.traffic = ranks.traffic();
        return result;
    });
}

DistributedCounts radius_counts_over(Communicator& communicator, const PointsView& points, const PointsView* queries,
                                     const Radii& radii, const RadiusOptions& options, const RankOptions& of_ranks) {
    return on_all_ranks(communicator, [&](Ranks& ranks) {
        if (ranks.size() == 1 && of_ranks.ids.empty()) {
            return alone(ranks, options.execution, [&] {
                return DistributedCounts{queries != nullptr ? radius_count(points, *queries, radii, options)
                                                            : radius_count(points, radii, options),
                                         {},
                                         {}};
            });
        }
        DistributedCounts result;
        radius_over(ranks, RankFunction::radius_count, points, queries, radii, options, of_ranks,
                    [&](auto& search, Context& context) {
                        result.counts = search.counts();
                        result.stages = context.take_stages();
                    });
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
