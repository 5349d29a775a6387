// The rows of the nearest others that Boruvka's rounds read, on the CPU and on a GPU.
#pragma once

#include <cstdint>

namespace kith::detail {

/// Neighbors in a row: with fewer, more components are left to the walk; with more, the rows take longer. 5 to 8
/// measured alike.
inline constexpr int row_length = 6;

/// Instead of a place in a row: the point lies where one of a smaller index does, and is in its
/// component, from the first round on without core distances. No edge of its other points comes before those of its
/// first, so that the others need none.
inline constexpr std::uint8_t is_duplicate = 255;

} // namespace kith::detail
