// The two searches of DBSCAN, as its callers see them: which points are core points, and which clusters border points
// belong to. Tasks are nodes of a receiving plane, or ranges of receivers for brute force. The kernels are in
// core_policy-inl.hpp and border_policy-inl.hpp, compiled for each instruction set and chosen at run time.
#pragma once

#include "support/scratch_array.hpp"
#include "tree/view.hpp"
#include "walk/receiver_walk.hpp"
#include "walk/schedule.hpp"

#include <array>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace kith::detail {

/// What both searches know. Receivers are all points.
template <Coordinate T>
struct DensityJob : WalkJob<T> {
    T squared_length; ///< eps squared, in working units
};

/// Marks the core points. Sources are the receivers.
template <Coordinate T>
struct CoreJob : DensityJob<T> {
    std::int64_t min_samples;
    std::uint8_t* is_core; ///< by position; filled with zeros beforehand
};

/// Labels the points that are not core points. Sources are the core points.
template <Coordinate T>
struct BorderJob : DensityJob<T> {
    const std::uint8_t* is_core;                              ///< by position of the receiver
    std::array<const std::uint8_t*, max_planes> all_are_core; ///< by node of the receivers
    const std::int32_t* clusters;                             ///< by position of the source
    std::array<const std::int32_t*, max_planes> lowest;       ///< cluster in each node of the sources
    std::int32_t* labels;                                     ///< by original index; set for border points only
    std::int64_t* sizes;                                      ///< of the clusters; border points are added
};

inline constexpr std::int32_t no_cluster = std::numeric_limits<std::int32_t>::max();

/// Memory of one thread.
template <Coordinate T>
struct DensityScratch {
    using LaneIndex = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;

    WalkScratch<T> walk;
    ScratchArray<T> block; ///< source points near a leaf, axis after axis
    ScratchArray<LaneIndex> block_numbers;
    ScratchArray<std::int32_t> open; ///< receivers of a leaf of which something is left to be found
    ScratchArray<std::int64_t> counts;
    ScratchArray<std::int32_t> lowest; ///< cluster near each
};

/// All points of a node of the plane of the tasks.
void find_core_points(const CoreJob<float>& job, std::int64_t node, DensityScratch<float>& scratch);
void find_core_points(const CoreJob<double>& job, std::int64_t node, DensityScratch<double>& scratch);
void label_border_points(const BorderJob<float>& job, std::int64_t node, DensityScratch<float>& scratch);
void label_border_points(const BorderJob<double>& job, std::int64_t node, DensityScratch<double>& scratch);

/// The receivers [begin, end), compared with every source.
void compare_core_points(const CoreJob<float>& job, std::int64_t begin, std::int64_t end,
                         DensityScratch<float>& scratch);
void compare_core_points(const CoreJob<double>& job, std::int64_t begin, std::int64_t end,
                         DensityScratch<double>& scratch);
void compare_border_points(const BorderJob<float>& job, std::int64_t begin, std::int64_t end,
                           DensityScratch<float>& scratch);
void compare_border_points(const BorderJob<double>& job, std::int64_t begin, std::int64_t end,
                           DensityScratch<double>& scratch);

} // namespace kith::detail
