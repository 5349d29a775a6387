// Sums over neighbors and pair counts over ranks, as rank_calls.hpp says.
#include "calls/rank_calls.hpp"

#include "calls/calls.hpp"
#include "calls/over_team.hpp"
#include "calls/sum_memory.hpp"
#include "distributed/arguments.hpp"
#include "distributed/pair_counts.hpp"
#include "distributed/sum_neighbors.hpp"
#include "neighbors/mass_scale.hpp"
#include "neighbors/sum_passes.hpp"
#include "support/dimension.hpp"
#include "support/message.hpp"

#include <bit>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace kith::detail {

namespace {

std::vector<Argument> arguments_of(const SumCall& call, const RankOptions& of_ranks) {
    const SumOptions& options = call.options;
    const FieldStatistics& wanted = options.statistics;
    const Nearest* const nearest = std::get_if<Nearest>(&call.neighborhood);
    const Within* const within = std::get_if<Within>(&call.neighborhood);
    const bool is_uniform = within != nullptr && within->radii.is_uniform();
    std::vector<std::int64_t> types;
    for (const ScalarsView& field : options.fields) {
        types.push_back(static_cast<std::int64_t>(field.dtype()));
    }
    return arguments_about(call.points.points(), options.box, of_ranks,
                           {{"k", nearest != nullptr ? static_cast<double>(nearest->k) : 0.0},
                            flag("one radius for all queries", is_uniform),
                            {"radius", is_uniform ? within->radii[0] : 0.0},
                            flag("exclude_self", options.exclude_self),
                            choice("kernel", static_cast<std::size_t>(options.kernel), smoothing_kernel_names),
                            flag("density_gradient", options.density_gradient),
                            given("masses", options.masses.has_value()),
                            type("type of the masses", options.masses ? options.masses->dtype() : DType::float32),
                            {"number of fields", static_cast<double>(options.fields.size())},
                            flag("statistics.sum", wanted.sum),
                            flag("statistics.mean", wanted.mean),
                            flag("statistics.variance", wanted.variance),
                            flag("statistics.least", wanted.least),
                            flag("statistics.greatest", wanted.greatest),
                            flag("statistics.gradient", wanted.gradient),
                            given("queries", call.queries != nullptr),
                            hash("types of the fields", types)});
}

/// The bits of numbers that all ranks must pass alike.
Argument hash_of(const char* name, std::span<const double> numbers) {
    std::vector<std::int64_t> bits;
    for (const double number : numbers) {
        bits.push_back(std::bit_cast<std::int64_t>(number));
    }
    return hash(name, bits);
}

std::vector<Argument> arguments_of(const PairCall& call, const RankOptions& of_ranks) {
    const PairCountOptions& options = call.options;
    return arguments_about(call.points.points(), options.box, of_ranks,
                           {{"number of edges", static_cast<double>(call.edges.size())},
                            hash_of("edges", call.edges),
                            choice("binning", static_cast<std::size_t>(options.binning), pair_binning_names),
                            {"number of second_edges", static_cast<double>(options.second_edges.size())},
                            hash_of("second_edges", options.second_edges),
                            {"line_of_sight", static_cast<double>(options.line_of_sight)},
                            flag("separations", options.separations),
                            given("another set", call.other != nullptr),
                            given("weights", options.weights.has_value()),
                            given("other_weights", options.other_weights.has_value())});
}

} // namespace

NeighborSums sum_neighbors_over_team(const SumCall& call) {
    std::int64_t smallest = -1;
    return over_team(
        call.options, [&] { smallest = check(call); },
        [&](const SumOptions& options) {
            return call.queries != nullptr ? sum_neighbors(call.points, *call.queries, call.neighborhood, options)
                                           : sum_neighbors(call.points, call.neighborhood, options);
        },
        [&](Ranks& ranks, Context& context, const SumOptions& options, const RankOptions& of_ranks) {
            require_same(ranks, RankFunction::sum_neighbors, arguments_of(call, of_ranks));
            NeighborSums sums;
            SumRange range;
            ranks.agreed([&] {
                context.run([&] {
                    check_columns(options);
                    range = SumRange(options);
                });
                allocate({call.points, call.queries, call.neighborhood, options}, sums);
            });
            range.masses = ranks.max(range.masses); // alike on all
            ranks.max(range.fields);
            sums.warning = warning_of(call, range);
            std::optional<ScaledMasses> masses;
            ranks.agreed([&] { context.run([&] { masses.emplace(options, call.points.count(), range.excess()); }); });
            with_dtype(call.points.dtype(), [&]<Coordinate T>(T) {
                sum_over_ranks<T>(
                    ranks, context,
                    {call.points.points(), call.queries, call.neighborhood, smallest, masses->options(), of_ranks},
                    sums);
            });
            masses->restore(sums);
            return sums;
        },
        [](const NeighborSums& sums) { return std::ssize(sums.density); });
}

PairCounts pair_counts_over_team(const PairCall& call) {
    return over_team(
        call.options, [&] { check(call, where_of(call.options.execution)); },
        [&](const PairCountOptions& options) {
            return call.other != nullptr ? pair_counts(call.points, *call.other, call.edges, options)
                                         : pair_counts(call.points, call.edges, options);
        },
        [&](Ranks& ranks, Context& context, const PairCountOptions& options, const RankOptions& of_ranks) {
            require_same(ranks, RankFunction::pair_counts, arguments_of(call, of_ranks));
            return with_dtype(call.points.dtype(), [&]<Coordinate T>(T) {
                return pair_counts_over_ranks<T>(ranks, context,
                                                 {call.points.points(), call.other, call.edges, options, of_ranks});
            });
        },
        [&](const PairCounts&) { return call.points.count(); });
}

} // namespace kith::detail
