// The shape of a halo: axis ratios of the ellipsoid that its members fill, and the direction of the longest axis.
//
// The tensor sum m x_i x_j / r^2, r the distance in the ellipsoid itself, is taken of the members in an ellipsoid whose
// volume stays that of a ball; its eigenvalues are the next ellipsoid's squared axes. Sources: Allgood et al. (2006),
// MNRAS 367, 1781, equation 1, for the reduced tensor; SOAP, for the volume that is held and the members that are
// needed. Sums are in the order of the members, in float64. Cost: some five passes over the members, at most 20.
#pragma once

#include <array>
#include <limits>
#include <span>
#include <vector>

namespace kith::detail::halos {

struct Shape {
    double b_to_a = std::numeric_limits<double>::quiet_NaN(); ///< NaN: too few members
    double c_to_a = std::numeric_limits<double>::quiet_NaN();
    std::array<double, 3> major_axis{b_to_a, b_to_a, b_to_a}; ///< its component of largest absolute value is above 0
};

/// Of the first masses.size() offsets from the center, in an ellipsoid with the volume of a ball of that radius.
[[nodiscard]] Shape shape_of(const std::array<std::vector<double>, 3>& offsets, std::span<const double> masses,
                             double radius);

} // namespace kith::detail::halos
