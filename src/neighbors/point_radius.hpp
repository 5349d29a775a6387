// The neighbors within a radius of a few single queries in a kept plane tree, found in the calling thread.
//
// As for the k nearest (point_search.hpp), a tree of the queries, a schedule and tasks cost several times the search
// itself. Every query walks down the planes by itself, into all nodes within its radius. Nothing is locked, and short
// rows allocate nothing, so that calls from any number of threads, and from inside tasks, do not touch each other.
// Cost: the leaves that the sphere meets, and for counts those that its surface meets.
//
// Rows are found first, in the order of the tree, and sorted by write_rows() once there is memory for them: their
// lengths are not known beforehand.
#pragma once

#include "neighbors/radius.hpp"
#include "support/scratch_array.hpp"
#include "tree/plane_tree.hpp"

#include <algorithm>
#include <cstdint>

namespace kith::detail {

/// Points and their squared distances: on the stack while they are few.
template <Coordinate T>
class NearPoints {
public:
    using LaneIndex = typename SelectionScratch<T>::LaneIndex;

    NearPoints() = default;
    NearPoints(const NearPoints&) = delete;
    NearPoints& operator=(const NearPoints&) = delete;

    [[nodiscard]] T* distances() noexcept { return distances_; }
    [[nodiscard]] LaneIndex* indices() noexcept { return indices_; }
    [[nodiscard]] std::int64_t size() const noexcept { return size_; }
    void resize(std::int64_t size) noexcept { size_ = size; }

    /// Makes room for so many in all.
    void reserve(std::int64_t room) {
        if (room > room_) [[unlikely]] {
            grow(room);
        }
    }

private:
    void grow(std::int64_t room) {
        const auto move_to = [&](auto& more, auto*& numbers) {
            const bool was_few = more.data() == nullptr;
            more.reserve(room, was_few ? 0 : size_);
            if (was_few) {
                std::copy_n(numbers, size_, more.data());
            }
            numbers = more.data();
        };
        move_to(more_distances_, distances_);
        move_to(more_indices_, indices_);
        room_ = room;
    }

    static constexpr std::int64_t few = 256;

    T* distances_ = few_distances_;
    LaneIndex* indices_ = few_indices_;
    std::int64_t size_ = 0;
    std::int64_t room_ = few;
    ScratchArray<T> more_distances_;
    ScratchArray<LaneIndex> more_indices_;
    alignas(64) T few_distances_[few];
    alignas(64) LaneIndex few_indices_[few];
};

template <Coordinate T>
struct PointRadiusJob {
    const PlaneTree<T>* sources; ///< not empty
    const PointsView* queries;   ///< in raw units, of the sources' type and dimension
    const Radii* radii;
    std::int64_t* counts;           ///< for each query
    NearPoints<T>* found = nullptr; ///< one row after the other; null: only counts are wanted
    std::int64_t most_found = 0;    ///< neighbors of all rows
};

/// Finds the rows of all queries. Returns false if they are more than the job's most, if a query is not finite or too
/// far away, or if coordinates are tiny (points/frame.hpp): then some rows may be unresolved. Nothing is meant by what
/// was written then.
[[nodiscard]] bool search_within(const PointRadiusJob<float>& job);
[[nodiscard]] bool search_within(const PointRadiusJob<double>& job);

/// Rows that were found, and where they go: to the places that the offsets give. What is null is not wanted.
template <Coordinate T>
struct FoundRows {
    NearPoints<T>* found;
    const std::int64_t* offsets; ///< count + 1
    std::int64_t count;
    std::int64_t sources; ///< more than the largest index
    RowOrder order;
    ReportScale<T> report;
    T* distances;
    std::int32_t* indices; ///< or else wide_indices
    std::int64_t* wide_indices;
};

/// Sorts and writes the rows.
void write_rows(const FoundRows<float>& rows);
void write_rows(const FoundRows<double>& rows);

} // namespace kith::detail
