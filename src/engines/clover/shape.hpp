// How finely points are divided into cells, on the CPU and on a GPU.
#pragma once

#include "engines/clover/hubs.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace kith::detail {

inline constexpr std::int64_t max_hubs = 256;       ///< that a point is compared with on one level: fits a byte
inline constexpr std::int64_t cells_per_group = 96; ///< at most, where none is split again

/// A crowd has at least as many coincident points as this number of average cells has points.
inline constexpr std::int64_t cells_per_crowd = 8;

struct CellShape {
    std::int64_t cell_size = 32; ///< points wanted in a cell: 28 to 40 measured alike
    std::uint64_t seed = 0x6B697468;

    [[nodiscard]] std::int64_t cells_for(std::int64_t count) const {
        return std::max<std::int64_t>(1, (count + cell_size / 2) / cell_size);
    }
    /// The number of hubs that part `count` points, more than one group. If a few hubs suffice, their parts are groups.
    [[nodiscard]] std::int64_t hubs_for(std::int64_t count) const {
        const std::int64_t groups = 2 * cells_for(count) / cells_per_group;
        if (groups <= cells_per_group) {
            return std::max<std::int64_t>(2, groups);
        }
        const auto cells = static_cast<double>(cells_for(count));
        const double levels = std::ceil(std::log(cells) / std::log(static_cast<double>(cells_per_group)));
        return std::llround(std::pow(cells, 1 / levels));
    }
    [[nodiscard]] bool is_cell(std::int64_t count) const { return count < 2 * cell_size; }
    [[nodiscard]] bool is_group(std::int64_t count) const { return cells_for(count) <= cells_per_group; }
    /// Hubs of a part below the uppermost level.
    [[nodiscard]] std::int64_t hubs_of_part(std::int64_t count, bool in_group) const {
        return std::min(max_hubs, in_group ? cells_for(count) : hubs_for(count));
    }
    [[nodiscard]] std::uint64_t seed_of_part(std::int64_t first) const {
        return mixed(seed + static_cast<std::uint64_t>(first));
    }
};

/// Edges of a cell: as many as leave it with 320 bytes, its boxes and hub included, 32 at most.
template <class T>
constexpr std::int32_t edges_per_cell(int dimension) {
    constexpr int most = 32;
    constexpr int budget = 320;
    constexpr int edge = 8;
    const int others = 3 * dimension * static_cast<int>(sizeof(T)) + 24;
    return std::min(most, (budget - others) / edge);
}

/// The nearest cells by their boxes, of which the lightest become edges.
constexpr std::int64_t cells_weighed(std::int64_t edges) {
    return edges + edges / 4;
}

} // namespace kith::detail
