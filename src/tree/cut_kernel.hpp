// Where the sorted points are cut into nodes, on a GPU: a thread for each gap between two of them.
//
// The smallest Morton cell that holds the two points beside a gap is split there; the gap is a cut if that cell holds
// more than n_max points. How far the cell reaches is found from the gap, by steps that double and then by halves:
// whether it is a cut is known within n_max points, so that almost all gaps look at their neighbors only. The CPU goes
// down from the cell of all points instead (cuts.hpp); the cuts and their sizes are the same. Source: jz-tree paper,
// sections II-C and II-D. Cost: O(N log n_max) for finding the cuts, O(log N) for measuring each.
#pragma once

#include "cuda/intrinsics.hpp"
#include "order/zorder.hpp"
#include "points/point_set_view.hpp"

#include <array>
#include <bit>
#include <cstdint>
#include <limits>

namespace kith::detail::inline KITH_GPU {

/// The cells that gaps split.
template <class T, int D>
class GapCells {
public:
    __device__ explicit GapCells(const PointSetView<T>& points) : points_(points) {}

    /// Points in the cell of the gap before the point `gap`, 1 or more. More than `most` may come out as any number
    /// above `most`.
    __device__ std::int64_t size(std::int64_t gap, std::int64_t most) const {
        const int level = level_between(gap - 1, gap);
        if (level == coincident) {
            return size_in_run(gap);
        }
        const std::int64_t before =
            reach(most, gap, [&](std::int64_t i) { return level_between(gap - i, gap) == level; });
        const std::int64_t after = reach(most, points_.count - gap,
                                         [&](std::int64_t i) { return level_between(gap - 1, gap - 1 + i) == level; });
        return before + after;
    }

private:
    __device__ std::array<T, D> point(std::int64_t i) const {
        std::array<T, D> x;
#pragma unroll
        for (int axis = 0; axis < D; ++axis) {
            x[axis] = points_.coordinates[axis * points_.stride + i];
        }
        return x;
    }

    __device__ int level_between(std::int64_t i, std::int64_t j) const {
        constexpr int above_all = std::numeric_limits<T>::max_exponent; // levels are compared for equality alone
        return split_of<T, D>(point(i), point(j), above_all).level(D);
    }

    /// The largest number up to `end` for which is_in holds, as it does for 1 and all numbers before that one; looks no
    /// farther than `most`.
    template <class IsIn>
    __device__ static std::int64_t reach(std::int64_t most, std::int64_t end, const IsIn& is_in) {
        end = end < most ? end : most;
        std::int64_t inside = 1;
        std::int64_t outside = 2;
        while (outside <= end && is_in(outside)) {
            inside = outside;
            outside *= 2;
        }
        outside = outside <= end ? outside : end + 1;
        while (outside - inside > 1) {
            const std::int64_t middle = inside + (outside - inside) / 2;
            const bool is_inside = is_in(middle);
            inside = is_inside ? middle : inside;
            outside = is_inside ? outside : middle;
        }
        return inside;
    }

    /// Coincident points are split by position, at the largest power of two, and so on in both parts.
    __device__ std::int64_t size_in_run(std::int64_t gap) const {
        const std::int64_t all = points_.count;
        const std::int64_t before =
            reach(all, gap, [&](std::int64_t i) { return level_between(gap - i, gap) == coincident; });
        std::int64_t size = before + reach(all, all - gap, [&](std::int64_t i) {
                                return level_between(gap - 1, gap - 1 + i) == coincident;
                            });
        std::int64_t place = before; // of the gap in the part at hand
        while (true) {
            const auto half = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(size - 1)));
            if (place == half) {
                return size;
            }
            const bool is_first = place < half;
            size = is_first ? half : size - half;
            place -= is_first ? 0 : half;
        }
    }

    const PointSetView<T>& points_;
};

/// Says of every gap whether it is a cut: of the gap before each point; there is none before the first.
template <class T, int D>
struct MarkCuts {
    PointSetView<T> points;
    std::int64_t n_max;
    std::uint8_t* is_cut;

    __device__ void operator()(std::int64_t gap) const {
        is_cut[gap] = gap > 0 && GapCells<T, D>(points).size(gap, n_max) > n_max;
    }
};

/// Finds the size of every cut's cell.
template <class T, int D>
struct MeasureCuts {
    PointSetView<T> points;
    const std::int32_t* position; ///< of the cuts, ascending
    std::int32_t* size;

    __device__ void operator()(std::int64_t cut) const {
        size[cut] = static_cast<std::int32_t>(GapCells<T, D>(points).size(position[cut], points.count));
    }
};

} // namespace kith::detail::inline KITH_GPU
