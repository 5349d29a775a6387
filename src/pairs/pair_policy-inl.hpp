// Pair counts as a policy of the pair walk.
//
// Problem: add every pair of points to the slot of its distance (pair_job.hpp). Two nodes whose bounds no limit
// separates are in one slot: the product of their numbers of points is added, and of their weights. A pair of leaves
// has its squared distances written to memory once and compared with the limits between its bounds, one limit after the
// other, a vector at a time: most pairs of leaves have one to three. Points of a leaf beyond the last limit from the
// other leaf's box are left out before. Source: Gray and Moore, "N-body problems in statistical learning" (NIPS 2000).
//
// Limits are cumulative: what is counted is the pairs within each limit, of both axes; slots are differences. Within a
// leaf, both orders of a pair and the pairs of a point with itself are counted, which are within every limit; a half of
// what exceeds the number of points is left.
//
// Where separations are asked for, no node is taken whole, since the distances of its pairs are not known; counts come
// out the same.

#include "pairs/pair_bounds-inl.hpp"
#include "pairs/pair_job.hpp"
#include "pairs/separations-inl.hpp"
#include "pairs/undecided.hpp"
#include "pairs/within-inl.hpp"
#include "walk/pair_walk-inl.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <utility>

#if defined(KITH_PAIR_POLICY_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef KITH_PAIR_POLICY_INL_HPP
#undef KITH_PAIR_POLICY_INL_HPP
#else
#define KITH_PAIR_POLICY_INL_HPP
#endif

HWY_BEFORE_NAMESPACE();
namespace kith::detail::HWY_NAMESPACE {

/// Vectors of coordinates that are loaded once.
template <class V, int D>
struct HeldColumns {
    V axis[D];
    HWY_INLINE V operator()(int a) const { return axis[a]; }
};

template <class T, int D>
class PairPolicy : public PairBounding<T, D> {
    using Bounding = PairBounding<T, D>;
    using Tag = hn::ScalableTag<T>;
    static constexpr std::int64_t max_lanes = static_cast<std::int64_t>(hn::MaxLanes(Tag()));

public:
    using PairBounds = PairBoundsOf<T>;

    PairPolicy(const PairJob<T>& job, PairScratch<T>& scratch)
        : Bounding(job.limits), job_(job), limits_(job.limits), scratch_(scratch),
          second_slots_(std::max<std::int64_t>(1, job.limits.second_count)) {}

    template <class Of, class V = hn::Vec<Of>>
    [[nodiscard]] HWY_INLINE auto are_whole(Of tag, const PairBoundsOf<V>& bounds) const {
        if (limits_.separation_scale) {
            return hn::Lt(hn::Zero(tag), hn::Zero(tag));
        }
        return Bounding::are_whole(tag, bounds);
    }

    void take_node(int level, std::int32_t node, const PairBounds& bounds) const {
        const PlaneView<T>& plane = job_.first.tree->planes[level];
        const std::int64_t points = plane.points_in(node);
        const std::int64_t slot = slot_of(bounds);
        if (slot < 0) {
            return;
        }
        scratch_.counts[slot] += points * (points - 1) / 2;
        if (job_.weighted) {
            const Int128 sum = job_.first.sum(level, node);
            scratch_.weights[slot] +=
                (sum * sum - sum_of_squares(plane.first_point[node], plane.first_point[node + 1])) / 2;
        }
    }

    void leave_node(int /*level*/, std::int32_t /*node*/) const {}

    void take_pair(int level, std::int32_t node, std::int32_t other, const PairBounds& bounds) const {
        const std::int64_t slot = slot_of(bounds);
        scratch_.counts[slot] += std::int64_t{job_.first.tree->planes[level].points_in(node)} *
                                 job_.second.tree->planes[level].points_in(other);
        if (job_.weighted) {
            scratch_.weights[slot] += Int128{job_.first.sum(level, node)} * job_.second.sum(level, other);
        }
    }

    [[nodiscard]] bool can_end_early(int /*level*/, std::int32_t /*node*/, std::int32_t /*other*/) const {
        return false;
    }
    [[nodiscard]] bool has_ended(int /*level*/, std::int32_t /*node*/, std::int32_t /*other*/) const { return false; }

    template <bool Periodic>
    void finish_leaf(std::int32_t leaf, const PairBounds& bounds) const {
        const Leaf all = leaf_of(job_.first, leaf);
        const UndecidedLimits undecided = this->undecided_of(bounds);
        count_block<Periodic>(rows_of(all), all, undecided);
        const std::int64_t points = all.end - all.begin;
        set_total(undecided, scratch_.below, points * points);
        for (std::int64_t& below : scratch_.below) {
            below = (below - points) / 2;
        }
        if (job_.weighted) {
            const Int128 squares = sum_of_squares(all.begin, all.end);
            const Int128 sum = job_.first.sum(0, leaf);
            set_total(undecided, scratch_.weight_below, sum * sum);
            for (Int128& below : scratch_.weight_below) {
                below = (below - squares) / 2;
            }
        }
        if (limits_.separation_scale) {
            for (Int192& below : scratch_.separation_below) {
                below = below.half();
            }
        }
        add_to_slots(undecided);
    }

    template <bool Periodic>
    void finish_leaf_pair(std::int32_t leaf, std::int32_t other, const PairBounds& bounds) const {
        Leaf rows = leaf_of(job_.first, leaf);
        Leaf columns = leaf_of(job_.second, other);
        const std::int64_t row_count = rows.end - rows.begin;
        const std::int64_t column_count = columns.end - columns.begin;
        if (column_count * padded(row_count) < row_count * padded(column_count)) { // fewer vectors
            std::swap(rows, columns);
        }
        const UndecidedLimits undecided = this->undecided_of(bounds);
        count_block<Periodic>(undecided.first_end == limits_.first_count ? near_rows<Periodic>(rows, columns)
                                                                         : rows_of(rows),
                              columns, undecided);
        set_total(undecided, scratch_.below, row_count * column_count);
        if (job_.weighted) {
            set_total(undecided, scratch_.weight_below, Int128{job_.first.sum(0, leaf)} * job_.second.sum(0, other));
        }
        add_to_slots(undecided);
    }

private:
    struct Leaf {
        const WeightedTree<T>* tree;
        std::int32_t number;
        std::int64_t begin;
        std::int64_t end;
    };

    /// Points that are compared with those of a leaf.
    struct Rows {
        const T* first; ///< coordinates, axis after axis
        std::int64_t stride;
        const std::uint32_t* weights; ///< null: 1 each
        std::int64_t count;
    };

    /// Enters the sum of all pairs where it is known.
    template <class Sums>
    static void set_total(const UndecidedLimits& undecided, Sums& below, typename Sums::value_type total) {
        if (undecided.is_all(undecided.rows - 1, undecided.columns - 1)) {
            below.back() = total;
        }
    }

    [[nodiscard]] static std::int64_t padded(std::int64_t columns) {
        const auto lanes = static_cast<std::int64_t>(hn::Lanes(Tag()));
        return (columns + lanes - 1) / lanes * lanes;
    }

    /// Of nodes that are taken whole; -1: beyond the last limits.
    [[nodiscard]] std::int64_t slot_of(const PairBounds& bounds) const {
        const UndecidedLimits range = this->undecided_of(bounds);
        return range.is_near() ? range.slot(0, 0, second_slots_) : -1;
    }

    [[nodiscard]] static Leaf leaf_of(const WeightedTree<T>& tree, std::int32_t leaf) {
        const PlaneView<T>& leaves = tree.tree->planes[0];
        return {&tree, leaf, leaves.first_point[leaf], leaves.first_point[leaf + 1]};
    }

    [[nodiscard]] static Rows rows_of(const Leaf& leaf) {
        const PointSetView<T>& points = leaf.tree->tree->points;
        return {points.axis(0) + leaf.begin, points.stride, weights_of(leaf), leaf.end - leaf.begin};
    }
    /// Null: 1 each.
    [[nodiscard]] static const std::uint32_t* weights_of(const Leaf& leaf) {
        return leaf.tree->weights != nullptr ? leaf.tree->weights + leaf.begin : nullptr;
    }

    /// The points of a leaf that may have one of another leaf within the last limits; copied.
    template <bool Periodic>
    [[nodiscard]] Rows near_rows(const Leaf& leaf, const Leaf& other) const {
        const Tag tag;
        const auto lanes = static_cast<std::int64_t>(hn::Lanes(tag));
        const Rows all = rows_of(leaf);
        const std::int64_t stride = padded(all.count) + max_lanes;
        scratch_.rows.reserve(D * stride);
        scratch_.row_weights.reserve(all.count);
        const Receiver<T, D> box =
            box_of_node<T, D>(other.tree->tree->planes[0], other.tree->tree->period, other.number);
        std::int64_t kept = 0;
        for (std::int64_t i = 0; i < all.count; i += lanes) {
            const Columns<Tag> position{tag, all.first + i, all.stride};
            const auto near =
                hn::And(this->are_near(tag, this->template bounds<Periodic>(tag, box, position, position)),
                        hn::FirstN(tag, all.count - i));
            std::int64_t found = 0;
            for (int axis = 0; axis < D; ++axis) {
                found = compress_store(tag, position(axis), near, scratch_.rows.data() + axis * stride + kept);
            }
            if (all.weights != nullptr) {
                std::uint32_t* to = scratch_.row_weights.data() + kept;
                for (unsigned bits = mask_bits(tag, near); bits != 0; bits &= bits - 1) {
                    *to++ = all.weights[i + std::countr_zero(bits)];
                }
            }
            kept += found;
        }
        return {scratch_.rows.data(), stride, all.weights != nullptr ? scratch_.row_weights.data() : nullptr, kept};
    }

    /// Counts the pairs of rows with the points of a leaf that are within each of the undecided limits.
    template <bool Periodic>
    void count_block(const Rows& rows, const Leaf& leaf, const UndecidedLimits& undecided) const {
        constexpr std::int64_t squares_at_once = 4096; // they stay in the first cache
        scratch_.below.assign(static_cast<std::size_t>(undecided.rows) * static_cast<std::size_t>(undecided.columns),
                              0);
        if (job_.weighted) {
            scratch_.weight_below.assign(scratch_.below.size(), 0);
        }
        if (limits_.separation_scale) {
            scratch_.separation_below.assign(scratch_.below.size(), {});
        }
        const std::int64_t width = padded(leaf.end - leaf.begin);
        const std::int64_t rows_at_once = std::max<std::int64_t>(1, squares_at_once / width);
        for (std::int64_t i = 0; i < rows.count; i += rows_at_once) {
            const Rows some{rows.first + i, rows.stride, rows.weights != nullptr ? rows.weights + i : nullptr,
                            std::min(rows_at_once, rows.count - i)};
            scratch_.across.reserve(width * some.count);
            if (limits_.binning == PairBinning::separation) {
                write_squares<Periodic, PairBinning::separation>(some, leaf);
            } else {
                scratch_.along.reserve(width * some.count);
                limits_.binning == PairBinning::rp_pi ? write_squares<Periodic, PairBinning::rp_pi>(some, leaf)
                                                      : write_squares<Periodic, PairBinning::s_mu>(some, leaf);
            }
            if (limits_.separation_scale) {
                scratch_.separations.reserve(width * some.count);
                write_separations(scratch_.across.data(), width * some.count, *limits_.separation_scale,
                                  scratch_.separations.data());
            }
            for (std::int64_t row = 0; row < undecided.rows; ++row) {
                for (std::int64_t column = 0; column < undecided.columns; ++column) {
                    const WithinLimits<T> within = within_limits(undecided, row, column);
                    const std::int64_t cell = row * undecided.columns + column;
                    if (!undecided.is_all(row, column)) {
                        count_squares(within, some, leaf, width, cell);
                    }
                    if (limits_.separation_scale) {
                        sum_separations(within, some, leaf, width, cell);
                    }
                }
            }
        }
    }

    /// One undecided limit of each axis, of squares that have been written.
    [[nodiscard]] WithinLimits<T> within_limits(const UndecidedLimits& undecided, std::int64_t row,
                                                std::int64_t column) const {
        const bool is_limited = undecided.second_begin + column < undecided.second_end;
        const std::int64_t first = undecided.first_begin + row;
        return {scratch_.across.data(), is_limited ? scratch_.along.data() : nullptr,
                first < undecided.first_end ? limits_.first[first] : std::numeric_limits<T>::infinity(),
                is_limited ? limits_.second[undecided.second_begin + column] : T(0),
                limits_.binning == PairBinning::s_mu};
    }

    /// Adds what is within the limits.
    void count_squares(const WithinLimits<T>& within, const Rows& rows, const Leaf& leaf, std::int64_t width,
                       std::int64_t cell) const {
        scratch_.below[cell] += count_within(within, width * rows.count);
        if (job_.weighted) {
            scratch_.weight_below[cell] +=
                weight_within(within, rows.weights, rows.count, weights_of(leaf), leaf.end - leaf.begin);
        }
    }
    void sum_separations(const WithinLimits<T>& within, const Rows& rows, const Leaf& leaf, std::int64_t width,
                         std::int64_t cell) const {
        const std::int64_t* separations = scratch_.separations.data();
        scratch_.separation_below[cell] +=
            job_.weighted ? weighted_separations_within(within, separations, rows.weights, rows.count, weights_of(leaf),
                                                        leaf.end - leaf.begin)
                          : separations_within(within, separations, width * rows.count);
    }

    /// The squares of all pairs of rows with the points of a leaf, a vector of points after the other; those behind the
    /// last point are NaN.
    template <bool Periodic, PairBinning Binning>
    HWY_NOINLINE void write_squares(const Rows& rows, const Leaf& leaf) const {
        constexpr int axes = Binning == PairBinning::rp_pi ? D - 1 : D;
        const Tag tag;
        const auto lanes = static_cast<std::int64_t>(hn::Lanes(tag));
        const PointSetView<T>& points = leaf.tree->tree->points;
        const std::int64_t columns = leaf.end - leaf.begin;
        const int line_of_sight = limits_.axes[D - 1];
        T period[D];
        for (int a = 0; a < axes; ++a) {
            period[a] = leaf.tree->tree->period[axis_of<Binning>(a)];
        }
        const T period_along = leaf.tree->tree->period[line_of_sight];
        T* across = scratch_.across.data();
        [[maybe_unused]] T* along = scratch_.along.data();
        for (std::int64_t i = 0; i < columns; i += lanes) {
            const Columns<Tag> loaded{tag, points.axis(0) + leaf.begin + i, points.stride};
            HeldColumns<hn::Vec<Tag>, axes> held;
            for (int a = 0; a < axes; ++a) {
                held.axis[a] = loaded(axis_of<Binning>(a));
            }
            held.axis[0] = hn::IfThenElse(hn::FirstN(tag, columns - i), held.axis[0],
                                          hn::Set(tag, std::numeric_limits<T>::quiet_NaN()));
            const HeldColumns<hn::Vec<Tag>, 1> held_along{{loaded(line_of_sight)}};
            for (std::int64_t row = 0; row < rows.count; ++row) {
                T position[axes];
                for (int a = 0; a < axes; ++a) {
                    position[a] = rows.first[axis_of<Binning>(a) * rows.stride + row];
                }
                hn::StoreU(point_distances<Periodic, axes>(tag, position, period, held, hn::Zero(tag)), tag, across);
                across += lanes;
                if constexpr (Binning != PairBinning::separation) {
                    const T position_along = rows.first[line_of_sight * rows.stride + row];
                    hn::StoreU(
                        point_distances<Periodic, 1>(tag, &position_along, &period_along, held_along, hn::Zero(tag)),
                        tag, along);
                    along += lanes;
                }
            }
        }
    }
    template <PairBinning Binning>
    [[nodiscard]] HWY_INLINE int axis_of(int a) const {
        return Binning == PairBinning::rp_pi ? limits_.axes[a] : a;
    }

    [[nodiscard]] Int128 sum_of_squares(std::int64_t begin, std::int64_t end) const {
        Int128 sum = 0;
        for (std::int64_t i = begin; i < end; ++i) {
            const Int128 weight = job_.first.weights[i];
            sum += weight * weight;
        }
        return sum;
    }

    void add_to_slots(const UndecidedLimits& undecided) const {
        add_differences(undecided, scratch_.below.data(), scratch_.counts.data());
        if (job_.weighted) {
            add_differences(undecided, scratch_.weight_below.data(), scratch_.weights.data());
        }
        if (limits_.separation_scale) {
            add_differences(undecided, scratch_.separation_below.data(), scratch_.separation_sums.data());
        }
    }
    template <class Sum>
    void add_differences(const UndecidedLimits& undecided, const Sum* below, Sum* slots) const {
        const std::int64_t columns = undecided.columns;
        for (std::int64_t row = 0; row < undecided.rows; ++row) {
            for (std::int64_t column = 0; column < columns; ++column) {
                const Sum* at = below + row * columns + column;
                const Sum before = row > 0 ? at[-columns] : Sum(0);
                const Sum left = column > 0 ? at[-1] : Sum(0);
                const Sum both = row > 0 && column > 0 ? at[-columns - 1] : Sum(0);
                slots[undecided.slot(row, column, second_slots_)] += *at - before - left + both;
            }
        }
    }

    const PairJob<T>& job_;
    const PairLimits<T>& limits_;
    PairScratch<T>& scratch_;
    const std::int64_t second_slots_;
};

} // namespace kith::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
