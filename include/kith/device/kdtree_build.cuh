// Builds a left-balanced k-d tree in place, in memory of a GPU: your structs are swapped into level order there. For
// files that nvcc compiles; kith/device/kdtree.hpp does not include it. The tree is that of kdtree_build.hpp.
//
// The points of a subtree are in one range. Every level sorts the ranges of its nodes along their split axes, so that
// the point of each node is at the rank that the shape of the tree asks for; that ends in the in-order sequence, which
// a sort by node brings into level order. A bitonic network sorts all ranges of a level side by side; its comparisons
// all go one way, so ranges need not be a power of two long, and no other memory is needed.
// Cost: O(N log^3 N) comparisons; log^2 N kernels a level, each of which reads all points. Memory in addition to the
// points: one integer per point, another one for original indices if they are wanted, and one byte with split axes of
// choice. kith::kdtree_order (kdtree_order.hpp) sorts once a level, in more memory.
// Source: I. Wald (2023), arXiv:2211.00120, section 3, whose sorts carry a tag with each point; here a point's position
// tells its subtree.
#pragma once

#include <kith/device/kdtree_arrange.cuh>
#include <kith/device/kdtree_build.hpp>

#include <cuda_runtime.h>

#include <cstdint>
#include <type_traits>

namespace kith::kdtree {

/// A tree that is built in place. All arrays are in memory of the GPU, of one element for each point.
template <class Point, class Traits = PointTraits<Point>>
struct TreeInPlace {
    using T = DistanceOf<typename Traits::Scalar>;
    static constexpr int dimension = Traits::dimension;
    static_assert(std::is_trivially_copyable_v<Point>, "kernels swap points");

    Node count;                   ///< at most max_nodes
    Point* points;                ///< are swapped into level order
    std::int32_t* indices;        ///< filled with their original positions; null: nodes stand for the points
    Node* scratch;                ///< overwritten
    std::uint8_t* split_axes;     ///< filled; null is allowed with Split::cyclic
    Bounds<T, dimension>* bounds; ///< one element: those of the points; NaN along an axis with what is not finite
    Split split = Split::cyclic;

    [[nodiscard]] __device__ T coordinate(Node i, int axis) const {
        return static_cast<T>(Traits::coordinate(points[i], axis));
    }
    /// Original positions while levels are sorted; without indices, where the nodes will be.
    [[nodiscard]] __device__ std::int32_t* positions() const {
        return indices != nullptr ? indices : reinterpret_cast<std::int32_t*>(scratch);
    }
    /// The axis that a node splits, which has been chosen.
    [[nodiscard]] __device__ int axis_of(Node node) const {
        return split == Split::cyclic ? level_of(node) % dimension : split_axes[node];
    }
};

namespace detail {

/// Where the points of a subtree begin in the in-order sequence: behind those of the subtrees before it on its level,
/// and one node between each two.
KITH_KDTREE_HD constexpr Node begin_in_order(Node node, Node count) {
    const Node first = first_of_level(level_of(node));
    return segment_begin(node, count) - first + (node - first);
}

inline constexpr unsigned threads_of_build = 256; ///< of a block
inline constexpr int all_points = -1;             ///< in place of a level

template <class Point, class Traits>
struct LevelInPlace {
    TreeInPlace<Point, Traits> tree;
    int level; ///< or all_points
};

/// One step of sorting every subtree of a level along its axis, or all points by their nodes, in scratch.
template <class Point, class Traits>
struct SortStep {
    TreeInPlace<Point, Traits> tree;
    int level; ///< or all_points
    Node mask; ///< partners are at places that differ by these bits
};

inline __device__ std::uint64_t thread_in_grid() {
    return std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
}

template <class Point, class Traits>
__global__ void number_points(const LevelInPlace<Point, Traits> job) {
    const std::uint64_t i = thread_in_grid();
    if (i < job.tree.count) {
        job.tree.positions()[i] = static_cast<std::int32_t>(i);
    }
}

template <class Point, class Traits>
__global__ void find_nodes(const LevelInPlace<Point, Traits> job) {
    const std::uint64_t i = thread_in_grid();
    if (i < job.tree.count) {
        job.tree.scratch[i] = node_in_order(static_cast<Node>(i), job.tree.count);
    }
}

/// The box of elements, for the first thread of a block, which all its threads measure together: lower_of(i, axis) and
/// upper_of(i, axis) are those of one of them. NaN along an axis with what is not finite. `size` is not 0.
template <class T, int D, class Lower, class Upper>
__device__ Bounds<T, D> box_of(std::uint64_t size, const Lower& lower_of, const Upper& upper_of) {
    __shared__ T lower[threads_of_build];
    __shared__ T upper[threads_of_build];
    const Node thread = threadIdx.x;
    const auto less = [](T a, T b) { return b < a || b != b ? b : a; }; // NaN, if one is
    const auto greater = [](T a, T b) { return b > a || b != b ? b : a; };
    const auto finite = [](T x) { return x + (x - x); }; // NaN in place of infinity
    Bounds<T, D> box;
    for (int axis = 0; axis < D; ++axis) {
        const std::uint64_t first = thread < size ? thread : 0;
        T least = finite(lower_of(first, axis));
        T greatest = finite(upper_of(first, axis));
        for (std::uint64_t i = first; i < size; i += threads_of_build) {
            least = less(least, finite(lower_of(i, axis)));
            greatest = greater(greatest, finite(upper_of(i, axis)));
        }
        lower[thread] = least;
        upper[thread] = greatest;
        for (Node half = threads_of_build / 2; half > 0; half /= 2) {
            __syncthreads();
            if (thread < half) {
                lower[thread] = less(lower[thread], lower[thread + half]);
                upper[thread] = greater(upper[thread], upper[thread + half]);
            }
        }
        box.lower.x[axis] = lower[0]; // meant for thread 0, which wrote it
        box.upper.x[axis] = upper[0];
        __syncthreads();
    }
    return box;
}

/// The box of all points, or, of each node of the level, the widest axis of the box of its points: a block for each.
template <class Point, class Traits>
__global__ void measure_boxes(const LevelInPlace<Point, Traits> job) {
    const auto& tree = job.tree;
    const Node node = job.level == all_points ? 0 : first_of_level(job.level) + blockIdx.x;
    const Node begin = begin_in_order(node, tree.count);
    const auto coordinate = [&](std::uint64_t i, int axis) {
        return tree.coordinate(begin + static_cast<Node>(i), axis);
    };
    const auto box = box_of<typename TreeInPlace<Point, Traits>::T, Traits::dimension>(subtree_size(node, tree.count),
                                                                                       coordinate, coordinate);
    if (threadIdx.x == 0) {
        if (job.level == all_points) {
            *tree.bounds = box;
        } else {
            tree.split_axes[node] = static_cast<std::uint8_t>(widest_axis(box));
        }
    }
}

inline constexpr Node points_of_part = 1 << 10; ///< at least: a part's box takes the scratch of 32 of them at most
inline constexpr Node most_parts = 1 << 10;

/// Boxes of parts of the points, in scratch, which nothing else is in yet.
template <class Point, class Traits>
struct PartsOfPoints {
    using Box = Bounds<typename TreeInPlace<Point, Traits>::T, Traits::dimension>;
    TreeInPlace<Point, Traits> tree;
    Node parts;

    [[nodiscard]] __device__ Box* boxes() const {
        const auto address = reinterpret_cast<std::uintptr_t>(tree.scratch) + (alignof(Box) - 1);
        return reinterpret_cast<Box*>(address / alignof(Box) * alignof(Box));
    }
};

/// The box of each part: a block for each.
template <class Point, class Traits>
__global__ void measure_parts(const PartsOfPoints<Point, Traits> job) {
    const auto& tree = job.tree;
    const std::uint64_t begin = std::uint64_t{tree.count} * blockIdx.x / job.parts;
    const std::uint64_t end = std::uint64_t{tree.count} * (blockIdx.x + 1) / job.parts;
    const auto coordinate = [&](std::uint64_t i, int axis) {
        return tree.coordinate(static_cast<Node>(begin + i), axis);
    };
    const auto box =
        box_of<typename TreeInPlace<Point, Traits>::T, Traits::dimension>(end - begin, coordinate, coordinate);
    if (threadIdx.x == 0) {
        job.boxes()[blockIdx.x] = box;
    }
}

/// The box of all points, by one block.
template <class Point, class Traits>
__global__ void join_parts(const PartsOfPoints<Point, Traits> job) {
    const auto box = box_of<typename TreeInPlace<Point, Traits>::T, Traits::dimension>(
        job.parts, [&](std::uint64_t part, int axis) { return job.boxes()[part].lower.x[axis]; },
        [&](std::uint64_t part, int axis) { return job.boxes()[part].upper.x[axis]; });
    if (threadIdx.x == 0) {
        *job.tree.bounds = box;
    }
}

/// Cyclic axes, and the widest of each node's cell. The planes above have been found.
template <class Point, class Traits>
__global__ void choose_axes(const LevelInPlace<Point, Traits> job) {
    const auto& tree = job.tree;
    const std::uint64_t i = first_of_level(job.level) + thread_in_grid();
    if (i >= tree.count || i >= first_of_level(job.level + 1)) {
        return;
    }
    const auto node = static_cast<Node>(i);
    int axis = job.level % Traits::dimension;
    if (tree.split == Split::widest) {
        auto cell = *tree.bounds;
        for (Node below = node; below != 0; below = parent_of(below)) {
            const Node above = parent_of(below);
            const int split = tree.split_axes[above];
            const Node pivot = begin_in_order(above, tree.count) + subtree_size(left_child(above), tree.count);
            const auto plane = tree.coordinate(pivot, split);
            if (below == left_child(above)) {
                cell.upper.x[split] = plane < cell.upper.x[split] ? plane : cell.upper.x[split];
            } else {
                cell.lower.x[split] = plane > cell.lower.x[split] ? plane : cell.lower.x[split];
            }
        }
        axis = widest_axis(cell);
    }
    tree.split_axes[node] = static_cast<std::uint8_t>(axis);
}

template <class T>
__device__ void exchange(T& a, T& b) {
    const T old = a;
    a = b;
    b = old;
}

template <class Point, class Traits>
__global__ void sort_step(const SortStep<Point, Traits> job) {
    const auto& tree = job.tree;
    const std::uint64_t i = thread_in_grid();
    if (i >= tree.count) {
        return;
    }
    const auto low = static_cast<Node>(i);
    Node begin = 0;
    Node size = tree.count;
    int axis = 0;
    if (job.level != all_points) {
        const Node node = node_in_order(low, tree.count);
        const int above = level_of(node) - job.level;
        if (above < 0) { // a node of a level before
            return;
        }
        const Node root = ((node + 1) >> above) - 1;
        begin = begin_in_order(root, tree.count);
        size = subtree_size(root, tree.count);
        axis = tree.axis_of(root);
    }
    const Node place = low - begin;
    const Node partner = place ^ job.mask;
    if (partner <= place || partner >= size) { // what is behind the last point is greater than all
        return;
    }
    const Node high = begin + partner;
    if (job.level == all_points) {
        if (tree.scratch[low] <= tree.scratch[high]) {
            return;
        }
        exchange(tree.scratch[low], tree.scratch[high]);
    } else {
        const auto x = tree.coordinate(low, axis);
        const auto y = tree.coordinate(high, axis);
        if (!(y < x || (y == x && tree.positions()[high] < tree.positions()[low]))) {
            return;
        }
    }
    exchange(tree.points[low], tree.points[high]);
    if (tree.indices != nullptr || job.level != all_points) {
        exchange(tree.positions()[low], tree.positions()[high]);
    }
}

/// `largest`: the number of points of the largest subtree.
template <class Point, class Traits, class Launch>
void sort_in_place(const TreeInPlace<Point, Traits>& tree, int level, Node largest, const Launch& launch_threads) {
    for (std::uint64_t run = 2; run < 2 * std::uint64_t{largest}; run *= 2) {
        launch_threads(sort_step<Point, Traits>, SortStep<Point, Traits>{tree, level, static_cast<Node>(run - 1)});
        for (std::uint64_t distance = run / 4; distance > 0; distance /= 2) {
            launch_threads(sort_step<Point, Traits>, SortStep<Point, Traits>{tree, level, static_cast<Node>(distance)});
        }
    }
}

} // namespace detail

/// Builds a tree through launch(kernel, blocks, threads, job), which must run kernel(job) on that many blocks of
/// that many threads, one call after another.
template <class Point, class Traits, class Launch>
void build_in_place(const TreeInPlace<Point, Traits>& tree, const Launch& launch) {
    using Level = detail::LevelInPlace<Point, Traits>;
    if (tree.count == 0) {
        return;
    }
    const auto launch_threads = [&]<class Job>(void (*kernel)(Job), const std::type_identity_t<Job>& job) {
        constexpr std::uint64_t threads = detail::threads_of_build;
        launch(kernel, static_cast<unsigned>((tree.count + threads - 1) / threads), detail::threads_of_build, job);
    };
    using Parts = detail::PartsOfPoints<Point, Traits>;
    const Node parts = tree.count / detail::points_of_part; // by less, one block is as fast
    if (parts > 1) {
        const Parts job{tree, parts < detail::most_parts ? parts : detail::most_parts};
        launch(detail::measure_parts<Point, Traits>, job.parts, detail::threads_of_build, job);
        launch(detail::join_parts<Point, Traits>, 1U, detail::threads_of_build, job);
    } else {
        launch(detail::measure_boxes<Point, Traits>, 1U, detail::threads_of_build, Level{tree, detail::all_points});
    }
    launch_threads(detail::number_points<Point, Traits>, Level{tree, detail::all_points});
    for (int level = 0; level < levels_of(tree.count); ++level) {
        const Node first = first_of_level(level);
        if (tree.split == Split::widest_box) {
            const Node next = first_of_level(level + 1);
            launch(detail::measure_boxes<Point, Traits>, (next < tree.count ? next : tree.count) - first,
                   detail::threads_of_build, Level{tree, level});
        } else if (tree.split_axes != nullptr) {
            launch_threads(detail::choose_axes<Point, Traits>, Level{tree, level});
        }
        detail::sort_in_place(tree, level, subtree_size(first, tree.count), launch_threads);
    }
    launch_threads(detail::find_nodes<Point, Traits>, Level{tree, detail::all_points});
    detail::sort_in_place(tree, detail::all_points, tree.count, launch_threads);
}

#if defined(__CUDACC__)

/// Enqueues the building of a tree on a stream: nothing is allocated, and nothing waits. Copy *tree.bounds to the host,
/// for TreeView. Points must be finite; if they are not, bounds are NaN, and the order is unspecified. Errors of
/// launches are cudaGetLastError()'s.
template <class Point, class Traits>
void build_in_place(const TreeInPlace<Point, Traits>& tree, cudaStream_t stream) {
    build_in_place(tree, detail::launch_on(stream));
}

#endif

} // namespace kith::kdtree
