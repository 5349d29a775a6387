// Bodies of a Plummer sphere of scale radius 1 (Plummer 1911), up to 20 scale radii: the same for the same number.
#pragma once

#include "gravity.hpp"

#include <cmath>
#include <random>
#include <vector>

namespace gravity {

inline std::vector<Vector> plummer_sphere(int bodies) {
    std::mt19937 random(1);
    const auto number = [&] { return (static_cast<double>(random()) + 0.5) * 0x1p-32; };
    std::vector<Vector> positions;
    while (static_cast<int>(positions.size()) < bodies) {
        const double r = 1 / std::sqrt(std::pow(number(), -2.0 / 3) - 1);
        const double z = 2 * number() - 1;
        const double angle = 6.283185307179586 * number();
        if (r < 20) {
            const double across = r * std::sqrt(1 - z * z);
            positions.push_back({static_cast<float>(across * std::cos(angle)),
                                 static_cast<float>(across * std::sin(angle)), static_cast<float>(r * z)});
        }
    }
    return positions;
}

} // namespace gravity
