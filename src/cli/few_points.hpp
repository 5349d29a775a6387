// What DBSCAN and HDBSCAN* say where no point can be a core point.
#pragma once

#include "cli/report.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <string>

namespace kith::cli {

/// A warning; empty if there are enough points, or none at all. `min_samples` as given; 0: not given.
[[nodiscard]] inline std::string warning_of_few_points(std::int64_t min_samples, std::int64_t points) {
    return points > 0 && points < min_samples
               ? fmt::format(
                     "--min-samples is {}, but there {} {} point{}: no core point is possible, and all are noise",
                     min_samples, points == 1 ? "is" : "are", format_count(points), points == 1 ? "" : "s")
               : "";
}

} // namespace kith::cli
