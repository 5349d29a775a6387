// Keys of many points at once, a vector at a time; compiled for each instruction set and chosen at run time.
#pragma once

#include <kith/points.hpp>

#include <cstdint>

namespace kith::detail {

/// Points as a structure of arrays, and how the bits of their axes are made (see KeyEncoder). Whole vectors are read
/// and written: `stride`, and the room for keys, are `count` rounded up to a multiple of key_padding or more.
template <Coordinate T>
struct KeyJob {
    const T* coordinates;
    std::int64_t stride;
    std::int64_t count;
    T units;                           ///< in one; no magnitude is 2^31 units or more
    std::uint32_t bits;                ///< that an axis gives: ones at the bottom, 16 at most
    std::uint32_t top_if_signs_differ; ///< 0 if they do not
};

inline constexpr std::int64_t key_padding = 16;

void make_keys(const KeyJob<float>& job, int dimension, std::uint64_t* keys);
void make_keys(const KeyJob<double>& job, int dimension, std::uint64_t* keys);

} // namespace kith::detail
