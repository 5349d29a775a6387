// Sums of the distances of pairs within a limit, as whole numbers (separations.hpp).
//
// Squares are stored as within-inl.hpp has them, distances beside them. Lanes of 64 bits hold the sums of 4,096
// distances of up to 2^50. Cost: a root per pair, and per limit an addition; with weights a multiplication of 128 bits.

#include "pairs/within-inl.hpp"
#include "support/simd-inl.hpp"

#include "pairs/separations.hpp"
#include "support/int128.hpp"
#include "support/int192.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <type_traits>

#if defined(KITH_SEPARATIONS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef KITH_SEPARATIONS_INL_HPP
#undef KITH_SEPARATIONS_INL_HPP
#else
#define KITH_SEPARATIONS_INL_HPP
#endif

HWY_BEFORE_NAMESPACE();
namespace kith::detail::HWY_NAMESPACE {

/// To lanes of 64 bits.
template <class Wide, class Numbers>
HWY_INLINE hn::Vec<Wide> widened([[maybe_unused]] Wide wide, Numbers numbers) {
    if constexpr (std::is_same_v<hn::Vec<Wide>, Numbers>) {
        return numbers;
    } else {
        return hn::PromoteTo(wide, numbers);
    }
}

/// The roots of squares, rounded as T, as whole numbers of 1/scale. `size` is a multiple of the lanes.
template <class T>
HWY_NOINLINE void write_separations(const T* squares, std::int64_t size, double scale, std::int64_t* separations) {
    const hn::ScalableTag<double> wide;
    const hn::ScalableTag<std::int64_t> whole;
    const hn::Rebind<T, decltype(wide)> narrow;
    const auto rounder = hn::Set(wide, separation_rounder);
    for (std::int64_t i = 0; i < size; i += static_cast<std::int64_t>(hn::Lanes(wide))) {
        const auto distance = widened(wide, hn::Sqrt(hn::LoadU(narrow, squares + i)));
        const auto rounded = fused_multiply_add(wide, distance, hn::Set(wide, scale), rounder);
        hn::StoreU(hn::Sub(hn::BitCast(whole, rounded), hn::BitCast(whole, rounder)), whole, separations + i);
    }
}

/// Of `size` pairs, a multiple of the lanes.
template <class T>
HWY_NOINLINE Int128 separations_within(const WithinLimits<T>& within, const std::int64_t* separations,
                                       std::int64_t size) {
    constexpr std::int64_t at_once = 4096;
    const hn::ScalableTag<std::int64_t> whole;
    const hn::Rebind<T, decltype(whole)> narrow;
    const hn::RebindToSigned<decltype(narrow)> narrow_whole;
    Int128 total = 0;
    for (std::int64_t begin = 0; begin < size; begin += at_once) {
        const std::int64_t end = std::min(begin + at_once, size);
        auto sum = hn::Zero(whole);
        for (std::int64_t i = begin; i < end; i += static_cast<std::int64_t>(hn::Lanes(whole))) {
            const auto mask = hn::VecFromMask(narrow_whole, hn::RebindMask(narrow_whole, within(narrow, i)));
            sum = hn::Add(sum, hn::And(hn::LoadU(whole, separations + i), widened(whole, mask)));
        }
        total += hn::GetLane(hn::SumOfLanes(whole, sum));
    }
    return total;
}

/// Each times the product of the weights of its points, as weight_within(): of at most 4,096 rows.
template <class T>
HWY_NOINLINE Int192 weighted_separations_within(const WithinLimits<T>& within, const std::int64_t* separations,
                                                const std::uint32_t* of_rows, std::int64_t rows,
                                                const std::uint32_t* of_columns, std::int64_t columns) {
    const hn::ScalableTag<T> tag;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(tag));
    Int192 total;
    for (std::int64_t first = 0; first < columns; first += lanes) {
        UnsignedInt128 sums[hn::MaxLanes(tag)] = {};
        for (std::int64_t row = 0; row < rows; ++row) {
            const std::int64_t at = first * rows + row * lanes;
            const std::uint64_t weight = of_rows != nullptr ? of_rows[row] : 1;
            for (unsigned bits = mask_bits(tag, within(tag, at)); bits != 0; bits &= bits - 1) {
                const int lane = std::countr_zero(bits);
                sums[lane] += UnsignedInt128{weight} * static_cast<std::uint64_t>(separations[at + lane]);
            }
        }
        for (std::int64_t lane = 0; lane < lanes && first + lane < columns; ++lane) {
            total += static_cast<Int128>(sums[lane] * (of_columns != nullptr ? of_columns[first + lane] : 1U));
        }
    }
    return total;
}

} // namespace kith::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
