// Positions as navigation satellites give them: latitudes and longitudes to a millionth of a degree, along tracks.
//
// Few values of a coordinate are shared by very many points, and many points coincide with another: what k-d trees and
// cells are worst at.
#pragma once

#include "support/point_sets.hpp"

#include <cmath>
#include <cstdint>
#include <vector>

namespace kith::test {

/// Row-major, in the plane: two points of three move on, the third stays. About a third of them coincide with another.
template <class T>
std::vector<T> positions_on_earth(std::int64_t count, std::uint64_t seed) {
    constexpr std::int64_t points_of_track = 500;
    Random random(seed);
    std::vector<T> positions;
    double latitude = 0;
    double longitude = 0;
    for (std::int64_t i = 0; i < count; ++i) {
        if (i % points_of_track == 0) {
            latitude = 39.9 + 0.05 * random.normal();
            longitude = 116.3 + 0.05 * random.normal();
        } else if (i % 3 != 0) {
            latitude += 5e-6 * random.normal();
            longitude += 5e-6 * random.normal();
        }
        positions.push_back(static_cast<T>(std::round(latitude * 1e6) * 1e-6));
        positions.push_back(static_cast<T>(std::round(longitude * 1e6) * 1e-6));
    }
    return positions;
}

} // namespace kith::test
