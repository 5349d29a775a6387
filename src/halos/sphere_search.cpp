#include "halos/sphere_search.hpp"

#include <algorithm>
#include <limits>
#include <numbers>

namespace kith::detail::halos {

namespace {

/// The first shell ends where a ball of the lowest density has this many times the bound mass; further ones a little
/// beyond the ball of the mass found so far, and not too near to the last.
constexpr double first_mass = 1.3;
constexpr double beyond_ball = 1.1;
constexpr double least_growth = 1.25;
constexpr double growth_in_voids = 2;
/// A factor to the square of a distance, so that the distance becomes larger.
constexpr double beyond = 1 + 0x1p-50;

/// The outer bound of the first shell, squared.
double first_shell(const SphereRequest& request, const BoundExtent& extent, double bound) {
    const double of_bound = std::max(beyond * extent.farthest * extent.farthest, std::numeric_limits<double>::min());
    if (request.lowest_ball_mass == 0) {
        return of_bound;
    }
    const double radius = std::max(std::cbrt(first_mass * extent.mass / request.lowest_ball_mass), bound);
    return request.peak_ball_mass > 0 ? beyond * radius * radius : std::max(beyond * radius * radius, of_bound);
}

} // namespace

SphereRequest::SphereRequest(const HaloOptions& options, int exponent, double largest_side, std::int64_t count)
    : outermost(options.outermost), least_radius(std::ldexp(*options.least_radius, exponent)),
      spacing(largest_side / std::cbrt(static_cast<double>(std::max<std::int64_t>(count, 1)))), particles(count) {
    const auto ball_mass = [&](const Overdensity& overdensity) {
        return std::ldexp(4 * std::numbers::pi / 3 * density_of(overdensity, options.universe), -3 * exponent);
    };
    for (std::size_t i = 0; i < options.overdensities.size(); ++i) {
        if (const double ball = ball_mass(options.overdensities[i]); ball > 0) {
            ball_masses.push_back(ball);
            columns.push_back(i);
        }
    }
    peak_ball_mass = ball_mass(overdensities::mean_200);
    lowest_ball_mass = peak_ball_mass;
    for (const double ball : ball_masses) {
        lowest_ball_mass = lowest_ball_mass > 0 ? std::min(lowest_ball_mass, ball) : ball;
    }
}

SphereSearch::SphereSearch(const SphereRequest& request, const BoundExtent& extent, double bound)
    : request_(&request),
      profile_({request.ball_masses, request.outermost, request.least_radius, request.peak_ball_mass, extent.farthest}),
      outer_(first_shell(request, extent, bound)) {}

bool SphereSearch::next_shell() {
    seen_ += in_shell_;
    if (seen_ == request_->particles) {
        profile_.finish();
        return false;
    }
    const double reached = std::sqrt(outer_);
    profile_.reach(reached);
    if (profile_.is_complete()) {
        return false;
    }
    double next = std::max((in_shell_ > 0 ? least_growth : growth_in_voids) * reached, request_->spacing);
    if (request_->lowest_ball_mass > 0) {
        next = std::max(next, beyond_ball * std::cbrt(profile_.mass() / request_->lowest_ball_mass));
    }
    inner_ = outer_;
    outer_ = next * next > inner_ ? next * next : std::numeric_limits<double>::infinity();
    in_shell_ = 0;
    return true;
}

} // namespace kith::detail::halos
