#include "halos/mass_profile.hpp"

#include "groups/resolve_length.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace kith::detail::halos {

namespace {

double cube(double x) {
    return x * x * x;
}

/// Where a ball has the mass that grows on a line between two distances, of which only the outer one is below: by
/// Newton's steps from the outer one. The difference is convex, so they descend to the root.
Sphere crossing(double ball_mass, const Sphere& inner, const Sphere& outer) {
    if (outer.mass == 0) { // a threefold root, at the center
        return {};
    }
    const double slope = (outer.mass - inner.mass) / (outer.radius - inner.radius);
    double radius = outer.radius;
    for (;;) {
        const double above = ball_mass * cube(radius) - (inner.mass + slope * (radius - inner.radius));
        const double next = std::max(radius - above / (3 * ball_mass * radius * radius - slope), inner.radius);
        if (!(above > 0 && next < radius)) {
            break;
        }
        radius = next;
    }
    const double mass = ball_mass * cube(radius);
    return {radius, mass, inner.moment + (mass - inner.mass) * (inner.radius + radius) / 2};
}

} // namespace

MassProfile::MassProfile(const ProfileRequest& request) : request_(request) {
    for (const double ball_mass : request.ball_masses) {
        crossings_.push_back({.ball_mass = ball_mass, .is_below = false, .sphere = {}});
    }
    by_density_.resize(crossings_.size());
    std::iota(by_density_.begin(), by_density_.end(), std::size_t{0});
    std::sort(by_density_.begin(), by_density_.end(),
              [&](std::size_t a, std::size_t b) { return crossings_[a].ball_mass > crossings_[b].ball_mass; });
}

void MassProfile::finish_alone() {
    finish();
    const auto cross = [&](Crossing& crossing) {
        const double radius = root_of(last_.mass / crossing.ball_mass, 3);
        crossing.sphere = {radius, crossing.ball_mass * cube(radius), last_.moment};
        crossing.is_below = true;
    };
    if (!request_.outermost) {
        for (; crossed_ < by_density_.size(); ++crossed_) {
            cross(crossings_[by_density_[crossed_]]);
        }
        return;
    }
    for (Crossing& crossing : crossings_) {
        if (!crossing.is_below) {
            cross(crossing);
        }
    }
}

void MassProfile::look_at_last() {
    if (is_new_) {
        is_new_ = false;
        const double cubed_radius = cube(last_.radius);
        look_for_peaks(cubed_radius);
        look_for_crossings(cubed_radius);
    }
}

void MassProfile::look_for_crossings(double cubed_radius) {
    const auto cross = [&](Crossing& found) { found.sphere = crossing(found.ball_mass, before_, last_); };
    if (!request_.outermost) {
        while (crossed_ < by_density_.size()) {
            Crossing& next = crossings_[by_density_[crossed_]];
            if (!(last_.mass < next.ball_mass * cubed_radius)) {
                return;
            }
            cross(next);
            ++crossed_;
        }
        return;
    }
    for (Crossing& each : crossings_) {
        const bool is_below = last_.mass < each.ball_mass * cubed_radius;
        if (is_below && !each.is_below) {
            cross(each);
        }
        each.is_below = is_below;
    }
}

void MassProfile::look_for_peaks(double cubed_radius) {
    has_peak_ended_ =
        has_peak_ended_ || (request_.peak_ball_mass > 0 && last_.mass < request_.peak_ball_mass * cubed_radius);
    const double radius = std::max(last_.radius, request_.least_radius);
    if (has_peak_ended_ || !(radius > 0)) {
        return;
    }
    const double squared_velocity = last_.mass / radius;
    const auto raise = [&](VelocityPeak& peak) {
        if (squared_velocity > peak.squared_velocity) {
            peak = {radius, squared_velocity};
        }
    };
    raise(peak_);
    if (last_.radius <= request_.peak_within) {
        raise(peak_within_);
    }
}

bool MassProfile::is_complete() const {
    const bool are_below = request_.outermost ? std::all_of(crossings_.begin(), crossings_.end(),
                                                            [](const Crossing& each) { return each.is_below; })
                                              : crossed_ == by_density_.size();
    return are_below && (has_peak_ended_ || (request_.peak_ball_mass == 0 && reached_ > request_.peak_within));
}

double half_mass_radius(std::span<const double> radii, std::span<const double> masses) {
    double total = 0;
    for (const double mass : masses) {
        total += mass;
    }
    const double half = total / 2;
    double before = 0; // the mass within the distance before, and that distance
    double before_radius = 0;
    double mass = 0;
    for (std::size_t i = 0; i < radii.size();) {
        const double radius = radii[i];
        for (; i < radii.size() && radii[i] == radius; ++i) {
            mass += masses[i];
        }
        if (mass >= half) {
            return radius == 0 || mass == before
                       ? before_radius
                       : before_radius + (half - before) * ((radius - before_radius) / (mass - before));
        }
        before = mass;
        before_radius = radius;
    }
    return 0;
}

} // namespace kith::detail::halos
