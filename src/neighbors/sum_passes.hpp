// What a search of a call of sums needs besides its rows: the check of the columns, the
// sinks that sum rows as they come (neighbor_sums.hpp), and the columns and positions that gradients read.
#pragma once

#include <kith/error.hpp>
#include <kith/sum_neighbors.hpp>

#include "neighbors/neighbor_sums.hpp"
#include "neighbors/search.hpp"
#include "neighbors/sum_checks.hpp"
#include "neighbors/sum_units.hpp"
#include "points/point_set.hpp"
#include "support/context.hpp"
#include "support/message.hpp"
#include "support/parallel.hpp"
#include "support/per_thread.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace kith::detail {

inline constexpr std::int64_t sum_grain = 1 << 14;

/// Throws invalid_argument for the first number of a column that is not one.
template <class Rule>
void require_all(const std::string& what, const ScalarsView& column, const char* rule, const Rule& holds) {
    const std::int64_t row =
        parallel_find(column.count(), sum_grain, [&](std::int64_t i) { return !holds(column[i]); });
    if (row < column.count()) {
        throw error(ErrorKind::invalid_argument, ErrorDetails{.point = row, .value = column[row]}, what, ": row ", row,
                    " is ", column[row], rule);
    }
}

inline void check_columns(const SumOptions& options) {
    if (options.masses) {
        require_all("masses", *options.masses, "; masses must be finite and not negative",
                    [](double mass) { return mass >= 0 && std::isfinite(mass); });
    }
    for (std::size_t field = 0; field < options.fields.size(); ++field) {
        require_all(name_of_field(options, field), options.fields[field], "; fields must be finite",
                    [](double value) { return std::isfinite(value); });
    }
}

/// Sums rows of k nearest neighbors.
template <Coordinate T>
class SummedRows final : public RowSink<T> {
public:
    explicit SummedRows(const SumJob<T>& job) : job_(job) {}

    void take(const RowBlock<T>& block) override {
        RowSummer<T> summer(job_, scratch_.local());
        for (std::int64_t row = 0; row < block.rows; ++row) {
            prefetch(block.queries[std::min(row + rows_ahead, block.rows - 1)]);
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
    /// Rows come along the curve, so that their results are scattered: without this, stores wait for memory.
    void prefetch(std::int64_t query) const {
        __builtin_prefetch(job_.sums->density.data() + query, 1);
        __builtin_prefetch(job_.sums->reach.data() + query, 1);
    }
    static constexpr std::int64_t rows_ahead = 8; ///< 4 to 16 are as good; with 32 nothing is left of the gain

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
        : PositionRows(context, {sources, {}}, dimension, queries) {}
    /// The rows of the second sources, of which there may be none, follow those of the first.
    PositionRows(Context& context, const std::array<PointSetView<T>, 2>& sources, int dimension,
                 const std::optional<NormalizedPoints<T>>& queries)
        : sources_(context.memory_tracker(), (std::int64_t{sources[0].count} + sources[1].count) * dimension) {
        std::int64_t first = 0;
        for (const PointSetView<T>& part : sources) {
            context.run([&] {
                parallel_each(part.count, sum_grain, [&](std::int64_t i) {
                    for (int axis = 0; axis < dimension; ++axis) {
                        sources_[(first + part.indices[i]) * dimension + axis] = part.axis(axis)[i];
                    }
                });
            });
            first += part.count;
        }
        if (queries) {
            queries_.emplace(context.memory_tracker(), queries->view.count() * dimension);
            const PointReader<T> read(*queries);
            context.run([&] {
                parallel_each(queries->view.count(), sum_grain, [&](std::int64_t i) {
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

/// Masses over densities, 0 where there is no density.
inline Buffer<double> volumes_of(Context& context, const std::optional<ScalarsView>& masses,
                                 const std::vector<double>& densities) {
    Buffer<double> volumes(context.memory_tracker(), std::ssize(densities));
    context.run([&] {
        parallel_each(volumes.size(), sum_grain, [&](std::int64_t i) {
            volumes[i] = densities[i] > 0 ? (masses ? (*masses)[i] : 1.0) / densities[i] : 0;
        });
    });
    return volumes;
}

} // namespace kith::detail
