// What the limits of pair counts say about a pair of nodes, from the bounds of its squares.
//
// Problem: which slots can the pairs of two nodes be in? Bounds of the squares that limits compare with follow from the
// boxes of the nodes, with the same operations as distances, so that nothing needs slack. A node is near another one if
// the least square is within the last limit, and in one slot with it if no limit is between the bounds of either axis.
// Source: Gray and Moore, "N-body problems in statistical learning" (NIPS 2000). Cost: one comparison per limit and
// vector of nodes.

#include "geometry/distances-inl.hpp"

#include "pairs/pair_job.hpp"
#include "pairs/undecided.hpp"
#include "pairs/within-inl.hpp"

#include <cstdint>

#if defined(KITH_PAIR_BOUNDS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef KITH_PAIR_BOUNDS_INL_HPP
#undef KITH_PAIR_BOUNDS_INL_HPP
#else
#define KITH_PAIR_BOUNDS_INL_HPP
#endif

HWY_BEFORE_NAMESPACE();
namespace kith::detail::HWY_NAMESPACE {

/// Bounds of the squares that the limits of both axes compare with: d2, or rp2; and pi2, unless pairs are binned by r.
template <class V>
struct PairBoundsOf {
    Bounds<V> first;
    Bounds<V> second;
};

/// Columns in another order of axes.
template <class Columns>
struct Reordered {
    const Columns& columns;
    const int* axes;
    HWY_INLINE auto operator()(int axis) const { return columns(axes[axis]); }
};

/// The part of the policy that knows boxes and limits alone.
template <class T, int D>
class PairBounding {
public:
    using PairBounds = PairBoundsOf<T>;

    explicit PairBounding(const PairLimits<T>& limits) : limits_(limits) {}

    template <bool Periodic, class Of, class V = hn::Vec<Of>>
    [[nodiscard]] HWY_INLINE PairBoundsOf<V> bounds(Of tag, const Receiver<T, D>& box, const Columns<Of>& lower,
                                                    const Columns<Of>& upper) const {
        const Bounds<V> zero{hn::Zero(tag), hn::Zero(tag)};
        if (limits_.binning == PairBinning::separation) {
            return {box_distances<Periodic, D>(tag, box, lower, upper, zero), zero};
        }
        const int* axes = limits_.axes.data();
        const Bounds<V> along =
            box_distances<Periodic, 1>(tag, part_of<1>(box, axes + D - 1), Reordered<Columns<Of>>{lower, axes + D - 1},
                                       Reordered<Columns<Of>>{upper, axes + D - 1}, zero);
        if (limits_.binning == PairBinning::s_mu) {
            return {box_distances<Periodic, D>(tag, box, lower, upper, zero), along};
        }
        return {box_distances<Periodic, D - 1>(tag, part_of<D - 1>(box, axes), Reordered<Columns<Of>>{lower, axes},
                                               Reordered<Columns<Of>>{upper, axes}, zero),
                along};
    }

    /// Some pair may be within the last limits.
    template <class Of, class V = hn::Vec<Of>>
    [[nodiscard]] HWY_INLINE auto are_near(Of tag, const PairBoundsOf<V>& bounds) const {
        const auto near = hn::Le(bounds.first.least, hn::Set(tag, limits_.first[limits_.first_count - 1]));
        if (limits_.binning == PairBinning::separation) {
            return near;
        }
        const V last =
            hn::Mul(hn::Set(tag, limits_.second[limits_.second_count - 1]), scale(tag, bounds.first.greatest));
        return hn::And(near, hn::Le(bounds.second.least, last));
    }

    /// No limit is between the bounds.
    template <class Of, class V = hn::Vec<Of>>
    [[nodiscard]] HWY_INLINE auto are_whole(Of tag, const PairBoundsOf<V>& bounds) const {
        auto undecided = hn::Lt(hn::Zero(tag), hn::Zero(tag));
        for (std::int64_t k = 0; k < limits_.first_count; ++k) {
            const V limit = hn::Set(tag, limits_.first[k]);
            undecided =
                hn::Or(undecided, hn::And(hn::Le(bounds.first.least, limit), hn::Lt(limit, bounds.first.greatest)));
        }
        for (std::int64_t k = 0; k < limits_.second_count; ++k) {
            const V limit = hn::Set(tag, limits_.second[k]);
            undecided = hn::Or(undecided,
                               hn::And(hn::Le(bounds.second.least, hn::Mul(limit, scale(tag, bounds.first.greatest))),
                                       hn::Lt(hn::Mul(limit, scale(tag, bounds.first.least)), bounds.second.greatest)));
        }
        return hn::Not(undecided);
    }

    /// The bounds of each lane.
    template <class Of>
    struct Kept {
        alignas(64) T values[4][hn::MaxLanes(Of())];
        HWY_INLINE PairBounds operator[](int lane) const {
            return {{values[0][lane], values[1][lane]}, {values[2][lane], values[3][lane]}};
        }
    };
    template <class Of, class V = hn::Vec<Of>>
    [[nodiscard]] HWY_INLINE Kept<Of> keep(Of tag, const PairBoundsOf<V>& bounds) const {
        Kept<Of> kept;
        hn::StoreU(bounds.first.least, tag, kept.values[0]);
        hn::StoreU(bounds.first.greatest, tag, kept.values[1]);
        hn::StoreU(bounds.second.least, tag, kept.values[2]);
        hn::StoreU(bounds.second.greatest, tag, kept.values[3]);
        return kept;
    }

    /// The limits between bounds.
    [[nodiscard]] UndecidedLimits undecided_of(const PairBounds& bounds) const {
        const bool is_cosine = limits_.binning == PairBinning::s_mu;
        const T* first = limits_.first.data();
        const T* second = limits_.second.data();
        return {
            count_below(first, limits_.first_count, T(1), bounds.first.least),
            count_below(first, limits_.first_count, T(1), bounds.first.greatest),
            limits_.first_count,
            count_below(second, limits_.second_count, is_cosine ? bounds.first.greatest : T(1), bounds.second.least),
            count_below(second, limits_.second_count, is_cosine ? bounds.first.least : T(1), bounds.second.greatest),
            limits_.second_count};
    }

private:
    /// What limits of the second axis are multiplied with.
    template <class Of, class V>
    [[nodiscard]] HWY_INLINE V scale(Of tag, V squared) const {
        return limits_.binning == PairBinning::s_mu ? squared : hn::Set(tag, T(1));
    }

    template <int Axes>
    [[nodiscard]] static HWY_INLINE Receiver<T, Axes> part_of(const Receiver<T, D>& box, const int* axes) {
        Receiver<T, Axes> part;
        for (int a = 0; a < Axes; ++a) {
            part.lower[a] = box.lower[axes[a]];
            part.upper[a] = box.upper[axes[a]];
            part.period[a] = box.period[axes[a]];
        }
        return part;
    }

    const PairLimits<T>& limits_;
};

} // namespace kith::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
