#include "halo_table.hpp"

#include "counter_random.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace bench {

namespace {

constexpr double smallest_mass = 20;
constexpr double slope = 0.9; // of the number of halos above a mass
constexpr double concentration = 8;
constexpr double overdensity = 200;

/// Mass within x scale radii.
double enclosed(double x) {
    return std::log1p(x) - x / (1 + x);
}

/// The mass within a radius goes with its square near the center, so a table by the root of the mass is close to
/// linear.
std::vector<double> inverse_profile() {
    std::vector<double> radii;
    for (int step = 0; step <= profile_steps; ++step) {
        const double root = static_cast<double>(step) / profile_steps;
        const double wanted = root * root * enclosed(concentration);
        double lower = 0;
        double upper = concentration;
        for (int halving = 0; halving < 60; ++halving) {
            const double middle = 0.5 * (lower + upper);
            (enclosed(middle) < wanted ? lower : upper) = middle;
        }
        radii.push_back(0.5 * (lower + upper) / concentration);
    }
    return radii;
}

} // namespace

HaloTable make_halos(std::int64_t points, std::uint64_t seed) {
    HaloTable table;
    table.background = points * 3 / 10;
    table.profile_of_root = inverse_profile();
    const std::int64_t members = points - table.background;
    const double largest = std::max(smallest_mass, static_cast<double>(points) / 20);
    const double rarest = std::pow(largest / smallest_mass, -slope);
    table.first.push_back(0);
    for (std::uint64_t halo = 0; table.first.back() < members; ++halo) {
        const double share = random_share<double>(seed, halo, 0);
        const double mass = std::ceil(smallest_mass * std::pow(1 - share * (1 - rarest), -1 / slope));
        table.first.push_back(std::min(members, table.first.back() + static_cast<std::int64_t>(mass)));
        const double volume = mass / (overdensity * static_cast<double>(points));
        table.radius.push_back(std::cbrt(volume * 3 / (4 * std::numbers::pi)));
    }
    return table;
}

} // namespace bench
