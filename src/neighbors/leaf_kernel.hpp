// Nearest neighbors of all points of one tree among those of another on a GPU, a warp for each leaf.
//
// The points that can matter to rows are those within some radius of their box. For the rows of a leaf, the radius is
// guessed, from the leaves before it and the leaf's own density, and the points within it are gathered into shared
// memory (leaf_block.hpp). Each lane then takes a query of the leaf, or shares it with others if rows are few, and all
// points within the radius of it (lane_lists.hpp); that is all there is within that distance, so that k of them are the
// answer. A single row, and those whose order keys do not decide, the warp takes one by one, as it does all for lists
// of more than 32. A row that found too few wants a greater radius by its own count, and is searched for again with the
// others that did. Where a block does not hold what rows want, half of them are searched for at first: in six
// dimensions this goes on until a row is alone with the few points near it, while its leaf has thousands. Rows that are
// not served in this way, and those of larger leaves, are named for another search (search_kernel.hpp).
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
        : job_(job), memory_(memory),
          block_(job.sources, job.request.frame->period, memory, job.queries.planes[0], first_leaf, end_leaf),
          lane_(static_cast<int>(threadIdx.x) % warp_size), expected_(job.request.k, job.request.frame->first_reach),
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
        constexpr int max_failures = 8; // without a row served between them
        const T limit = job_.request.frame->limit.squared();
        pending_ = whole_warp >> (warp_size - rows);
        load_queries();
        reach_ = -1;
        together_ = device_min(4 * together_, warp_size); // of the leaf before, which may have been an exception
        for (int failures = 0; failures < max_failures && pending_ != 0; ++failures) {
            active_ = first_of_pending(together_);
            const Box box = active_box();
            T radius = greatest(is_in(active_) ? device_max(reach_, T(0)) : T(0));
            const bool is_guess = __any_sync(whole_warp, is_in(active_) && reach_ < 0) != 0;
            if (is_guess) {
                const float guessed =
                    expected_.guess(static_cast<float>(box.squared_diagonal()), job_.self_search ? __popc(active_) : 0);
                radius = device_max(radius, static_cast<T>(guessed));
            }
            radius = device_min(radius, limit);
            if (!(radius < std::numeric_limits<T>::infinity()) || (radius == 0 && limit > 0)) {
                break;
            }
            if (block_.gather(box, radius)) {
                const unsigned before = pending_;
                farthest_ = 0;
                search_block(radius);
                if (is_guess) {
                    expected_.learn(static_cast<float>(farthest_));
                }
                failures = pending_ != before ? -1 : failures;
                const bool has_room = 4 * block_.size() < Memory::max_points;
                together_ = has_room ? device_min(2 * together_, warp_size) : together_;
            } else if (!is_guess && __popc(active_) > 1) {
                together_ = __popc(active_) / 2;
            } else if (is_in(active_) && (reach_ < 0 || !is_guess)) { // half the volume
                reach_ = radius * static_cast<T>(std::exp2(-2.0F / D));
            }
        }
        if (is_in(pending_)) {
            leave(first_ + lane_);
        }
        __syncwarp();
    }

private:
    using Block = LeafBlock<T, D, Periodic, List>;
    using Box = typename Block::Box;
    using Query = DevicePoint<T, D, Periodic>;
    using Nearest = NearestOfWarp<T, rows_of_list<List>, queue_size>;

    __device__ void leave(std::int32_t row) { job_.left.rows[atomicAdd(job_.left.count, 1)] = row; }

    __device__ void load_queries() {
        const PointSetView<T>& points = job_.queries.points;
        const bool is_one = is_in(pending_);
#pragma unroll
        for (int axis = 0; axis < D; ++axis) {
            x_[axis] = is_one ? points.coordinates[axis * points.stride + first_ + lane_] : T(0);
        }
        index_ = is_one ? points.indices[first_ + lane_] : -1;
    }

    /// Whether the lane's row is one of these.
    [[nodiscard]] __device__ bool is_in(unsigned rows) const {
        return ((rows >> lane_) & 1U) != 0;
    }

    [[nodiscard]] __device__ unsigned first_of_pending(int count) const {
        const int rank = __popc(pending_ & ((1U << lane_) - 1));
        return __ballot_sync(whole_warp, is_in(pending_) && rank < count);
    }

    /// The box of the active rows.
    [[nodiscard]] __device__ Box active_box() const {
        const bool is_one = is_in(active_);
        LaneBox<T, D> box;
#pragma unroll
        for (int axis = 0; axis < D; ++axis) {
            box.lower[axis] = is_one ? x_[axis] : std::numeric_limits<T>::infinity();
            box.upper[axis] = is_one ? x_[axis] : -std::numeric_limits<T>::infinity();
        }
        box.template join<warp_size>();
        return {[&](int axis) { return box.lower[axis]; }, [&](int axis) { return box.upper[axis]; },
                job_.request.frame->period.data()};
    }

    /// The greatest squared distance of all lanes; of wide ones somewhat more, lest it be rounded to less. Zero stays
    /// zero, from which nothing is learned.
    [[nodiscard]] __device__ static T greatest(T squared) {
        // Distances order as their bits do.
        constexpr unsigned infinity = std::bit_cast<unsigned>(std::numeric_limits<float>::infinity());
        const unsigned bits =
            std::bit_cast<unsigned>(static_cast<float>(squared)) + (sizeof(T) > sizeof(float) && squared > 0 ? 1 : 0);
        return static_cast<T>(std::bit_cast<float>(__reduce_max_sync(whole_warp, device_min(bits, infinity))));
    }

    /// Searches the block, which holds everything within the radius, for the active rows.
    __device__ void search_block(T radius) {
        const bool holds_all = !(radius < job_.request.frame->limit.squared());
        if (block_.size() < job_.request.k && !holds_all) {
            reach_ = is_in(active_) ? radius * growth(block_.size()) : reach_;
            return;
        }
        unsigned rows = active_;
        if constexpr (fits_lane<List>) {
            constexpr int min_rows = 2; // one is found sooner alone
            if (__popc(rows) >= min_rows) {
                rows = search_by_lanes(radius, holds_all);
            }
        }
        search_row_by_row(rows, radius, holds_all);
    }

    /// The same with as many lanes for each row as there are. Returns the rows whose order keys do not decide.
    __device__ unsigned search_by_lanes(T radius, bool holds_all) {
        // From here on to where they are written, rows are numbered without those that are not active.
        const int rows = __popc(active_);
        const int number = __popc(active_ & ((1U << lane_) - 1));
        if (is_in(active_)) {
            memory_.words[number] = static_cast<std::uint32_t>(lane_);
        }
        __syncwarp();
        LaneLists<T, D, Periodic, List> lists(memory_, block_.size(), 1 << (warp_size - __clz(rows - 1)));
        const bool is_one = lists.row() < rows;
        const int lane = static_cast<int>(static_cast<std::uint32_t>(memory_.words[is_one ? lists.row() : 0]));
        __syncwarp();
        T x[D];
#pragma unroll
        for (int axis = 0; axis < D; ++axis) {
            x[axis] = __shfl_sync(whole_warp, x_[axis], lane);
        }
        const Query query(x, 1, job_.request.frame->period.data());
        const std::int32_t index = __shfl_sync(whole_warp, index_, lane);
        const std::int32_t excluded = job_.request.exclude_self ? index : -1;
        const auto k = static_cast<int>(job_.request.k);
        bool is_sure = false;
        const int found = lists.select(query, excluded, is_one ? radius : T(-1), k, is_sure);
        const unsigned full = __ballot_sync(whole_warp, lane_ < rows && (found >= k || holds_all));
        const unsigned served = full & __ballot_sync(whole_warp, is_sure);
        write_rows(lists, lane, served);

        const auto is_among = [&](unsigned numbers) { return is_in(active_) && ((numbers >> number) & 1U) != 0; };
        const int count = __shfl_sync(whole_warp, found, number);
        const bool has_all = is_among(full);
        pending_ &= ~__ballot_sync(whole_warp, is_among(served));
        reach_ = is_in(active_) && !has_all ? radius * growth(count) : reach_;
        farthest_ = greatest(!has_all ? T(0) : count >= k ? lists.neighbor(number, k - 1).squared() : radius);
        return __ballot_sync(whole_warp, has_all && !is_among(served));
    }

    /// Writes those of the lists, a lane for each neighbor. Each lane names the one that has the query of its list.
    __device__ void write_rows(LaneLists<T, D, Periodic, List>& lists, int lane_of_query, unsigned which) {
        const DeviceRequest<T>& request = job_.request;
        const std::int32_t row_of_lane = __shfl_sync(
            whole_warp, request.first_position < 0 ? index_ : first_ + lane_ - request.first_position, lane_of_query);
        const auto k = static_cast<std::uint32_t>(request.k);
        const int rank = lane_ % List;
        write_neighbors(request, [&](const auto& write) {
#pragma unroll 1
            for (int first = 0; first < warp_size && (which >> first) != 0; first += warp_size / List) {
                const int lane = first + lane_ / List;
                const auto row = static_cast<std::uint32_t>(__shfl_sync(whole_warp, row_of_lane, lane));
                if (rank < request.k && ((which >> lane) & 1U) != 0) {
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
            const Query query(x, 1, job_.request.frame->period.data());
            const bool is_short = block_.size() <= 2 * warp_size; // two searches would take longer
            for (T threshold = is_short ? radius : device_min(guess_, radius);; threshold = radius) {
                const Nearest nearest = nearest_to(query, index, threshold);
                const bool is_done = !(nearest.last_wanted().squared() > threshold);
                if (is_done || (threshold == radius && holds_all)) {
                    write_ranks<T, rows_of_list<List>>(job_.request, nearest, {index, first_ + row}, 0);
                    pending_ &= ~(1U << row);
                    learn(is_done ? nearest.last_wanted().squared() : radius);
                    break;
                }
                if (threshold == radius) {
                    const T reach = radius * growth(nearest.found());
                    reach_ = lane_ == row ? reach : reach_;
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

    /// The factor from a squared radius that holds so many of a row's neighbors to one that should hold all.
    [[nodiscard]] __device__ T growth(int found) const {
        const float share = (static_cast<float>(job_.request.k) * 1.2F + 2.0F) / (static_cast<float>(found) + 0.5F);
        const float least = std::exp2(2.0F / D);
        const float most = std::exp2(8.0F / D);
        const float factor = std::exp2(2.0F / D * std::log2(share));
        return static_cast<T>(factor < least ? least : factor < most ? factor : most);
    }

    const LeafKernelJob<T>& job_;
    Memory& memory_;
    Block block_;
    int lane_;
    DeviceReach<D> expected_;
    T guess_;        ///< squared k-th distance expected of the next query
    T farthest_ = 0; ///< squared distance that a row of the leaf had to look at
    std::int32_t first_ = 0;
    unsigned pending_ = 0;     ///< the rows that are left, a bit each
    unsigned active_ = 0;      ///< those of them that are searched for together
    int together_ = warp_size; ///< at most so many are
    T reach_ = -1;             ///< squared radius that should hold the neighbors of the lane's row; negative: unknown
    T x_[D];                   ///< of the lane's query
    std::int32_t index_ = -1;  ///< its original index
};

/// Blocks at a time on a multiprocessor, at least: so few that no register is kept in memory.
inline constexpr int min_leaf_blocks = 4;

/// For k up to List: 16, 32 or 64.
template <class T, int D, bool Periodic, int List>
__global__ void __launch_bounds__(leaf_warps* warp_size, min_leaf_blocks)
    search_leaves_kernel(const __grid_constant__ LeafKernelJob<T> job) {
    static_assert(sizeof(job) <= 4096, "parameters of a kernel");
    __shared__ LeafMemory<T, D, List> memory[leaf_warps];

    const int warp = static_cast<int>(threadIdx.x) / warp_size;
    const std::int64_t first = job.first_leaf + (std::int64_t{blockIdx.x} * leaf_warps + warp) * job.leaves_of_warp;
    if (first >= job.end_leaf || job.request.frame->is_refused) {
        return;
    }
    const std::int64_t end = device_min(first + job.leaves_of_warp, std::int64_t{job.end_leaf});
    LeafRows<T, D, Periodic, List> rows(job, memory[warp], static_cast<std::int32_t>(first),
                                        static_cast<std::int32_t>(end));
    for (std::int64_t leaf = first; leaf < end; ++leaf) {
        rows.search(static_cast<std::int32_t>(leaf));
    }
}

} // namespace kith::detail::inline KITH_GPU
