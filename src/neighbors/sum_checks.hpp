// Checks of sums over neighbors that need neither points nor columns.
#pragma once

#include <kith/error.hpp>
#include <kith/sum_neighbors.hpp>

#include "support/message.hpp"
#include "support/number_types.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>

namespace kith::detail {

inline void check_column_of_points(const std::string& what, const ScalarsView& column, std::int64_t points) {
    if (column.count() != points) {
        throw error(ErrorKind::invalid_argument, what, ": ", column.count(), " rows for ", points,
                    " points; give one number for each point");
    }
    if (points > 0 && column.data() == nullptr) {
        throw error(ErrorKind::invalid_argument, what, ": the view says ", points, " rows but its address is null");
    }
    const std::int64_t width = item_size(column.dtype());
    if (static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(column.data())) % width != 0 ||
        column.stride() % width != 0) {
        throw error(ErrorKind::invalid_argument, what, ": the address or the stride is no multiple of the element's ",
                    "size, ", width, " bytes; copy the column to aligned memory");
    }
}

/// What errors call a field.
inline std::string name_of_field(const SumOptions& options, std::size_t field) {
    return options.field_names.empty() ? message("fields[", field, "]") : options.field_names[field];
}

inline void check_sums(const SumOptions& options, std::int64_t points, bool separate_queries) {
    if (static_cast<std::size_t>(options.kernel) >= smoothing_kernel_names.size()) {
        throw error(ErrorKind::invalid_argument, "the kernel has the number ", static_cast<int>(options.kernel),
                    "; there are ", smoothing_kernel_names.size());
    }
    if (options.masses) {
        check_column_of_points("masses", *options.masses, points);
    }
    if (!options.field_names.empty() && options.field_names.size() != options.fields.size()) {
        throw error(ErrorKind::invalid_argument, options.field_names.size(), " field_names for ", options.fields.size(),
                    " fields; give one for each, or none");
    }
    for (std::size_t field = 0; field < options.fields.size(); ++field) {
        check_column_of_points(name_of_field(options, field), options.fields[field], points);
    }
    const bool of_fields = !options.fields.empty() && options.statistics.gradient;
    if (options.kernel == SmoothingKernel::top_hat && (of_fields || options.density_gradient)) {
        throw Error(ErrorKind::invalid_argument,
                    "a top hat has no gradient; take another kernel or leave gradients out");
    }
    if (of_fields && separate_queries) {
        throw Error(ErrorKind::invalid_argument, "gradients of fields were asked for with separate queries, at which "
                                                 "the fields are not known; leave them out or sum around the points");
    }
}

/// Throws for radii that are infinite in the points' type.
inline void require_finite(const Radii& radii, DType dtype) {
    const std::int64_t count = radii.is_uniform() ? 1 : radii.count();
    for (std::int64_t i = 0; i < count; ++i) {
        if (std::isinf(dtype == DType::float32 ? static_cast<float>(radii[i]) : radii[i])) {
            throw error(ErrorKind::invalid_argument, of_value(radii[i]), "the radius",
                        radii.is_uniform() ? "" : message(" of query ", i), " is ", radii[i],
                        "; the reach of a kernel must be finite in the points' type, ", name_of(dtype));
        }
    }
}

} // namespace kith::detail
