// Neighbors within a radius, as callers see the search: tasks are nodes of a receiving plane, as in search.hpp. The
// kernels are in radius_policy-inl.hpp, compiled for each instruction set and chosen at run time.
#pragma once

#include <kith/radius.hpp>

#include "neighbors/selection_scratch.hpp"
#include "tree/view.hpp"
#include "walk/schedule.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace kith::detail {

/// The squared radii of all points of a node, in working units.
template <Coordinate T>
struct RadiusRange {
    T smallest;
    T largest;
};

/// Where answers go: to counts by original query, which they are added to, or rows whose places are known, or a
/// visitor.
template <Coordinate T>
struct RadiusSink {
    std::int64_t* counts = nullptr;
    const std::int64_t* offsets = nullptr; ///< by original query
    T* distances = nullptr;
    std::int32_t* indices = nullptr; ///< or else wide_indices
    std::int64_t* wide_indices = nullptr;
    const RadiusVisitor* visitor = nullptr;
};

template <Coordinate T>
struct RadiusJob : WalkJob<T> {
    bool exclude_self;                ///< in a self-search
    RadiusRange<T> uniform;           ///< if all receivers have one radius
    const T* squared_radii = nullptr; ///< or else by receiver
    std::array<const RadiusRange<T>*, max_planes> of_nodes{};
    std::optional<RowOrder> order; ///< none: as they are found
    ReportScale<T> report;
    RadiusSink<T> sink;
};

/// Memory of one thread.
template <Coordinate T>
struct RadiusScratch : SelectionScratch<T> {
    ScratchArray<std::uint64_t> words; ///< of a row that is sorted by words
    ScratchArray<std::uint64_t> spare_words;
    ScratchArray<std::int64_t> row_offsets; ///< of a visitor's block
    ScratchArray<std::int32_t> rows;        ///< that are counted
    ScratchArray<std::int64_t> counts;
};

/// The answers of all points of a node of the plane of the tasks.
void search_radius(const RadiusJob<float>& job, std::int64_t node, RadiusScratch<float>& scratch);
void search_radius(const RadiusJob<double>& job, std::int64_t node, RadiusScratch<double>& scratch);

/// All sources that may be within the radii of some receivers.
struct NearSources {
    const IndexRange* ranges;
    std::int64_t range_count;
    std::int64_t counted = 0; ///< more are within the radius of each; only if counts are asked for
};

/// The answers of the receivers [begin, end), each compared with the sources near them.
void compare_radius(const RadiusJob<float>& job, std::int64_t begin, std::int64_t end, const NearSources& near,
                    RadiusScratch<float>& scratch);
void compare_radius(const RadiusJob<double>& job, std::int64_t begin, std::int64_t end, const NearSources& near,
                    RadiusScratch<double>& scratch);

} // namespace kith::detail
