// What a rank searches on its CPU once its ghost points (near_ghosts.hpp) have come: its own points and these, in a
// tree each. They are not joined, which would take another copy of the own points and another tree. Rows of ghost
// points follow those of own points.
//
// Rows that are merged of both parts are found block by block along the curve: what is found among ghost points is kept
// for one block of receivers, and is little beside the points.
#pragma once

#include "distributed/joined_points.hpp"
#include "distributed/near_ghosts.hpp"
#include "distributed/shared_frame.hpp"
#include "neighbors/part_trees.hpp"
#include "points/as_given.hpp"
#include "support/context.hpp"
#include "tree/subtree.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

namespace kith::detail {

/// Refers to what it is made of. The trees are of points by ascending number.
template <Coordinate T>
struct SearchParts {
    const SharedPoints<T>& shared;
    const PartTrees<T>& own;
    const NearGhosts<T>& ghosts;
    PlaneTree<T> tree_of_ghosts; ///< without planes if there are none

    /// Runs stages.
    SearchParts(Context& context, const SharedPoints<T>& shared_points, const PartTrees<T>& own_trees,
                const NearGhosts<T>& near_ghosts)
        : shared(shared_points), own(own_trees), ghosts(near_ghosts) {
        require_countable(size());
        if (ghosts.points.count() > 0) {
            tree_of_ghosts = detail::tree_of_ghosts(context, shared, ghosts.points);
        }
    }

    [[nodiscard]] const Frame<T>& frame() const { return shared.points.frame; }
    [[nodiscard]] std::int64_t own_points() const { return shared.points.view.count(); }
    [[nodiscard]] std::int64_t size() const { return own_points() + ghosts.points.count(); }
    /// By row.
    [[nodiscard]] std::int64_t number(std::int32_t row) const {
        return row < own_points() ? shared.numbers[row] : ghosts.points.numbers[row - own_points()];
    }
    [[nodiscard]] JoinedNumbers numbers() const {
        if (!shared.numbers.are_given()) {
            return {ghosts.points.numbers, 0, own_points(), shared.ownership.first()};
        }
        std::vector<std::int64_t> all;
        all.reserve(size());
        for (std::int64_t row = 0; row < size(); ++row) {
            all.push_back(number(static_cast<std::int32_t>(row)));
        }
        return JoinedNumbers(std::move(all));
    }
    /// All points as passed, row-major.
    [[nodiscard]] std::vector<T> as_given() const {
        std::vector<T> rows = packed<T>(shared.points.view);
        const std::vector<T> fetched = packed<T>(ghosts.points.rows.view);
        rows.insert(rows.end(), fetched.begin(), fetched.end());
        return rows;
    }
    [[nodiscard]] std::int64_t receivers() const { return own.receivers().points.count; }
    /// Receivers in a block: a share of all, so that taking them out of the tree costs little beside the search, but
    /// not fewer than these.
    [[nodiscard]] std::int64_t rows_of_block(std::int64_t least) const {
        constexpr std::int64_t blocks = 32;
        return std::max(least, receivers() / blocks);
    }
    /// Neighbors among ghost points to keep at a time, of all rows of a block: half as many as points or receivers, but
    /// not fewer than these.
    [[nodiscard]] std::int64_t most_kept(std::int64_t least) const {
        return std::max({least, size() / 2, receivers() / 2});
    }
    /// Calls search(begin, end) for all receivers, in blocks of `rows` if there are ghost points.
    template <class Search>
    void for_each_block(std::int64_t rows, const Search& search) const {
        const std::int64_t each = ghosts.points.count() > 0 ? rows : receivers();
        for (std::int64_t begin = 0; begin < receivers(); begin += each) {
            search(begin, std::min(begin + each, receivers()));
        }
    }
};

/// The receivers at positions [begin, end), as a tree.
template <Coordinate T>
class ReceiverBlock {
public:
    /// Runs inside a stage.
    ReceiverBlock(Context& context, const SearchParts<T>& parts, std::int64_t begin, std::int64_t end)
        : context_(context), parts_(parts), begin_(begin) {
        if (end - begin < parts.receivers()) {
            Buffer<std::uint8_t> is_wanted(context.memory_tracker(), parts.receivers());
            std::memset(is_wanted.data(), 0, is_wanted.size());
            std::memset(is_wanted.data() + begin, 1, end - begin);
            part_ = subtree(context, parts.own.receivers(), is_wanted);
        }
    }
    [[nodiscard]] const PlaneTree<T>& tree() const { return part_.planes.empty() ? parts_.own.receivers() : part_; }
    /// Whether the receiver at this position in the block has ghost points within reach.
    [[nodiscard]] bool is_near(std::int64_t position) const {
        return parts_.ghosts.points.count() > 0 && parts_.ghosts.is_requesting[begin_ + position] != 0;
    }
    /// The tree of these receivers; without planes if there are none.
    [[nodiscard]] PlaneTree<T> near() const {
        if (parts_.ghosts.points.count() == 0) {
            return {};
        }
        Buffer<std::uint8_t> flags(context_.memory_tracker(), tree().points.count);
        std::copy_n(parts_.ghosts.is_requesting.data() + begin_, flags.size(), flags.data());
        return subtree(context_, tree(), flags);
    }

private:
    Context& context_;
    const SearchParts<T>& parts_;
    std::int64_t begin_;
    PlaneTree<T> part_; ///< without planes if the block is of all receivers
};

} // namespace kith::detail
