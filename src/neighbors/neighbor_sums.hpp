// Sums over the neighbors of one query after another (docs/semantics.md, "Sums over neighbors").
//
// A search brings rows, block by block; each is summed at once and forgotten. A row's terms are weighed in vectors
// (kernel_weights.hpp) and then added: of k neighbors in lanes, in the order of the row; within a radius, where no
// order is defined, as whole numbers in a unit that all sums of a kind share (support/fixed_sum.hpp). Memory: some rows
// per thread.
#pragma once

#include <kith/sum_neighbors.hpp>

#include "neighbors/kernel_weights.hpp"
#include "neighbors/smoothing_kernel.hpp"
#include "points/frame.hpp"
#include "points/point_set_view.hpp"
#include "support/fixed_sum.hpp"
#include "support/scratch_array.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace kith::detail {

/// What bounds the terms of sums without order: exponents of the largest numbers of all sources, and their number.
struct FixedUnits {
    std::int64_t terms = 0; ///< 0: sums are in lanes
    int masses = split(1.0).exponent;
    int volumes = SplitNumber::exponent_of_zero; ///< of masses over densities
    std::vector<int> fields;
};

/// Positions in working coordinates, row-major, by original index.
template <Coordinate T>
struct WorkingPositions {
    const T* sources = nullptr; ///< null: no gradients
    const T* queries = nullptr; ///< may be the same
};

/// What is summed, and where sums go: into the arrays of the result that are not empty. All must outlive the rows.
template <Coordinate T>
struct SumJob {
    const Frame<T>* frame;
    SmoothingKernel kernel;
    const ScalarsView* masses; ///< null: 1 each
    std::span<const ScalarsView> fields;
    std::span<const ScalarsView> own_fields; ///< at the queries of a self-search
    WorkingPositions<T> positions;
    const FixedUnits* units;
    const double* volumes = nullptr; ///< m/rho of each source: gradients of fields are summed, else all but these
    NeighborSums* sums;
};

/// Memory of one thread.
struct SumScratch {
    ScratchArray<double> masses;
    ScratchArray<double> weights;
    ScratchArray<double> products;
    ScratchArray<double> values;
    ScratchArray<double> offsets; ///< axis after axis

    void reserve(std::int64_t count, int dimension) {
        for (ScratchArray<double>* array : {&masses, &weights, &products, &values}) {
            array->reserve(count);
        }
        offsets.reserve(count * dimension);
    }
};

template <Coordinate T>
class RowSummer {
public:
    RowSummer(const SumJob<T>& job, SumScratch& scratch)
        : job_(job), scratch_(scratch), dimension_(job.frame->dimension), constants_(constants_of(job.kernel)),
          normalization_(constants_.normalization[static_cast<std::size_t>(dimension_ - 2)]),
          raw_(-job.frame->exponent) {}

    /// The row of a query: sources by original index, at distances as they are reported. The reach is that of the
    /// kernel.
    void sum(std::int64_t query, const std::int32_t* indices, const T* distances, std::int64_t size, double reach) {
        query_ = query;
        indices_ = indices;
        distances_ = distances;
        size_ = size;
        padded_ = in_whole_lanes(size);
        reach_ = reach;
        scratch_.reserve(padded_, dimension_);
        if (job_.volumes != nullptr) {
            sum_field_gradients();
        } else {
            sum_all_else();
        }
    }

private:
    static constexpr double undefined = std::numeric_limits<double>::quiet_NaN();

    /// Writes a number for each neighbor, and `beyond` for the lanes behind them.
    template <class Number>
    void fill(ScratchArray<double>& array, double beyond, const Number& number) const {
        double* const to = array.data();
        for (std::int64_t i = 0; i < size_; ++i) {
            to[i] = number(i);
        }
        std::fill(to + size_, to + padded_, beyond);
    }
    void fill_column(ScratchArray<double>& array, const ScalarsView& column) const {
        if (column.dtype() == DType::float32) {
            fill_column_as<float>(array, column);
        } else {
            fill_column_as<double>(array, column);
        }
    }
    template <class Scalar>
    void fill_column_as(ScratchArray<double>& array, const ScalarsView& column) const {
        const Scalar* const scalars = static_cast<const Scalar*>(column.data());
        const std::int64_t stride = column.stride() / static_cast<std::int64_t>(sizeof(Scalar));
        fill(array, 0,
             [&](std::int64_t i) { return static_cast<double>(scalars[indices_[i] * stride]) + 0.0; }); // no -0.0
    }
    [[nodiscard]] WeighedRow<T> row() const {
        const double inverse = 1 / reach_;
        const bool are_equal = job_.masses == nullptr && job_.volumes == nullptr;
        return {distances_, are_equal ? nullptr : scratch_.masses.data(), size_, std::isfinite(inverse) ? inverse : 0};
    }
    /// Zeros have no exponent: if all numbers of a column are 0, `top` says nothing.
    static void add(FixedSum& sum, double a, double b) {
        if (a != 0 && b != 0) {
            sum.add(split(a), split(b));
        }
    }
    /// The sum of a times b. `top`: the exponent above all terms.
    [[nodiscard]] double sum_of(const ScratchArray<double>& a, const double* b, int top) const {
        if (job_.units->terms == 0) {
            return sum_of_products(a.data(), b, padded_);
        }
        FixedSum sum(top, job_.units->terms);
        for (std::int64_t i = 0; i < size_; ++i) {
            add(sum, a[i], b[i]);
        }
        return to_double(sum.value());
    }
    [[nodiscard]] double sum_of(const ScratchArray<double>& a, int top) const {
        FixedSum sum(top + split(1.0).exponent, job_.units->terms);
        for (std::int64_t i = 0; i < size_; ++i) {
            add(sum, a[i], 1);
        }
        return to_double(sum.value());
    }
    /// A sum as a density, or with two more powers of the reach as its gradient.
    [[nodiscard]] double normalized(double sum, int powers) const {
        double power = reach_;
        for (int i = 1; i < powers; ++i) {
            power *= reach_;
        }
        return normalization_ * sum / power;
    }

    void sum_all_else() {
        NeighborSums& sums = *job_.sums;
        if (job_.masses != nullptr) {
            fill_column(scratch_.masses, *job_.masses);
        }
        const int top = job_.units->masses + constants_.value_exponent;
        const bool needs_weights = job_.units->terms > 0 || !sums.fields.empty();
        double total = weigh(job_.kernel, row(), needs_weights ? scratch_.weights.data() : nullptr);
        if (job_.units->terms > 0) {
            total = sum_of(scratch_.weights, top);
        }
        sums.density[query_] = size_ > 0 ? normalized(total, dimension_) : 0;
        for (std::size_t field = 0; field < sums.fields.size(); ++field) {
            fill_column(scratch_.values, job_.fields[field]);
            sum_field(sums.fields[field], total, top, job_.units->terms > 0 ? job_.units->fields[field] : 0);
        }
        if (!sums.density_gradient.empty()) {
            find_offsets();
            weigh_slopes(job_.kernel, row(), scratch_.weights.data());
            store_gradient(sums.density_gradient, scratch_.weights, job_.units->masses + constants_.slope_exponent);
        }
    }

    /// `exponent`: of the largest number of the field.
    void sum_field(FieldSums& sums, double total, int top, int exponent) {
        const double* const values = scratch_.values.data();
        const double sum = sum_of(scratch_.weights, values, top + exponent);
        if (!sums.sum.empty()) {
            sums.sum[query_] = size_ > 0 ? normalized(sum, dimension_) : 0;
        }
        double least = undefined;
        double greatest = undefined;
        if (size_ > 0) {
            const auto [low, high] = std::minmax_element(values, values + size_);
            least = *low;
            greatest = *high;
        }
        const double mean = total > 0 ? std::min(std::max(sum / total, least), greatest) : undefined;
        store(sums.least, least);
        store(sums.greatest, greatest);
        store(sums.mean, mean);
        if (!sums.variance.empty()) {
            fill(scratch_.offsets, 0, [&](std::int64_t i) { return values[i] - mean; });
            fill(scratch_.products, 0, [&](std::int64_t i) { return scratch_.weights[i] * scratch_.offsets[i]; });
            const double squares =
                total > 0 ? sum_of(scratch_.products, scratch_.offsets.data(), top + 2 * (exponent + 1)) : 0;
            store(sums.variance, squares / total);
        }
    }

    void sum_field_gradients() {
        fill(scratch_.masses, 0, [&](std::int64_t i) { return job_.volumes[indices_[i]]; });
        find_offsets();
        weigh_slopes(job_.kernel, row(), scratch_.weights.data());
        for (std::size_t field = 0; field < job_.fields.size(); ++field) {
            const ScalarsView& values = job_.fields[field];
            const double own = job_.own_fields[field][query_];
            fill(scratch_.products, 0,
                 [&](std::int64_t i) { return scratch_.weights[i] * (values[indices_[i]] - own); });
            const int exponent = job_.units->terms > 0 ? job_.units->fields[field] : 0;
            store_gradient(job_.sums->fields[field].gradient, scratch_.products,
                           job_.units->volumes + constants_.slope_exponent + exponent + 1);
        }
    }

    /// From each neighbor to the query, nearest image, in raw units.
    void find_offsets() {
        const T* const from = job_.positions.queries + query_ * dimension_;
        for (int axis = 0; axis < dimension_; ++axis) {
            double* const to = scratch_.offsets.data() + axis * padded_;
            for (std::int64_t i = 0; i < size_; ++i) {
                const T difference = from[axis] - job_.positions.sources[std::int64_t{indices_[i]} * dimension_ + axis];
                const T image = job_.frame->working_period[axis] - std::abs(difference);
                const T nearest = image < std::abs(difference) ? std::copysign(image, -difference) : difference;
                to[i] = raw_(static_cast<double>(nearest));
            }
            std::fill(to + size_, to + padded_, 0.0);
        }
    }
    void store_gradient(std::vector<double>& gradient, const ScratchArray<double>& weights, int top) const {
        for (int axis = 0; axis < dimension_; ++axis) {
            double component = reach_ > 0 ? 0 : undefined;
            if (size_ > 0 && reach_ > 0) {
                const double sum =
                    sum_of(weights, scratch_.offsets.data() + axis * padded_, top + split(reach_).exponent + 1);
                component = normalized(sum, dimension_ + 2);
            }
            gradient[query_ * dimension_ + axis] = component;
        }
    }
    void store(std::vector<double>& numbers, double number) const {
        if (!numbers.empty()) {
            numbers[query_] = size_ > 0 ? number : undefined;
        }
    }

    const SumJob<T>& job_;
    SumScratch& scratch_;
    int dimension_;
    const KernelConstants& constants_;
    double normalization_;
    PowerOfTwo<double> raw_;

    // of the row at hand
    std::int64_t query_ = 0;
    const std::int32_t* indices_ = nullptr;
    const T* distances_ = nullptr;
    std::int64_t size_ = 0;
    std::int64_t padded_ = 0;
    double reach_ = 0;
};

} // namespace kith::detail
