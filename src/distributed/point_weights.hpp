// What points cost, by which rebalancing cuts their z-order.
//
// Weights are given, or 1 each. They are scaled by the greatest of all ranks, so that no sum overflows. One below 1/64
// of the mean counts as that: so no rank gets all the points that cost nothing, and a cost that is measured can correct
// a weight of 0.
#pragma once

#include <kith/error.hpp>
#include <kith/points.hpp>

#include "distributed/ranks.hpp"
#include "support/message.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string_view>

namespace kith::detail {

class PointWeights {
public:
    /// 1 each.
    PointWeights() = default;
    /// Collective. `count` is the number of this rank's points. Throws invalid_argument, on all ranks, if weights are
    /// not as many, not finite or below 0, or given on some ranks with points only.
    PointWeights(Ranks& ranks, const ScalarsView& weights, std::int64_t count) {
        if (!ranks.any(weights.count() > 0)) {
            return;
        }
        Part mine;
        ranks.agreed([&] { mine = checked(weights, count); });
        Part all;
        const std::vector<Part> parts = ranks.gather(mine);
        for (const Part& part : parts) {
            all.greatest = std::max(all.greatest, part.greatest);
        }
        for (const Part& part : parts) { // in the order of ranks, so that all get the same sum
            all.sum += part.sum * (part.greatest / all.greatest);
            all.count += part.count;
        }
        if (all.greatest > 0) {
            weights_ = weights;
            greatest_ = all.greatest;
            least_ = all.sum / static_cast<double>(all.count) / 64;
        }
    }

    [[nodiscard]] double operator[](std::int64_t row) const {
        return greatest_ > 0 ? std::max(weights_[row] / greatest_, least_) : 1;
    }

private:
    /// The weights of a rank.
    struct Part {
        double greatest = 0;
        double sum = 0; ///< of the weights over the greatest
        double count = 0;
    };

    static Part checked(const ScalarsView& weights, std::int64_t count) {
        if (weights.count() != count) {
            throw error(ErrorKind::invalid_argument, "weights: there are ", weights.count(), " for ", count,
                        " points; give every point one, on all ranks, or none on any");
        }
        Part part{0, 0, static_cast<double>(count)};
        for (std::int64_t row = 0; row < count; ++row) {
            const double weight = weights[row];
            if (!(weight >= 0) || std::isinf(weight)) {
                throw error(ErrorKind::invalid_argument, {.point = row, .value = weight}, "weights: point ", row,
                            " has ", std::string_view(std::isnan(weight) ? "NaN" : shortest(weight)),
                            "; weights are finite numbers, 0 or more");
            }
            part.greatest = std::max(part.greatest, weight);
        }
        for (std::int64_t row = 0; part.greatest > 0 && row < count; ++row) {
            part.sum += weights[row] / part.greatest;
        }
        return part;
    }

    ScalarsView weights_;
    double greatest_ = 0; ///< 0: all are 1
    double least_ = 0;
};

} // namespace kith::detail
