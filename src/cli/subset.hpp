// A random part of a snapshot's particles.
#pragma once

#include <kith/io.hpp>

#include <cstdint>

namespace kith::cli {

/// A part of `count` rows, all if there are no more: those of the least numbers, each mixed of the seed and a row of
/// the file, different for each. This is the greatest number of the part.
[[nodiscard]] std::uint64_t last_of_sample(const io::Snapshot& snapshot, std::int64_t count, std::uint64_t seed);

/// Keeps the rows of all columns whose numbers are `last` or less, in their order.
void keep_random_rows(io::Snapshot& snapshot, std::uint64_t last, std::uint64_t seed);

} // namespace kith::cli
