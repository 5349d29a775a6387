// The least time that a task can take on a device: the bytes that must go through its memory and the float32
// instructions that must be issued, counted by hand for each stage, over the measured ceilings.
//
// A floor is a yardstick, not a proof: bytes count each array once a pass, a scattered access as the 32 bytes that the
// memory moves for it, and instructions only those of distances. What selecting neighbors costs is not in it.
#pragma once

#include "ceilings.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <string>
#include <vector>

namespace bench {

struct StageWork {
    std::string name;
    double bytes = 0;
    double instructions = 0;

    [[nodiscard]] double seconds(const Ceilings& ceilings) const {
        return std::max(bytes / ceilings.bytes_per_second, instructions / ceilings.instructions_per_second);
    }
};

using Work = std::vector<StageWork>;

[[nodiscard]] inline double floor_seconds(const Work& work, const Ceilings& ceilings) {
    double total = 0;
    for (const StageWork& stage : work) {
        total += stage.seconds(ceilings);
    }
    return total;
}

/// Keys of 64 bits with 4-byte indices, sorted 8 bits a pass: coordinates in, keys and indices out (12), one pass that
/// counts (8), eight that read and write both (24 each), then the points gathered, a sector each, and written.
[[nodiscard]] inline StageWork ordering_work(std::int64_t points, int dimension, int scalar_bytes) {
    const double row = static_cast<double>(dimension) * scalar_bytes;
    const double sectors = 32 * std::ceil(row / 32);
    return {"order", static_cast<double>(points) * (row + 12 + 8 + 8 * 24 + sectors + row), 0};
}

/// Reading the ordered points once, writing a node for every 27 points or so: bounds, range and smallest index.
[[nodiscard]] inline StageWork tree_work(std::int64_t points, int dimension, int scalar_bytes) {
    const double row = static_cast<double>(dimension) * scalar_bytes;
    return {"tree", static_cast<double>(points) * (row + (2 * row + 12) / 27), 0};
}

/// How many points a query is compared with at least, where points are uniform: those of the leaf (27 points, a cube)
/// and of all that is within the distance r of the k-th neighbor of it. In units of the mean separation a cube of side
/// s grown by r has the volume sum over j of (d choose j) s^(d-j) V_j r^j (Steiner), V_j that of the j-dimensional
/// ball.
[[nodiscard]] inline double points_compared(std::int64_t k, int dimension) {
    const auto ball = [](int j) { return std::pow(std::numbers::pi, 0.5 * j) / std::tgamma(0.5 * j + 1); };
    const double side = std::pow(27.0, 1.0 / dimension);
    const double r = std::pow(static_cast<double>(k) / ball(dimension), 1.0 / dimension);
    double volume = 0;
    double choices = 1; // d choose j
    for (int j = 0; j <= dimension; ++j) {
        volume += choices * std::pow(side, dimension - j) * ball(j) * std::pow(r, j);
        choices *= static_cast<double>(dimension - j) / (j + 1);
    }
    return volume;
}

/// Of each compared pair a difference and a fused multiply-add per axis. Queries are read, rows written, each once.
[[nodiscard]] inline StageWork search_work(std::int64_t queries, std::int64_t k, int dimension, int scalar_bytes,
                                           double compared) {
    const double row = static_cast<double>(dimension) * scalar_bytes;
    const double count = static_cast<double>(queries);
    const double issued = scalar_bytes == 8 ? 2.0 : 1.0; // float64 runs at half the rate
    return {"search", count * (row + 4 + static_cast<double>(k) * (4 + scalar_bytes)),
            count * compared * 2 * dimension * issued};
}

/// Points, parents and labels, each read and written once; every pair of points of a leaf of 27 is compared once.
[[nodiscard]] inline Work group_work(std::int64_t points, int dimension) {
    const double count = static_cast<double>(points);
    const double row = 4.0 * dimension;
    return {ordering_work(points, dimension, 4),
            tree_work(points, dimension, 4),
            {"link", count * (row + 8), count * 13 * 2 * dimension},
            {"label", count * (8 + 8 + 4 + 32), 0}}; // parents twice, sizes by root, labels scattered
}

/// Members sorted by label (32 bits: four passes of 16 bytes and one that counts), positions and velocities of each
/// gathered, a sector each, twice: means, then spreads.
[[nodiscard]] inline StageWork catalog_work(std::int64_t points) {
    return {"catalog", static_cast<double>(points) * (4 + 4 * 16 + 2 * 2 * 32), 0};
}

} // namespace bench
