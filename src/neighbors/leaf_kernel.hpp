// Nearest neighbors of all points of one tree among those of another on a GPU, a warp for each leaf.
//
// The points that can matter to a leaf are those within some radius of its box. The radius is guessed, from the leaves
// before it and the leaf's own density, and the points within it are gathered into shared memory (leaf_block.hpp). Each
// lane then takes a query of the leaf and all points within the radius of it (lane_lists.hpp); that is all there is within
// that distance, so that k of them are the answer. Where this does not serve a row, the warp takes it on its own: within
// the distance that the query before it suggests, then within the radius. So are lists of more than 32 found. Then the
// radius grows around the rows that found too few. Rows that no round serves, and leaves that no block holds, are named
// for another search (search_kernel.hpp).
#pragma once

#include "cuda/lane_bounds.hpp"
#include "neighbors/device_reach.hpp"
#include "neighbors/lane_lists.hpp"
#include "neighbors/leaf_block.hpp"
#include "neighbors/warp_row.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace kith::detail::inline KITH_GPU {

template <class T>
struct LeafKernelJob {
    TreeView<T> queries;
    TreeView<T> sources;
    bool self_search = false; ///< they are one tree
    DeviceRequest<T> request;
    std::int32_t first_leaf = 0; ///< of the queries
    std::int32_t end_leaf = 0;
    std::int32_t leaves_of_warp = 1; ///< that follow each other
    float first_reach = 0;           ///< squared radius that may hold k points, for a warp that knows no better
    DeviceRows left;                 ///< gets the rows that are not served
};

inline constexpr int max_rows_of_leaf = warp_size;

/// The queries of one leaf, a lane each.
template <class T, int D, bool Periodic, int List>
class LeafRows {
public:
    using Memory = LeafMemory<T, D, List>;

    /// For leaves that follow each other.
    __device__ LeafRows(const LeafKernelJob<T>& job, Memory& memory, std::int32_t first_leaf, std::int32_t end_leaf)
        : job_(job), memory_(memory), block_(job.sources, memory, job.queries.planes[0], first_leaf, end_leaf),
          lane_(static_cast<int>(threadIdx.x) % warp_size), reach_(job.request.k, job.first_reach),
          guess_(std::numeric_limits<T>::infinity()) {}

    /// Serves the rows of a leaf, or names them as left.
    __device__ void search(std::int32_t leaf) {
        const PlaneView<T>& leaves = job_.queries.planes[0];
        first_ = leaves.first_point[leaf];
        const std::int32_t rows = leaves.first_point[leaf + 1] - first_;
        if (rows > max_rows_of_leaf) {
            for (std::int32_t i = lane_; i < rows; i += warp_size) {
                leave(first_ + i);
            }
            return;
        }
        constexpr int rounds = 4;
        const T limit = job_.request.limit.squared();
        pending_ = whole_warp >> (warp_size - rows);
        load_queries();
        farthest_ = 0;
        T radius = reach_.guess(static_cast<float>(pending_box().squared_diagonal()), job_.self_search ? rows : 0);
        T known = 0; // what the next leaf may go by, if no row is served
        for (int round = 0; round < rounds && pending_ != 0; ++round) {
            radius = device_min(radius, limit);
            if (!(radius < std::numeric_limits<T>::infinity()) || (radius == 0 && limit > 0)) {
                break;
            }
            if (block_.gather(pending_box(), radius)) {
                search_block(radius, radius == limit);
                radius *= growth();
            } else { // half the volume
                radius *= static_cast<T>(std::exp2(-2.0F / D));
                known = radius;
            }
        }
        reach_.learn(static_cast<float>(farthest_ > 0 ? farthest_ : known));
        if (((pending_ >> lane_) & 1U) != 0) {
            leave(first_ + lane_);
        }
        __syncwarp();
    }

private:
    using Block = LeafBlock<T, D, Periodic, List>;
    using Query = DevicePoint<T, D, Periodic>;
    using Nearest = NearestOfWarp<T, rows_of_list<List>, queue_size>;

    __device__ void leave(std::int32_t row) { job_.left.rows[atomicAdd(job_.left.count, 1)] = row; }

    __device__ void load_queries() {
        const PointSetView<T>& points = job_.queries.points;
        const bool is_one = ((pending_ >> lane_) & 1U) != 0;
#pragma unroll
        for (int axis = 0; axis < D; ++axis) {
            x_[axis] = is_one ? points.coordinates[axis * points.stride + first_ + lane_] : T(0);
        }
        index_ = is_one ? points.indices[first_ + lane_] : -1;
    }

    /// The box of the rows that are left.
    [[nodiscard]] __device__ typename Block::Box pending_box() const {
        const bool is_one = ((pending_ >> lane_) & 1U) != 0;
        T lower[D];
        T upper[D];
#pragma unroll
        for (int axis = 0; axis < D; ++axis) {
            lower[axis] = is_one ? x_[axis] : std::numeric_limits<T>::infinity();
            upper[axis] = is_one ? x_[axis] : -std::numeric_limits<T>::infinity();
        }
        join_boxes_of_lanes<warp_size>(lower, upper);
        return {[&](int axis) { return lower[axis]; }, [&](int axis) { return upper[axis]; },
                job_.sources.period.data()};
    }

    /// Searches the block, which holds everything within the radius, for the rows that are left.
    __device__ void search_block(T radius, bool holds_all) {
        fewest_ = block_.size();
        if (block_.size() < job_.request.k && !holds_all) {
            return;
        }
        unsigned rows = pending_;
        if constexpr (fits_lane<List>) {
            rows = search_by_lanes(radius, holds_all);
        }
        search_row_by_row(rows, radius, holds_all);
    }

    /// The same with a lane for each row. Returns those that are better searched for one by one: few, or with more points
    /// within their thresholds than a column holds, or with ties that keys do not break.
    __device__ unsigned search_by_lanes(T radius, bool holds_all) {
        constexpr int passes = 3;
        constexpr int min_lanes = 4; // a pass for all takes as long as so many rows one by one
        LaneLists<T, D, Periodic, List> lists(memory_, block_.size());
        const Query query(x_, 1, job_.sources.period.data());
        const std::int32_t excluded = job_.request.exclude_self ? index_ : -1;
        const auto k = static_cast<int>(job_.request.k);
        unsigned rows = pending_; // that no pass has served
        unsigned served = 0;
        T threshold = radius;
        int count = 0;
        for (int pass = 0; __popc(rows) >= min_lanes; ++pass) {
            const bool is_one = ((rows >> lane_) & 1U) != 0;
            const auto collected = lists.collect(query, excluded, is_one ? threshold : T(-1));
            const bool is_full = collected.count > lists.capacity;
            const bool is_whole = threshold == radius && !is_full;
            const bool is_served = is_one && !is_full && (collected.count >= k || (is_whole && holds_all));
            count = is_served ? collected.count : count;
            served |= __ballot_sync(whole_warp, is_served);
            const bool is_too_few = is_one && is_whole && !is_served;
            fewest_ = device_min(fewest_, __reduce_min_sync(whole_warp, is_too_few ? collected.count : fewest_));
            rows &= ~(served | __ballot_sync(whole_warp, is_too_few));
            if (rows == 0 || pass + 1 == passes) {
                break;
            }
            // A threshold for between k and as many as a column holds.
            const float expected = static_cast<float>(collected.count) * static_cast<float>(block_.size()) /
                                   static_cast<float>(collected.measured);
            const float wanted = static_cast<float>(k + lists.capacity) / 2;
            threshold = device_min(
                threshold * static_cast<T>(std::exp2(2.0F / D * std::log2(wanted / (expected + 0.5F)))), radius);
        }
        if (served == 0) {
            return rows;
        }
        const bool is_sure = lists.select(query, count);
        const unsigned sure = served & __ballot_sync(whole_warp, is_sure);
        write_rows(lists, sure);
        pending_ &= ~sure;
        RankKey<T> last = no_candidate<T>();
        if (((sure >> lane_) & 1U) != 0) {
            last = lists.neighbor(lane_, k - 1);
        }
        const bool is_found = last < no_candidate<T>();
        const T reached = is_found ? last.squared() : ((sure >> lane_) & 1U) != 0 ? radius : T(0);
        // Distances order as their bits do.
        const unsigned farthest = __reduce_max_sync(whole_warp, std::bit_cast<unsigned>(static_cast<float>(reached)));
        farthest_ = device_max(farthest_, static_cast<T>(std::bit_cast<float>(farthest)));
        return rows | (served & ~sure);
    }

    /// Writes the rows that lanes hold, a lane for each neighbor.
    __device__ void write_rows(LaneLists<T, D, Periodic, List>& lists, unsigned rows) {
        const DeviceRequest<T>& request = job_.request;
        const std::int32_t row_of_lane = request.first_position < 0 ? index_ : first_ + lane_ - request.first_position;
        const auto k = static_cast<std::uint32_t>(request.k);
        const int rank = lane_ % List;
        write_neighbors(request, [&](const auto& write) {
#pragma unroll 1
            for (int first = 0; first < warp_size && (rows >> first) != 0; first += warp_size / List) {
                const int lane = first + lane_ / List;
                const auto row = static_cast<std::uint32_t>(__shfl_sync(whole_warp, row_of_lane, lane));
                if (rank < request.k && ((rows >> lane) & 1U) != 0) {
                    write(static_cast<std::int64_t>(std::uint64_t{row} * k) + rank, lists.neighbor(lane, rank));
                }
            }
        });
    }

    __device__ void search_row_by_row(unsigned rows, T radius, bool holds_all) {
        for (; rows != 0; rows &= rows - 1) {
            const int row = __ffs(static_cast<int>(rows)) - 1;
            const std::int32_t index = __shfl_sync(whole_warp, index_, row);
            T x[D];
#pragma unroll
            for (int axis = 0; axis < D; ++axis) {
                x[axis] = __shfl_sync(whole_warp, x_[axis], row);
            }
            const Query query(x, 1, job_.sources.period.data());
            for (T threshold = device_min(guess_, radius);; threshold = radius) {
                const Nearest nearest = nearest_to(query, index, threshold);
                const int found = nearest.found();
                const bool is_done = !(nearest.last_wanted().squared() > threshold);
                if (is_done || (threshold == radius && holds_all)) {
                    write_ranks<T, rows_of_list<List>>(job_.request, nearest, {index, first_ + row}, 0);
                    pending_ &= ~(1U << row);
                    learn(is_done ? nearest.last_wanted().squared() : radius);
                    break;
                }
                if (threshold == radius) {
                    fewest_ = found < fewest_ ? found : fewest_;
                    break;
                }
            }
        }
    }

    /// The nearest of the block within a squared distance.
    __device__ __forceinline__ Nearest nearest_to(const Query& query, std::int32_t index, T threshold) {
        const std::int32_t excluded = job_.request.exclude_self ? index : -1;
        Nearest nearest(memory_.waiting, 0, static_cast<int>(job_.request.k),
                        {threshold, std::numeric_limits<std::int32_t>::max()});
        for (int start = 0; start < block_.size(); start += warp_size) {
            RankKey<T> key = no_candidate<T>();
            if (start + lane_ < block_.size()) {
                key = block_.candidate(query, start + lane_);
            }
            nearest.offer(key, key < nearest.bound() && key.index() != excluded);
        }
        nearest.flush();
        return nearest;
    }

    /// What a row needed is what the next may need, and somewhat more; nothing can be told from coincident points.
    __device__ void learn(T reached) {
        if (reached > 0) {
            guess_ = reached * T(1.18);
        }
        farthest_ = device_max(farthest_, reached);
    }

    /// The factor from the radius that was searched to one that should do for the rows that are left.
    [[nodiscard]] __device__ T growth() const {
        const float share = (static_cast<float>(job_.request.k) * 1.2F + 2.0F) / (static_cast<float>(fewest_) + 0.5F);
        const float least = std::exp2(2.0F / D);
        const float most = std::exp2(8.0F / D);
        const float factor = std::exp2(2.0F / D * std::log2(share));
        return static_cast<T>(factor < least ? least : factor < most ? factor : most);
    }

    const LeafKernelJob<T>& job_;
    Memory& memory_;
    Block block_;
    int lane_;
    DeviceReach<D> reach_;
    T guess_;        ///< squared k-th distance expected of the next query
    T farthest_ = 0; ///< squared distance that a row of the leaf had to look at
    std::int32_t first_ = 0;
    unsigned pending_ = 0;    ///< the rows that are left, a bit each
    int fewest_ = 0;          ///< that one of them found
    T x_[D];                  ///< of the lane's query
    std::int32_t index_ = -1; ///< its original index
};

/// For k up to List: 16, 32 or 64.
template <class T, int D, bool Periodic, int List>
struct SearchLeaves {
    using Job = LeafKernelJob<T>;
    static constexpr int threads = leaf_warps * warp_size;
    /// So few that no register is kept in memory.
    static constexpr int blocks = 4;

    static __device__ __forceinline__ void run(const Job& job) {
        static_assert(sizeof(job) <= 4096, "parameters of a kernel");
        __shared__ LeafMemory<T, D, List> memory[leaf_warps];

        const int warp = static_cast<int>(threadIdx.x) / warp_size;
        const std::int64_t first = job.first_leaf + (std::int64_t{blockIdx.x} * leaf_warps + warp) * job.leaves_of_warp;
        if (first >= job.end_leaf) {
            return;
        }
        const std::int64_t end = device_min(first + job.leaves_of_warp, std::int64_t{job.end_leaf});
        LeafRows<T, D, Periodic, List> rows(job, memory[warp], static_cast<std::int32_t>(first),
                                            static_cast<std::int32_t>(end));
        for (std::int64_t leaf = first; leaf < end; ++leaf) {
            rows.search(static_cast<std::int32_t>(leaf));
        }
    }
};

template <class T, int D, bool Periodic, int List>
__global__ void __launch_bounds__(SearchLeaves<T, D, Periodic, List>::threads,
                                  SearchLeaves<T, D, Periodic, List>::blocks)
    search_leaves_kernel(const __grid_constant__ LeafKernelJob<T> job) {
    SearchLeaves<T, D, Periodic, List>::run(job);
}

} // namespace kith::detail::inline KITH_GPU
