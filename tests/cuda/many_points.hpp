// Enough points of several kinds for many blocks and for every step of what a GPU does with them.
#pragma once

#include "support/cases.hpp"

#include <vector>

namespace kith::test {

/// In the unit cube: even points, clumps of a few thousand, and a run of coincident ones.
inline std::vector<float> many_points() {
    std::vector<float> points = uniform_points<float>(200000, 3, 0, 1, 1);
    Random draw(2);
    for (int clump = 0; clump < 50; ++clump) {
        const double x[3] = {draw.uniform(), draw.uniform(), draw.uniform()};
        for (int i = 0; i < 4000; ++i) {
            for (const double center : x) {
                points.push_back(static_cast<float>(center + 2e-3 * draw.normal()));
            }
        }
    }
    for (int i = 0; i < 3 * 50000; ++i) {
        points.push_back(0.25F);
    }
    return points;
}

} // namespace kith::test
