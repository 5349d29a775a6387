// Pair counts in plane trees on a GPU: a warp takes a leaf, and each of its lanes one of the leaf's points.
//
// The warp walks through the other tree (walk/depth_first.hpp). What no limit separates from the leaf's box is added as
// a product of numbers by the lane that looks at the node; so one look decides about up to 1,024 points and any number
// of others. Of a leaf that limits cut, each lane compares its point with all others, some of the undecided limits at a
// time, and the warp adds the lanes' counts. Pairs of one set are those with points of later positions. Limits are
// cumulative, as in pair_policy-inl.hpp: what is counted is within them, slots are differences, which are added at
// once: whole numbers wrap around. Source: Gray and Moore (NIPS 2000).
//
// Mean separations need the distance of every pair: then nothing is taken whole, and each lane also adds the distances
// of the pairs within a limit, as whole numbers (separations.hpp).
//
// All sums are integers, and bounds use the same operations as distances, so that the answer depends on no order and
// nothing needs slack.
#pragma once

#include "cuda/lane_sums.hpp"
#include "geometry/distances_kernel.hpp"
#include "pairs/pair_job.hpp"
#include "pairs/pair_slots_kernel.hpp"
#include "pairs/separations.hpp"
#include "pairs/undecided.hpp"
#include "support/int192.hpp"
#include "tree/view.hpp"
#include "walk/depth_first.hpp"

#include <array>
#include <bit>
#include <cstdint>
#include <limits>

namespace kith::detail::inline KITH_GPU {

/// PairLimits in memory of the device, and which axes make their squares.
template <class T>
struct DevicePairLimits {
    const T* first = nullptr;
    const T* second = nullptr;
    std::int32_t first_count = 0;
    std::int32_t second_count = 0;
    bool second_is_factor = false;         ///< of the first square
    std::array<int, max_dimension> axes{}; ///< in the order of their squares
    int across = 0;                        ///< the first of them make the first square
    int along = 0;                         ///< and this one the second

    [[nodiscard]] __device__ std::int64_t second_slots() const { return second_count > 0 ? second_count : 1; }
};

template <class T>
struct PairKernelJob {
    PointSetView<T> points; ///< of the tree whose leaves are the tasks
    PlaneView<T> leaves;
    const std::uint32_t* weights = nullptr; ///< by position; null: 1 each
    TreeView<T> others;                     ///< the tree that is walked
    const std::uint32_t* other_weights = nullptr;
    std::array<const std::int64_t*, max_planes> other_sums{}; ///< of the weights, by plane and node
    bool within = false;                                      ///< pairs of one set; then both trees are the same
    DevicePairLimits<T> limits;
    double separation_scale = 0; ///< as that of PairLimits
    PairSlots slots;
};

template <class T>
struct PairSquares {
    T across = 0;
    T along = 0;
};

/// A bound or the distance of a pair: on_axis(a) is that of axis number a of the limits.
template <int D, bool Along, class T, class OnAxis>
__device__ PairSquares<T> pair_squares(const DevicePairLimits<T>& limits, const OnAxis& on_axis) {
    PairSquares<T> squares;
#pragma unroll
    for (int a = 0; a < D; ++a) {
        const T t = on_axis(a);
        if (!Along || a < limits.across) {
            squares.across = add_square(a, t, squares.across);
        }
        if (Along && a == limits.along) {
            squares.along = t * t;
        }
    }
    return squares;
}

/// How many ascending limits, each times a factor, are below a number.
template <class T>
__device__ std::int32_t count_limits_below(const T* limits, std::int32_t count, T factor, T number) {
    std::int32_t begin = 0;
    std::int32_t end = count;
    while (begin < end) {
        const std::int32_t middle = begin + (end - begin) / 2;
        const bool is_below = limits[middle] * factor < number;
        begin = is_below ? middle + 1 : begin;
        end = is_below ? end : middle;
    }
    return begin;
}

inline constexpr int pair_warps = 4;  ///< of a block
inline constexpr int pair_blocks = 4; ///< at a time on a multiprocessor, at least: leaves 128 registers

/// One leaf's pairs. All members but is_wanted() are called by the whole warp. With Along, pairs are binned by two
/// squares.
template <class T, int D, bool Periodic, bool Along, bool Separations>
class LeafPairs {
public:
    __device__ LeafPairs(const PairKernelJob<T>& job, std::int64_t leaf)
        : job_(job), lane_(static_cast<int>(threadIdx.x) % warp_size), copy_(blockIdx.x % job.slots.copies),
          begin_(job.leaves.first_point[leaf]), size_(job.leaves.points_in(leaf)) {
        const bool has_point = lane_ < size_;
        const std::int32_t point = begin_ + (has_point ? lane_ : 0);
        last_before_ = has_point ? (job.within ? point : -1) : std::numeric_limits<std::int32_t>::max();
#pragma unroll
        for (int a = 0; a < D; ++a) {
            const int axis = axis_of(a);
            lower_[a] = job.leaves.lower(axis)[leaf];
            upper_[a] = job.leaves.upper(axis)[leaf];
            x_[a] = job.points.axis(axis)[point];
            period_[a] = job.others.period[axis];
        }
        if (job.slots.weighted || Separations) {
            weight_ = !has_point ? 0 : job.weights != nullptr ? job.weights[point] : 1;
            sum_ = sum_of_warp(DeviceWord{weight_});
        }
    }

    __device__ void count() {
        walk_depth_first(
            job_.others, [&](int plane, std::int32_t node) { return is_wanted(plane, node); },
            [&](int plane, std::int32_t node) {
                if (plane == 0) {
                    compare(node);
                }
                return true;
            });
        flush();
    }

private:
    static constexpr int cells_at_once = Separations ? 2 : 4; ///< limits of both axes that a pair is compared with

    [[nodiscard]] __device__ int axis_of(int a) const {
        return Along ? job_.limits.axes[a] : a;
    }

    [[nodiscard]] __device__ UndecidedLimits undecided(int plane, std::int32_t node) const {
        const PlaneView<T>& nodes = job_.others.planes[plane];
        const DevicePairLimits<T>& limits = job_.limits;
        const auto corners = [&](const auto& on_axis) {
            return pair_squares<D, Along>(limits, [&](int a) {
                const int axis = axis_of(a);
                return on_axis(lower_[a], upper_[a], nodes.lower(axis)[node], nodes.upper(axis)[node], period_[a]);
            });
        };
        const PairSquares<T> least = corners([](T lower, T upper, T other_lower, T other_upper, T period) {
            return least_on_axis<Periodic>(lower, upper, other_lower, other_upper, period);
        });
        const PairSquares<T> greatest = corners([](T lower, T upper, T other_lower, T other_upper, T period) {
            return greatest_on_axis<Periodic>(lower, upper, other_lower, other_upper, period);
        });
        const auto below = [](const T* of_axis, std::int32_t count, T factor, T number) {
            return count_limits_below(of_axis, count, factor, number);
        };
        const std::int32_t second_count = Along ? limits.second_count : 0;
        return {below(limits.first, limits.first_count, T(1), least.across),
                below(limits.first, limits.first_count, T(1), greatest.across),
                limits.first_count,
                below(limits.second, second_count, factor_of(greatest.across), least.along),
                below(limits.second, second_count, factor_of(least.across), greatest.along),
                second_count};
    }
    [[nodiscard]] __device__ T factor_of(T squared) const {
        return job_.limits.second_is_factor ? squared : T(1);
    }

    /// Whether a node has pairs that some limit separates. Adds those that none does.
    [[nodiscard]] __device__ bool is_wanted(int plane, std::int32_t node) {
        const PlaneView<T>& nodes = job_.others.planes[plane];
        if (job_.within && nodes.first_point[node + 1] <= begin_ + 1) {
            return false; // no later points
        }
        const UndecidedLimits limits = undecided(plane, node);
        if (!limits.is_near()) {
            return false;
        }
        const bool are_later = !job_.within || nodes.first_point[node] >= begin_ + size_;
        if (Separations || !are_later || !limits.is_whole()) {
            return true;
        }
        take_whole(limits.slot(0, 0, job_.limits.second_slots()), plane, node);
        return false;
    }

    /// The lane keeps what goes to one slot.
    __device__ void take_whole(std::int64_t slot, int plane, std::int32_t node) {
        if (slot != kept_slot_) {
            flush();
            kept_slot_ = slot;
        }
        const std::int64_t points = job_.others.planes[plane].points_in(node);
        kept_count_ += static_cast<DeviceWord>(points * size_);
        if (job_.slots.weighted) {
            const std::int64_t sum = job_.other_weights != nullptr ? job_.other_sums[plane][node] : points;
            kept_weight_ += static_cast<UnsignedInt128>(sum_) * static_cast<DeviceWord>(sum);
        }
    }
    __device__ void flush() {
        if (kept_slot_ >= 0) {
            job_.slots.add(copy_, kept_slot_, kept_count_, kept_weight_);
        }
        kept_slot_ = -1;
        kept_count_ = 0;
        kept_weight_ = 0;
    }

    /// Compares the points of both leaves.
    __device__ void compare(std::int32_t leaf) {
        const UndecidedLimits limits = undecided(0, leaf);
        const std::int64_t cells = std::int64_t{limits.rows} * limits.columns;
        for (std::int64_t cell = 0; cell < cells; cell += cells_at_once) {
            count_cells(limits, cell, leaf);
        }
    }

    /// Adds the pairs within some of the undecided limits of both axes.
    __device__ void count_cells(const UndecidedLimits& limits, std::int64_t first_cell, std::int32_t leaf) {
        T first[cells_at_once];
        T second[cells_at_once];
        std::int32_t row[cells_at_once];
        std::int32_t column[cells_at_once];
        std::uint32_t count[cells_at_once];
        DeviceWord weight[cells_at_once];
        UnsignedInt128 separation[cells_at_once];
#pragma unroll
        for (int c = 0; c < cells_at_once; ++c) {
            row[c] = static_cast<std::int32_t>(Along ? (first_cell + c) / limits.columns : first_cell + c);
            column[c] = Along ? static_cast<std::int32_t>(first_cell + c) - row[c] * limits.columns : 0;
            const std::int32_t at = limits.first_begin + row[c];
            const std::int32_t second_at = limits.second_begin + column[c];
            first[c] = at < limits.first_end ? job_.limits.first[at] : std::numeric_limits<T>::infinity();
            second[c] = second_at < limits.second_end ? job_.limits.second[second_at] // NaN: everything is within it
                                                      : std::numeric_limits<T>::quiet_NaN();
            count[c] = 0;
            weight[c] = 0;
            separation[c] = 0;
        }
        const PlaneView<T>& leaves = job_.others.planes[0];
        const PointSetView<T>& points = job_.others.points;
        const std::int32_t end = leaves.first_point[leaf + 1];
        const std::int32_t begin =
            job_.within ? device_max(leaves.first_point[leaf], begin_ + 1) : leaves.first_point[leaf];
        for (std::int32_t other = begin; other < end; ++other) { // the same for all lanes: read once
            const PairSquares<T> squares = pair_squares<D, Along>(job_.limits, [&](int a) {
                return difference_on_axis<Periodic>(x_[a], points.axis(axis_of(a))[other], period_[a]);
            });
            const DeviceWord of_other = job_.other_weights != nullptr ? job_.other_weights[other] : 1;
            const bool is_pair = other > last_before_;
            const T factor = factor_of(squares.across);
            const UnsignedInt128 of_pair = Separations ? UnsignedInt128{of_other} * whole_distance(squares.across) : 0;
#pragma unroll
            for (int c = 0; c < cells_at_once; ++c) {
                const bool is_within =
                    is_pair && squares.across <= first[c] && (!Along || !(squares.along > second[c] * factor));
                count[c] += is_within ? 1 : 0;
                weight[c] += is_within ? of_other : 0;
                if constexpr (Separations) {
                    separation[c] += is_within ? of_pair : 0;
                }
            }
        }
#pragma unroll
        for (int c = 0; c < cells_at_once; ++c) {
            if (row[c] < limits.rows) {
                add_cell(limits, row[c], column[c], __reduce_add_sync(whole_warp, count[c]),
                         job_.slots.weighted ? sum_of_warp(UnsignedInt128{weight[c]} * weight_) : 0,
                         Separations ? sum_of_warp(separation[c] * weight_) : 0);
            }
        }
    }

    /// The root of a square, in units of separations.
    [[nodiscard]] __device__ DeviceWord whole_distance(T squared) const {
        const double rounded =
            fused_multiply_add(static_cast<double>(root(squared)), job_.separation_scale, separation_rounder);
        return std::bit_cast<DeviceWord>(rounded) - std::bit_cast<DeviceWord>(separation_rounder);
    }

    /// Adds what is within one limit of each axis to its slot, and takes it from the next ones: a lane for each of
    /// them.
    __device__ void add_cell(const UndecidedLimits& limits, std::int32_t row, std::int32_t column, DeviceWord count,
                             UnsignedInt128 weight, [[maybe_unused]] UnsignedInt128 separation) const {
        const int down = lane_ / 2;
        const int right = lane_ % 2;
        if (down < 2 && row + down < limits.rows && column + right < limits.columns && count > 0) {
            const bool is_added = down == right;
            const std::int64_t slot = limits.slot(row + down, column + right, job_.limits.second_slots());
            job_.slots.add(copy_, slot, is_added ? count : 0 - count, is_added ? weight : 0 - weight);
            if constexpr (Separations) {
                const Int192 sum(static_cast<Int128>(separation));
                job_.slots.add_separation(copy_, slot, is_added ? sum : -sum);
            }
        }
    }

    const PairKernelJob<T>& job_;
    int lane_;
    std::int64_t copy_;
    std::int32_t begin_; ///< the leaf's first point
    std::int32_t size_;
    std::int32_t last_before_; ///< later points make pairs with this lane's
    T lower_[D];               ///< of the leaf, by axis of the limits, as all that follow
    T upper_[D];
    T x_[D];
    T period_[D];
    std::uint32_t weight_ = 0;
    DeviceWord sum_ = 0; ///< of the leaf's weights

    std::int64_t kept_slot_ = -1; ///< -1: nothing is kept
    DeviceWord kept_count_ = 0;
    UnsignedInt128 kept_weight_ = 0;
};

/// The grid has a warp for each leaf.
template <class T, int D, bool Periodic, bool Along, bool Separations>
__global__ void __launch_bounds__(pair_warps* warp_size, pair_blocks)
    count_pairs_kernel(const __grid_constant__ PairKernelJob<T> job) {
    static_assert(sizeof(job) <= 4096, "parameters of a kernel");
    const std::int64_t leaf = thread_index() / warp_size;
    if (leaf < job.leaves.nodes) {
        LeafPairs<T, D, Periodic, Along, Separations>(job, leaf).count();
    }
}

/// Brings whole weights into the order of the tree.
struct GatherWeights {
    const std::int32_t* indices;
    const std::uint32_t* by_index;
    std::uint32_t* weights;

    __device__ void operator()(std::int64_t position) const { weights[position] = by_index[indices[position]]; }
};

struct WeightOfPoint {
    const std::uint32_t* weights;

    __device__ std::int64_t operator()(std::int32_t position) const { return weights[position]; }
};

struct AddWeights {
    static constexpr std::int64_t identity = 0;

    __device__ std::int64_t operator()(std::int64_t a, std::int64_t b) const { return a + b; }
};

} // namespace kith::detail::inline KITH_GPU
