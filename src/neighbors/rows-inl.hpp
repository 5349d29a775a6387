// A finished row of neighbors, from sorted survivors to where the caller wants it.
//
// Rows in input order are scattered over memory, and a row is rarely more than a few cache lines. Written through the
// cache, each line is first read. So they go past it, whatever their length and place: what does not fill a vector is
// stored number by number.

#include "support/simd-inl.hpp"

#include "neighbors/search.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#if defined(KITH_ROWS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef KITH_ROWS_INL_HPP
#undef KITH_ROWS_INL_HPP
#else
#define KITH_ROWS_INL_HPP
#endif

HWY_BEFORE_NAMESPACE();
namespace kith::detail::HWY_NAMESPACE {

/// Distances as reported, a vector at a time.
template <class T>
struct ReportedDistances {
    const T* squared;
    T factor;
    bool report_squared;

    template <class Tag>
    HWY_INLINE hn::Vec<Tag> operator()(Tag tag, std::int64_t i) const {
        const auto d2 = hn::LoadU(tag, squared + i);
        return hn::Mul(report_squared ? d2 : hn::Sqrt(d2), hn::Set(tag, factor));
    }
};

/// Distances as reported: the correctly rounded root, scaled back, or the square scaled back.
template <class T>
HWY_INLINE void report_distances(const T* squared, std::int64_t size, const ReportScale<T>& scale, T* out) {
    const T factor = scale.power.as_factor();
    if (factor == 0) {
        for (std::int64_t i = 0; i < size; ++i) {
            out[i] = scale.power(scale.squared ? squared[i] : std::sqrt(squared[i]));
        }
        return;
    }
    const hn::ScalableTag<T> tag;
    const std::int64_t lanes = static_cast<std::int64_t>(hn::Lanes(tag));
    const ReportedDistances<T> reported{squared, factor, scale.squared};
    for (std::int64_t i = 0; i < size; i += lanes) { // the squares have room for a whole last vector
        const auto distances = reported(tag, i);
        if (HWY_LIKELY(i + lanes <= size)) {
            hn::StoreU(distances, tag, out + i);
        } else {
            HWY_ALIGN T last[hn::MaxLanes(hn::ScalableTag<T>())];
            hn::Store(distances, tag, last);
            std::copy(last, last + (size - i), out + i);
        }
    }
}

/// Indices as reported, of either width, a vector at a time.
template <class Index>
struct ReportedIndices {
    const Index* indices;

    template <class Tag>
    HWY_INLINE hn::Vec<Tag> operator()(Tag tag, std::int64_t i) const {
        if constexpr (sizeof(hn::TFromD<Tag>) == sizeof(Index)) {
            return hn::LoadU(tag, indices + i);
        } else if constexpr (sizeof(Index) == 4) {
            return hn::PromoteTo(tag, hn::LoadU(hn::Rebind<Index, Tag>(), indices + i));
        } else {
#if HWY_TARGET == HWY_SCALAR
            return hn::Set(tag, static_cast<std::int32_t>(indices[i]));
#else // the lower halves
            const hn::Repartition<Index, Tag> index_tag;
            const auto lower = hn::LoadU(index_tag, indices + i);
            const auto upper = hn::LoadU(index_tag, indices + i + hn::Lanes(index_tag));
            return hn::ConcatEven(tag, hn::BitCast(tag, upper), hn::BitCast(tag, lower));
#endif
        }
    }
};

/// Stores a number past the cache, where the machine can.
template <class X>
HWY_INLINE void stream_number(X number, X* to) {
#if HWY_ARCH_X86_64
    if constexpr (sizeof(X) == 4) {
        _mm_stream_si32(reinterpret_cast<int*>(to), std::bit_cast<int>(number));
    } else {
        _mm_stream_si64(reinterpret_cast<long long*>(to), std::bit_cast<long long>(number));
    }
#else
    *to = number;
#endif
}

/// Stores fewer numbers than a vector past the cache.
template <class Tag, class Source, class X>
HWY_INLINE void stream_few(Tag tag, const Source& source, std::int64_t first, std::int64_t last, X* to) {
    HWY_ALIGN X few[hn::MaxLanes(Tag())];
    hn::Store(source(tag, first), tag, few);
    for (std::int64_t i = first; i < last; ++i) {
        stream_number(few[i - first], to + i);
    }
}

/// Stores numbers past the cache. The source has room for a vector more.
template <class Source, class X>
HWY_INLINE void stream_numbers(const Source& source, std::int64_t count, X* to) {
    const hn::ScalableTag<X> wide;
    const hn::CappedTag<X, 16 / sizeof(X)> narrow;
    const auto wide_lanes = static_cast<std::int64_t>(hn::Lanes(wide));
    const auto narrow_lanes = static_cast<std::int64_t>(hn::Lanes(narrow));
    const auto place = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(to) / sizeof(X));
    std::int64_t i = 0;
    if (place % narrow_lanes != 0) {
        i = std::min(count, narrow_lanes - place % narrow_lanes);
        stream_few(narrow, source, 0, i, to);
    }
    if ((place + i) % wide_lanes == 0) {
        for (; i + wide_lanes <= count; i += wide_lanes) {
            hn::Stream(source(wide, i), wide, to + i);
        }
    }
    for (; i + narrow_lanes <= count; i += narrow_lanes) {
        hn::Stream(source(narrow, i), narrow, to + i);
    }
    if (i < count) {
        stream_few(narrow, source, i, count, to);
    }
}

/// Copies the first k indices without the one at `left_out`; there are `kept` of them.
template <class Index, class To>
HWY_INLINE void copy_indices(const Index* indices, std::int64_t left_out, std::int64_t kept, std::int64_t k, To* to) {
    std::copy_n(indices, left_out, to);
    std::copy_n(indices + left_out + 1, kept - left_out, to + left_out);
    std::fill(to + kept, to + k, To{-1});
}

/// Writes one finished row: the first k of the survivors, without the index `own` (-1: none is left out). `past_cache`:
/// nobody reads the row soon. Rows that are not the common case go through the cache all the same.
template <class T, class Index>
HWY_NOINLINE void write_row(const T* sorted_distances, const Index* sorted_indices, std::int64_t found,
                            std::int32_t own, std::int64_t k, const ReportScale<T>& scale, const RowMemory<T>& row,
                            bool past_cache = false) {
    std::int64_t most = std::min(found, own < 0 ? k : k + 1);
    const auto* left_out = own < 0 ? sorted_indices + most : std::find(sorted_indices, sorted_indices + most, own);
    if (left_out == sorted_indices && most > 0) { // as most points are their own nearest
        ++sorted_distances;
        ++sorted_indices;
        --most;
        left_out = sorted_indices + most;
    }
    const bool all = left_out == sorted_indices + most;
    const std::int64_t kept = std::min(all ? most : most - 1, k);
    const T factor = scale.power.as_factor();
    if (HWY_LIKELY(past_cache && all && kept == k && factor != 0)) {
        if (row.distances != nullptr) {
            stream_numbers(ReportedDistances<T>{sorted_distances, factor, scale.squared}, k, row.distances);
        }
        if (row.indices != nullptr) {
            stream_numbers(ReportedIndices<Index>{sorted_indices}, k, row.indices);
        } else if (row.wide_indices != nullptr) {
            stream_numbers(ReportedIndices<Index>{sorted_indices}, k, row.wide_indices);
        }
        return;
    }
    const std::int64_t before = std::min(left_out - sorted_indices, kept);
    if (row.distances != nullptr) {
        report_distances(sorted_distances, before, scale, row.distances);
        report_distances(sorted_distances + before + 1, kept - before, scale, row.distances + before);
        std::fill(row.distances + kept, row.distances + k, std::numeric_limits<T>::infinity());
    }
    if (row.indices != nullptr) {
        copy_indices(sorted_indices, before, kept, k, row.indices);
    } else if (row.wide_indices != nullptr) {
        copy_indices(sorted_indices, before, kept, k, row.wide_indices);
    }
}

} // namespace kith::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
