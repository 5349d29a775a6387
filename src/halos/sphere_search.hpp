// The search for one halo's spheres: which shell of particles about its center is needed next, and what has been found.
//
// The first shell is a guess by the halo's mass, later ones end a little beyond the ball of the mass found so far,
// until the profile (mass_profile.hpp) has all that is asked for. Outermost crossings are bounded beforehand
// (mass_bound.hpp). Particles come shell by shell, in each by distance, ties by index. Which shells there are does not
// show in what is found, so they may be collected in one tree, on many ranks or on a GPU, which shares this text.
#pragma once

#include <kith/halos.hpp>

#include "halos/mass_profile.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
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

/// What the searches of a call have in common. Lengths are those of the working copy.
struct SearchRequest : ProfileRequest {
    double lowest_ball_mass = 0; ///< 0: none is sought
    double spacing = 0;          ///< about the distance of neighbors
    std::int64_t particles = 0;  ///< all that there are
};

/// The same, with the densities that it refers to.
class SphereRequest {
public:
    /// A working length is a given one times 2^exponent; `largest_side` is that of the extent of all `count` particles.
    SphereRequest(const HaloOptions& options, int exponent, double largest_side, std::int64_t count);
    SphereRequest(const SphereRequest&) = delete;
    SphereRequest& operator=(const SphereRequest&) = delete;

    [[nodiscard]] const SearchRequest& search() const noexcept { return search_; }
    /// Which of the options' overdensities each density of the search is.
    [[nodiscard]] const std::vector<std::size_t>& columns() const noexcept { return columns_; }
    /// Whether searches need the radius beyond which no sphere is dense enough.
    [[nodiscard]] bool needs_bounds() const noexcept { return search_.outermost && search_.densities > 0; }

private:
    std::vector<double> ball_masses_;
    std::vector<std::size_t> columns_;
    SearchRequest search_;
};

/// The radius of a ball of that mass; infinity if that is beyond all numbers.
KITH_HOST_DEVICE inline double ball_radius(double mass, double ball_mass) noexcept {
    const double cubed = mass / ball_mass;
    return cubed <= std::numeric_limits<double>::max() ? root_of(cubed, 3) : std::numeric_limits<double>::infinity();
}

class SphereSearch {
public:
    /// `bound`: no sphere beyond this radius has the lowest density; 0 unless the request needs bounds. Refers to the
    /// request, and to the memory of the profile.
    KITH_HOST_DEVICE SphereSearch(const SearchRequest& request, const BoundExtent& extent, double bound,
                                  Crossing* crossings) noexcept
        : request_(&request), profile_(request, extent.farthest, crossings), bound_(bound),
          outer_(first_shell(request, extent, bound)) {}

    // Of the next shell, squared: particles are farther than `inner` and not farther than `outer`.
    [[nodiscard]] KITH_HOST_DEVICE double inner() const noexcept { return inner_; }
    [[nodiscard]] KITH_HOST_DEVICE double outer() const noexcept { return outer_; }
    /// Makes the next shell thinner; `outer` is above the inner bound.
    KITH_HOST_DEVICE void end_shell_at(double outer) noexcept { outer_ = outer; }

    /// A particle of the shell, at the root of its squared distance.
    KITH_HOST_DEVICE void add(double radius, double mass) noexcept {
        profile_.add(radius, mass);
        ++in_shell_;
    }
    /// All particles of the shell have been added. Returns whether there is another shell.
    KITH_HOST_DEVICE bool next_shell() noexcept {
        seen_ += in_shell_;
        if (seen_ == request_->particles) {
            profile_.finish();
            return false;
        }
        const double reached = std::sqrt(outer_);
        profile_.reach(reached);
        if (reached >= bound_ && profile_.is_complete()) {
            return false;
        }
        double next = std::max((in_shell_ > 0 ? least_growth : growth_in_voids) * reached, request_->spacing);
        if (request_->lowest_ball_mass > 0) {
            next = std::max(next, beyond_ball * ball_radius(profile_.mass(), request_->lowest_ball_mass));
        }
        inner_ = outer_;
        outer_ = next * next > inner_ ? next * next : std::numeric_limits<double>::infinity();
        in_shell_ = 0;
        return true;
    }

    /// Complete once there is no other shell.
    [[nodiscard]] KITH_HOST_DEVICE const MassProfile& profile() const noexcept { return profile_; }

private:
    // The first shell ends where a ball of the lowest density has this many times the bound mass; further ones a little
    // beyond the ball of the mass found so far, and not too near to the last.
    static constexpr double first_mass = 1.3;
    static constexpr double beyond_ball = 1.1;
    static constexpr double least_growth = 1.25;
    static constexpr double growth_in_voids = 2;
    /// A factor to the square of a distance, so that the distance becomes larger.
    static constexpr double beyond = 1 + 0x1p-50;

    /// The outer bound of the first shell, squared.
    KITH_HOST_DEVICE static double first_shell(const SearchRequest& request, const BoundExtent& extent,
                                               double bound) noexcept {
        const double of_bound =
            std::max(beyond * extent.farthest * extent.farthest, std::numeric_limits<double>::min());
        if (request.lowest_ball_mass == 0) {
            return of_bound;
        }
        const double radius = std::max(ball_radius(first_mass * extent.mass, request.lowest_ball_mass), bound);
        return request.peak_ball_mass > 0 ? beyond * radius * radius : std::max(beyond * radius * radius, of_bound);
    }

    const SearchRequest* request_;
    MassProfile profile_;
    double bound_;
    double inner_ = -1;
    double outer_;
    std::int64_t in_shell_ = 0;
    std::int64_t seen_ = 0;
};

} // namespace kith::detail::halos
