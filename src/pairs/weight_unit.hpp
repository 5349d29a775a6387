// Weights of pairs as whole numbers, so that their sums are exact and know no order.
//
// The unit is 2^-30 of the power of two at or below the largest weight: whole numbers below 2^31, and weights of
// float32 within a factor of 128 of the largest, are kept exactly. A sum of products of any pairs fits 128 bits.
#pragma once

#include <kith/error.hpp>

#include "support/message.hpp"
#include "support/parallel.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>

namespace kith::detail {

/// Throws invalid_argument unless there is one weight for each point, all finite and 0 or more. `what` names them.
inline void check_weights(std::span<const double> weights, std::int64_t points, const char* what) {
    if (std::ssize(weights) != points) {
        throw error(ErrorKind::invalid_argument, what, " holds ", weights.size(), " numbers for ", points,
                    points == 1 ? " point" : " points", "; give one weight per point, or none");
    }
    for (std::int64_t i = 0; i < points; ++i) {
        if (!(weights[i] >= 0) || std::isinf(weights[i])) {
            throw error(ErrorKind::invalid_argument, ErrorDetails{.point = i, .value = weights[i]},
                        "the weight of point ", i, " in ", what, " is ", weights[i],
                        "; weights must be finite numbers, 0 or more");
        }
    }
}

/// What the whole numbers of a set's weights are multiples of. Runs in parallel.
class WeightUnit {
public:
    /// Of weights of which this is the largest, perhaps on another rank.
    explicit WeightUnit(double largest) : exponent_(largest > 0 ? std::ilogb(largest) - 30 : 0) {}
    explicit WeightUnit(std::span<const double> weights) : WeightUnit(largest_of(weights)) {}

    [[nodiscard]] static double largest_of(std::span<const double> weights) {
        return parallel_reduce(
            0, std::ssize(weights), grain, 0.0,
            [&](std::int64_t begin, std::int64_t end, double most) {
                for (std::int64_t i = begin; i < end; ++i) {
                    most = std::max(most, weights[i]);
                }
                return most;
            },
            [](double left, double right) { return std::max(left, right); });
    }

    [[nodiscard]] int exponent() const noexcept { return exponent_; } ///< a weight is a whole number times 2^this
    [[nodiscard]] std::uint32_t whole(double weight) const {
        return static_cast<std::uint32_t>(std::nearbyint(std::ldexp(weight, -exponent_)));
    }
    /// Writes the whole numbers of weight(i).
    template <class Weight>
    void round(std::int64_t count, const Weight& weight, std::uint32_t* numbers) const {
        parallel_each(count, grain, [&](std::int64_t i) { numbers[i] = whole(weight(i)); });
    }
    /// How many weights are above 0, but 0 as whole numbers.
    [[nodiscard]] std::int64_t vanished(std::span<const double> weights) const {
        return parallel_sum(std::ssize(weights), grain,
                            [&](std::int64_t i) { return std::int64_t{weights[i] > 0 && whole(weights[i]) == 0}; });
    }

private:
    static constexpr std::int64_t grain = 1 << 14;

    int exponent_;
};

} // namespace kith::detail
