#include "halos/sphere_search.hpp"

#include <algorithm>
#include <iterator>
#include <numbers>
#include <numeric>

namespace kith::detail::halos {

SphereRequest::SphereRequest(const HaloOptions& options, int exponent, double largest_side, std::int64_t count) {
    const auto ball_mass = [&](const Overdensity& overdensity) {
        return std::ldexp(4 * std::numbers::pi / 3 * density_of(overdensity, options.universe), -3 * exponent);
    };
    columns_.resize(options.overdensities.size());
    std::iota(columns_.begin(), columns_.end(), std::size_t{0});
    const auto of_column = [&](std::size_t i) { return ball_mass(options.overdensities[i]); };
    std::erase_if(columns_, [&](std::size_t i) { return !(of_column(i) > 0); });
    std::stable_sort(columns_.begin(), columns_.end(),
                     [&](std::size_t i, std::size_t j) { return of_column(i) > of_column(j); });
    std::transform(columns_.begin(), columns_.end(), std::back_inserter(ball_masses_), of_column);
    search_.ball_masses = ball_masses_.data();
    search_.densities = static_cast<int>(ball_masses_.size());
    search_.outermost = options.outermost;
    search_.least_radius = std::ldexp(*options.least_radius, exponent);
    search_.peak_ball_mass = ball_mass(overdensities::mean_200);
    search_.lowest_ball_mass = search_.peak_ball_mass;
    if (!ball_masses_.empty()) {
        const double lowest = ball_masses_.back();
        search_.lowest_ball_mass = search_.peak_ball_mass > 0 ? std::min(search_.peak_ball_mass, lowest) : lowest;
    }
    search_.spacing = largest_side / std::cbrt(static_cast<double>(std::max<std::int64_t>(count, 1)));
    search_.particles = count;
}

} // namespace kith::detail::halos
