// What every SIMD kernel shares. Included once per instruction set, inside a translation unit that
// hwy/foreach_target.h compiles again for each: AVX2, AVX-512, NEON, and a scalar fallback of one lane.
//
// Kernels are compiled with the instruction set of the target only between HWY_BEFORE_NAMESPACE and
// HWY_AFTER_NAMESPACE; lambdas would lose it, so kernels use none, and oneTBB stays outside.

#include <hwy/highway.h>

#include "support/lane_tables.hpp"

#include <bit>
#include <cmath>
#include <cstdint>

#if defined(KITH_SIMD_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef KITH_SIMD_INL_HPP
#undef KITH_SIMD_INL_HPP
#else
#define KITH_SIMD_INL_HPP
#endif

HWY_BEFORE_NAMESPACE();
namespace kith::detail::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// a * b + c, rounded once on every target.
template <class Tag, class V = hn::Vec<Tag>>
HWY_INLINE V fused_multiply_add([[maybe_unused]] Tag tag, V a, V b, V c) {
#if HWY_TARGET == HWY_SCALAR
    return hn::Set(tag, std::fma(hn::GetLane(a), hn::GetLane(b), hn::GetLane(c)));
#else
    return hn::MulAdd(a, b, c);
#endif
}

/// Point indices in lanes as wide as the coordinates.
template <class Tag>
HWY_INLINE hn::Vec<Tag> load_indices(Tag tag, const std::int32_t* indices) {
    if constexpr (sizeof(hn::TFromD<Tag>) == 4) {
        return hn::LoadU(tag, indices);
    } else {
        return hn::PromoteTo(tag, hn::LoadU(hn::Rebind<std::int32_t, Tag>(), indices));
    }
}

template <class Tag>
HWY_INLINE hn::Vec<Tag> load_indices(Tag tag, const std::int64_t* indices) {
    return hn::LoadU(tag, indices);
}

/// `first`, and what follows it, in lanes of whole numbers. Highway writes such lanes to memory one by one.
template <class Tag>
HWY_INLINE hn::Vec<Tag> numbers_from([[maybe_unused]] Tag tag, hn::TFromD<Tag> first) {
    return hn::Add(hn::Load(tag, lane_numbers<hn::TFromD<Tag>>.data()), hn::Set(tag, first));
}

/// The bits of a mask, lane 0 lowest.
template <class Tag, class Mask>
HWY_INLINE unsigned mask_bits([[maybe_unused]] Tag tag, Mask mask) {
#if HWY_TARGET == HWY_AVX2 // Highway's goes through a byte, whose upper part GCC then clears, twice
    const hn::RebindToSigned<Tag> signed_tag;
    const auto lanes = hn::VecFromMask(signed_tag, hn::RebindMask(signed_tag, mask)).raw;
    const int bits = sizeof(hn::TFromD<Tag>) == 4 ? _mm256_movemask_ps(_mm256_castsi256_ps(lanes))
                                                  : _mm256_movemask_pd(_mm256_castsi256_pd(lanes));
    return static_cast<unsigned>(bits);
#elif HWY_TARGET == HWY_AVX3
    return static_cast<unsigned>(mask.raw);
#else
    std::uint8_t bytes[8] = {};
    hn::StoreMaskBits(tag, mask, bytes);
    return bytes[0] | static_cast<unsigned>(bytes[1]) << 8;
#endif
}

#if HWY_TARGET == HWY_AVX3
// Highway has 64-bit lanes go through a table, and 32-bit lanes through an instruction that stores only the lanes that
// are set; where that is microcode (Zen 4) it takes a hundred cycles and more.
template <class T>
HWY_INLINE hn::Vec512<T> compressed(hn::Vec512<T> v, hn::Mask512<T> mask) {
    const hn::Full512<T> tag;
    if constexpr (sizeof(T) == 4) {
        const hn::Full512<std::int32_t> words;
        return hn::BitCast(tag,
                           hn::Vec512<std::int32_t>{_mm512_maskz_compress_epi32(mask.raw, hn::BitCast(words, v).raw)});
    } else {
        const hn::Full512<std::int64_t> words;
        return hn::BitCast(tag,
                           hn::Vec512<std::int64_t>{_mm512_maskz_compress_epi64(mask.raw, hn::BitCast(words, v).raw)});
    }
}
#endif

/// Stores the lanes whose mask bit is set, next to each other; returns how many. Writes a whole vector.
template <class Tag, class Mask, class V = hn::Vec<Tag>>
HWY_INLINE std::int64_t compress_store(Tag tag, V v, Mask mask, hn::TFromD<Tag>* out) {
#if HWY_TARGET == HWY_AVX2
    // Highway's own keeps its table on the stack and copies it there on every call when built with GCC.
    const hn::Repartition<std::uint32_t, Tag> words;
    const unsigned bits = mask_bits(tag, mask);
    const auto lanes = hn::SetTableIndices(words, compressing_words<8 / hn::MaxLanes(Tag())>[bits].data());
    hn::StoreU(hn::BitCast(tag, hn::TableLookupLanes(hn::BitCast(words, v), lanes)), tag, out);
    return std::popcount(bits);
#elif HWY_TARGET == HWY_AVX3
    hn::StoreU(compressed(v, mask), tag, out);
    return std::popcount(mask_bits(tag, mask));
#else
    return static_cast<std::int64_t>(hn::CompressStore(v, mask, tag, out));
#endif
}

/// Stores `first` plus the number of every lane whose mask bit is set; returns how many. Writes eight or a whole
/// vector.
template <class Tag, class Mask>
HWY_INLINE std::int64_t append_positions(Tag tag, Mask mask, std::int32_t first, std::int32_t* out) {
    constexpr std::size_t lanes = hn::MaxLanes(Tag());
    if constexpr (lanes > 8) {
        const hn::Rebind<std::int32_t, Tag> positions;
        return compress_store(positions, numbers_from(positions, first), hn::RebindMask(positions, mask), out);
    } else { // a table of lane numbers needs no shuffle
        const hn::Rebind<std::int32_t, Tag> positions;
        const hn::Rebind<std::uint8_t, Tag> numbers;
        const unsigned bits = mask_bits(tag, mask);
        const auto set = hn::PromoteTo(positions, hn::LoadU(numbers, set_lanes[bits].data()));
        hn::StoreU(hn::Add(set, hn::Set(positions, first)), positions, out);
        return std::popcount(bits);
    }
}

} // namespace kith::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
