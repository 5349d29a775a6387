// The public sums over neighbors: a search whose rows are summed as they come, and once more for gradients of fields,
// which need all densities.
#include <kith/error.hpp>
#include <kith/sum_neighbors.hpp>

#include "calls/calls.hpp"
#include "calls/choose.hpp"
#include "calls/device_calls.hpp"
#include "calls/knn_search.hpp"
#include "calls/radius_search.hpp"
#include "calls/rank_calls.hpp"
#include "calls/sum_memory.hpp"
#include "calls/zeros.hpp"
#include "neighbors/mass_scale.hpp"
#include "neighbors/neighbor_sums.hpp"
#include "neighbors/sinks.hpp"
#include "neighbors/sum_passes.hpp"
#include "neighbors/sum_units.hpp"
#include "points/point_set.hpp"
#include "support/context.hpp"
#include "support/dimension.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <variant>

namespace kith {

namespace detail {

namespace {

/// Runs the passes over a search: run(job) brings all rows to sums by a job and returns what is unresolved.
template <Coordinate T, class Search, class Run>
void sum_over(Context& context, const SumCall& call, Search& search, const std::optional<NormalizedPoints<T>>& queries,
              NeighborSums& sums, const Run& run) {
    const SumOptions& options = call.options;
    const bool needs_fields = !options.fields.empty() && options.statistics.gradient;
    FixedUnits units;
    if (!call.is_by_count()) {
        context.run([&] { units = units_of(options, call.points.count()); });
    }
    SumJob<T> job{&search.frame(), options.kernel, options.masses ? &*options.masses : nullptr,
                  options.fields,  options.fields, {},
                  &units,          nullptr,        &sums};
    std::optional<PositionRows<T>> positions;
    const auto need_positions = [&] {
        job.positions = positions.emplace(context, search.sources(), search.frame().dimension, queries).view();
    };
    if (options.density_gradient) {
        need_positions();
    }
    sums.unresolved = run(job);
    if (needs_fields) {
        const Buffer<double> volumes = volumes_of(context, options.masses, sums.density);
        if (!call.is_by_count()) {
            context.run(
                [&] { units.volumes = largest_exponent(volumes.size(), [&](std::int64_t i) { return volumes[i]; }); });
        }
        job.volumes = volumes.data();
        if (!positions) {
            need_positions();
        }
        run(job);
    }
    search.describe(sums);
}

template <Coordinate T>
void sum_nearest(Context& context, const SumCall& call, std::int64_t k, NeighborSums& sums) {
    const SumOptions& options = call.options;
    const KnnOptions of_search{.box = options.box,
                               .exclude_self = options.exclude_self,
                               .engine = options.engine,
                               .execution = options.execution};
    k = std::min(k, std::max<std::int64_t>(call.points.count(), 1)); // there are no more
    const KnnCall knn{call.points, call.queries, k, of_search};
    sums.engine = choose(Task::neighbor_sums, options.engine, size_of(call.points, call.queries, k, Where::cpu));
    KnnSearch<T> search(context, knn, sums.engine);
    sum_over<T>(context, call, search, search.queries(), sums, [&](const SumJob<T>& job) {
        SummedRows<T> sink(job);
        return search.run(sink);
    });
}

template <Coordinate T>
void sum_within(Context& context, const SumCall& call, const Radii& radii, std::int64_t smallest, NeighborSums& sums) {
    const SumOptions& options = call.options;
    const RadiusOptions of_search{.box = options.box,
                                  .exclude_self = options.exclude_self,
                                  .engine = options.engine,
                                  .execution = options.execution};
    const RadiusCall within{call.points, call.queries, radii, of_search};
    RadiusSearch<T> search(context, within, smallest);
    sum_over<T>(context, call, search, search.queries(), sums, [&](const SumJob<T>& job) {
        SummedBalls<T> balls(job, radii);
        return search.visit([&](const RadiusBlock& block) { balls(block); }, std::nullopt);
    });
}

NeighborSums summed(const SumCall& given) {
    const Execution& execution = given.options.execution;
    if (is_over_ranks(where_of(execution))) {
        return sum_neighbors_over_team(given);
    }
    const std::int64_t smallest = check(given);
    NeighborSums sums;
    allocate(given, sums);
    Context context(is_on_gpu(execution) ? cpu(execution.threads) : execution);
    std::optional<ScaledMasses> masses;
    context.run([&] {
        check_columns(given.options);
        const SumRange range(given.options);
        sums.warning = warning_of(given, range);
        masses.emplace(given.options, given.points.count(), range.excess());
    });
    const SumCall call{given.points, given.queries, given.neighborhood, masses->options()};
    if (is_on_gpu(call.options.execution)) {
        const std::int64_t k = call.is_by_count() ? std::get<Nearest>(call.neighborhood).k : 0;
        const Engine engine =
            choose(call.task(), call.options.engine, size_of(call.points, call.queries, k, Where::gpu));
        on_gpu().sum_neighbors(call.points, call.queries, {call.neighborhood, smallest, call.options}, engine, sums);
        masses->restore(sums);
        return sums;
    }
    with_dtype(call.points.dtype(), [&]<Coordinate T>(T) {
        if (const Nearest* const nearest = std::get_if<Nearest>(&call.neighborhood)) {
            sum_nearest<T>(context, call, nearest->k, sums);
        } else {
            sum_within<T>(context, call, std::get<Within>(call.neighborhood).radii, smallest, sums);
        }
    });
    masses->restore(sums);
    sums.stages = context.take_stages();
    return sums;
}

} // namespace

} // namespace detail

NeighborSums sum_neighbors(const PointsOrTree& points, const Neighborhood& neighborhood, const SumOptions& options) {
    return detail::summed({points, nullptr, neighborhood, options});
}

NeighborSums sum_neighbors(const PointsOrTree& points, const PointsView& queries, const Neighborhood& neighborhood,
                           const SumOptions& options) {
    return detail::summed({points, &queries, neighborhood, options});
}

} // namespace kith
