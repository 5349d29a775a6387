// Where the sorted points are cut into nodes, on a GPU: a thread for each gap between two of them.
//
// The smallest Morton cell that holds the two points beside a gap is split there; the gap is a cut if that cell holds
// more than n_max points. The cell reaches to the next gaps that split larger cells: whether it is a cut is known from
// the levels of the n_max gaps to either side, which a block shares. How many cuts a cell that is cut reaches over is
// found by steps that double and then by halves. The CPU goes down from the cell of all points instead (cuts.hpp);
// the cuts and their sizes are the same. Source: jz-tree paper, section II-C. Cost: O(N n_max) steps of one
// comparison for finding the cuts, O(log N) for measuring each.
#pragma once

#include "cuda/intrinsics.hpp"
#include "order/zorder.hpp"
#include "points/point_set_view.hpp"
#include "support/bits.hpp"

#include <array>
#include <cstdint>
#include <limits>

namespace kith::detail::inline KITH_GPU {

/// The cells that gaps split.
template <class T, int D>
class GapCells {
public:
    __device__ explicit GapCells(const PointSetView<T>& points) : points_(points) {}

    /// Points in the cell of a gap between coincident points, which are split by position, at the largest power of two,
    /// and so on in both parts. A gap is named by the point after it.
    __device__ std::int64_t size_in_run(std::int64_t gap) const {
        const std::int64_t all = points_.count;
        const std::int64_t before =
            reach(gap, [&](std::int64_t i) { return level_between(gap - i, gap) == coincident; });
        std::int64_t size = before + reach(all - gap, [&](std::int64_t i) {
                                return level_between(gap - 1, gap - 1 + i) == coincident;
                            });
        std::int64_t place = before; // of the gap in the part at hand
        while (true) {
            const auto half = static_cast<std::int64_t>(bit_floor(static_cast<std::uint64_t>(size - 1)));
            if (place == half) {
                return size;
            }
            const bool is_first = place < half;
            size = is_first ? half : size - half;
            place -= is_first ? 0 : half;
        }
    }

    /// The largest level of the gaps between two points.
    __device__ int level_between(std::int64_t i, std::int64_t j) const {
        constexpr int above_all = std::numeric_limits<T>::max_exponent; // levels are only compared with each other
        return split_of<T, D>(point(i), point(j), above_all).level(D);
    }

    /// The largest number up to `end` for which is_in holds, as it does for all smaller ones down to 1; 0 if for none.
    template <class IsIn>
    __device__ static std::int64_t reach(std::int64_t end, const IsIn& is_in) {
        std::int64_t inside = 0;
        std::int64_t outside = 1;
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

private:
    __device__ std::array<T, D> point(std::int64_t i) const {
        std::array<T, D> x;
#pragma unroll
        for (int axis = 0; axis < D; ++axis) {
            x[axis] = points_.coordinates[axis * points_.stride + i];
        }
        return x;
    }

    const PointSetView<T>& points_;
};

template <class T>
struct MarkCutsJob {
    PointSetView<T> points;
    std::int32_t n_max;   ///< at most a warp
    std::uint8_t* is_cut; ///< of every gap: of that before each point; there is none before the first
};

/// The grid has a thread for each gap.
template <class T, int D>
__global__ void mark_cuts_kernel(const __grid_constant__ MarkCutsJob<T> job) {
    constexpr int margin = warp_size;
    constexpr int beyond_all = std::numeric_limits<int>::max();
    __shared__ SharedArray<int, margin + threads_of_block + margin> levels;
    const GapCells<T, D> cells(job.points);
    const std::int64_t first = std::int64_t{blockIdx.x} * threads_of_block - margin;
    for (int i = static_cast<int>(threadIdx.x); i < margin + threads_of_block + margin; i += threads_of_block) {
        const std::int64_t gap = first + i;
        levels[i] = gap > 0 && gap < job.points.count ? cells.level_between(gap - 1, gap) : beyond_all;
    }
    __syncthreads();
    const int own = margin + static_cast<int>(threadIdx.x);
    const std::int64_t gap = first + own;
    if (gap >= job.points.count) {
        return;
    }
    const int level = levels[own];
    if (level == coincident || gap == 0) {
        job.is_cut[gap] = gap > 0 && cells.size_in_run(gap) > job.n_max;
        return;
    }
    int before = 1;
    while (before <= job.n_max && levels[own - before] < level) {
        ++before;
    }
    int size = before + 1;
    while (size <= job.n_max && levels[own + size - before] < level) {
        ++size;
    }
    job.is_cut[gap] = size > job.n_max;
}

/// Finds the size of every cut's cell. The gaps at its ends split larger cells, so that they are cuts, too.
template <class T, int D>
struct MeasureCuts {
    PointSetView<T> points;
    const std::int32_t* position; ///< of the cuts, ascending
    std::int64_t cuts;
    std::int32_t* size;

    __device__ void operator()(std::int64_t cut) const {
        const GapCells<T, D> cells(points);
        const std::int64_t gap = position[cut];
        const int level = cells.level_between(gap - 1, gap);
        if (level == coincident) {
            size[cut] = static_cast<std::int32_t>(cells.size_in_run(gap));
            return;
        }
        const std::int64_t first = cut - cells.reach(cut, [&](std::int64_t i) {
            return cells.level_between(position[cut - i] - 1, gap) == level;
        });
        const std::int64_t last = cut + cells.reach(cuts - 1 - cut, [&](std::int64_t i) {
            return cells.level_between(gap - 1, position[cut + i]) == level;
        });
        size[cut] = static_cast<std::int32_t>((last + 1 < cuts ? position[last + 1] : points.count) -
                                              (first > 0 ? position[first - 1] : 0));
    }
};

} // namespace kith::detail::inline KITH_GPU
