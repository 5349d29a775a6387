// Points brought to the working copy's memory, parted by their nearest hubs.
//
// Blocks of points are compared with all hubs side by side and counted; then every block knows where its points of each
// part go. So coincident points keep their order within a part, for any number of threads. Cost: points times hubs;
// memory while it lasts: 4 bytes a point, and 8 a hub for every block of points.
#pragma once

#include "engines/clover/kernels.hpp"
#include "points/point_set.hpp"
#include "points/unsorted_points.hpp"
#include "support/context.hpp"
#include "support/parallel.hpp"
#include "support/scratch_array.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace kith::detail {

/// On the axes that the points have.
template <Coordinate T>
using Position = std::array<T, max_dimension>;

/// Points in working coordinates that are read one by one, in any order.
template <Coordinate T>
struct GivenPoints {
    explicit GivenPoints(const UnsortedPoints<T>& points)
        : frame(points.frame()), count(points.count()), read(points) {}

    [[nodiscard]] Position<T> position(std::int64_t point) const {
        Position<T> position{};
        for (int axis = 0; axis < frame.dimension; ++axis) {
            position[axis] = read(point, axis);
        }
        return position;
    }

    const Frame<T>& frame;
    std::int64_t count;
    UnsortedReader<T> read;
};

/// Consecutive points that were nearest to one hub.
template <Coordinate T>
struct Part {
    std::int64_t first;
    std::int64_t count;
    Position<T> hub;
};

inline constexpr std::int64_t points_at_once = 1 << 13; ///< that are compared with hubs
inline constexpr std::int64_t no_crowds = std::numeric_limits<std::int64_t>::max();

/// Memory of one thread.
template <Coordinate T>
struct AssignScratch {
    ScratchArray<T> hubs;
    ScratchArray<typename AssignJob<T>::LaneIndex> nearest;
    ScratchArray<T> squared;
    ScratchArray<T> coordinates;
    ScratchArray<std::uint8_t> hub_of; ///< each point of a part that is split
    ScratchArray<std::byte> moved;     ///< one of its arrays

    [[nodiscard]] std::int64_t bytes() const noexcept {
        return hubs.bytes() + nearest.bytes() + squared.bytes() + coordinates.bytes() + hub_of.bytes() + moved.bytes();
    }
};

/// The nearest of some hubs, of points whose coordinates lie axis after axis: into `nearest` and `squared`.
template <Coordinate T>
void assign(const Frame<T>& frame, const std::vector<Position<T>>& hubs, const T* coordinates, std::int64_t stride,
            std::int64_t count, AssignScratch<T>& scratch) {
    constexpr std::int64_t padding = 2 * 64 / sizeof(T);
    const int dimension = frame.dimension;
    const std::int64_t hub_count = std::ssize(hubs);
    scratch.hubs.reserve(dimension * hub_count);
    for (std::int64_t hub = 0; hub < hub_count; ++hub) {
        for (int axis = 0; axis < dimension; ++axis) {
            scratch.hubs[axis * hub_count + hub] = hubs[hub][axis];
        }
    }
    scratch.nearest.reserve(count + padding);
    scratch.squared.reserve(count + padding);
    assign_to_hubs({dimension, frame.periodic, frame.working_period.data(), coordinates, stride, count,
                    scratch.hubs.data(), hub_count, hub_count, scratch.nearest.data(), scratch.squared.data()});
}

template <Coordinate T>
struct Partition {
    PointSet<T> points;
    std::vector<Part<T>> parts; ///< one for each hub, some of them without points, and those of crowds
};

/// Every part starts at a multiple of `alignment`; what lies between parts is within no distance of anything. Where
/// `min_crowd` points or more are at their hub's place, these are another part with the same hub.
template <Coordinate T>
Partition<T> part_points(Context& context, const GivenPoints<T>& given, const std::vector<Position<T>>& hubs,
                         std::int64_t alignment, std::int64_t min_crowd, PerThread<AssignScratch<T>>& scratch_of) {
    constexpr std::int64_t stride = points_at_once + 2 * 64 / static_cast<std::int64_t>(sizeof(T));
    const int dimension = given.frame.dimension;
    const std::int64_t count = given.count;
    const std::int64_t blocks = blocks_of(count, points_at_once);
    const std::int64_t hub_count = std::ssize(hubs);
    // Of each hub two lists: the points around it, and those at its place.
    Buffer<std::int32_t> list_of(context.memory_tracker(), count);
    const std::int64_t lists = 2 * hub_count;
    Buffer<std::int32_t> starts(context.memory_tracker(), blocks * lists); // counts at first
    std::fill_n(starts.data(), blocks * lists, 0);
    const auto each_block = [&](const auto& body) {
        parallel_blocks(count, points_at_once, [&](std::int64_t block, std::int64_t begin, std::int64_t end) {
            body(begin, end, starts.data() + block * lists);
        });
    };
    each_block([&](std::int64_t begin, std::int64_t end, std::int32_t* counts) {
        AssignScratch<T>& scratch = scratch_of.local();
        scratch.coordinates.reserve(dimension * stride);
        for (int axis = 0; axis < dimension; ++axis) {
            given.read.copy(axis, begin, end, scratch.coordinates.data() + axis * stride);
        }
        assign(given.frame, hubs, scratch.coordinates.data(), stride, end - begin, scratch);
        for (std::int64_t i = begin; i < end; ++i) {
            list_of[i] = static_cast<std::int32_t>(2 * scratch.nearest[i - begin]) + (scratch.squared[i - begin] == 0);
            ++counts[list_of[i]];
        }
    });
    Partition<T> partition;
    std::int64_t first = 0;
    std::int64_t next = 0;
    const auto append = [&](std::int64_t list) {
        for (std::int64_t start = list; start < blocks * lists; start += lists) {
            next += std::exchange(starts[start], static_cast<std::int32_t>(next));
        }
    };
    const auto end_part = [&](const Position<T>& hub) {
        partition.parts.push_back({first, next - first, hub});
        first = next = (next + alignment - 1) / alignment * alignment;
    };
    for (std::int64_t hub = 0; hub < hub_count; ++hub) {
        std::int64_t at_hub = 0;
        for (std::int64_t start = 2 * hub + 1; start < blocks * lists; start += lists) {
            at_hub += starts[start];
        }
        append(2 * hub);
        if (at_hub >= min_crowd) {
            end_part(hubs[hub]);
        }
        append(2 * hub + 1);
        end_part(hubs[hub]);
    }
    partition.points = make_point_set(context, given.frame, next);
    PointSet<T>& points = partition.points;
    each_block([&](std::int64_t begin, std::int64_t end, std::int32_t* nexts) {
        for (std::int64_t i = begin; i < end; ++i) {
            list_of[i] = nexts[list_of[i]]++; // where the point goes, from here on
            points.indices[list_of[i]] = given.read.index(i);
        }
        AssignScratch<T>& scratch = scratch_of.local();
        scratch.coordinates.reserve(stride);
        for (int axis = 0; axis < dimension; ++axis) {
            T* const column = scratch.coordinates.data();
            given.read.copy(axis, begin, end, column);
            for (std::int64_t i = begin; i < end; ++i) {
                points.axis(axis)[list_of[i]] = column[i - begin];
            }
        }
    });
    for (std::size_t i = 0; i < partition.parts.size() && alignment > 1; ++i) {
        const std::int64_t end = partition.parts[i].first + partition.parts[i].count;
        const std::int64_t gap = (i + 1 < partition.parts.size() ? partition.parts[i + 1].first : next) - end;
        for (int axis = 0; axis < dimension; ++axis) {
            std::fill_n(points.axis(axis) + end, gap, std::numeric_limits<T>::quiet_NaN());
        }
        std::fill_n(points.indices.data() + end, gap, -1);
    }
    return partition;
}

} // namespace kith::detail
