// exp(-9/2 x) for x from 0 to 1, the same bits everywhere: no mathematical library takes part, whose last bits differ.
//
// p(-9/32 x)^16 with p the Taylor polynomial of degree 12, by Horner's rule, and four squarings. The remainder of p is
// below 0.28125^13/13! = 1.2e-17; each squaring doubles the relative error and adds half a unit, so that the result is
// within 3e-15 of the true value, relatively.

#include "support/simd-inl.hpp"

#if defined(KITH_EXPONENTIAL_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef KITH_EXPONENTIAL_INL_HPP
#undef KITH_EXPONENTIAL_INL_HPP
#else
#define KITH_EXPONENTIAL_INL_HPP
#endif

HWY_BEFORE_NAMESPACE();
namespace kith::detail::HWY_NAMESPACE {

template <class Tag, class V = hn::Vec<Tag>>
HWY_INLINE V exponential(Tag tag, V x) {
    constexpr double factorials[] = {479001600, 39916800, 3628800, 362880, 40320, 5040, 720, 120, 24, 6, 2, 1, 1};
    const V y = hn::Mul(x, hn::Set(tag, -9.0 / 32));
    V power = hn::Set(tag, 1 / factorials[0]);
    for (int i = 1; i < 13; ++i) {
        power = fused_multiply_add(tag, power, y, hn::Set(tag, 1 / factorials[i]));
    }
    for (int i = 0; i < 4; ++i) {
        power = hn::Mul(power, power);
    }
    return power;
}

} // namespace kith::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
