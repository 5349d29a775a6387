// Friends-of-friends by flooding: from every point that has no group yet, visit all points within the linking length,
// then all within the linking length of those, until none is left. The contract is docs/semantics.md, "Friends of
// friends". Cost: the square of the number of points.
#pragma once

#include "oracle/working_copy.hpp"

#include <kith/fof.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace kith::oracle {

struct Groups {
    std::vector<std::int32_t> labels; ///< by decreasing size, ties by smallest member index
    std::vector<std::int32_t> sizes;  ///< by label
};

/// All components at an absolute linking length, in the units of the points as given.
template <class T>
Groups groups(const WorkingCopy<T>& points, double linking_length);

/// Groups of the points that are not marked, to which the marked ones are joined: each to the group of its nearest
/// unmarked point within the linking length, ties by index. Row-major n x d points as given.
template <class T>
Groups groups_with_secondaries(std::span<const T> points, int dimension, const Box& box,
                               std::span<const std::uint8_t> is_secondary, double linking_length,
                               std::int64_t min_primaries);

struct Volume {
    double value = 0;
    VolumeKind kind = VolumeKind::none;
};

/// The volume that a relative linking length refers to, of row-major n x d points as given.
template <class T>
Volume volume(std::span<const T> points, int dimension, const Box& box);

} // namespace kith::oracle
