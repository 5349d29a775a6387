// Where the points of other ranks and components are: the boxes that cover their points (covering_nodes.hpp).
#pragma once

#include "distributed/covering_nodes.hpp"
#include "distributed/differences.hpp"
#include "distributed/node_components.hpp"
#include "distributed/ranks.hpp"
#include "distributed/top_planes.hpp"
#include "points/frame.hpp"
#include "tree/view.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ranges>
#include <vector>

namespace kith::detail {

template <Coordinate T>
class ForeignBoxes {
public:
    /// Collective. Of the points of this rank's tree, which has no planes if there are none.
    ForeignBoxes(Ranks& ranks, const Frame<T>& frame, const TreeView<T>& tree)
        : frame_(frame), own_(covering_nodes<T>(frame, tree, boxes_of_others(ranks, tree, frame.dimension))),
          tops_(ranks, boxes_of(tree), frame.dimension), components_(tops_.nodes.size(), several_components) {}

    [[nodiscard]] int ranks() const { return tops_.ranks; }
    [[nodiscard]] const Corners<T>& box(std::int64_t i) const { return tops_.nodes[i].box; }
    [[nodiscard]] int rank_of(std::int64_t box) const {
        return static_cast<int>(std::ranges::upper_bound(tops_.firsts, box) - tops_.firsts.begin()) - 1;
    }

    /// body(i, distance) for boxes of other ranks that are nearer than `reach` and have points of other components. The
    /// body may lower `reach`.
    template <class Body>
    void each_near(const Corners<T>& box, std::int64_t component, const T& reach, const Body& body) const {
        for (int rank = 0; rank < tops_.ranks; ++rank) {
            if (rank == tops_.own_rank || tops_.first(rank) == tops_.first(rank + 1) ||
                !(least(box, tops_.of_ranks[rank]) < reach)) {
                continue;
            }
            for (std::int64_t i = tops_.first(rank); i < tops_.first(rank + 1); ++i) {
                if (components_[i] == no_component || components_[i] == component) {
                    continue;
                }
                if (const T distance = least(box, tops_.nodes[i].box); distance < reach) {
                    body(i, distance);
                }
            }
        }
    }

    /// Collective. To which components the points in boxes belong now; before, they may be of any.
    void share_components(Ranks& ranks, const NodeComponents& of_nodes) {
        // Most are what they were, or all of a component have a new name: runs of equal differences.
        std::vector<std::byte> mine;
        MessageWriter writer(mine);
        const std::int64_t first = tops_.first(tops_.own_rank);
        const auto change_of = [&](std::int64_t i) {
            return of_nodes[own_[i].level][own_[i].node] - components_[first + i];
        };
        for (std::int64_t i = 0, run = 0; i < std::ssize(own_); i += run) {
            const std::int64_t change = change_of(i);
            for (run = 1; i + run < std::ssize(own_) && change_of(i + run) == change;) {
                ++run;
            }
            put_bits(writer, static_cast<std::uint64_t>(run));
            put_number(writer, change);
        }
        const auto all = ranks.template gather_lists<std::byte>(mine);
        MessageReader reader(all.values);
        for (std::int64_t i = 0; i < std::ssize(components_);) {
            const auto end = i + static_cast<std::int64_t>(take_bits(reader));
            for (const std::int64_t change = take_number(reader); i < end; ++i) {
                components_[i] += change;
            }
        }
    }

private:
    /// Collective. A box of the points of each other rank that has any.
    [[nodiscard]] static std::vector<Corners<T>> boxes_of_others(Ranks& ranks, const TreeView<T>& tree, int dimension) {
        std::vector<Corners<T>> mine;
        if (tree.top >= 0) {
            const PlaneView<T>& top = tree.planes[tree.top];
            const auto nodes = std::views::iota(0, top.nodes);
            mine.push_back(joined_box<T>(nodes.begin(), nodes.end(),
                                         [&](std::int32_t node) { return corners_of(top, node, dimension); }));
        }
        const TopPlanes<T> all(ranks, mine, dimension);
        std::vector<Corners<T>> others;
        for (int rank = 0; rank < all.ranks; ++rank) {
            if (rank != all.own_rank && all.first(rank) < all.first(rank + 1)) {
                others.push_back(all.of_ranks[rank]);
            }
        }
        return others;
    }
    [[nodiscard]] std::vector<Corners<T>> boxes_of(const TreeView<T>& tree) const {
        std::vector<Corners<T>> boxes;
        for (const auto& [level, node] : own_) {
            boxes.push_back(corners_of(tree.planes[level], node, frame_.dimension));
        }
        return boxes;
    }
    [[nodiscard]] T least(const Corners<T>& a, const Corners<T>& b) const {
        return BoxDistances<T>(frame_, a, b).least;
    }

    const Frame<T>& frame_;
    const std::vector<CoveringNode> own_;
    const TopPlanes<T> tops_;
    std::vector<std::int64_t> components_; ///< by box: names, or what nodes have instead
};

} // namespace kith::detail
