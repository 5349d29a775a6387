// Nearest neighbors of all points of one tree among those of another on a GPU, a warp for each leaf.
//
// The points that can matter to a leaf are those within some radius of its box. The radius is guessed, from the leaves
// before it and the leaf's own density, and the points within it are gathered into shared memory (leaf_block.hpp). Each
// query then makes one pass over this block, within the distance that the query before it suggests; what it finds is all
// there is within that distance, so that k of them are the answer. Rows that find fewer look at the whole block; then the
// radius grows around those that are left. Rows that no round serves, and leaves that no block holds, are named for
// another search (search_kernel.hpp).
#pragma once

#include "cuda/lane_bounds.hpp"
#include "neighbors/device_reach.hpp"
#include "neighbors/leaf_block.hpp"
#include "neighbors/warp_row.hpp"

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
template <class T, int D, bool Periodic, int Rows>
class LeafRows {
public:
    using Block = LeafBlock<T, D, Periodic>;
    static constexpr int size = leaf_warps * queue_size;
    using Waiting = SharedArray<RankKey<T>, size>;

    __device__ LeafRows(const LeafKernelJob<T>& job, Block& block, Waiting& waiting)
        : job_(job), block_(block), waiting_(waiting), lane_(static_cast<int>(threadIdx.x) % warp_size),
          reach_(job.request.k, job.first_reach), guess_(std::numeric_limits<T>::infinity()) {}

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
    using Nearest = NearestOfWarp<T, Rows, size>;

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
        for (unsigned rows = pending_; rows != 0; rows &= rows - 1) {
            const int row = __ffs(static_cast<int>(rows)) - 1;
            const std::int32_t index = __shfl_sync(whole_warp, index_, row);
            T x[D];
#pragma unroll
            for (int axis = 0; axis < D; ++axis) {
                x[axis] = __shfl_sync(whole_warp, x_[axis], row);
            }
            const DevicePoint<T, D, Periodic> query(x, 1, job_.sources.period.data());
            for (T threshold = device_min(guess_, radius);; threshold = radius) {
                const Nearest nearest = nearest_to(query, index, threshold);
                const int found = nearest.found();
                const bool is_done = !(nearest.last_wanted().squared() > threshold);
                if (is_done || (threshold == radius && holds_all)) {
                    write_ranks<T, Rows>(job_.request, nearest, {index, first_ + row}, 0);
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
    __device__ __forceinline__ Nearest nearest_to(const DevicePoint<T, D, Periodic>& query, std::int32_t index,
                                                  T threshold) {
        const int first_waiting = static_cast<int>(threadIdx.x) / warp_size * queue_size;
        const std::int32_t excluded = job_.request.exclude_self ? index : -1;
        Nearest nearest(waiting_, first_waiting, static_cast<int>(job_.request.k),
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
    Block& block_;
    Waiting& waiting_;
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

/// For k up to 32 * Rows.
template <class T, int D, bool Periodic, int Rows>
struct SearchLeaves {
    using Job = LeafKernelJob<T>;
    static constexpr int threads = leaf_warps * warp_size;
    static constexpr int blocks = 0;

    static __device__ __forceinline__ void run(const Job& job) {
        static_assert(sizeof(job) <= 4096, "parameters of a kernel");
        using Block = LeafBlock<T, D, Periodic>;
        using RowsOfLeaf = LeafRows<T, D, Periodic, Rows>;
        __shared__ typename Block::Coordinates coordinates;
        __shared__ typename Block::Numbers indices;
        __shared__ typename Block::Nodes nodes;
        __shared__ typename RowsOfLeaf::Waiting waiting;

        const std::int64_t warp = std::int64_t{blockIdx.x} * leaf_warps + static_cast<int>(threadIdx.x) / warp_size;
        const std::int64_t first = job.first_leaf + warp * job.leaves_of_warp;
        Block block(job.sources, coordinates, indices, nodes);
        RowsOfLeaf rows(job, block, waiting);
        for (std::int64_t leaf = first; leaf < first + job.leaves_of_warp && leaf < job.end_leaf; ++leaf) {
            rows.search(static_cast<std::int32_t>(leaf));
        }
    }
};

template <class T, int D, bool Periodic, int Rows>
__global__ void __launch_bounds__(leaf_warps* warp_size)
    search_leaves_kernel(const __grid_constant__ LeafKernelJob<T> job) {
    SearchLeaves<T, D, Periodic, Rows>::run(job);
}

} // namespace kith::detail::inline KITH_GPU
