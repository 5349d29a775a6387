// A candidate neighbor and its order, and the parts of selection that need no SIMD.
#pragma once

#include <kith/points.hpp>

#include "points/frame.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <vector>

namespace kith::detail {

/// Ordered by (squared distance, original index): the order of neighbors in docs/semantics.md. Also a bound: what
/// comes after it in that order cannot be an answer.
template <Coordinate T>
struct Candidate {
    T distance = std::numeric_limits<T>::infinity(); ///< squared
    std::int32_t index = std::numeric_limits<std::int32_t>::max();

    friend bool operator<(const Candidate& a, const Candidate& b) noexcept {
        return a.distance < b.distance || (a.distance == b.distance && a.index < b.index);
    }
};

/// How squared working distances become reported ones.
template <Coordinate T>
struct ReportScale {
    bool squared = false;
    PowerOfTwo<T> power;

    KITH_HOST_DEVICE ReportScale(const Frame<T>& frame, bool report_squares)
        : squared(report_squares), power(report_squares ? -2 * frame.exponent : -frame.exponent) {}
};

/// x to a power, for x > 0, within some per cent: the logarithm is taken to be linear between powers of two.
inline float rough_power(float x, float power) noexcept {
    constexpr std::int32_t one = 0x3F800000;
    const float logarithm = static_cast<float>(std::bit_cast<std::int32_t>(x) - one);
    return std::bit_cast<float>(one + static_cast<std::int32_t>(power * logarithm));
}

/// Sorts at least the first k of many candidates by (distance, index) into `sorted_*`.
template <Coordinate T, class Index>
void sort_many(const T* distances, const Index* indices, std::int64_t size, std::int64_t k, T* sorted_distances,
               Index* sorted_indices, std::vector<Candidate<T>>& spare) {
    spare.resize(size);
    for (std::int64_t i = 0; i < size; ++i) {
        spare[i] = {distances[i], static_cast<std::int32_t>(indices[i])};
    }
    const std::int64_t kept = std::min(k, size);
    if (kept < size) {
        std::nth_element(spare.begin(), spare.begin() + kept, spare.end());
    }
    std::sort(spare.begin(), spare.begin() + kept);
    for (std::int64_t i = 0; i < kept; ++i) {
        sorted_distances[i] = spare[i].distance;
        sorted_indices[i] = spare[i].index;
    }
}

/// Puts runs of equal distance, within sorted distances, in order of index.
template <Coordinate T, class Index>
void order_ties(const T* distances, Index* indices, std::int64_t size) {
    for (std::int64_t start = 0; start < size;) {
        std::int64_t stop = start + 1;
        while (stop < size && distances[stop] == distances[start]) {
            ++stop;
        }
        if (!std::is_sorted(indices + start, indices + stop)) {
            std::sort(indices + start, indices + stop);
        }
        start = stop;
    }
}

} // namespace kith::detail
