// Weights of pairs as whole numbers, so that their sums are exact and know no order.
//
// The unit is 2^-30 of the power of two at or below the largest weight: whole numbers below 2^31, and weights of
// float32 within a factor of 128 of the largest, are kept exactly. A sum of products of any pairs fits 128 bits.
#pragma once

#include <kith/error.hpp>

#include "pairs/pair_job.hpp"
#include "support/context.hpp"
#include "support/message.hpp"
#include "support/parallel.hpp"
#include "tree/node_attributes.hpp"

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

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

inline double largest_weight(std::span<const double> weights) {
    return parallel_reduce(
        0, std::ssize(weights), 1 << 14, 0.0,
        [&](std::int64_t begin, std::int64_t end, double most) {
            for (std::int64_t i = begin; i < end; ++i) {
                most = std::max(most, weights[i]);
            }
            return most;
        },
        [](double left, double right) { return std::max(left, right); });
}

/// The exponent of the unit for weights of which this is the largest.
inline int unit_of_weights(double largest) {
    return largest > 0 ? std::ilogb(largest) - 30 : 0;
}

inline std::uint32_t whole_weight(double weight, int exponent) {
    return static_cast<std::uint32_t>(std::nearbyint(std::ldexp(weight, -exponent)));
}

/// The weights of one set.
class PairWeights {
public:
    PairWeights() = default;
    /// Of points of a tree; `weights` are in their original order.
    template <Coordinate T>
    PairWeights(Context& context, std::span<const double> weights, const TreeView<T>& tree)
        : PairWeights(context, weights, unit_of_weights(largest_weight(weights)), tree) {}
    /// The same in the unit 2^exponent.
    template <Coordinate T>
    PairWeights(Context& context, std::span<const double> weights, int exponent, const TreeView<T>& tree)
        : PairWeights(context, tree, [&](std::int32_t point) { return whole_weight(weights[point], exponent); }) {
        exponent_ = exponent;
        vanished_ = parallel_sum(whole_.size(), 1 << 14, [&](std::int64_t position) {
            return std::int64_t{whole_[position] == 0 && weights[tree.points.indices[position]] > 0};
        });
    }
    /// Whole numbers, whole_of(point).
    template <Coordinate T, class WholeOf>
    PairWeights(Context& context, const TreeView<T>& tree, const WholeOf& whole_of)
        : whole_(context.memory_tracker(), tree.points.count) {
        parallel_each(whole_.size(), 1 << 14,
                      [&](std::int64_t position) { whole_[position] = whole_of(tree.points.indices[position]); });
        sums_ = node_attributes<std::int64_t>(
            context, tree, [&](std::int32_t position) { return std::int64_t{whole_[position]}; },
            [](std::int64_t left, std::int64_t right) { return left + right; });
    }

    /// Enters them in a job, which must not outlive this.
    template <Coordinate T>
    void enter(WeightedTree<T>& tree) const {
        tree.weights = whole_.data();
        for (std::size_t level = 0; level < sums_.size(); ++level) {
            tree.sums[level] = sums_[level].data();
        }
    }
    [[nodiscard]] int exponent() const noexcept { return exponent_; } ///< a weight is a whole number times 2^this
    [[nodiscard]] std::int64_t vanished() const noexcept { return vanished_; } ///< above 0, but 0 as whole numbers

private:
    Buffer<std::uint32_t> whole_; ///< by position
    std::vector<Buffer<std::int64_t>> sums_;
    int exponent_ = 0;
    std::int64_t vanished_ = 0;
};

} // namespace kith::detail
