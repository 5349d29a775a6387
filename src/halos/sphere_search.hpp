// The search for one halo's spheres: which shell of particles about its center is needed next, and what has been found.
//
// The first shell is a guess by the halo's mass, later ones end a little beyond the ball of the mass found so far,
// until the profile (mass_profile.hpp) has all that is asked for. Outermost crossings are bounded beforehand
// (mass_bound.hpp). Particles come shell by shell, in each by distance, ties by index. Which shells there are does not
// show in what is found, so they may be collected in one tree, or on many ranks.
#pragma once

#include <kith/halos.hpp>

#include "halos/mass_profile.hpp"

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace kith::detail::halos {

/// What the bound members of a halo say of it. Lengths are those of the working copy.
struct BoundExtent {
    std::array<double, 3> center{};
    std::int64_t center_row = 0;
    std::array<double, 3> mean_offset{};
    double mass = 0;
    double farthest = 0; ///< distance of a bound member
    bool is_wide = false;
};

/// What the halos of a call have in common. Lengths are those of the working copy.
struct SphereRequest {
    std::vector<double> ball_masses;  ///< of the densities that there are
    std::vector<std::size_t> columns; ///< the overdensities that these are of
    double peak_ball_mass = 0;
    double lowest_ball_mass = 0; ///< 0: none is sought
    bool outermost;
    double least_radius;
    double spacing;         ///< about the distance of neighbors
    std::int64_t particles; ///< all that there are

    /// A working length is a given one times 2^exponent; `largest_side` is that of the extent of all `count` particles.
    SphereRequest(const HaloOptions& options, int exponent, double largest_side, std::int64_t count);
    /// Whether searches need the radius beyond which no sphere is dense enough.
    [[nodiscard]] bool needs_bounds() const noexcept { return outermost && !ball_masses.empty(); }
};

class SphereSearch {
public:
    /// `bound`: no sphere beyond this radius has the lowest density; 0 unless the request needs bounds. Refers to the
    /// request.
    SphereSearch(const SphereRequest& request, const BoundExtent& extent, double bound);

    // Of the next shell, squared: particles are farther than `inner` and not farther than `outer`.
    [[nodiscard]] double inner() const noexcept { return inner_; }
    [[nodiscard]] double outer() const noexcept { return outer_; }

    /// A particle of the shell.
    void add(double square, double mass) {
        profile_.add(std::sqrt(square), mass);
        ++in_shell_;
    }
    /// All particles of the shell have been added. Returns whether there is another shell.
    bool next_shell();

    /// Complete once there is no other shell.
    [[nodiscard]] const MassProfile& profile() const noexcept { return profile_; }

private:
    const SphereRequest* request_;
    MassProfile profile_;
    double inner_ = -1;
    double outer_;
    std::int64_t in_shell_ = 0;
    std::int64_t seen_ = 0;
};

} // namespace kith::detail::halos
