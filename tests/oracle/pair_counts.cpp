// See pair_counts.hpp.
#include "oracle/pair_counts.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace kith::oracle {

namespace {

__extension__ using Wide = __int128;

/// Weights in units of a power of two.
struct WholeWeights {
    std::vector<Wide> numbers;
    int exponent = 0; ///< of the unit
    std::int64_t vanished = 0;
};

/// A sum of numbers of up to 127 bits: digits of 32 bits, the lowest first.
class LongSum {
public:
    void add(Wide number) {
        std::uint64_t carry = 0;
        for (std::uint64_t& digit : digits_) {
            const std::uint64_t sum = digit + static_cast<std::uint32_t>(number) + carry;
            digit = sum & 0xffffffffU;
            carry = sum >> 32;
            number >>= 32;
        }
    }

    /// Over a number above 0, rounded once to the nearest double, ties to even: binary digits of the quotient, the
    /// leading one first. There are 53 of them before it is rounded by what follows.
    [[nodiscard]] double over(Wide divisor) const {
        Wide rest = 0;
        Wide kept = 0; // 53 digits
        int significant = 0;
        int exponent = static_cast<int>(32 * digits_.size()); // of the digit last seen
        bool is_half = false;
        while (true) {
            --exponent;
            const bool digit = exponent >= 0 && (digits_[static_cast<std::size_t>(exponent / 32)] >> exponent % 32) % 2;
            if (exponent < 0 && rest == 0 && significant < 53) {
                return std::ldexp(static_cast<double>(kept), exponent + 1); // there are no more digits
            }
            rest = 2 * rest + (digit ? 1 : 0);
            const bool is_one = rest >= divisor;
            rest -= is_one ? divisor : 0;
            if (significant == 53) {
                is_half = is_one;
                break;
            }
            kept = 2 * kept + (is_one ? 1 : 0);
            significant += is_one || significant > 0 ? 1 : 0;
        }
        bool is_more = rest != 0;
        for (int k = exponent - 1; k >= 0; --k) {
            is_more = is_more || (digits_[static_cast<std::size_t>(k / 32)] >> k % 32) % 2 != 0;
        }
        if (is_half && (is_more || kept % 2 == 1)) {
            ++kept;
        }
        return std::ldexp(static_cast<double>(kept), exponent + 1);
    }

private:
    std::array<std::uint64_t, 8> digits_{};
};

WholeWeights whole(const std::optional<std::vector<double>>& weights, std::int64_t count) {
    WholeWeights result;
    if (!weights) {
        result.numbers.assign(static_cast<std::size_t>(count), 1);
        return result;
    }
    double largest = 0;
    for (const double weight : *weights) {
        largest = std::max(largest, weight);
    }
    if (largest > 0) {
        result.exponent = static_cast<int>(std::floor(std::log2(largest))) - 30;
        while (std::ldexp(1.0, result.exponent + 31) <= largest) { // where the logarithm was rounded
            ++result.exponent;
        }
        while (std::ldexp(1.0, result.exponent + 30) > largest) {
            --result.exponent;
        }
    }
    for (const double weight : *weights) {
        const double number = std::nearbyint(std::ldexp(weight, -result.exponent));
        result.numbers.push_back(static_cast<Wide>(number));
        result.vanished += weight > 0 && number == 0 ? 1 : 0;
    }
    return result;
}

template <class T>
T squared_along(const WorkingCopy<T>& points, int axis, T x, T y) {
    T t = std::abs(x - y);
    const T period = points.period[static_cast<std::size_t>(axis)];
    t = period != 0 ? std::min(t, period - t) : t;
    return t * t;
}

/// The bin whose limits hold a number, or -1.
template <class T, class Limit>
int bin_of(T number, const std::vector<double>& edges, const Limit& limit) {
    for (std::size_t k = 0; k + 1 < edges.size(); ++k) {
        const bool is_above = limit(edges[k]) < number || (k == 0 && static_cast<T>(edges[0]) == 0);
        if (is_above && number <= limit(edges[k + 1])) {
            return static_cast<int>(k);
        }
    }
    return -1;
}

template <class T>
class Counting {
public:
    Counting(const WorkingCopy<T>& points, const PairBins& bins)
        : points_(points), bins_(bins), columns_(bins.second_edges.empty() ? 1 : bins.second_edges.size() - 1),
          counts_((bins.edges.size() - 1) * columns_), weights_(counts_.size()), separations_(counts_.size()) {
        const T last = static_cast<T>(bins.edges.back());
        while (std::isfinite(last) && last >= std::ldexp(1.0, exponent_ + 50)) {
            ++exponent_;
        }
        while (last > 0 && last < std::ldexp(1.0, exponent_ + 49)) {
            --exponent_;
        }
    }

    void add(const T* p, const T* q, Wide weight) {
        const T d2 = squared_distance(points_, p, q);
        T across = 0;
        bool is_first = true;
        for (int axis = 0; axis < points_.dimension; ++axis) {
            if (axis != bins_.line_of_sight) {
                T t = std::abs(p[axis] - q[axis]);
                const T period = points_.period[static_cast<std::size_t>(axis)];
                t = period != 0 ? std::min(t, period - t) : t;
                across = is_first ? t * t : std::fma(t, t, across);
                is_first = false;
            }
        }
        const int sight = bins_.line_of_sight;
        const auto length = [&](double edge) { return squared_radius(points_, edge); };
        const int row = bin_of(bins_.binning == PairBinning::rp_pi ? across : d2, bins_.edges, length);
        int column = 0;
        if (bins_.binning == PairBinning::rp_pi) {
            column = bin_of(squared_along(points_, sight, p[sight], q[sight]), bins_.second_edges, length);
        } else if (bins_.binning == PairBinning::s_mu) {
            column = bin_of(squared_along(points_, sight, p[sight], q[sight]), bins_.second_edges, [&](double edge) {
                const T mu = static_cast<T>(edge);
                const T squared = mu * mu;
                return static_cast<T>(squared * d2);
            });
        }
        if (row >= 0 && column >= 0) {
            const std::size_t bin = static_cast<std::size_t>(row) * columns_ + static_cast<std::size_t>(column);
            ++counts_[bin];
            weights_[bin] += weight;
            if (std::isfinite(static_cast<T>(bins_.edges.back()))) {
                const T distance = std::sqrt(bins_.binning == PairBinning::rp_pi ? across : d2);
                const double units = std::ldexp(static_cast<double>(distance), -points_.exponent - exponent_);
                separations_[bin].add(weight * static_cast<Wide>(std::nearbyint(units)));
            }
        }
    }

    [[nodiscard]] PairTable table(const Weights& weights, const WholeWeights& first, const WholeWeights& second) const {
        PairTable result;
        result.counts = counts_;
        if (std::isfinite(static_cast<T>(bins_.edges.back()))) {
            for (std::size_t bin = 0; bin < counts_.size(); ++bin) {
                result.separations.push_back(weights_[bin] > 0
                                                 ? std::ldexp(separations_[bin].over(weights_[bin]), exponent_)
                                                 : std::numeric_limits<double>::quiet_NaN());
            }
        }
        if (weights.first || weights.second) {
            for (const Wide sum : weights_) {
                result.weighted.push_back(std::ldexp(static_cast<double>(sum), first.exponent + second.exponent));
            }
        }
        return result;
    }

private:
    const WorkingCopy<T>& points_;
    const PairBins& bins_;
    std::size_t columns_;
    std::vector<std::int64_t> counts_;
    std::vector<Wide> weights_; ///< 1 each without weights
    std::vector<LongSum> separations_;
    int exponent_ = 0; ///< of the unit of separations: 2^-50 of the power of two above the last edge
};

} // namespace

template <class T>
PairTable pair_counts(const WorkingCopy<T>& points, const PairBins& bins, const Weights& weights) {
    const WholeWeights numbers = whole(weights.first, points.count());
    Counting<T> counting(points, bins);
    for (std::int64_t i = 0; i < points.count(); ++i) {
        for (std::int64_t j = i + 1; j < points.count(); ++j) {
            counting.add(points.point(i), points.point(j),
                         numbers.numbers[static_cast<std::size_t>(i)] * numbers.numbers[static_cast<std::size_t>(j)]);
        }
    }
    PairTable result = counting.table(weights, numbers, numbers);
    result.vanished_weights = numbers.vanished;
    return result;
}

template <class T>
PairTable pair_counts(const WorkingCopy<T>& points, const std::vector<T>& others, const PairBins& bins,
                      const Weights& weights) {
    const std::int64_t other_count = static_cast<std::int64_t>(others.size()) / points.dimension;
    const WholeWeights first = whole(weights.first, points.count());
    const WholeWeights second = whole(weights.second, other_count);
    Counting<T> counting(points, bins);
    for (std::int64_t i = 0; i < points.count(); ++i) {
        for (std::int64_t j = 0; j < other_count; ++j) {
            counting.add(points.point(i), others.data() + j * points.dimension,
                         first.numbers[static_cast<std::size_t>(i)] * second.numbers[static_cast<std::size_t>(j)]);
        }
    }
    PairTable result = counting.table(weights, first, second);
    result.vanished_weights = points.count() > 0 && other_count > 0 ? first.vanished + second.vanished : 0;
    return result;
}

template PairTable pair_counts(const WorkingCopy<float>&, const PairBins&, const Weights&);
template PairTable pair_counts(const WorkingCopy<double>&, const PairBins&, const Weights&);
template PairTable pair_counts(const WorkingCopy<float>&, const std::vector<float>&, const PairBins&, const Weights&);
template PairTable pair_counts(const WorkingCopy<double>&, const std::vector<double>&, const PairBins&, const Weights&);

} // namespace kith::oracle
