#include "halos/halo_describer.hpp"

#include "halos/terms.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace kith::detail::halos {

template <Coordinate T>
HaloDescriber<T>::HaloDescriber(const MassPoints<T>& particles, std::span<const std::uint8_t> types,
                                const SphereRequest& request, const HaloOptions& options)
    : particles_(particles), types_(types), request_(request), options_(options),
      rows_(*particles.frame, request, options) {}

template <Coordinate T>
BoundExtent HaloDescriber<T>::describe_members(std::span<const std::int32_t> members, std::int64_t halo, Halos& halos) {
    Scratch& scratch = scratch_.local();
    const auto bound = members.first(static_cast<std::size_t>(halos.count[halo]));
    MeasuredMembers measured;
    measured.extent = load_bound(bound, halos.center_row[halo], scratch);
    const BoundExtent& extent = measured.extent;
    for (int axis = 0; axis < 3; ++axis) {
        measured.center[axis] = static_cast<double>(particles_.positions(extent.center_row, axis));
    }
    for (const std::int32_t row : bound) {
        ++measured.count_by_type[types_.empty() ? 1 : types_[row]];
    }
    measured.group_mass = extent.mass;
    for (const std::int32_t row : members.subspan(bound.size())) {
        measured.group_mass += particles_.mass(row);
    }
    const std::span<const double> radii(scratch.radii.data(), bound.size());
    const std::span<const double> masses(scratch.masses.data(), bound.size());
    HalfMassRadius half_mass(std::accumulate(masses.begin(), masses.end(), 0.0));
    for (std::size_t i = 0; i < bound.size(); ++i) {
        half_mass.add(radii[i], masses[i]);
    }
    measured.half_mass_radius = half_mass.finish();
    measured.shape = shape_of(scratch.offsets, scratch.weights, measured.half_mass_radius);
    rows_.write_members(measured, halo, halos);
    if (options_.bound_only) {
        scratch.crossings.assign(static_cast<std::size_t>(request_.search().densities), {});
        MassProfile profile(request_.search(), extent.farthest, scratch.crossings.data());
        for (std::size_t i = 0; i < bound.size(); ++i) {
            profile.add(radii[i], masses[i]);
        }
        profile.finish_alone();
        write_spheres(extent, profile, halo, halos);
    }
    return extent;
}

template <Coordinate T>
void HaloDescriber<T>::write_spheres(const BoundExtent& extent, const MassProfile& profile, std::int64_t halo,
                                     Halos& halos) const {
    std::vector<Sphere> spheres(static_cast<std::size_t>(request_.search().densities));
    for (std::size_t i = 0; i < spheres.size(); ++i) {
        spheres[i] = profile.sphere(static_cast<int>(i));
    }
    rows_.write_spheres(extent, spheres, profile.peak(), halo, halos);
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

template class HaloDescriber<float>;
template class HaloDescriber<double>;

} // namespace kith::detail::halos
