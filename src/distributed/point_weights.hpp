// What points cost, by which rebalancing cuts their z-order.
//
// Weights are given, or 1 each. They are scaled by the greatest of all ranks, so that no sum overflows. One below 1/64
// of the mean counts as that: so no rank gets all the points that cost nothing, and a cost that is measured can correct
// a weight of 0.
#pragma once

#include <kith/points.hpp>

#include "distributed/ranks.hpp"

#include <algorithm>
#include <cstdint>

namespace kith::detail {

class PointWeights {
public:
    /// 1 each.
    PointWeights() = default;
    /// Collective. `count` is the number of this rank's points. Throws invalid_argument, on all ranks, if weights are
    /// not as many, not finite or below 0, or given on some ranks with points only.
    PointWeights(Ranks& ranks, const ScalarsView& weights, std::int64_t count);

    [[nodiscard]] bool are_alike() const { return greatest_ == 0; }
    /// Of all points of all ranks; what is added to small ones, a 64th at most, is not among it. 0 if all are alike.
    [[nodiscard]] double total() const { return total_; }
    [[nodiscard]] double operator[](std::int64_t row) const {
        return greatest_ > 0 ? std::max(weights_[row] / greatest_, least_) : 1;
    }

private:
    ScalarsView weights_;
    double greatest_ = 0; ///< 0: all are 1
    double least_ = 0;
    double total_ = 0;
};

} // namespace kith::detail
