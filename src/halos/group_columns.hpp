// One group's row of every column, from the moments of its members: the CPU and the GPU share this text.
//
// A column of <kith/catalog_columns.hpp> is computed here, from what the passes over the members found.
#pragma once

#include <kith/catalog_columns.hpp>

#include "halos/vector_moments.hpp"
#include "points/frame.hpp"

#include <array>
#include <cstdint>

namespace kith::detail::halos {

/// Where the numbers of each column are, in memory of the host or of a device.
struct ColumnPointers {
    std::array<void*, catalog_columns.size()> columns{};

    /// The numbers of a member of Catalog.
    template <auto Member>
    [[nodiscard]] KITH_HOST_DEVICE auto* of() const noexcept {
        constexpr std::size_t index = index_of_column<Member>();
        return static_cast<decltype(number_of(Member))*>(columns[index]);
    }

private:
    template <class T>
    static T number_of(std::vector<T> Catalog::*);
};

inline ColumnPointers pointers_to(Catalog& catalog) {
    ColumnPointers pointers;
    for_each_field(catalog, [&](const CatalogColumn& column, auto& values) {
        pointers.columns[&column - catalog_columns.data()] = values.data();
    });
    return pointers;
}

/// `positions` are in units of `length`, like the box.
template <int D>
KITH_HOST_DEVICE void write_position_columns(const ColumnPointers& columns, std::int64_t group, int dimension,
                                             const VectorMoments<D>& positions, const Frame<double>& box,
                                             double length) noexcept {
    bool is_ambiguous = false;
    for (int axis = 0; axis < dimension; ++axis) {
        const std::int64_t at = group * dimension + axis;
        const double mean = positions.mean[axis];
        columns.of<&Catalog::center>()[at] = box.wrap(positions.reference[axis] + mean, axis) * length;
        columns.of<&Catalog::lower>()[at] = (positions.lower[axis] - mean) * length;
        columns.of<&Catalog::upper>()[at] = (positions.upper[axis] - mean) * length;
        is_ambiguous =
            is_ambiguous || is_wider_than_half(positions.lower[axis], positions.upper[axis], box.period[axis]);
    }
    columns.of<&Catalog::is_ambiguous>()[group] = is_ambiguous ? 1 : 0;
    columns.of<&Catalog::rms_radius>()[group] = positions.root_mean_square * length;
    columns.of<&Catalog::max_radius>()[group] = positions.unit.length(positions.largest_square) * length;
}

/// `velocities` are in units of `speed`; their mean square is that of one axis.
template <int D>
KITH_HOST_DEVICE void write_velocity_columns(const ColumnPointers& columns, std::int64_t group, int dimension,
                                             const VectorMoments<D>& velocities, double speed) noexcept {
    for (int axis = 0; axis < dimension; ++axis) {
        columns.of<&Catalog::velocity>()[group * dimension + axis] = velocities.mean[axis] * speed;
    }
    columns.of<&Catalog::velocity_dispersion>()[group] = velocities.root_mean_square * speed;
}

} // namespace kith::detail::halos
