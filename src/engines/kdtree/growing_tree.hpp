// A left-balanced k-d tree in memory of a GPU, while it is built: kernels put points where their nodes are.
//
// Points are those of a working copy in the order given, so that a point's position is its original index.
#pragma once

#include <kith/device/kdtree_build.hpp>

#include "cuda/intrinsics.hpp"
#include "points/point_set_view.hpp"

#include <array>
#include <bit>
#include <cstdint>
#include <type_traits>

namespace kith::detail::inline KITH_GPU {

template <class T>
using OrderedBits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

/// Bits that order as finite numbers without -0.0 do.
template <class T>
__device__ OrderedBits<T> ordered_bits(T x) {
    using Bits = OrderedBits<T>;
    constexpr Bits sign = Bits{1} << (8 * sizeof(T) - 1);
    const auto bits = std::bit_cast<Bits>(x);
    return (bits & sign) != 0 ? static_cast<Bits>(~bits) : bits | sign;
}

template <class T, int D>
struct GrowingTree {
    using Node = kdtree::Node;

    Node count;
    PointSetView<T> points;
    std::array<T, D>* nodes;
    std::int32_t* indices;
    std::int32_t* least_indices;
    std::uint8_t* split_axes; ///< null: a node's level modulo the dimension
    kdtree::Bounds<T, D> bounds;

    /// The axis that a node splits, which has been chosen.
    __device__ int axis(Node node) const {
        return split_axes == nullptr ? kdtree::level_of(node) % D : split_axes[node];
    }

    /// Splits the widest axis of a node's cell. The nodes above it are where they belong.
    __device__ void choose_axis(Node node) const {
        kdtree::Bounds<T, D> cell = bounds;
        for (Node below = node; below != 0; below = kdtree::parent_of(below)) {
            const Node above = kdtree::parent_of(below);
            const int split = split_axes[above];
            const T plane = nodes[above][split];
            if (below == kdtree::left_child(above)) {
                cell.upper.x[split] = device_min(cell.upper.x[split], plane);
            } else {
                cell.lower.x[split] = device_max(cell.lower.x[split], plane);
            }
        }
        split_axes[node] = static_cast<std::uint8_t>(kdtree::widest_axis(cell));
    }

    /// Where a point is in the order of the node that it is under.
    __device__ OrderedBits<T> position_along(Node node, std::int32_t point) const {
        return ordered_bits(points.axis(axis(node))[point]);
    }

    /// Makes a point a node.
    __device__ void put(Node node, std::int32_t point) const {
        std::array<T, D> x;
#pragma unroll
        for (int i = 0; i < D; ++i) {
            x[i] = points.axis(i)[point];
        }
        nodes[node] = x;
        indices[node] = point;
    }

    /// The smallest index of a subtree, from those of its children.
    __device__ void find_least_index(Node node) const {
        std::int32_t least = indices[node];
        for (const Node child : {kdtree::left_child(node), kdtree::right_child(node)}) {
            if (child < count) {
                least = device_min(least, least_indices[child]);
            }
        }
        least_indices[node] = least;
    }
};

} // namespace kith::detail::inline KITH_GPU
