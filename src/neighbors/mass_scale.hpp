// A power of two that masses are divided by where sums over neighbors could be infinite although their quotients, the
// means, are not (docs/semantics.md, "Sums over neighbors").
//
// Sums are homogeneous in the masses, so that densities and sums are multiplied by it again at the end and means need
// nothing. Powers of two change no bit, but of numbers that become subnormal, or 0. Ordinary columns are passed on as
// they are.
// Cost: a pass over masses and fields, and a copy of the masses if they are divided.
#pragma once

#include <kith/points.hpp>
#include <kith/sum_neighbors.hpp>

#include "neighbors/sum_units.hpp"
#include "support/allocation_errors.hpp"
#include "support/fixed_sum.hpp"
#include "support/parallel.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace kith::detail {

/// Exponents of the largest mass and of the largest number of each field; of zeros SplitNumber::exponent_of_zero.
struct SumRange {
    std::int64_t masses = split(1.0).exponent;
    std::vector<std::int64_t> fields;

    SumRange() = default;
    /// Runs in parallel.
    explicit SumRange(const SumOptions& options) {
        if (const auto& given = options.masses) {
            masses = largest_exponent(given->count(), [&](std::int64_t i) { return (*given)[i]; });
        }
        for (const ScalarsView& field : options.fields) {
            fields.push_back(largest_exponent(field.count(), [&](std::int64_t i) { return field[i]; }));
        }
    }
    /// The exponent of the power of two.
    [[nodiscard]] int excess() const {
        constexpr int of_kernels_and_rows = 7 + 64; // w is below 2^7, and a row has fewer than 2^64 terms
        constexpr int largest = 1023;
        std::int64_t field = 0;
        for (const std::int64_t each : fields) {
            field = std::max(field, each);
        }
        return static_cast<int>(std::max<std::int64_t>(0, masses + field + of_kernels_and_rows - largest));
    }
    /// Whether sums of a field that are not in fixed point are of subnormal numbers, for masses times kernels down to
    /// 2^-60 of the largest.
    [[nodiscard]] bool is_too_small() const {
        constexpr int least = -1022 + 60;
        return masses != SplitNumber::exponent_of_zero && std::ranges::any_of(fields, [&](std::int64_t field) {
                   return field != SplitNumber::exponent_of_zero && masses + field < least;
               });
    }
};

/// The options of a call with divided masses, which this holds.
class ScaledMasses {
public:
    ScaledMasses(const SumOptions& options, std::int64_t points, int excess)
        : options_(options), one_(std::ldexp(1.0, -excess)), excess_(excess) {
        if (excess == 0) {
            return;
        }
        if (!options.masses) {
            options_.masses = ScalarsView(&one_, points, 0);
            return;
        }
        const ScalarsView given = *options.masses;
        with_allocation_errors("the divided masses", [&] { masses_.resize(static_cast<std::size_t>(given.count())); });
        parallel_each(given.count(), 1 << 14, [&](std::int64_t i) { masses_[i] = std::ldexp(given[i], -excess); });
        options_.masses = ScalarsView(masses_);
    }
    ScaledMasses(const ScaledMasses&) = delete;
    ScaledMasses& operator=(const ScaledMasses&) = delete;

    [[nodiscard]] const SumOptions& options() const noexcept { return options_; }

    /// Multiplies what has been found with these by the power of two.
    void restore(NeighborSums& sums) const {
        if (excess_ == 0) {
            return;
        }
        const auto multiply = [&](std::vector<double>& numbers) {
            for (double& number : numbers) {
                number = std::ldexp(number, excess_);
            }
        };
        multiply(sums.density);
        multiply(sums.density_gradient);
        for (FieldSums& field : sums.fields) {
            multiply(field.sum);
        }
    }

private:
    SumOptions options_;
    double one_; ///< the mass of each point, if none is given
    std::vector<double> masses_;
    int excess_;
};

} // namespace kith::detail
