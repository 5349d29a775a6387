// The tree of some of the points of a tree: these points in the same order, and the nodes that hold any of them.
//
// Nodes are not cut anew: each plane keeps those of its nodes that are not empty, with boxes as tight as before. Cost:
// O(N), with memory for a copy of the points.
#pragma once

#include "tree/plane_tree.hpp"

#include <cstdint>

namespace kith::detail {

/// The tree of the points whose flag, by position, is 1.
template <Coordinate T>
PlaneTree<T> subtree(Context& context, const PlaneTree<T>& tree, const Buffer<std::uint8_t>& is_wanted);

/// Copies the wanted points of [begin, end) to positions from `at` on.
template <Coordinate T>
void copy_points(const PointSet<T>& from, std::int64_t begin, std::int64_t end, const Buffer<std::uint8_t>& is_wanted,
                 PointSet<T>& to, std::int64_t at) {
    const auto copy = [&](const auto* source, auto* target) {
        for (std::int64_t i = begin; i < end; ++i) {
            if (is_wanted[i] != 0) {
                *target++ = source[i];
            }
        }
    };
    for (int axis = 0; axis < from.dimension(); ++axis) {
        copy(from.axis(axis), to.axis(axis) + at);
    }
    copy(from.indices.data(), to.indices.data() + at);
}

} // namespace kith::detail
