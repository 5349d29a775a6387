// How many squares are within a limit, and the weights of their pairs.
//
// Squares are stored column after column: a vector of points of one leaf for each point (row) of another. Weights are
// whole numbers up to 2^31; their sums over the rows of a block, at most 4,096, are kept in two halves where lanes have
// 32 bits.

#include "support/simd-inl.hpp"

#include "support/int128.hpp"

#include <bit>
#include <cstdint>
#include <type_traits>

#if defined(KITH_WITHIN_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef KITH_WITHIN_INL_HPP
#undef KITH_WITHIN_INL_HPP
#else
#define KITH_WITHIN_INL_HPP
#endif

HWY_BEFORE_NAMESPACE();
namespace kith::detail::HWY_NAMESPACE {

/// How many of ascending limits, each times a factor, are below a number. A vector of NaN follows the limits.
template <class T>
HWY_INLINE std::int64_t count_below(const T* limits, std::int64_t count, T factor, T number) {
    const hn::ScalableTag<T> tag;
    std::int64_t below = 0;
    for (std::int64_t k = 0; k < count; k += static_cast<std::int64_t>(hn::Lanes(tag))) {
        const auto scaled = hn::Mul(hn::LoadU(tag, limits + k), hn::Set(tag, factor));
        below += std::popcount(mask_bits(tag, hn::Lt(scaled, hn::Set(tag, number))));
    }
    return below;
}

template <class T>
struct WithinLimits {
    const T* first;  ///< squares
    const T* second; ///< null: the first limit alone
    T first_limit;
    T second_limit;
    bool is_factor; ///< the second limit is one of the first square

    /// Of a vector of pairs. NaN is within no limit.
    template <class Tag>
    HWY_INLINE auto operator()(Tag tag, std::int64_t i) const {
        const auto square = hn::LoadU(tag, first + i);
        const auto within = hn::Le(square, hn::Set(tag, first_limit));
        if (second == nullptr) {
            return within;
        }
        const auto limit = hn::Mul(hn::Set(tag, second_limit), is_factor ? square : hn::Set(tag, T(1)));
        return hn::And(within, hn::Le(hn::LoadU(tag, second + i), limit));
    }
};

/// Adds 1 to the lanes of a mask.
template <class Tag, class V = hn::Vec<Tag>, class Mask>
HWY_INLINE V increment(Tag tag, V counts, Mask mask) {
#if HWY_TARGET == HWY_AVX3 // in one instruction
    if constexpr (sizeof(hn::TFromD<Tag>) == 4) {
        return V{_mm512_mask_add_epi32(counts.raw, mask.raw, counts.raw, hn::Set(tag, 1).raw)};
    } else {
        return V{_mm512_mask_add_epi64(counts.raw, mask.raw, counts.raw, hn::Set(tag, 1).raw)};
    }
#else
    return hn::Sub(counts, hn::VecFromMask(tag, hn::RebindMask(tag, mask)));
#endif
}

/// `size` is a multiple of the lanes, and less than 2^31 for each.
template <class T>
HWY_NOINLINE std::int64_t count_within(const WithinLimits<T>& within, std::int64_t size) {
    const hn::ScalableTag<T> tag;
    const hn::RebindToSigned<decltype(tag)> counter;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(tag));
    auto even = hn::Zero(counter);
    auto odd = hn::Zero(counter);
    std::int64_t i = 0;
    for (; i + lanes < size; i += 2 * lanes) {
        even = increment(counter, even, within(tag, i));
        odd = increment(counter, odd, within(tag, i + lanes));
    }
    if (i < size) {
        even = increment(counter, even, within(tag, i));
    }
    return hn::GetLane(hn::SumOfLanes(counter, hn::Add(even, odd)));
}

/// The sum of the products of weights of the pairs within the limits. A null pointer: these weights are 1.
template <class T>
HWY_NOINLINE Int128 weight_within(const WithinLimits<T>& within, const std::uint32_t* of_rows, std::int64_t rows,
                                  const std::uint32_t* of_columns, std::int64_t columns) {
    const hn::ScalableTag<T> tag;
    const hn::RebindToUnsigned<decltype(tag)> whole;
    using Whole = hn::TFromD<decltype(whole)>;
    constexpr int half = 16;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(tag));
    Int128 sum = 0;
    for (std::int64_t first = 0; first < columns; first += lanes) {
        auto low = hn::Zero(whole);
        [[maybe_unused]] auto high = hn::Zero(whole);
        for (std::int64_t row = 0; row < rows; ++row) {
            const auto mask = hn::RebindMask(whole, within(tag, first * rows + row * lanes));
            const auto weight =
                hn::IfThenElseZero(mask, hn::Set(whole, of_rows != nullptr ? Whole{of_rows[row]} : Whole{1}));
            if constexpr (sizeof(T) == 4) {
                low = hn::Add(low, hn::And(weight, hn::Set(whole, (Whole{1} << half) - 1)));
                high = hn::Add(high, hn::ShiftRight<half>(weight));
            } else {
                low = hn::Add(low, weight);
            }
        }
        alignas(64) Whole lows[hn::MaxLanes(tag)];
        alignas(64) Whole highs[hn::MaxLanes(tag)];
        hn::Store(low, whole, lows);
        hn::Store(high, whole, highs);
        for (std::int64_t lane = 0; lane < lanes && first + lane < columns; ++lane) {
            const Int128 of_lane = static_cast<Int128>(lows[lane]) + (static_cast<Int128>(highs[lane]) << half);
            sum += of_lane * (of_columns != nullptr ? of_columns[first + lane] : 1U);
        }
    }
    return sum;
}

} // namespace kith::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
