// The points of the benchmark, each a function of the set and its number: the same on the host and on the device, and
// whatever the launch. Compile without contraction.
#pragma once

#include "counter_random.hpp"
#include "halo_table.hpp"
#include "marks.hpp"

#include <cmath>
#include <cstdint>

namespace bench {

enum class Kind : std::uint8_t {
    uniform,    ///< in the unit box
    clustered,  ///< halo_table.hpp, in the periodic unit box, 3-D
    lattice,    ///< a cube of whole numbers, in random order
    coincident, ///< all at one place
    outliers,   ///< uniform, but ten of them are up to a billion boxes away
};

struct PointSet {
    Kind kind = Kind::uniform;
    std::int64_t count = 0;
    int dimension = 3;
    std::uint64_t seed = 1;
};

/// Where the arrays of a HaloTable are: of the host or of the device.
struct HaloArrays {
    std::int64_t background = 0;
    std::int64_t halos = 0;
    const std::int64_t* first = nullptr;
    const double* radius = nullptr;
    const double* profile_of_root = nullptr;

    static HaloArrays of(const HaloTable& table) {
        return {table.background, static_cast<std::int64_t>(table.radius.size()), table.first.data(),
                table.radius.data(), table.profile_of_root.data()};
    }
};

/// What the numbers of one point are drawn for.
enum Channel : std::uint64_t { coordinate_channel = 0, distance_channel = 16, direction_channel = 32 };

/// The halo that a member belongs to.
BENCH_HOST_DEVICE inline std::int64_t halo_of(const HaloArrays& halos, std::int64_t member) {
    std::int64_t lower = 0;
    std::int64_t upper = halos.halos;
    while (upper - lower > 1) {
        const std::int64_t middle = lower + (upper - lower) / 2;
        (halos.first[middle] <= member ? lower : upper) = middle;
    }
    return lower;
}

/// Into [0, 1): what rounding lifts onto the upper edge is on the lower one.
template <class T>
BENCH_HOST_DEVICE inline T wrapped(double x) {
    const T inside = static_cast<T>(x - floor(x));
    return inside < 1 ? inside : T(0);
}

/// Member of a halo: a direction by Marsaglia 1972 (Ann. Math. Stat. 43, 645), a distance from the profile.
template <class T>
BENCH_HOST_DEVICE inline void place_member(const PointSet& set, const HaloArrays& halos, std::int64_t member,
                                           T* place) {
    const std::int64_t halo = halo_of(halos, member);
    const auto index = static_cast<std::uint64_t>(member);
    double a = 0;
    double b = 0;
    double s = 2;
    for (std::uint64_t attempt = 0; s >= 1; ++attempt) {
        a = 2 * random_share<double>(set.seed, index, direction_channel + 2 * attempt) - 1;
        b = 2 * random_share<double>(set.seed, index, direction_channel + 2 * attempt + 1) - 1;
        s = a * a + b * b;
    }
    const double across = 2 * sqrt(1 - s);
    const double direction[3] = {a * across, b * across, 1 - 2 * s};

    const double step = sqrt(random_share<double>(set.seed, index, distance_channel)) * profile_steps;
    const int below = static_cast<int>(step);
    const double* profile = halos.profile_of_root + below;
    const double distance = halos.radius[halo] * (profile[0] + (step - below) * (profile[1] - profile[0]));
    for (int axis = 0; axis < 3; ++axis) {
        const double center =
            random_share<double>(set.seed + 1, static_cast<std::uint64_t>(halo), static_cast<std::uint64_t>(axis));
        place[axis] = wrapped<T>(center + distance * direction[axis]);
    }
}

/// The coordinates of point `index`. `halos` counts for clustered sets only.
template <class T>
BENCH_HOST_DEVICE inline void place_point(const PointSet& set, const HaloArrays& halos, std::int64_t index, T* place) {
    if (set.kind == Kind::clustered) {
        const std::int64_t rank = permuted(set.seed, index, set.count);
        if (rank >= halos.background) {
            place_member(set, halos, rank - halos.background, place);
            return;
        }
    }
    if (set.kind == Kind::lattice) {
        std::int64_t side = 1;
        while (side * side * side < set.count) {
            ++side;
        }
        std::int64_t site = permuted(set.seed, index, set.count);
        for (int axis = 0; axis < set.dimension; ++axis) {
            place[axis] = static_cast<T>(site % side);
            site /= side;
        }
        return;
    }
    const bool far = set.kind == Kind::outliers && index % (set.count / 10) == 0;
    for (int axis = 0; axis < set.dimension; ++axis) {
        if (set.kind == Kind::coincident) {
            place[axis] = T(0.3125);
            continue;
        }
        const T share = random_share<T>(set.seed, static_cast<std::uint64_t>(index),
                                        coordinate_channel + static_cast<std::uint64_t>(axis));
        place[axis] = far ? (share - T(0.5)) * T(2e9) : share;
    }
}

} // namespace bench
