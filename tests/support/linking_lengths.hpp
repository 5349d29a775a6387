// Linking lengths that matter for a set of points.
#pragma once

#include "support/cases.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace kith::test {

/// None, tiny, usual, large, of everything.
template <class T>
std::vector<double> round_lengths(const PointSet<T>& set) {
    const double separation =
        set.extent() / std::pow(static_cast<double>(std::max<std::int64_t>(set.count(), 1)), 1.0 / set.dimension);
    return {0,          separation * 1e-3, separation * 0.05, separation * 0.2, separation * 0.5,
            separation, separation * 4,    set.extent() * 2};
}

/// The same, one that occurs exactly, and the next smaller one.
template <class T>
std::vector<double> interesting_lengths(const PointSet<T>& set, const Box& box) {
    std::vector<double> lengths = round_lengths(set);
    if (set.count() > 1) {
        const oracle::Neighbors<T> neighbors(oracle::working_copy<T>(set.coordinates, set.dimension, box), 2);
        const T exact = neighbors.rows(2).distances[static_cast<std::size_t>(set.count() / 2) * 2 + 1];
        lengths.push_back(static_cast<double>(exact));
        lengths.push_back(static_cast<double>(std::nextafter(exact, T{0})));
    }
    return lengths;
}

} // namespace kith::test
