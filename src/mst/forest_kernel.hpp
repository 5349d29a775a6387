// The search for edges out of components on a GPU: a warp for each point whose row is used up and whose last known
// distance is within the bound of its component.
//
// The warp goes through the tree as in the search for neighbors (search_kernel.hpp). Nodes that are the point's own
// component as a whole are shut, and what lies beyond the component's bound is dropped, which shrinks by what any warp
// finds. Equal distances are never dropped, so that the index decides, and answers do not depend on who was first.
// Where core distances weigh edges, nodes whose least core distance is beyond the bound are shut as well.
#pragma once

#include "mst/device_forest.hpp"
#include "neighbors/search_kernel.hpp"
#include "tree/view.hpp"

#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace kith::detail::inline KITH_GPU {

// Instead of the component that all points of a node are in, duplicates left aside.
inline constexpr std::int32_t no_component = -1;
inline constexpr std::int32_t several_components = -2;

/// Of a point of the tree.
struct ComponentOfPoint {
    const std::uint8_t* next;
    const std::int32_t* component;

    __device__ std::int32_t operator()(std::int32_t point) const {
        return next[point] == is_duplicate ? no_component : component[point];
    }
};

struct JoinComponents {
    static constexpr std::int32_t identity = no_component;

    __device__ std::int32_t operator()(std::int32_t a, std::int32_t b) const {
        return a == no_component || a == b ? b : b == no_component ? a : several_components;
    }
};

/// The squared core distance of a point of the tree, and the least of a node's.
template <class T>
struct CoreOfPoint {
    const T* core;

    __device__ T operator()(std::int32_t point) const { return core[point]; }
};

template <class T>
struct LesserCore {
    static constexpr T identity = std::numeric_limits<T>::infinity();

    __device__ T operator()(T a, T b) const { return device_min(a, b); }
};

template <class T, class Weight>
struct ForestSearchJob {
    DeviceForest<T, Weight> forest;
    TreeView<T> tree;
    std::array<std::int32_t*, max_planes> components; ///< of nodes
    std::array<T*, max_planes> cores; ///< the least squared core distances of nodes; null where lengths are weights
    const std::int32_t* position_of;  ///< by original index
    DeviceRows points;                ///< to be searched for
};

/// Points of other components, in nodes whose core distances do not put them beyond the bound.
template <class T, class Weight>
struct ForeignPoints {
    const ForestSearchJob<T, Weight>* job;
    std::int32_t component;

    [[nodiscard]] __device__ bool is_open(int plane, std::int64_t node) const {
        const std::int32_t of_node = job->components[plane][node];
        bool is_open = of_node != component && of_node != no_component;
        if constexpr (!Weight::is_distance) {
            is_open = is_open && job->cores[plane][node] <= job->forest.bound.load(component);
        }
        return is_open;
    }
    [[nodiscard]] __device__ bool is_wanted(std::int64_t point) const {
        return job->forest.component[point] != component;
    }
};

/// The nearest that a warp has found. All members are called by the whole warp, and say the same to all lanes.
template <class T>
class NearestForeign {
public:
    template <class Weight>
    __device__ NearestForeign(const DeviceForest<T, Weight>& forest, std::int32_t /*point*/, std::int32_t component)
        : bounds_(forest.bound), component_(component) {}

    /// The component's, as it is now.
    [[nodiscard]] __device__ T limit() const { return __shfl_sync(whole_warp, bounds_.load(component_), 0); }

    [[nodiscard]] __device__ RankKey<T> bound() const {
        const RankKey<T> last_within(limit(), std::numeric_limits<std::int32_t>::max());
        return RankKey<T>::either(found_ < last_within, found_, last_within);
    }

    __device__ void offer(RankKey<T> key, std::int64_t /*point*/) {
        if (__any_sync(whole_warp, key < found_)) {
            const RankKey<T> least = least_of_warp(key);
            found_ = RankKey<T>::either(least < found_, least, found_);
            if (threadIdx.x % warp_size == 0) {
                bounds_.lower(component_, found_.squared());
            }
        }
    }
    __device__ void flush() const {}

    [[nodiscard]] __device__ RankKey<T> found() const { return found_; }
    [[nodiscard]] __device__ T weight() const { return found_.squared(); }

private:
    LoweredNumbers<T> bounds_;
    std::int32_t component_;
    RankKey<T> found_ = no_candidate<T>();
};

/// The same where core distances weigh edges: the first by (weight, squared distance, index).
template <class T>
class LightestForeign {
public:
    __device__ LightestForeign(const DeviceForest<T, ReachabilityWeight<T>>& forest, std::int32_t point,
                               std::int32_t component)
        : forest_(forest), point_(point), component_(component) {}

    [[nodiscard]] __device__ T limit() const { return __shfl_sync(whole_warp, forest_.bound.load(component_), 0); }

    /// No edge of the point weighs less than its core distance: once one weighs no more, only what is nearer is better.
    [[nodiscard]] __device__ RankKey<T> bound() const {
        const RankKey<T> last_within(device_min(weight_, limit()), std::numeric_limits<std::int32_t>::max());
        const bool is_least = weight_ <= forest_.weigh.core[point_] && found_ < last_within;
        return RankKey<T>::either(is_least, found_, last_within);
    }

    __device__ void offer(RankKey<T> key, std::int64_t other) {
        const bool is_one = key.index() != no_candidate<T>().index();
        const T weight = is_one ? forest_.weigh(point_, static_cast<std::int32_t>(other), key.squared())
                                : std::numeric_limits<T>::infinity();
        const bool is_better = weight < weight_ || (weight == weight_ && key < found_);
        if (__any_sync(whole_warp, is_better)) {
            T least = is_better ? weight : weight_;
#pragma unroll
            for (int lanes = warp_size / 2; lanes > 0; lanes /= 2) {
                least = device_min(least, __shfl_xor_sync(whole_warp, least, lanes));
            }
            found_ = least_of_warp(RankKey<T>::either(is_better && weight == least, key, no_candidate<T>()));
            weight_ = least;
            if (threadIdx.x % warp_size == 0) {
                forest_.bound.lower(component_, weight_);
            }
        }
    }
    __device__ void flush() const {}

    [[nodiscard]] __device__ RankKey<T> found() const {
        return found_;
    }
    [[nodiscard]] __device__ T weight() const {
        return weight_;
    }

private:
    const DeviceForest<T, ReachabilityWeight<T>>& forest_;
    std::int32_t point_;
    std::int32_t component_;
    T weight_ = std::numeric_limits<T>::infinity();
    RankKey<T> found_ = no_candidate<T>();
};

template <class T>
__device__ T number_after(T number) {
    using Bits = typename LoweredNumbers<T>::Bits;
    return number < std::numeric_limits<T>::infinity() ? std::bit_cast<T>(std::bit_cast<Bits>(number) + 1) : number;
}

/// Blocks at a time on a multiprocessor, at least: leaves 64 registers, in which all values stay.
inline constexpr int search_forest_blocks = 8;

/// As many warps as there may be points, or fewer: each takes one after the other.
template <class T, int D, bool Periodic, class Weight>
__global__ void __launch_bounds__(search_warps* warp_size, search_forest_blocks)
    search_forest_kernel(const __grid_constant__ ForestSearchJob<T, Weight> job) {
    static_assert(sizeof(job) <= 4096, "parameters of a kernel");
    using Nearest = std::conditional_t<Weight::is_distance, NearestForeign<T>, LightestForeign<T>>;
    const DeviceForest<T, Weight>& forest = job.forest;
    const int lane = static_cast<int>(threadIdx.x) % warp_size;
    const std::uint32_t points = *job.points.count;
    for (std::uint32_t i = blockIdx.x * search_warps + threadIdx.x / warp_size; i < points;
         i += gridDim.x * search_warps) {
        const std::int32_t point = job.points.rows[i];
        const std::int32_t component = forest.component[point];
        Nearest nearest(forest, point, component);
        if (nearest.limit() < forest.distance[point]) { // others have found something since
            continue;
        }
        const DevicePoint<T, D, Periodic> where(forest.points.coordinates + point, forest.points.stride,
                                                forest.period.data());
        NodeFinder<T, D, Periodic, ForeignPoints<T, Weight>> nodes(job.tree, where, {&job, component});
        search_nodes(
            job.tree, where, nodes, nearest, [&](RankKey<T> key, std::int64_t other) { nearest.offer(key, other); },
            lane);
        const T limit = nearest.limit();
        const RankKey<T> found = nearest.found();
        if (lane == 0) {
            const bool is_within = nearest.weight() <= limit; // or something nearer may have been passed over
            if (is_within) {
                forest.row(point)[row_length - 1] = job.position_of[found.index()];
                forest.next[point] = row_length - 1;
                if constexpr (!Weight::is_distance) {
                    forest.length[point] = found.squared();
                }
            }
            forest.distance[point] = is_within ? nearest.weight() : number_after(limit);
        }
    }
}

} // namespace kith::detail::inline KITH_GPU
