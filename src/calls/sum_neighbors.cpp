// The public sums over neighbors: a search whose rows are summed as they come, and once more for gradients of fields,
// which need all densities.
#include <kith/error.hpp>
#include <kith/sum_neighbors.hpp>

#include "calls/calls.hpp"
#include "calls/choose.hpp"
#include "calls/knn_search.hpp"
#include "calls/radius_search.hpp"
#include "calls/zeros.hpp"
#include "neighbors/neighbor_sums.hpp"
#include "neighbors/sinks.hpp"
#include "points/point_set.hpp"
#include "support/context.hpp"
#include "support/dimension.hpp"
#include "support/message.hpp"
#include "support/parallel.hpp"
#include "support/per_thread.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace kith {

namespace detail {

namespace {

constexpr std::int64_t grain = 1 << 14;

/// Throws invalid_argument for the first number of a column that is not one.
template <class Rule>
void require_all(const std::string& what, const ScalarsView& column, const char* rule, const Rule& holds) {
    const std::int64_t row = parallel_find(column.count(), grain, [&](std::int64_t i) { return !holds(column[i]); });
    if (row < column.count()) {
        throw error(ErrorKind::invalid_argument, ErrorDetails{.point = row, .value = column[row]}, what, ": row ", row,
                    " is ", column[row], rule);
    }
}

void check_columns(const SumOptions& options) {
    if (options.masses) {
        require_all("masses", *options.masses, "; masses must be finite and not negative",
                    [](double mass) { return mass >= 0 && std::isfinite(mass); });
    }
    for (std::size_t field = 0; field < options.fields.size(); ++field) {
        require_all(message("fields[", field, "]"), options.fields[field], "; fields must be finite",
                    [](double value) { return std::isfinite(value); });
    }
}

/// The exponent of the largest of some numbers.
template <class Number>
int largest_exponent(std::int64_t count, const Number& number) {
    return parallel_reduce(
        0, count, grain, SplitNumber::exponent_of_zero,
        [&](std::int64_t begin, std::int64_t end, int largest) {
            for (std::int64_t i = begin; i < end; ++i) {
                largest = std::max(largest, split(number(i)).exponent);
            }
            return largest;
        },
        [](int left, int right) { return std::max(left, right); });
}

FixedUnits units_of(const SumCall& call) {
    FixedUnits units;
    units.terms = std::max<std::int64_t>(call.points.count(), 1);
    if (const auto& masses = call.options.masses) {
        units.masses = largest_exponent(masses->count(), [&](std::int64_t i) { return (*masses)[i]; });
    }
    for (const ScalarsView& field : call.options.fields) {
        units.fields.push_back(largest_exponent(field.count(), [&](std::int64_t i) { return field[i]; }));
    }
    return units;
}

/// Sums rows of k nearest neighbors.
template <Coordinate T>
class SummedRows final : public RowSink<T> {
public:
    explicit SummedRows(const SumJob<T>& job) : job_(job) {}

    void take(const RowBlock<T>& block) override {
        RowSummer<T> summer(job_, scratch_.local());
        for (std::int64_t row = 0; row < block.rows; ++row) {
            const std::int32_t* const indices = block.indices + row * block.k;
            const T* const distances = block.distances + row * block.k;
            const std::int64_t size =
                indices[block.k - 1] >= 0 ? block.k : std::find(indices, indices + block.k, -1) - indices;
            const double reach = size > 0 ? distances[size - 1] : std::numeric_limits<double>::infinity();
            if (job_.volumes == nullptr) {
                job_.sums->reach[block.queries[row]] = reach;
            }
            summer.sum(block.queries[row], indices, distances, size, reach);
        }
    }
    [[nodiscard]] DonatedMemory spare() const override {
        DonatedMemory memory;
        for (std::vector<double>* numbers : {&job_.sums->density, &job_.sums->reach}) {
            memory.add(numbers->data(), std::ssize(*numbers) * static_cast<std::int64_t>(sizeof(double)));
        }
        return memory;
    }

private:
    const SumJob<T>& job_;
    PerThread<SumScratch> scratch_;
};

/// Sums rows of neighbors within radii.
template <Coordinate T>
class SummedBalls {
public:
    SummedBalls(const SumJob<T>& job, const Radii& radii) : job_(job), radii_(radii) {}

    void operator()(const RadiusBlock& block) {
        RowSummer<T> summer(job_, scratch_.local());
        const T* const distances = static_cast<const T*>(block.distances_data);
        for (std::size_t row = 0; row < block.query_indices.size(); ++row) {
            const std::int64_t query = block.query_indices[row];
            const std::int64_t at = block.offsets[row];
            const std::int64_t size = block.offsets[row + 1] - at;
            job_.sums->counts[query] = size;
            summer.sum(query, size > 0 ? block.indices().data() + at : nullptr, distances + at, size,
                       static_cast<double>(static_cast<T>(radii_[query])));
        }
    }

private:
    const SumJob<T>& job_;
    const Radii& radii_;
    PerThread<SumScratch> scratch_;
};

/// The memory of positions for gradients.
template <Coordinate T>
class PositionRows {
public:
    PositionRows(Context& context, const PointSetView<T>& sources, int dimension,
                 const std::optional<NormalizedPoints<T>>& queries)
        : sources_(context.memory_tracker(), std::int64_t{sources.count} * dimension) {
        context.run([&] {
            parallel_each(sources.count, grain, [&](std::int64_t i) {
                for (int axis = 0; axis < dimension; ++axis) {
                    sources_[std::int64_t{sources.indices[i]} * dimension + axis] = sources.axis(axis)[i];
                }
            });
        });
        if (queries) {
            queries_.emplace(context.memory_tracker(), queries->view.count() * dimension);
            const PointReader<T> read(*queries);
            context.run([&] {
                parallel_each(queries->view.count(), grain, [&](std::int64_t i) {
                    for (int axis = 0; axis < dimension; ++axis) {
                        (*queries_)[i * dimension + axis] = read(i, axis);
                    }
                });
            });
        }
    }
    [[nodiscard]] WorkingPositions<T> view() const {
        return {sources_.data(), queries_ ? queries_->data() : sources_.data()};
    }

private:
    Buffer<T> sources_;
    std::optional<Buffer<T>> queries_;
};

/// Memory for all results. A column that was not asked for stays empty.
void allocate(const SumCall& call, NeighborSums& sums) {
    const Execution& execution = call.options.execution;
    const std::int64_t rows = call.row_count();
    const int dimension = call.points.dimension();
    const auto numbers = [&](std::int64_t columns, const char* what) {
        return zeros<double>(execution, rows * columns, what);
    };
    sums.density = numbers(1, "the densities");
    if (call.is_by_count()) {
        sums.reach = numbers(1, "the reaches of the kernels");
    } else {
        sums.counts = zeros<std::int64_t>(execution, rows, "the numbers of neighbors");
    }
    if (call.options.density_gradient) {
        sums.density_gradient = numbers(dimension, "the gradients of the density");
    }
    sums.fields.resize(call.options.fields.size());
    const FieldStatistics& wanted = call.options.statistics;
    for (FieldSums& field : sums.fields) {
        const auto allocate_if = [&](bool is_wanted, std::vector<double>& column, std::int64_t columns) {
            if (is_wanted) {
                column = numbers(columns, "the sums of a field");
            }
        };
        allocate_if(wanted.sum, field.sum, 1);
        allocate_if(wanted.mean, field.mean, 1);
        allocate_if(wanted.variance, field.variance, 1);
        allocate_if(wanted.least, field.least, 1);
        allocate_if(wanted.greatest, field.greatest, 1);
        allocate_if(wanted.gradient, field.gradient, dimension);
    }
}

/// Masses over densities, 0 where there is no density.
Buffer<double> volumes_of(Context& context, const SumCall& call, const NeighborSums& sums) {
    Buffer<double> volumes(context.memory_tracker(), call.points.count());
    const auto& masses = call.options.masses;
    context.run([&] {
        parallel_each(call.points.count(), grain, [&](std::int64_t i) {
            volumes[i] = sums.density[i] > 0 ? (masses ? (*masses)[i] : 1.0) / sums.density[i] : 0;
        });
    });
    return volumes;
}

/// Runs the passes over a search: run(job) brings all rows to sums by a job and returns what is unresolved.
template <Coordinate T, class Search, class Run>
void sum_over(Context& context, const SumCall& call, Search& search, const std::optional<NormalizedPoints<T>>& queries,
              NeighborSums& sums, const Run& run) {
    const SumOptions& options = call.options;
    const bool needs_fields = !options.fields.empty() && options.statistics.gradient;
    FixedUnits units;
    if (!call.is_by_count()) {
        context.run([&] { units = units_of(call); });
    }
    SumJob<T> job{
        &search.frame(), options.kernel, options.masses ? &*options.masses : nullptr, options.fields, {}, &units,
        nullptr,         &sums};
    std::optional<PositionRows<T>> positions;
    const auto need_positions = [&] {
        job.positions = positions.emplace(context, search.sources(), search.frame().dimension, queries).view();
    };
    if (options.density_gradient) {
        need_positions();
    }
    sums.unresolved = run(job);
    if (needs_fields) {
        const Buffer<double> volumes = volumes_of(context, call, sums);
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

NeighborSums summed(const SumCall& call) {
    const std::int64_t smallest = check(call);
    NeighborSums sums;
    allocate(call, sums);
    Context context(call.options.execution);
    context.run([&] { check_columns(call.options); });
    with_dtype(call.points.dtype(), [&]<Coordinate T>(T) {
        if (const Nearest* const nearest = std::get_if<Nearest>(&call.neighborhood)) {
            sum_nearest<T>(context, call, nearest->k, sums);
        } else {
            sum_within<T>(context, call, std::get<Within>(call.neighborhood).radii, smallest, sums);
        }
    });
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
