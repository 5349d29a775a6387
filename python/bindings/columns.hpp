// The columns of catalogs and of halos for Python, from their tables.
#pragma once

#include "arrays.hpp"

#include <kith/catalog_columns.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <variant>
#include <vector>

namespace kith::python {

/// The table of the members of Catalog or Halos: name, shape, type, kind, what it needs ("velocities", "gravity", "both"
/// or nothing), description.
template <class Record>
nb::list table_of_columns() {
    static_assert(max_types == 7);
    constexpr bool is_of_halos = std::is_same_v<Record, Halos>;
    constexpr std::array shapes = is_of_halos ? std::array{"(h,)", "(h, 3)", "(h, 7)", "(h, spheres)"}
                                              : std::array{"(g,)", "(g, d)", "(g, 7)", ""};
    constexpr std::array kinds = {"count",
                                  "index",
                                  "flag",
                                  "ratio",
                                  "mass",
                                  "length",
                                  "velocity",
                                  "catalog_velocity",
                                  "peculiar_velocity",
                                  "angular_momentum"};
    nb::list rows;
    const Record none;
    for_each_field(none, [&]<class T>(const auto& column, const std::vector<T>&) {
        const char* type = std::is_same_v<T, double> ? "float64"
                           : sizeof(T) == 1          ? "uint8"
                           : sizeof(T) == 4          ? "int32"
                                                     : "int64";
        const char* needs = column.presence == ColumnPresence::with_velocities               ? "velocities"
                            : column.presence == ColumnPresence::with_gravity                ? "gravity"
                            : column.presence == ColumnPresence::with_velocities_and_gravity ? "both"
                                                                                             : "";
        rows.append(nb::make_tuple(column.field.data(), shapes[static_cast<std::size_t>(column.shape)], type,
                                   kinds[static_cast<std::size_t>(column.kind)], needs, column.description.data()));
    });
    return rows;
}

/// The numbers of a member of `record` as an array that views them. Rows of the shape scalar are numbers; others have
/// `width`.
template <class Field, class Record>
nb::object column_view(const Column<Field>& column, const Record& record, std::int64_t width, nb::handle self) {
    return std::visit(
        [&](auto member) -> nb::object {
            if constexpr (std::is_same_v<decltype(member), std::monostate>) {
                return nb::none();
            } else {
                return numpy_view(record.*member,
                                  column.shape == ColumnShape::scalar ? 0 : static_cast<std::size_t>(width), self);
            }
        },
        column.values);
}

} // namespace kith::python
