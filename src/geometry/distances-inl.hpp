// Squared distances: point to point, and the least and greatest between boxes, for one receiver against a vector of
// sources.
//
// All three use the same operations in the same order, on differences that bracket each other; rounding is monotone, so
// a bound never needs slack. On a periodic axis of period L the distance is min(t, L - t); open axes have L = infinity.
// With t in [nearest, farthest] over a pair of boxes, its least value is min(nearest, L - farthest) and its greatest at
// most min(farthest, L - nearest); no |q - p| within a box exceeds L. See docs/semantics.md, "Distance".

#include "support/simd-inl.hpp"

#include "support/dimension.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>

#if defined(KITH_DISTANCES_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef KITH_DISTANCES_INL_HPP
#undef KITH_DISTANCES_INL_HPP
#else
#define KITH_DISTANCES_INL_HPP
#endif

HWY_BEFORE_NAMESPACE();
namespace kith::detail::HWY_NAMESPACE {

/// Adds the square of one axis' distance; the first axis starts the sum.
template <int Axis, class Tag, class V = hn::Vec<Tag>>
HWY_INLINE V add_square(Tag tag, V t, V sum) {
    if constexpr (Axis == 0) {
        return hn::Mul(t, t);
    } else {
        return fused_multiply_add(tag, t, t, sum);
    }
}

/// A box, or a point as a box without extent, with the periods of the space.
template <class T, int D>
struct Receiver {
    T lower[D];
    T upper[D];
    T period[D];

    [[nodiscard]] bool is_single_point() const { return std::equal(lower, lower + D, upper); }
};

/// The same where the dimension is known at run time. Axes that the space lacks are 0.
template <class T>
using AnyReceiver = Receiver<T, max_dimension>;

/// With the axes of the space alone, which stay in registers.
template <int D, class T>
HWY_INLINE Receiver<T, D> in_space(const AnyReceiver<T>& any) {
    Receiver<T, D> box;
    std::copy_n(any.lower, D, box.lower);
    std::copy_n(any.upper, D, box.upper);
    std::copy_n(any.period, D, box.period);
    return box;
}

template <class V>
struct Bounds {
    V least;
    V greatest;
};

/// Squared distances from a point to a vector of points; `sources(axis)` gives the vector of their coordinates.
template <bool Periodic, int D, int Axis = 0, class Tag, class T, class Sources, class V = hn::Vec<Tag>>
HWY_INLINE V point_distances(Tag tag, const T* point, const T* period, const Sources& sources, V sum) {
    if constexpr (Axis == D) {
        return sum;
    } else {
        V t = hn::Sub(hn::Set(tag, point[Axis]), sources(Axis)); // its sign goes with the square
        if constexpr (Periodic) {
            t = hn::Abs(t);
            t = hn::Min(t, hn::Sub(hn::Set(tag, period[Axis]), t));
        }
        return point_distances<Periodic, D, Axis + 1>(tag, point, period, sources, add_square<Axis>(tag, t, sum));
    }
}

/// Least and greatest squared distances between a box and a vector of boxes, whose corners `lower(axis)` and
/// `upper(axis)` give.
template <bool Periodic, int D, int Axis = 0, class Tag, class T, class Lower, class Upper, class V = hn::Vec<Tag>>
HWY_INLINE Bounds<V> box_distances(Tag tag, const Receiver<T, D>& box, const Lower& lower, const Upper& upper,
                                   Bounds<V> sum) {
    if constexpr (Axis == D) {
        return sum;
    } else {
        const V below = hn::Sub(lower(Axis), hn::Set(tag, box.upper[Axis]));
        const V above = hn::Sub(hn::Set(tag, box.lower[Axis]), upper(Axis));
        V nearest = hn::Max(hn::Max(below, above), hn::Zero(tag));
        V farthest = hn::Max(hn::Sub(upper(Axis), hn::Set(tag, box.lower[Axis])),
                             hn::Sub(hn::Set(tag, box.upper[Axis]), lower(Axis)));
        if constexpr (Periodic) {
            const V period = hn::Set(tag, box.period[Axis]);
            const V least = hn::Max(hn::Min(nearest, hn::Sub(period, farthest)), hn::Zero(tag));
            farthest = hn::Min(farthest, hn::Sub(period, nearest));
            nearest = least;
        }
        return box_distances<Periodic, D, Axis + 1>(
            tag, box, lower, upper,
            Bounds<V>{add_square<Axis>(tag, nearest, sum.least), add_square<Axis>(tag, farthest, sum.greatest)});
    }
}

/// The least alone.
template <bool Periodic, int D, class Tag, class T, class Lower, class Upper, class V = hn::Vec<Tag>>
HWY_INLINE V least_distances(Tag tag, const Receiver<T, D>& box, const Lower& lower, const Upper& upper) {
    return box_distances<Periodic, D>(tag, box, lower, upper, Bounds<V>{hn::Zero(tag), hn::Zero(tag)}).least;
}

/// Both between two boxes alone, in a space whose dimension is known at run time. Open axes have the period infinity.
template <class T>
Bounds<T> box_distances(int dimension, const AnyReceiver<T>& box, const T* lower, const T* upper, std::int64_t stride) {
    Bounds<T> sum{};
    for (int axis = 0; axis < dimension; ++axis) {
        const T below = lower[axis * stride] - box.upper[axis];
        const T above = box.lower[axis] - upper[axis * stride];
        T nearest = std::max(std::max(below, above), T(0));
        T farthest = std::max(upper[axis * stride] - box.lower[axis], box.upper[axis] - lower[axis * stride]);
        const T least = std::max(std::min(nearest, box.period[axis] - farthest), T(0));
        farthest = std::min(farthest, box.period[axis] - nearest);
        nearest = least;
        sum = axis == 0 ? Bounds<T>{nearest * nearest, farthest * farthest}
                        : Bounds<T>{std::fma(nearest, nearest, sum.least), std::fma(farthest, farthest, sum.greatest)};
    }
    return sum;
}

/// As kith::detail::with_space(). The scalar fallback, which is there to work everywhere, knows periodic spaces alone:
/// in these an open axis has the period infinity, and distances the same bits.
template <class Function>
void with_space(int dimension, [[maybe_unused]] bool periodic, const Function& function) {
#if HWY_TARGET == HWY_SCALAR
    with_dimension(dimension, [&]<int D>(std::integral_constant<int, D>) { function.template operator()<D, true>(); });
#else
    kith::detail::with_space(dimension, periodic, function);
#endif
}

/// Vectors of coordinates from a structure of arrays, starting at one element.
template <class Tag, class T = hn::TFromD<Tag>>
struct Columns {
    Tag tag;
    const T* first;
    std::int64_t stride;
    HWY_INLINE hn::Vec<Tag> operator()(int axis) const { return hn::LoadU(tag, first + axis * stride); }
};

/// The coordinates of one point; those of an axis are `stride` after those of the axis before.
template <int D, class T>
HWY_INLINE void load_point(const T* first, std::int64_t stride, T* point) {
    for (int axis = 0; axis < D; ++axis) {
        point[axis] = first[axis * stride];
    }
}

/// The box of some points, one or more, that are numbered from the first one on.
template <class T>
AnyReceiver<T> box_of_points(int dimension, const T* first, std::int64_t stride, const std::int32_t* numbers,
                             std::int64_t count, const T* period) {
    AnyReceiver<T> box{};
    for (int axis = 0; axis < dimension; ++axis) {
        const T* x = first + axis * stride;
        T lower = x[numbers[0]];
        T upper = lower;
        for (std::int64_t i = 1; i < count; ++i) {
            lower = std::min(lower, x[numbers[i]]);
            upper = std::max(upper, x[numbers[i]]);
        }
        box.lower[axis] = lower;
        box.upper[axis] = upper;
        box.period[axis] = period[axis];
    }
    return box;
}

} // namespace kith::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
