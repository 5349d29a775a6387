// A cut through a rank's tree whose boxes tell other ranks where its points are.
//
// That is the top plane, but nodes that are far wider than most of it are replaced by their children, widest first: the
// box of a node with a few points of two distant clusters covers what lies between them. Between few ranks, nodes that are
// nearer to another rank than a quarter of their diagonal are replaced, too: much of a long box of a filament is far from
// its points, and components that seem near ask in vain, round after round. The boxes of P ranks travel to P - 1 others
// each, so replacing those ends at 256 / (P - 1)^2 boxes of a rank. Cost: O(m (P + log m)) for m nodes.
#pragma once

#include "distributed/corners.hpp"
#include "points/frame.hpp"
#include "tree/view.hpp"

#include <algorithm>
#include <cstdint>
#include <queue>
#include <span>
#include <tuple>
#include <vector>

namespace kith::detail {

struct CoveringNode {
    int level;
    std::int32_t node;
};

/// In the order of points. Of a tree without planes none. `others` contain the points of the other ranks.
template <Coordinate T>
std::vector<CoveringNode> covering_nodes(const Frame<T>& frame, const TreeView<T>& tree,
                                         std::span<const Corners<T>> others) {
    constexpr std::int64_t most = 256; // about
    constexpr T wide = 16;             // in units of the median of squared diagonals
    constexpr T near = 16;             // squared diagonal, in units of the squared distance from another rank
    const std::int64_t most_near = others.empty() ? 0 : most / (std::ssize(others) * std::ssize(others));
    std::vector<CoveringNode> found;
    if (tree.top < 0) {
        return found;
    }
    const auto diagonal_of = [&](int level, std::int32_t node) {
        const Corners<T> box = corners_of(tree.planes[level], node, frame.dimension);
        return BoxDistances<T>(frame, box, box).greatest;
    };
    const auto is_near = [&](T diagonal, int level, std::int32_t node) {
        const Corners<T> box = corners_of(tree.planes[level], node, frame.dimension);
        return std::ranges::any_of(others, [&](const Corners<T>& other) {
            return near * BoxDistances<T>(frame, box, other).least < diagonal;
        });
    };
    std::vector<std::tuple<T, int, std::int32_t>> top; // diagonal, level, node
    for (std::int32_t node = 0; node < tree.planes[tree.top].nodes; ++node) {
        top.emplace_back(diagonal_of(tree.top, node), tree.top, node);
    }
    const auto middle = top.begin() + std::ssize(top) / 2;
    std::ranges::nth_element(top, middle);
    const T limit = wide * std::get<0>(*middle);
    std::priority_queue queue(std::less<>(), std::move(top));
    while (!queue.empty()) {
        const auto [diagonal, level, node] = queue.top();
        queue.pop();
        const std::int64_t boxes = std::ssize(found) + std::ssize(queue);
        const bool is_replaced =
            level > 0 && (diagonal > limit ? boxes < most : boxes < most_near && is_near(diagonal, level, node));
        if (!is_replaced) {
            found.push_back({level, node});
            continue;
        }
        const PlaneView<T>& plane = tree.planes[level];
        for (std::int32_t child = plane.first_child[node]; child < plane.first_child[node + 1]; ++child) {
            queue.emplace(diagonal_of(level - 1, child), level - 1, child);
        }
    }
    std::ranges::sort(found, {},
                      [&](const CoveringNode& each) { return tree.planes[each.level].first_point[each.node]; });
    return found;
}

} // namespace kith::detail
