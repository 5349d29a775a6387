// Rows of halos, written from what was measured: lengths in the caller's units, ratios, concentrations, flags.
//
// What is measured by passes over particles is the CPU's (halo_describer.hpp) or a GPU's (describe_device.hpp); this is
// the host's in both, two microseconds for each sphere.
#pragma once

#include <kith/halos.hpp>

#include "halos/shape.hpp"
#include "halos/sphere_search.hpp"
#include "points/frame.hpp"

#include <array>
#include <cstdint>
#include <span>

namespace kith::detail::halos {

/// What the members of a halo's group say of it.
struct MeasuredMembers {
    BoundExtent extent;
    std::array<double, 3> center{}; ///< of the halo, as given
    double group_mass = 0;          ///< of all members
    double half_mass_radius = 0;    ///< in the working copy, as of all that follow of the bound members
    Shape shape;
    std::array<std::int64_t, max_types> count_by_type{};
};

template <Coordinate T>
class HaloRows {
public:
    /// Refers to all.
    HaloRows(const Frame<T>& frame, const SphereRequest& request, const HaloOptions& options);

    void write_members(const MeasuredMembers& measured, std::int64_t halo, Halos& halos) const;
    /// `spheres` are one for each density of the request.
    void write_spheres(const BoundExtent& extent, std::span<const Sphere> spheres, const VelocityPeak& peak,
                       std::int64_t halo, Halos& halos) const;

private:
    /// A length in the caller's units.
    [[nodiscard]] double as_given(double length) const noexcept;
    void write_centers(const MeasuredMembers& measured, std::int64_t halo, Halos& halos) const;

    const Frame<T>& frame_;
    const SphereRequest& request_;
    const HaloOptions& options_;
    Frame<double> box_; ///< periods and origins, in the caller's units
};

} // namespace kith::detail::halos
