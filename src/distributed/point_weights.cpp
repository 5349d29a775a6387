#include "distributed/point_weights.hpp"

#include <kith/error.hpp>

#include "support/message.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

namespace kith::detail {

namespace {

/// The weights of a rank.
struct Part {
    double greatest = 0;
    double sum = 0; ///< of the weights over the greatest
    double count = 0;
};

Part checked(const ScalarsView& weights, std::int64_t count) {
    if (weights.count() != count) {
        throw error(ErrorKind::invalid_argument, "weights: there are ", weights.count(), " for ", count,
                    " points; give every point one, on all ranks, or none on any");
    }
    Part part{0, 0, static_cast<double>(count)};
    for (std::int64_t row = 0; row < count; ++row) {
        const double weight = weights[row];
        if (!(weight >= 0) || std::isinf(weight)) {
            throw error(ErrorKind::invalid_argument, {.point = row, .value = weight}, "weights: point ", row, " has ",
                        std::string_view(std::isnan(weight) ? "NaN" : shortest(weight)),
                        "; weights are finite numbers, 0 or more");
        }
        part.greatest = std::max(part.greatest, weight);
    }
    for (std::int64_t row = 0; part.greatest > 0 && row < count; ++row) {
        part.sum += weights[row] / part.greatest;
    }
    return part;
}

} // namespace

PointWeights::PointWeights(Ranks& ranks, const ScalarsView& weights, std::int64_t count) {
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
        total_ = all.sum;
    }
}

} // namespace kith::detail
