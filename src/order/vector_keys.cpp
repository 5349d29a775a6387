// See vector_keys.hpp. What a key is, and the same for one point, is in keys.hpp.
#include "order/vector_keys.hpp"

#include "support/dimension.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "order/vector_keys.cpp"
#include <hwy/foreach_target.h> // must come before highway.h

#include "support/simd-inl.hpp"

#ifndef KITH_SPREAD_MASK_HPP
#define KITH_SPREAD_MASK_HPP
namespace kith::detail {

/// Of 16 bits in groups of `group`, D groups apart, all ones; those beyond 64 bits are nobody's.
template <int D>
constexpr std::uint64_t spread_mask(int group) {
    std::uint64_t mask = 0;
    for (int bit = 0; bit < 16; ++bit) {
        const int place = bit / group * group * D + bit % group;
        mask |= place < 64 ? std::uint64_t{1} << place : 0;
    }
    return mask;
}

} // namespace kith::detail
#endif

HWY_BEFORE_NAMESPACE();
namespace kith::detail::HWY_NAMESPACE {

using Keys = hn::ScalableTag<std::uint64_t>;

/// Moves the upper half of every group of bits, down to single bits, so that D - 1 zeros follow each.
template <int D, int Group = 8, class V = hn::Vec<Keys>>
HWY_INLINE V spread(V v) {
    if constexpr (Group == 0) {
        return v;
    } else {
        constexpr int distance = Group * (D - 1);
        if constexpr (distance < 64) {
            v = hn::Or(v, hn::ShiftLeft<distance>(v));
        }
        return spread<D, Group / 2>(hn::And(v, hn::Set(Keys(), spread_mask<D>(Group))));
    }
}

HWY_INLINE hn::Vec<hn::Rebind<std::int32_t, Keys>> truncate(hn::Vec<hn::Rebind<float, Keys>> v) {
    return hn::ConvertTo(hn::Rebind<std::int32_t, Keys>(), v);
}
HWY_INLINE hn::Vec<hn::Rebind<std::int32_t, Keys>> truncate(hn::Vec<hn::Rebind<double, Keys>> v) {
    return hn::DemoteTo(hn::Rebind<std::int32_t, Keys>(), v);
}

/// As KeyEncoder does it, one axis of a vector of points.
template <class T>
HWY_INLINE hn::Vec<Keys> axis_bits(const KeyJob<T>& job, const T* x) {
    const hn::Rebind<T, Keys> numbers;
    const hn::Rebind<std::int32_t, Keys> integers;
    const auto v = hn::LoadU(numbers, x);
    const auto negative = truncate(hn::IfThenElseZero(hn::Lt(v, hn::Zero(numbers)), hn::Set(numbers, T(-1))));
    const auto top = hn::Set(integers, static_cast<std::int32_t>(job.top_if_signs_differ));
    auto value = hn::Xor(truncate(hn::Mul(hn::Abs(v), hn::Set(numbers, job.units))), negative);
    value = hn::Or(hn::AndNot(top, value), hn::AndNot(negative, top));
    value = hn::And(value, hn::Set(integers, static_cast<std::int32_t>(job.bits)));
    return hn::PromoteTo(Keys(), hn::BitCast(hn::Rebind<std::uint32_t, Keys>(), value));
}

template <int D, int Axis = 0, class T>
HWY_INLINE hn::Vec<Keys> interleaved(const KeyJob<T>& job, std::int64_t i) {
    const auto own = hn::ShiftLeft<D - 1 - Axis>(spread<D>(axis_bits(job, job.coordinates + Axis * job.stride + i)));
    if constexpr (Axis + 1 == D) {
        return own;
    } else {
        return hn::Or(own, interleaved<D, Axis + 1>(job, i));
    }
}

template <int D, class T>
void make_keys_of(const KeyJob<T>& job, std::uint64_t* keys) {
    for (std::int64_t i = 0; i < job.count; i += static_cast<std::int64_t>(hn::Lanes(Keys()))) {
        hn::StoreU(interleaved<D>(job, i), Keys(), keys + i);
    }
}

void make_keys_float(const KeyJob<float>& job, int dimension, std::uint64_t* keys) {
    with_dimension(dimension, [&]<int D>(std::integral_constant<int, D>) { make_keys_of<D>(job, keys); });
}

void make_keys_double(const KeyJob<double>& job, int dimension, std::uint64_t* keys) {
    with_dimension(dimension, [&]<int D>(std::integral_constant<int, D>) { make_keys_of<D>(job, keys); });
}

} // namespace kith::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kith::detail {

HWY_EXPORT(make_keys_float);
HWY_EXPORT(make_keys_double);

void make_keys(const KeyJob<float>& job, int dimension, std::uint64_t* keys) {
    HWY_DYNAMIC_DISPATCH(make_keys_float)(job, dimension, keys);
}

void make_keys(const KeyJob<double>& job, int dimension, std::uint64_t* keys) {
    HWY_DYNAMIC_DISPATCH(make_keys_double)(job, dimension, keys);
}

} // namespace kith::detail
#endif
