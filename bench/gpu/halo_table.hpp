// The halos of a clustered set: how many members each has, and how wide it is.
//
// 70 % of the points are in halos whose masses, in points, follow dn/dm ~ m^-1.9 from 20 to a twentieth of all points;
// each is an NFW profile of concentration 8 (Navarro, Frenk & White 1997), cut at the radius within which its mean
// density is 200 times that of the box. As bench/point_sets.py's `clustered`, but a point is a function of its number.
#pragma once

#include <cstdint>
#include <vector>

namespace bench {

inline constexpr int profile_steps = 2048;

struct HaloTable {
    std::int64_t background = 0;         ///< points outside halos; they come before the members
    std::vector<std::int64_t> first;     ///< first member of each halo, counted from 0; the number of members last
    std::vector<double> radius;          ///< of each halo, in the unit box
    std::vector<double> profile_of_root; ///< radius over that of the halo, by the root of the share of mass within it
};

[[nodiscard]] HaloTable make_halos(std::int64_t points, std::uint64_t seed);

} // namespace bench
