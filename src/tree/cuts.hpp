// Where the sorted points are cut into nodes.
//
// The smallest Morton cell that holds two neighboring sorted points and all between its ends is split at one gap. Going
// down from the cell of all points, every split of a cell with more than n_max points is a cut of the leaf plane; the
// cut remembers the size and level of its cell, so that the cuts of every coarser plane are a selection of these. A
// cell is split by binary search for the first point that has the cell's topmost bit, which is a number to compare
// with; a run of coincident points is split by position, at the largest power of two, so that such splits nest too.
// Source: jz-tree paper, sections II-C and II-D; there each gap searches for its cell instead. Cost: O(N / n_max log
// N), nothing allocated per gap.
#pragma once

#include "order/zorder.hpp"
#include "points/point_set.hpp"
#include "support/context.hpp"
#include "support/parallel.hpp"
#include "support/prefix_sums.hpp"
#include "support/side_by_side.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <vector>

namespace kith::detail {

struct Cut {
    std::int32_t position; ///< the first point after it
    std::int32_t size;     ///< points in the cell it splits
    std::int32_t level;    ///< of that cell
};

using Cuts = Buffer<Cut>; ///< by ascending position

template <Coordinate T>
class Cutter {
public:
    /// Of points that are in order by their first coordinates, as many as the dimension says.
    Cutter(Context& context, const PointSet<T>& points, int dimension, int sign_exponent)
        : context_(context), points_(points), dimension_(dimension), sign_exponent_(sign_exponent) {}

    /// All cuts of cells with more than n_max points. Large cells are split into pieces first; these are descended in
    /// parallel.
    [[nodiscard]] Cuts cut(std::int64_t n_max) const {
        const std::int64_t piece_size = std::max({std::int64_t{1} << 12, points_.count / 256, n_max});
        const std::vector<Cut> upper = upper_cuts(0, points_.count, piece_size);
        std::vector<std::vector<Cut>> pieces(upper.size() + 1);
        parallel_each(std::ssize(pieces), 1, [&](std::int64_t i) {
            const bool is_last = i == std::ssize(upper);
            descend(i == 0 ? 0 : upper[i - 1].position, is_last ? points_.count : upper[i].position, {n_max},
                    pieces[i]);
            if (!is_last) {
                pieces[i].push_back(upper[i]);
            }
        });
        return joined(context_, pieces);
    }

    /// The cuts inside the leaves made by `cuts` whose cells lie above a level.
    [[nodiscard]] Cuts cut_leaves(const Cuts& cuts, double highest_level) const {
        constexpr std::int64_t block_size = 256;
        const std::int64_t leaves = cuts.size() + 1;
        std::vector<std::vector<Cut>> pieces(blocks_of(leaves, block_size));
        parallel_blocks(leaves, block_size, [&](std::int64_t block, std::int64_t begin, std::int64_t end) {
            for (std::int64_t leaf = begin; leaf < end; ++leaf) {
                descend(leaf == 0 ? 0 : cuts[leaf - 1].position,
                        leaf == cuts.size() ? points_.count : cuts[leaf].position, {1, highest_level}, pieces[block]);
            }
        });
        return joined(context_, pieces);
    }

    /// Level of the smallest cell that holds the points [begin, end).
    [[nodiscard]] int level(std::int64_t begin, std::int64_t end) const {
        return split_between(begin, end - 1).level(dimension_);
    }

private:
    /// Where two points part, as split_of() finds it.
    [[nodiscard]] Split split_between(std::int64_t i, std::int64_t j) const {
        Split found;
        for (int axis = 0; axis < dimension_; ++axis) {
            const T* x = points_.axis(axis);
            const int exponent = differing_bit(x[i], x[j], sign_exponent_);
            if (exponent > found.exponent) {
                found = {exponent, axis};
            }
        }
        return found;
    }

    /// The smallest cell that holds the points [begin, end), two or more.
    struct Cell {
        std::int64_t begin;
        std::int64_t end;
        Split top;
        [[nodiscard]] std::int64_t size() const noexcept { return end - begin; }
    };

    /// The first point of a cell's second half.
    [[nodiscard]] std::int64_t second_half_of(const Cell& cell) const {
        if (cell.top.exponent == coincident) {
            return cell.begin + static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(cell.size() - 1)));
        }
        const T* x = points_.axis(cell.top.axis);
        const T boundary = second_half(x[cell.begin], x[cell.end - 1], cell.top.exponent);
        std::int64_t before = cell.begin; // the last point known to lie before the boundary; the cell's last does not
        for (std::int64_t size = cell.size() - 1; size > 1;) {
            const std::int64_t half = size / 2;
            before += x[before + half] < boundary ? half : 0;
            size -= half;
        }
        return before + 1;
    }

    struct Wanted {
        std::int64_t larger_than;
        double above_level = -std::numeric_limits<double>::infinity();
    };

    /// The cell of the points [begin, end) within another one.
    ///
    /// Points are out of order if another thread changed the caller's while they were loaded. A cell may then seem as
    /// large as the one that it is part of; it is split by position, so that every descent ends, and leaves are as
    /// small as they must be.
    [[nodiscard]] Cell cell_of(std::int64_t begin, std::int64_t end, int level_around) const {
        Cell cell{begin, end, split_between(begin, end - 1)};
        if (cell.top.level(dimension_) >= level_around) {
            cell.top.exponent = coincident;
        }
        return cell;
    }

    [[nodiscard]] Cut cut_at(std::int64_t middle, const Cell& cell) const {
        return {static_cast<std::int32_t>(middle), static_cast<std::int32_t>(cell.size()), cell.top.level(dimension_)};
    }

    static constexpr int no_level_around = std::numeric_limits<int>::max();

    /// The cuts of all wanted cells within [begin, end) that lie in wanted cells only.
    void descend(std::int64_t begin, std::int64_t end, const Wanted& wanted, std::vector<Cut>& cuts,
                 int level_around = no_level_around) const {
        if (end - begin <= wanted.larger_than) {
            return;
        }
        const Cell cell = cell_of(begin, end, level_around);
        const int level = cell.top.level(dimension_);
        if (level > wanted.above_level) {
            const std::int64_t middle = second_half_of(cell);
            descend(begin, middle, wanted, cuts, level);
            cuts.push_back(cut_at(middle, cell));
            descend(middle, end, wanted, cuts, level);
        }
    }

    /// The cuts of all cells with more than `size` points; side by side where both halves are such.
    [[nodiscard]] std::vector<Cut> upper_cuts(std::int64_t begin, std::int64_t end, std::int64_t size,
                                              int level_around = no_level_around) const {
        if (end - begin <= size) {
            return {};
        }
        const Cell cell = cell_of(begin, end, level_around);
        const std::int64_t middle = second_half_of(cell);
        std::vector<Cut> first_half;
        std::vector<Cut> second_half;
        side_by_side([&] { first_half = upper_cuts(begin, middle, size, cell.top.level(dimension_)); },
                     [&] { second_half = upper_cuts(middle, end, size, cell.top.level(dimension_)); },
                     std::min(middle - begin, end - middle) > size);
        first_half.push_back(cut_at(middle, cell));
        first_half.insert(first_half.end(), second_half.begin(), second_half.end());
        return first_half;
    }

    Context& context_;
    const PointSet<T>& points_;
    int dimension_;
    int sign_exponent_;
};

} // namespace kith::detail
