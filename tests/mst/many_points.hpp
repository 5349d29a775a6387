// Points enough for several planes of nodes, of kinds that make many rounds, many ties or many coincident points.
#pragma once

#include "support/point_sets.hpp"

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

namespace kith::test {

inline std::vector<float> many_points(const std::string& kind, std::int64_t count) {
    Random random(31);
    std::vector<float> points;
    for (std::int64_t i = 0; i < count; ++i) {
        for (std::int64_t axis = 0; axis < 3; ++axis) {
            if (kind == "halos") { // ever denser toward twenty centers
                const auto center = static_cast<double>(i * 7919 % 20);
                points.push_back(static_cast<float>(center + 0.1 * random.normal() * random.uniform()));
            } else if (kind == "lattice") {
                const std::int64_t place = i * 389 % count;
                points.push_back(static_cast<float>((axis == 0 ? place : axis == 1 ? place / 16 : place / 256) % 16));
            } else if (kind == "crowded places") { // runs that fill several leaves, among points of their own
                const bool alone = i % 4 == 0;
                points.push_back(alone ? static_cast<float>(random.uniform(0, 20)) : static_cast<float>(i * 31 % 20));
            } else if (kind == "two clusters") {
                points.push_back(static_cast<float>((i % 2 == 0 ? 0 : 1000) + random.normal()));
            } else if (kind == "one far away") { // squares of most distances vanish beside it
                points.push_back(static_cast<float>(i == 77 ? 1e27 : random.normal() * std::exp(9 * random.normal())));
            } else { // steps that grow: components are few and wait for each other
                points.push_back(axis == 0 ? std::pow(1.01F, static_cast<float>(i * 389 % count)) : 0.0F);
            }
        }
    }
    return points;
}

} // namespace kith::test
