// Nearest neighbours of all points of one tree among those of another on a GPU, a warp for each leaf.
//
// The points that can matter to a leaf are those within some radius of its box. The radius is guessed, from the leaves
// before it and the leaf's own density; the warp lists the source leaves within it, going down the planes with all nodes
// side by side in its lanes, and gathers their points into shared memory once. Each query then makes one pass over this
// block, within the distance that the query before it suggests; what it finds is all there is within that distance, so
// that k of them are the answer. Rows that find fewer look at the whole block; then the radius grows around those that
// are left. Rows that no round serves, and leaves that no block holds, are named for another search (search_kernel.hpp).
#pragma once

#include "knn/device_reach.hpp"
#include "knn/warp_row.hpp"
#include "tree/device_tree.hpp"
#include "walk/device_distances.hpp"
#include "walk/warp_ranges.hpp"

#include <cstdint>
#include <limits>

namespace kith::detail {

template <class T>
struct LeafKernelJob {
    DeviceTree<T> queries;
    DeviceTree<T> sources;
    bool self_search = false; ///< they are one tree
    DeviceRequest<T> request;
    std::int32_t leaves_of_warp = 1; ///< that follow each other
    float first_reach = 0;           ///< squared radius that may hold k points, for a warp that knows no better
    DeviceRows left;                 ///< gets the rows that are not served
};

inline constexpr int leaf_warps = 4;  ///< of a block
inline constexpr int most_near = 128; ///< nodes of a plane within the radius
inline constexpr int most_rows_of_leaf = warp_size;

/// Points that a block has room for: 8 KiB of a warp.
template <class T, int D>
inline constexpr int most_gathered = 8192 / (D * sizeof(T) + sizeof(std::int32_t)) / warp_size* warp_size;

/// Points near a leaf, in a warp's part of shared arrays.
template <class T, int D, bool Periodic>
class LeafBlock {
public:
    static constexpr int most = most_gathered<T, D>;
    using Coordinates = SharedArray<T, leaf_warps * D * most>;
    using Numbers = SharedArray<std::int32_t, leaf_warps * most>;
    using Nodes = SharedArray<std::int32_t, leaf_warps * 2 * most_near>;
    using Box = DeviceBox<T, D, Periodic>;

    __device__ LeafBlock(const DeviceTree<T>& tree, Coordinates& coordinates, Numbers& indices, Nodes& nodes)
        : tree_(tree), coordinates_(coordinates), indices_(indices), nodes_(nodes),
          lane_(static_cast<int>(threadIdx.x) % warp_size), warp_(static_cast<int>(threadIdx.x) / warp_size) {}

    /// Gathers all points within a squared radius of a box. False if they, or the nodes that hold them, are too many.
    __device__ bool gather(const Box& box, T radius) {
        __syncwarp(); // nobody reads the last block any more
        size_ = 0;
        if (tree_.top < 0) {
            return true;
        }
        int first = 0; // where the list of the plane above is
        int listed = 0;
        for (int plane = tree_.top; plane >= 0; --plane) {
            const int to = most_near - first;
            int found = 0;
            const auto list = [&](std::int32_t node, bool is_one) {
                return keep(box, radius, tree_.planes[plane], node, is_one, to, found);
            };
            bool fits = true;
            for (int i = 0; fits && (plane == tree_.top ? i == 0 : i < listed); i += warp_size) {
                std::int32_t start = 0;
                std::int32_t count = 0;
                if (plane == tree_.top) {
                    count = lane_ == 0 ? tree_.planes[plane].nodes : 0;
                } else if (i + lane_ < listed) {
                    const std::int32_t parent = nodes_[node_place(first + i + lane_)];
                    start = tree_.planes[plane + 1].first_child[parent];
                    count = tree_.planes[plane + 1].first_child[parent + 1] - start;
                }
                fits = visit_ranges(start, count, list);
            }
            __syncwarp();
            if (!fits) {
                return false;
            }
            first = to;
            listed = found;
        }
        const std::int32_t* first_point = tree_.planes[0].first_point;
        bool fits = true;
        for (int i = 0; fits && i < listed; i += warp_size) {
            std::int32_t start = 0;
            std::int32_t count = 0;
            if (i + lane_ < listed) {
                const std::int32_t leaf = nodes_[node_place(first + i + lane_)];
                start = first_point[leaf];
                count = first_point[leaf + 1] - start;
            }
            fits = visit_ranges(start, count,
                                [&](std::int32_t point, bool is_one) { return take(box, radius, point, is_one); });
        }
        __syncwarp();
        return fits;
    }

    [[nodiscard]] __device__ int size() const { return size_; }

    /// The candidate at a place of the block for a query.
    __device__ RankKey<T> candidate(const DevicePlace<T, D, Periodic>& query, int place) {
        return {query.squared_distance([&](int axis) -> T { return coordinates_[coordinate_place(axis, place)]; }),
                static_cast<std::int32_t>(indices_[warp_ * most + place])};
    }

private:
    [[nodiscard]] __device__ int node_place(int i) const { return warp_ * 2 * most_near + i; }
    [[nodiscard]] __device__ int coordinate_place(int axis, int place) const {
        return (warp_ * D + axis) * most + place;
    }
    /// How many lanes before this one are in a mask.
    [[nodiscard]] __device__ int before(unsigned lanes) const { return __popc(lanes & ((1U << lane_) - 1)); }

    /// Lists the nodes of the lanes that are within the radius. False if there is no room.
    __device__ bool keep(const Box& box, T radius, const DevicePlane<T>& plane, std::int32_t node, bool is_one, int to,
                         int& found) {
        const bool is_near =
            is_one && !(radius < box.least_squared_distance(
                                     [&](int axis) { return plane.lower_corners[axis * plane.stride + node]; },
                                     [&](int axis) { return plane.upper_corners[axis * plane.stride + node]; }));
        const unsigned near = __ballot_sync(whole_warp, is_near);
        if (found + __popc(near) > most_near) {
            return false;
        }
        if (is_near) {
            nodes_[node_place(to + found + before(near))] = node;
        }
        found += __popc(near);
        return true;
    }

    /// Takes in the points of the lanes that are within the radius. False if there is no room.
    __device__ bool take(const Box& box, T radius, std::int32_t point, bool is_one) {
        const DevicePoints<T>& points = tree_.points;
        T place[D];
        bool is_near = false;
        if (is_one) {
#pragma unroll
            for (int axis = 0; axis < D; ++axis) {
                place[axis] = points.coordinates[axis * points.stride + point];
            }
            const auto coordinate = [&](int axis) { return place[axis]; };
            is_near = !(radius < box.least_squared_distance(coordinate, coordinate));
        }
        const unsigned near = __ballot_sync(whole_warp, is_near);
        if (size_ + __popc(near) > most) {
            return false;
        }
        if (is_near) {
            const int to = size_ + before(near);
#pragma unroll
            for (int axis = 0; axis < D; ++axis) {
                coordinates_[coordinate_place(axis, to)] = place[axis];
            }
            indices_[warp_ * most + to] = points.indices[point];
        }
        size_ += __popc(near);
        return true;
    }

    const DeviceTree<T>& tree_;
    Coordinates& coordinates_;
    Numbers& indices_;
    Nodes& nodes_;
    int lane_;
    int warp_;
    int size_ = 0;
};

/// The queries of one leaf, a lane each.
template <class T, int D, bool Periodic, int Rows>
class LeafRows {
public:
    using Block = LeafBlock<T, D, Periodic>;
    static constexpr int size = leaf_warps * waiting_room;
    using Waiting = SharedArray<RankKey<T>, size>;

    __device__ LeafRows(const LeafKernelJob<T>& job, Block& block, Waiting& waiting)
        : job_(job), block_(block), waiting_(waiting), lane_(static_cast<int>(threadIdx.x) % warp_size),
          reach_(job.request.k, job.first_reach), guess_(std::numeric_limits<T>::infinity()) {}

    /// Serves the rows of a leaf, or names them as left.
    __device__ void search(std::int32_t leaf) {
        const DevicePlane<T>& leaves = job_.queries.planes[0];
        first_ = leaves.first_point[leaf];
        const std::int32_t rows = leaves.first_point[leaf + 1] - first_;
        if (rows > most_rows_of_leaf) {
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
            radius = lesser(radius, limit);
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
        const DevicePoints<T>& points = job_.queries.points;
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
#pragma unroll
            for (int lanes = warp_size / 2; lanes > 0; lanes /= 2) {
                lower[axis] = lesser(lower[axis], __shfl_xor_sync(whole_warp, lower[axis], lanes));
                upper[axis] = greater(upper[axis], __shfl_xor_sync(whole_warp, upper[axis], lanes));
            }
        }
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
            const DevicePlace<T, D, Periodic> query(x, 1, job_.sources.period.data());
            for (T threshold = lesser(guess_, radius);; threshold = radius) {
                const Nearest nearest = nearest_to(query, index, threshold);
                const int found = nearest.found();
                const bool is_done = !(nearest.last_wanted().squared() > threshold);
                if (is_done || (threshold == radius && holds_all)) {
                    write_ranks<T, Rows>(job_.request, nearest, index, 0);
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
    __device__ Nearest nearest_to(const DevicePlace<T, D, Periodic>& query, std::int32_t index, T threshold) {
        const int first_waiting = static_cast<int>(threadIdx.x) / warp_size * waiting_room;
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
        nearest.settle();
        return nearest;
    }

    /// What a row needed is what the next may need, and somewhat more; nothing can be told from coincident points.
    __device__ void learn(T reached) {
        if (reached > 0) {
            guess_ = reached * T(1.18);
        }
        farthest_ = greater(farthest_, reached);
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
__global__ void __launch_bounds__(leaf_warps* warp_size)
    search_leaves_kernel(const __grid_constant__ LeafKernelJob<T> job) {
    static_assert(sizeof(job) <= 4096, "parameters of a kernel");
    using Block = LeafBlock<T, D, Periodic>;
    using RowsOfLeaf = LeafRows<T, D, Periodic, Rows>;
    __shared__ typename Block::Coordinates coordinates;
    __shared__ typename Block::Numbers indices;
    __shared__ typename Block::Nodes nodes;
    __shared__ typename RowsOfLeaf::Waiting waiting;

    if (job.queries.top < 0) {
        return;
    }
    const std::int64_t warp = std::int64_t{blockIdx.x} * leaf_warps + static_cast<int>(threadIdx.x) / warp_size;
    const std::int64_t end = (warp + 1) * job.leaves_of_warp;
    Block block(job.sources, coordinates, indices, nodes);
    RowsOfLeaf rows(job, block, waiting);
    for (std::int64_t leaf = warp * job.leaves_of_warp; leaf < end && leaf < job.queries.planes[0].nodes; ++leaf) {
        rows.search(static_cast<std::int32_t>(leaf));
    }
}

} // namespace kith::detail
