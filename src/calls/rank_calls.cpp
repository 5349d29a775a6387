#include "calls/rank_calls.hpp"

#include <kith/distributed.hpp>
#include <kith/error.hpp>

#include "calls/calls.hpp"
#include "calls/device_calls.hpp"
#include "calls/over_team.hpp"
#include "distributed/arguments.hpp"
#include "distributed/dbscan.hpp"
#include "distributed/fof.hpp"
#include "distributed/hdbscan.hpp"
#include "distributed/knn.hpp"
#include "distributed/ownership.hpp"
#include "distributed/radius.hpp"
#include "distributed/ranks.hpp"
#include "distributed/team.hpp"
#include "distributed/z_order.hpp"
#include "support/context.hpp"
#include "support/dimension.hpp"
#include "support/number_types.hpp"

#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace kith {

namespace detail {

namespace {

// What must be the same on all ranks.

std::vector<Argument> arguments_of(const KnnCall& call, const RankOptions& of_ranks) {
    const KnnOptions& options = call.options;
    return arguments_about(call.points.points(), options.box, of_ranks,
                           {{"k", static_cast<double>(call.k)},
                            {"max_distance", options.max_distance},
                            flag("exclude_self", options.exclude_self),
                            flag("squared", options.squared),
                            given("queries", call.queries != nullptr)});
}

std::vector<Argument> arguments_of(const RadiusCall& call, const RankOptions& of_ranks) {
    const RadiusOptions& options = call.options;
    const bool is_uniform = call.radii.is_uniform();
    return arguments_about(call.points.points(), options.box, of_ranks,
                           {flag("one radius for all queries", is_uniform),
                            {"radius", is_uniform ? call.radii[0] : 0.0},
                            flag("exclude_self", options.exclude_self),
                            flag("squared", options.squared),
                            flag("rows by index", options.order == RowOrder::index),
                            given("queries", call.queries != nullptr)});
}

std::vector<Argument> arguments_of(const FofCall& call, const RankOptions& of_ranks) {
    const auto& phase_space = call.options.phase_space;
    const VelocityLength psi = phase_space ? phase_space->length : VelocityLength::absolute(0);
    return arguments_about(call.points.points(), call.options.box, of_ranks,
                           {{"linking length", call.length.value()},
                            flag("relative linking length", call.length.is_relative()),
                            {"linking length of velocities", psi.value()},
                            flag("relative linking length of velocities", psi.is_relative()),
                            given("velocities", phase_space.has_value()),
                            given("masses", phase_space && phase_space->masses)});
}

std::vector<Argument> arguments_of(const DbscanCall& call, const RankOptions& of_ranks) {
    return arguments_about(
        call.points.points(), call.options.box, of_ranks,
        {{"eps", call.eps}, {"min_samples", static_cast<double>(call.min_samples)}, flag("star", call.options.star)});
}

/// Fills rows of 64-bit indices, the summary and the work in it.
void search_together(Ranks& ranks, Context& context, const KnnCall& call, const KnnOptions& options,
                     const RankOptions& of_ranks, const NeighborRows& rows, SearchSummary& summary) {
    std::vector<float>& work = summary.distribution.emplace().work;
    with_dtype(call.points.dtype(), [&]<Coordinate T>(T) {
        knn_over_ranks<T>(ranks, context, {call.points.points(), call.queries, call.k, options, of_ranks},
                          part_maker(options.execution, &PartCalls<T>::search),
                          part_maker(options.execution, &PartCalls<T>::read), rows, summary, work);
    });
}

/// A radius search over ranks; alone(options) and run(ranks, context, call) find the result, items(result) counts rows.
template <class Alone, class Run, class Items>
auto radius_over_team(RankFunction function, const RadiusCall& call, const Alone& alone, const Run& run,
                      const Items& items) {
    std::int64_t smallest = -1;
    return over_team(
        call.options, [&] { smallest = check(call); }, alone,
        [&](Ranks& ranks, Context& context, const RadiusOptions& options, const RankOptions& of_ranks) {
            require_same(ranks, function, arguments_of(call, of_ranks));
            return run(ranks, context,
                       RadiusOverRanks{call.points.points(), call.queries, call.radii, smallest, options, of_ranks});
        },
        items);
}

} // namespace

KnnResult knn_over_team(const KnnCall& call) {
    return over_team(
        call.options, [&] { check(call); },
        [&](KnnOptions options) {
            options.index_type = IndexType::int64;
            return call.queries != nullptr ? knn(call.points, *call.queries, call.k, options)
                                           : knn(call.points, call.k, options);
        },
        [&](Ranks& ranks, Context& context, const KnnOptions& options, const RankOptions& of_ranks) {
            require_same(ranks, RankFunction::knn, arguments_of(call, of_ranks));
            std::optional<KnnResult> result;
            ranks.agreed([&] { result.emplace(call.row_count(), call.k, IndexType::int64, call.points.dtype()); });
            search_together(ranks, context, call, options, of_ranks, result->rows_view(), *result);
            return std::move(*result);
        },
        [](const KnnResult& result) { return result.rows(); });
}

SearchSummary knn_into_over_team(const KnnCall& call) {
    const NeighborRows& rows = *call.rows;
    return over_team(
        call.options,
        [&] {
            check(call);
            if (rows.indices() != nullptr && rows.index_type() != IndexType::int64) {
                throw Error(ErrorKind::invalid_argument, "the memory for indices is for 32 bits each; over ranks they "
                                                         "are 64 bits wide, so give memory for std::int64_t");
            }
            if (is_on_gpu(call.options.execution)) {
                on_gpu().refuse_memory_of_others(rows.indices(), "the indices of the rows", call.options.execution);
                on_gpu().refuse_memory_of_others(rows.distances(), "the distances of the rows", call.options.execution);
            }
        },
        [&](const KnnOptions& options) {
            return call.queries != nullptr ? knn_into(rows, call.points, *call.queries, call.k, options)
                                           : knn_into(rows, call.points, call.k, options);
        },
        [&](Ranks& ranks, Context& context, const KnnOptions& options, const RankOptions& of_ranks) {
            require_same(ranks, RankFunction::knn, arguments_of(call, of_ranks));
            std::optional<KnnResult> found; // where an array is missing or a GPU's: the host merges rows by both
            const auto is_on_gpu_here = [&](const void* memory) {
                return is_on_gpu(options.execution) && on_gpu().has_memory(memory, options.execution);
            };
            ranks.agreed([&] {
                if (rows.indices() == nullptr || rows.distances() == nullptr || is_on_gpu_here(rows.indices()) ||
                    is_on_gpu_here(rows.distances())) {
                    found.emplace(call.row_count(), call.k, IndexType::int64, call.points.dtype());
                }
            });
            SearchSummary summary;
            search_together(ranks, context, call, options, of_ranks, found ? found->rows_view() : rows, summary);
            const auto keep = [&](void* to, const void* from, std::int64_t bytes) {
                if (is_on_gpu_here(to)) {
                    on_gpu().copy_to_memory(to, from, bytes, options.execution);
                } else if (to != nullptr) {
                    std::memcpy(to, from, static_cast<std::size_t>(bytes));
                }
            };
            ranks.agreed([&] {
                if (found) {
                    const NeighborRows all = found->rows_view();
                    keep(rows.indices(), all.indices(), all.index_count() * item_size(IndexType::int64));
                    keep(rows.distances(), all.distances(), all.distance_count() * item_size(all.dtype()));
                }
            });
            return summary;
        },
        [&](const SearchSummary&) { return call.row_count(); });
}

SearchSummary knn_visit_over_team(const KnnCall& call) {
    return over_team(
        call.options, [&] { check(call); }, nullptr,
        [&](Ranks& ranks, Context& context, const KnnOptions& options, const RankOptions& of_ranks) {
            require_same(ranks, RankFunction::knn_visit, arguments_of(call, of_ranks));
            return with_dtype(call.points.dtype(), [&]<Coordinate T>(T) {
                return knn_visit_over_ranks<T>(
                    ranks, context, {call.points.points(), call.queries, call.k, options, of_ranks}, *call.visitor);
            });
        },
        [&](const SearchSummary&) { return call.row_count(); });
}

RadiusResult radius_search_over_team(const RadiusCall& call) {
    return radius_over_team(
        RankFunction::radius_search, call,
        [&](RadiusOptions options) {
            options.index_type = IndexType::int64;
            return call.queries != nullptr ? radius_search(call.points, *call.queries, call.radii, options)
                                           : radius_search(call.points, call.radii, options);
        },
        [&](Ranks& ranks, Context& context, const RadiusOverRanks& here) {
            return with_dtype(call.points.dtype(), [&]<Coordinate T>(T) {
                return radius_over_ranks<T>(ranks, context, here,
                                            part_maker(here.options.execution, &PartCalls<T>::search),
                                            part_maker(here.options.execution, &PartCalls<T>::read));
            });
        },
        [](const RadiusResult& result) { return result.rows(); });
}

RadiusCounts radius_count_over_team(const RadiusCall& call) {
    return radius_over_team(
        RankFunction::radius_count, call,
        [&](const RadiusOptions& options) {
            return call.queries != nullptr ? radius_count(call.points, *call.queries, call.radii, options)
                                           : radius_count(call.points, call.radii, options);
        },
        [&](Ranks& ranks, Context& context, const RadiusOverRanks& here) {
            return with_dtype(call.points.dtype(), [&]<Coordinate T>(T) {
                return radius_counts_over_ranks<T>(ranks, context, here,
                                                   part_maker(here.options.execution, &PartCalls<T>::search),
                                                   part_maker(here.options.execution, &PartCalls<T>::read));
            });
        },
        [](const RadiusCounts& result) { return std::ssize(result.counts); });
}

FofResult fof_over_team(const FofCall& call) {
    return over_team(
        call.options, [&] { check(call); },
        [&](const FofOptions& options) { return widened(fof(call.points, call.length, options), options.execution); },
        [&](Ranks& ranks, Context& context, const FofOptions& options, const RankOptions& of_ranks) {
            require_same(ranks, RankFunction::fof, arguments_of(call, of_ranks));
            FofResult result;
            std::vector<float>& work = result.distribution.emplace().work;
            with_dtype(call.points.dtype(), [&]<Coordinate T>(T) {
                fof_over_ranks<T>(ranks, context, {call.points.points(), call.length, options, of_ranks},
                                  part_maker(options.execution, &PartCalls<T>::link),
                                  part_maker(options.execution, &PartCalls<T>::read), result, work);
            });
            return result;
        },
        [](const FofResult& result) { return result.label_array.size(); });
}

DbscanResult dbscan_over_team(const DbscanCall& call) {
    return over_team(
        call.options, [&] { check(call); },
        [&](const DbscanOptions& options) {
            return widened(dbscan(call.points, call.eps, call.min_samples, options), options.execution);
        },
        [&](Ranks& ranks, Context& context, const DbscanOptions& options, const RankOptions& of_ranks) {
            require_same(ranks, RankFunction::dbscan, arguments_of(call, of_ranks));
            DbscanResult result;
            with_dtype(call.points.dtype(), [&]<Coordinate T>(T) {
                dbscan_over_ranks<T>(ranks, context,
                                     {call.points.points(), call.eps, call.min_samples, options, of_ranks},
                                     part_maker(options.execution, &PartCalls<T>::cluster),
                                     part_maker(options.execution, &PartCalls<T>::read), result);
            });
            return result;
        },
        [](const DbscanResult& result) { return result.label_array.size(); });
}

HdbscanResult hdbscan_over_team(const HdbscanCall& call) {
    return over_team(
        call.options, [&] { check(call); },
        [&](const HdbscanOptions& options) { return hdbscan(call.points, call.min_cluster_size, options); },
        [&](Ranks& ranks, Context& context, const HdbscanOptions& options, const RankOptions& of_ranks) {
            require_same(ranks, RankFunction::hdbscan,
                         arguments_about(call.points.points(), options.box, of_ranks,
                                         {{"min_cluster_size", static_cast<double>(call.min_cluster_size)},
                                          {"min_samples", static_cast<double>(options.min_samples)},
                                          flag("selection of leaves", options.selection == ClusterSelection::leaf),
                                          {"selection_epsilon", options.selection_epsilon},
                                          {"max_cluster_size", static_cast<double>(options.max_cluster_size)},
                                          flag("allow_single_cluster", options.allow_single_cluster)}));
            return with_dtype(call.points.dtype(), [&]<Coordinate T>(T) {
                return hdbscan_over_ranks<T>(ranks, context,
                                             {call.points.points(), call.min_cluster_size, options, of_ranks});
            });
        },
        [](const HdbscanResult& result) { return result.points(); });
}

ZOrder z_order_over_team(const ZOrderCall& call) {
    return over_team(
        call.options,
        [&] {
            require_host(call.options.execution, "z-orders");
            check(call);
        },
        [&](const ZOrderOptions& options) {
            ZOrder order = z_order(call.points, options);
            widen(options.execution, order.index_array);
            return order;
        },
        [&](Ranks& ranks, Context& context, const ZOrderOptions& options, const RankOptions& of_ranks) {
            require_same(ranks, RankFunction::z_order,
                         arguments_about(call.points, options.box, {{"imbalance", of_ranks.imbalance}}));
            return with_dtype(call.points.dtype(), [&]<Coordinate T>(T) {
                return z_order_over_ranks<T>(ranks, context, {call.points, options, of_ranks});
            });
        },
        [](const ZOrder& order) { return order.index_array.size(); });
}

} // namespace detail

Traffic gather(const Execution& execution, std::span<const std::int64_t> indices,
               std::span<const GatherColumn> columns) {
    if (execution.team == nullptr) {
        throw Error(ErrorKind::invalid_argument, "gather fetches rows of other ranks; make the execution with over()");
    }
    return gather(execution.team->communicator, indices, columns, execution.team->options);
}

Execution over(Communicator& communicator, Execution local, RankOptions rank_options) {
    local.team = std::make_shared<const detail::Team>(detail::Team{communicator, std::move(rank_options)});
    return local;
}

} // namespace kith
