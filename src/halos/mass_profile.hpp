// The mass within r of a center, and what is read off it: spheres of given densities, the largest circular velocity.
//
// M(r) is known at the distances of particles, and linear between two of them (docs/semantics.md, "Bound halos"). The
// profile is handed the particles by distance, shell after shell, and looks at every distance once, when all of its
// particles have come; so it can say when no further shell is needed. Sums are in that order, in float64.
// Source: the definitions of SOAP. Cost: two comparisons and two divisions for each particle.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

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
    std::span<const double> ball_masses; ///< of each density that is sought; above 0
    bool outermost = false;              ///< the last crossing is taken instead of the first
    double least_radius = 0;             ///< nearer distances count as this for circular velocities
    double peak_ball_mass = 0; ///< velocities count before the first crossing of this density; 0: none is given
    double peak_within = 0;    ///< if there is no such crossing: velocities count up to this radius
};

class MassProfile {
public:
    explicit MassProfile(const ProfileRequest& request);

    /// Particles by ascending distance.
    void add(double radius, double mass) {
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
    void reach(double radius) {
        reached_ = radius;
        if (last_.radius < radius) {
            look_at_last();
        }
    }
    /// All particles have been added.
    void finish() { look_at_last(); }
    /// The same, of masses that stay as they are beyond the last particle: every density is crossed.
    void finish_alone();

    /// Whether nothing that lies farther matters. For outermost crossings this assumes that no distance beyond what has
    /// been reached is dense enough.
    [[nodiscard]] bool is_complete() const;
    [[nodiscard]] double mass() const noexcept { return last_.mass; }

    /// Of a complete or finished profile.
    [[nodiscard]] Sphere sphere(std::size_t density) const {
        const Crossing& crossing = crossings_[density];
        return request_.outermost && !crossing.is_below ? Sphere{} : crossing.sphere;
    }
    [[nodiscard]] VelocityPeak peak() const noexcept { return has_peak_ended_ ? peak_ : peak_within_; }

private:
    struct Crossing {
        double ball_mass;
        bool is_below = false; ///< at the last distance that was looked at; of outermost crossings
        Sphere sphere;
    };

    void look_at_last();
    void look_for_crossings(double cubed_radius);
    void look_for_peaks(double cubed_radius);

    ProfileRequest request_;
    std::vector<Crossing> crossings_;
    std::vector<std::size_t> by_density_; ///< the densest first: it is crossed first
    std::size_t crossed_ = 0;             ///< of these, if first crossings are sought
    Sphere before_;                       ///< up to the distance before the last
    Sphere last_;
    bool is_new_ = true; ///< the last distance has not been looked at
    double reached_ = 0;
    VelocityPeak peak_;
    VelocityPeak peak_within_;
    bool has_peak_ended_ = false;
};

/// Where half of the mass is reached, of masses by ascending distance.
double half_mass_radius(std::span<const double> radii, std::span<const double> masses);

} // namespace kith::detail::halos
