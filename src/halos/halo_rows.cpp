#include "halos/halo_rows.hpp"

#include "halos/concentration.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace kith::detail::halos {

template <Coordinate T>
HaloRows<T>::HaloRows(const Frame<T>& frame, const SphereRequest& request, const HaloOptions& options)
    : frame_(frame), request_(request), options_(options) {
    for (int axis = 0; axis < 3; ++axis) {
        box_.period[axis] = static_cast<double>(frame.period[axis]);
        box_.origin[axis] = static_cast<double>(frame.origin[axis]);
    }
}

template <Coordinate T>
void HaloRows<T>::write_members(const MeasuredMembers& measured, std::int64_t halo, Halos& halos) const {
    const double mass = measured.extent.mass;
    const double group_mass = measured.group_mass;
    std::copy_n(measured.count_by_type.begin(), max_types, halos.count_by_type.begin() + max_types * halo);
    halos.mass[halo] = mass;
    halos.group_mass[halo] = group_mass;
    halos.unbound_fraction[halo] = group_mass > 0 ? (group_mass - mass) / group_mass : 0;
    halos.is_bridge[halo] = mass < group_mass / 2 ? 1 : 0;
    halos.half_mass_radius[halo] = as_given(measured.half_mass_radius);
    halos.b_to_a[halo] = measured.shape.b_to_a;
    halos.c_to_a[halo] = measured.shape.c_to_a;
    std::copy_n(measured.shape.major_axis.begin(), 3, halos.major_axis.begin() + 3 * halo);
    write_centers(measured, halo, halos);
}

template <Coordinate T>
void HaloRows<T>::write_spheres(const BoundExtent& extent, std::span<const Sphere> spheres, const VelocityPeak& peak,
                                std::int64_t halo, Halos& halos) const {
    bool is_wide = extent.is_wide;
    const std::int64_t width = std::ssize(options_.overdensities);
    for (std::size_t i = 0; i < spheres.size(); ++i) {
        const Sphere& sphere = spheres[i];
        const std::int64_t at = halo * width + static_cast<std::int64_t>(request_.columns()[i]);
        halos.sphere_radius[at] = as_given(sphere.radius);
        halos.sphere_mass[at] = sphere.mass;
        halos.sphere_concentration[at] = concentration_of_mean_radius(sphere.moment / (sphere.mass * sphere.radius));
        if (peak.radius <= sphere.radius) {
            halos.peak_concentration[at] = concentration_of_peak(peak.squared_velocity * sphere.radius / sphere.mass);
        }
        for (int axis = 0; axis < 3; ++axis) {
            is_wide = is_wide || 2 * sphere.radius > static_cast<double>(frame_.working_period[axis]);
        }
    }
    halos.is_wide[halo] = is_wide ? 1 : 0;
    const Universe& universe = options_.universe;
    halos.max_velocity[halo] =
        std::sqrt(universe.gravity / universe.scale_factor * std::ldexp(peak.squared_velocity, frame_.exponent));
    halos.max_velocity_radius[halo] = as_given(peak.radius);
}

template <Coordinate T>
double HaloRows<T>::as_given(double length) const noexcept {
    return std::ldexp(length, -frame_.exponent);
}

template <Coordinate T>
void HaloRows<T>::write_centers(const MeasuredMembers& measured, std::int64_t halo, Halos& halos) const {
    double square = 0;
    for (int axis = 0; axis < 3; ++axis) {
        const double offset = measured.extent.mean_offset[axis];
        const double x = static_cast<double>(frame_.wrap(static_cast<T>(measured.center[axis]), axis)) + 0.0;
        halos.center[3 * halo + axis] = x;
        halos.center_of_mass[3 * halo + axis] = box_.wrap(x + as_given(offset), axis);
        square = axis == 0 ? offset * offset : std::fma(offset, offset, square);
    }
    halos.center_offset[halo] = as_given(std::sqrt(square));
}

template class HaloRows<float>;
template class HaloRows<double>;

} // namespace kith::detail::halos
