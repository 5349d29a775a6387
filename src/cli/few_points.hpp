// What the program says where there are fewer points than an option counts on.
#pragma once

#include "cli/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

namespace kith::cli {

/// "there are 12 points"
[[nodiscard]] inline std::string there_are(std::int64_t points) {
    return fmt::format("there {} {} point{}", points == 1 ? "is" : "are", format_count(points), points == 1 ? "" : "s");
}

/// Of DBSCAN and HDBSCAN*, where no point can be a core point; empty if there are enough points, or none at all.
/// `min_samples` as given; 0: not given.
[[nodiscard]] inline std::string warning_of_few_points(std::int64_t min_samples, std::int64_t points) {
    return points > 0 && points < min_samples
               ? fmt::format("--min-samples is {}, but {}: no core point is possible, and all are noise", min_samples,
                             there_are(points))
               : "";
}

/// Of HDBSCAN* without clusters; empty if there are points enough for one, or none at all.
[[nodiscard]] inline std::string warning_of_small_set(std::int64_t min_cluster_size, std::int64_t points) {
    return points > 0 && points < min_cluster_size
               ? fmt::format("--min-cluster-size is {}, but {}: no cluster is possible, and all are noise",
                             min_cluster_size, there_are(points))
               : "";
}

/// Where no row of k neighbors can be full, with what follows from that; else empty.
[[nodiscard]] inline std::string warning_of_short_rows(std::int64_t k, bool exclude_self, std::int64_t points,
                                                       std::int64_t queries, std::string_view consequence) {
    const std::int64_t others = std::max<std::int64_t>(points - (exclude_self ? 1 : 0), 0);
    return queries > 0 && others < k ? fmt::format("-k is {}, but {}{}: {}", k, there_are(points),
                                                   exclude_self ? " and none is its own neighbor" : "", consequence)
                                     : "";
}

} // namespace kith::cli
