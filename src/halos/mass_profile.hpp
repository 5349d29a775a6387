// The mass within r of a center, and what is read off it: spheres of given densities, the largest circular velocity.
//
// M(r) is known at the distances of particles, and linear between two of them (docs/semantics.md, "Bound halos"). The
// profile is handed the particles by distance, shell after shell, and looks at every distance once, when all of its
// particles have come; so it can say when no further shell is needed. Sums are in that order, in float64.
// Source: the definitions of SOAP. Cost: two comparisons and two divisions for each particle.
//
// The CPU and the GPU share this text: only operations that IEEE 754 rounds correctly.
#pragma once

#include "groups/resolve_length.hpp"
#include "support/host_device.hpp"

#include <algorithm>
#include <cstdint>

namespace kith::detail::halos {

struct Sphere {
    double radius = 0; ///< 0 if no sphere has the density
    double mass = 0;
    double moment = 0; ///< sum of mass times distance
};

struct VelocityPeak {
    double radius = 0;
    double squared_velocity = 0; ///< M/r
};

/// In any units that belong together. The mass of a ball of a density is its `ball mass` times the radius cubed.
struct ProfileRequest {
    const double* ball_masses = nullptr; ///< of each density that is sought, the densest first; above 0
    int densities = 0;
    bool outermost = false;    ///< the last crossing is taken instead of the first
    double least_radius = 0;   ///< nearer distances count as this for circular velocities
    double peak_ball_mass = 0; ///< velocities count before the first crossing of this density; 0: none is given
};

/// Where M(r) comes below a density. Its bytes are 0 at first.
struct Crossing {
    bool is_below = false; ///< at the last distance that was looked at; of outermost crossings
    Sphere sphere;
};

KITH_HOST_DEVICE inline double cube(double x) noexcept {
    return x * x * x;
}

/// Where a ball has the mass that grows on a line between two distances, of which only the outer one is below: by
/// Newton's steps from the outer one. The difference is convex, so they descend to the root.
KITH_HOST_DEVICE inline Sphere sphere_between(double ball_mass, const Sphere& inner, const Sphere& outer) noexcept {
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

class MassProfile {
public:
    /// If the density of peaks is not crossed, velocities count up to the radius `peak_within`. `crossings`, one for
    /// each density, is the profile's memory, of which nothing has been set yet. Refers to both.
    KITH_HOST_DEVICE MassProfile(const ProfileRequest& request, double peak_within, Crossing* crossings) noexcept
        : request_(&request), crossings_(crossings), peak_limit_(peak_within) {}

    /// Particles by ascending distance.
    KITH_HOST_DEVICE void add(double radius, double mass) noexcept {
        if (radius > last_.radius) {
            look_at_last();
            before_ = last_;
            last_.radius = radius;
            is_new_ = true;
        }
        last_.mass += mass;
        last_.moment += mass * radius;
    }
    /// All particles nearer than that have been added.
    KITH_HOST_DEVICE void reach(double radius) noexcept {
        reached_ = radius;
        if (last_.radius < radius) {
            look_at_last();
        }
    }
    /// All particles have been added.
    KITH_HOST_DEVICE void finish() noexcept { look_at_last(); }
    /// The same, of masses that stay as they are beyond the last particle: every density is crossed.
    KITH_HOST_DEVICE void finish_alone() noexcept {
        finish();
        for (int i = request_->outermost ? 0 : crossed_; i < request_->densities; ++i) {
            Crossing& crossing = crossings_[i];
            if (!crossing.is_below) {
                const double ball_mass = request_->ball_masses[i];
                const double radius = root_of(last_.mass / ball_mass, 3);
                crossing = {true, {radius, ball_mass * cube(radius), last_.moment}};
            }
        }
        crossed_ = request_->densities;
    }

    /// Whether nothing that lies farther matters. For outermost crossings this assumes that no distance beyond what has
    /// been reached is dense enough.
    [[nodiscard]] KITH_HOST_DEVICE bool is_complete() const noexcept {
        bool are_below = request_->outermost || crossed_ == request_->densities;
        for (int i = 0; request_->outermost && i < request_->densities; ++i) {
            are_below = are_below && crossings_[i].is_below;
        }
        return are_below && (has_peak_ended_ || (request_->peak_ball_mass == 0 && reached_ > peak_limit_));
    }
    [[nodiscard]] KITH_HOST_DEVICE double mass() const noexcept { return last_.mass; }

    /// Of a complete or finished profile.
    [[nodiscard]] KITH_HOST_DEVICE Sphere sphere(int density) const noexcept {
        const Crossing& crossing = crossings_[density];
        return request_->outermost && !crossing.is_below ? Sphere{} : crossing.sphere;
    }
    [[nodiscard]] KITH_HOST_DEVICE VelocityPeak peak() const noexcept { return has_peak_ended_ ? peak_ : peak_within_; }

private:
    KITH_HOST_DEVICE void look_at_last() noexcept {
        if (is_new_) {
            is_new_ = false;
            const double cubed_radius = cube(last_.radius);
            look_for_peaks(cubed_radius);
            look_for_crossings(cubed_radius);
        }
    }
    KITH_HOST_DEVICE void look_for_crossings(double cubed_radius) noexcept {
        if (!request_->outermost) {
            for (; crossed_ < request_->densities; ++crossed_) {
                const double ball_mass = request_->ball_masses[crossed_];
                if (!(last_.mass < ball_mass * cubed_radius)) {
                    return;
                }
                crossings_[crossed_].sphere = sphere_between(ball_mass, before_, last_);
            }
            return;
        }
        for (int i = 0; i < request_->densities; ++i) {
            const double ball_mass = request_->ball_masses[i];
            const bool is_below = last_.mass < ball_mass * cubed_radius;
            if (is_below && !crossings_[i].is_below) {
                crossings_[i].sphere = sphere_between(ball_mass, before_, last_);
            }
            crossings_[i].is_below = is_below;
        }
    }
    KITH_HOST_DEVICE void look_for_peaks(double cubed_radius) noexcept {
        has_peak_ended_ =
            has_peak_ended_ || (request_->peak_ball_mass > 0 && last_.mass < request_->peak_ball_mass * cubed_radius);
        const double radius = std::max(last_.radius, request_->least_radius);
        if (has_peak_ended_ || !(radius > 0)) {
            return;
        }
        const VelocityPeak here{radius, last_.mass / radius};
        if (here.squared_velocity > peak_.squared_velocity) {
            peak_ = here;
        }
        if (last_.radius <= peak_limit_ && here.squared_velocity > peak_within_.squared_velocity) {
            peak_within_ = here;
        }
    }

    const ProfileRequest* request_;
    Crossing* crossings_;
    double peak_limit_;
    int crossed_ = 0;    ///< of the densities, if first crossings are sought: the densest is crossed first
    bool is_new_ = true; ///< the last distance has not been looked at
    bool has_peak_ended_ = false;
    Sphere before_; ///< up to the distance before the last
    Sphere last_;
    double reached_ = 0;
    VelocityPeak peak_;
    VelocityPeak peak_within_;
};

/// Where half of a mass is reached, linear between two distances.
class HalfMassRadius {
public:
    /// `total` is the sum of all masses in the order in which they are added.
    KITH_HOST_DEVICE explicit HalfMassRadius(double total) noexcept : half_(total / 2) {}

    /// Particles by ascending distance.
    KITH_HOST_DEVICE void add(double radius, double mass) noexcept {
        if (radius > radius_) {
            look_at_last();
            radius_ = radius;
        }
        mass_ += mass;
    }
    /// All particles have been added. 0 if there are none.
    [[nodiscard]] KITH_HOST_DEVICE double finish() noexcept {
        look_at_last();
        return found_;
    }

private:
    KITH_HOST_DEVICE void look_at_last() noexcept {
        if (!is_found_ && mass_ >= half_) {
            is_found_ = true;
            found_ =
                radius_ == 0 || mass_ == mass_before_
                    ? radius_before_
                    : radius_before_ + (half_ - mass_before_) * ((radius_ - radius_before_) / (mass_ - mass_before_));
        }
        mass_before_ = mass_;
        radius_before_ = radius_;
    }

    double half_;
    double radius_ = 0;
    double mass_ = 0;
    double radius_before_ = 0;
    double mass_before_ = 0;
    double found_ = 0;
    bool is_found_ = false;
};

} // namespace kith::detail::halos
