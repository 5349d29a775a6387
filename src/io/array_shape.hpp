// What an array of points looks like, whatever format it is stored in: one row per point, 2 to 8 columns.
#pragma once

#include "support/message.hpp"

#include <kith/points.hpp>

#include <cstdint>
#include <string>

namespace kith::io {

[[nodiscard]] constexpr bool has_shape_of_points(std::int64_t columns) noexcept {
    return columns >= 2 && columns <= max_dimension;
}

/// "3 x 100; points have ...": why an array of rows x columns holds no points; empty if it can.
[[nodiscard]] inline std::string fault_of_shape(std::int64_t rows, std::int64_t columns) {
    if (has_shape_of_points(columns)) {
        return "";
    }
    const bool transposed = has_shape_of_points(rows) && columns > max_dimension;
    return detail::message(rows, " x ", columns, "; points have 2 to ", max_dimension, " columns",
                           transposed ? " and one row each: save the transposed array"
                           : columns == 1
                               ? "; for points on a line add a column of zeros, which makes volumes those of "
                                 "a plane"
                               : "");
}

inline constexpr const char* rounded_whole_numbers = "some whole numbers lie beyond 2^53 and were rounded to float64";

} // namespace kith::io
