#include "halos/halo_describer.hpp"

#include "halos/concentration.hpp"
#include "halos/terms.hpp"

#include <algorithm>
#include <cmath>

namespace kith::detail::halos {

template <Coordinate T>
HaloDescriber<T>::HaloDescriber(const MassPoints<T>& particles, std::span<const std::uint8_t> types,
                                const SphereRequest& request, const HaloOptions& options)
    : particles_(particles), types_(types), request_(request), options_(options) {
    for (int axis = 0; axis < 3; ++axis) {
        box_.period[axis] = static_cast<double>(particles.frame->period[axis]);
        box_.origin[axis] = static_cast<double>(particles.frame->origin[axis]);
    }
}

template <Coordinate T>
BoundExtent HaloDescriber<T>::describe_members(std::span<const std::int32_t> members, std::int64_t halo, Halos& halos) {
    Scratch& scratch = scratch_.local();
    const auto bound = members.first(static_cast<std::size_t>(halos.count[halo]));
    const BoundExtent extent = load_bound(bound, halos.center_row[halo], scratch);
    for (const std::int32_t row : bound) {
        ++halos.count_by_type[max_types * halo + (types_.empty() ? 1 : types_[row])];
    }
    double group_mass = extent.mass;
    for (const std::int32_t row : members.subspan(bound.size())) {
        group_mass += particles_.mass(row);
    }
    halos.mass[halo] = extent.mass;
    halos.group_mass[halo] = group_mass;
    halos.unbound_fraction[halo] = group_mass > 0 ? (group_mass - extent.mass) / group_mass : 0;
    halos.is_bridge[halo] = extent.mass < group_mass / 2 ? 1 : 0;
    const std::span<const double> radii(scratch.radii.data(), bound.size());
    const std::span<const double> masses(scratch.masses.data(), bound.size());
    const double half_mass = half_mass_radius(radii, masses);
    halos.half_mass_radius[halo] = as_given(half_mass);
    write_centers(extent, halo, halos);
    write_shape(shape_of(scratch.offsets, scratch.weights, half_mass), halo, halos);
    if (options_.bound_only) {
        MassProfile profile({request_.ball_masses, request_.outermost, request_.least_radius, request_.peak_ball_mass,
                             extent.farthest});
        for (std::size_t i = 0; i < bound.size(); ++i) {
            profile.add(radii[i], masses[i]);
        }
        profile.finish_alone();
        write_spheres(extent, profile, halo, halos);
    }
    return extent;
}

template <Coordinate T>
double HaloDescriber<T>::as_given(double length) const noexcept {
    return std::ldexp(length, -particles_.frame->exponent);
}

/// Positions, not yet offsets, and masses of rows that are anywhere.
template <Coordinate T>
void HaloDescriber<T>::read_rows(std::span<const std::int32_t> rows, Scratch& scratch) const {
    constexpr std::size_t ahead = 16;
    scratch.weights.resize(rows.size());
    for (std::vector<double>& axis : scratch.offsets) {
        axis.resize(rows.size());
    }
    for (std::size_t i = 0; i < rows.size(); ++i) {
        __builtin_prefetch(particles_.positions.axes[0] +
                           rows[std::min(i + ahead, rows.size() - 1)] * particles_.positions.stride);
        for (std::size_t axis = 0; axis < 3; ++axis) {
            scratch.offsets[axis][i] = particles_.coordinate(rows[i], static_cast<int>(axis));
        }
        scratch.weights[i] = particles_.mass(rows[i]);
    }
}

/// Leaves the bound members' distances and masses in order of the distance.
template <Coordinate T>
BoundExtent HaloDescriber<T>::load_bound(std::span<const std::int32_t> rows, std::int64_t center_row,
                                         Scratch& scratch) const {
    BoundExtent extent;
    extent.center_row = center_row;
    scratch.squares.assign(rows.size(), 0.0);
    read_rows(rows, scratch);
    double total = 0;
    for (const double mass_of_one : scratch.weights) {
        total += mass_of_one;
    }
    extent.mass = total;
    const double weight = total > 0 ? total : static_cast<double>(rows.size());
    for (std::size_t axis = 0; axis < 3; ++axis) {
        const int a = static_cast<int>(axis);
        const double center = particles_.coordinate(center_row, a);
        extent.center[axis] = center;
        double sum = 0;
        double least = 0;
        double most = 0;
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const double x = scratch.offsets[axis][i];
            const double offset = nearest_offset(x, center, period(a));
            scratch.offsets[axis][i] = offset;
            double t = std::abs(x - center); // as shells measure it
            t = std::min(t, period(a) - t);
            scratch.squares[i] = axis == 0 ? t * t : std::fma(t, t, scratch.squares[i]);
            sum += (total > 0 ? scratch.weights[i] : 1) * offset;
            least = std::min(least, offset);
            most = std::max(most, offset);
        }
        extent.mean_offset[axis] = sum / weight;
        extent.is_wide = extent.is_wide || is_wider_than_half(least, most, period(a));
    }
    scratch.radii.reserve(std::ssize(rows));
    scratch.masses.reserve(std::ssize(rows));
    std::int64_t at = 0;
    scratch.sort.for_each(
        scratch.squares.data(), std::ssize(rows), [&](std::int64_t i) { return rows[i]; },
        [&](std::int64_t i) {
            scratch.radii[at] = std::sqrt(scratch.squares[i]);
            scratch.masses[at++] = scratch.weights[i];
        });
    extent.farthest = scratch.radii[at - 1];
    return extent;
}

template <Coordinate T>
void HaloDescriber<T>::write_centers(const BoundExtent& extent, std::int64_t halo, Halos& halos) const {
    double square = 0;
    for (int axis = 0; axis < 3; ++axis) {
        const double offset = extent.mean_offset[axis];
        const double x =
            static_cast<double>(particles_.frame->wrap(particles_.positions(extent.center_row, axis), axis)) + 0.0;
        halos.center[3 * halo + axis] = x;
        halos.center_of_mass[3 * halo + axis] = box_.wrap(x + as_given(offset), axis);
        square = axis == 0 ? offset * offset : std::fma(offset, offset, square);
    }
    halos.center_offset[halo] = as_given(std::sqrt(square));
}

template <Coordinate T>
void HaloDescriber<T>::write_spheres(const BoundExtent& extent, const MassProfile& profile, std::int64_t halo,
                                     Halos& halos) const {
    bool is_wide = extent.is_wide;
    const VelocityPeak peak = profile.peak();
    const std::int64_t width = std::ssize(options_.overdensities);
    for (std::size_t i = 0; i < request_.columns.size(); ++i) {
        const Sphere sphere = profile.sphere(i);
        const std::int64_t at = halo * width + static_cast<std::int64_t>(request_.columns[i]);
        halos.sphere_radius[at] = as_given(sphere.radius);
        halos.sphere_mass[at] = sphere.mass;
        halos.sphere_concentration[at] = concentration_of_mean_radius(sphere.moment / (sphere.mass * sphere.radius));
        if (peak.radius <= sphere.radius) {
            halos.peak_concentration[at] = concentration_of_peak(peak.squared_velocity * sphere.radius / sphere.mass);
        }
        for (int axis = 0; axis < 3; ++axis) {
            is_wide = is_wide || 2 * sphere.radius > period(axis);
        }
    }
    halos.is_wide[halo] = is_wide ? 1 : 0;
    const Universe& universe = options_.universe;
    halos.max_velocity[halo] = std::sqrt(universe.gravity / universe.scale_factor *
                                         std::ldexp(peak.squared_velocity, particles_.frame->exponent));
    halos.max_velocity_radius[halo] = as_given(peak.radius);
}

template <Coordinate T>
void HaloDescriber<T>::write_shape(const Shape& shape, std::int64_t halo, Halos& halos) {
    halos.b_to_a[halo] = shape.b_to_a;
    halos.c_to_a[halo] = shape.c_to_a;
    std::copy_n(shape.major_axis.begin(), 3, halos.major_axis.begin() + 3 * halo);
}

template class HaloDescriber<float>;
template class HaloDescriber<double>;

} // namespace kith::detail::halos
