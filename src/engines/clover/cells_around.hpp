// Cells and groups as a warp of a GPU sees them from a point: nearest first.
#pragma once

#include "geometry/distances_kernel.hpp"
#include "neighbors/rank_key.hpp"
#include "tree/view.hpp"

#include <cstdint>

namespace kith::detail::inline KITH_GPU {

/// To be called by the whole warp.
template <class T, int D, bool Periodic>
class CellsAround {
public:
    __device__ CellsAround(const DevicePoint<T, D, Periodic>& position, const PlaneView<T>& cells,
                           const PlaneView<T>& groups)
        : position_(position), cells_(cells), groups_(groups), lane_(static_cast<int>(threadIdx.x) % warp_size) {}

    __device__ const DevicePoint<T, D, Periodic>& position() const { return position_; }

    __device__ T distance_to_box(const PlaneView<T>& plane, std::int64_t node) const {
        return position_.least_squared_distance([&](int axis) { return plane.lower(axis)[node]; },
                                                [&](int axis) { return plane.upper(axis)[node]; });
    }
    __device__ T distance_to_cell(std::int64_t cell) const { return distance_to_box(cells_, cell); }

    /// The nearest group, its number as the key's index.
    __device__ RankKey<T> nearest_group() const { return next_group(no_candidate<T>(), true); }

    /// Calls visit(cell, squared distance to its box, whether there is one) for the cells of the groups whose boxes are
    /// no farther than limit(), nearest group first, one a lane. Limits may only fall.
    template <class Limit, class Visit>
    __device__ void visit(const Limit& limit, const Visit& visit_cells) const {
        RankKey<T> group = nearest_group();
        while (group < no_candidate<T>() && !(group.squared() > limit())) {
            const std::int32_t last = groups_.first_child[group.index() + 1];
            for (std::int32_t first = groups_.first_child[group.index()]; first < last; first += warp_size) {
                const std::int32_t cell = first + lane_;
                visit_cells(cell, cell < last ? distance_to_cell(cell) : T(0), cell < last);
            }
            group = next_group(group, false);
        }
    }

private:
    /// The nearest group behind another; no_candidate() if there is none.
    __device__ RankKey<T> next_group(RankKey<T> after, bool is_first) const {
        RankKey<T> next = no_candidate<T>();
        for (std::int32_t group = lane_; group < groups_.nodes; group += warp_size) {
            const RankKey<T> key(distance_to_box(groups_, group), group);
            next = RankKey<T>::either(key < next && (is_first || after < key), key, next);
        }
        return least_of_warp(next);
    }

    const DevicePoint<T, D, Periodic> position_;
    const PlaneView<T>& cells_;
    const PlaneView<T>& groups_;
    const int lane_;
};

/// Points of a cell that need be looked at for its first `needed` in the order of (distance, index): those at one place
/// lie in the order of their indices.
template <int D, class T>
__device__ std::int32_t points_that_count(const PlaneView<T>& cells, std::int64_t cell, std::int64_t needed) {
    bool is_single_point = true;
#pragma unroll
    for (int axis = 0; axis < D; ++axis) {
        is_single_point = is_single_point && cells.lower(axis)[cell] == cells.upper(axis)[cell];
    }
    const std::int32_t count = cells.points_in(cell);
    return is_single_point && count > needed ? static_cast<std::int32_t>(needed) : count;
}

} // namespace kith::detail::inline KITH_GPU
