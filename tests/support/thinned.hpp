// Smaller sets of points, for tests whose cost grows with the square of their number.
#pragma once

#include "support/point_sets.hpp"

#include <cstdint>
#include <vector>

namespace kith::test {

/// A subset of at most `most` points: every n-th one, so that all kinds of points are among them.
template <class T>
PointSet<T> thinned(PointSet<T> set, std::int64_t most) {
    const std::int64_t step = (set.count() + most - 1) / most;
    if (step > 1) {
        std::vector<T> kept;
        for (std::int64_t i = 0; i < set.count(); i += step) {
            kept.insert(kept.end(), set.coordinates.begin() + i * set.dimension,
                        set.coordinates.begin() + (i + 1) * set.dimension);
        }
        set.coordinates = kept;
    }
    return set;
}

} // namespace kith::test
