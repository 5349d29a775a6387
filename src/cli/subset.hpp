// A random part of a snapshot's particles.
#pragma once

#include <kith/io.hpp>

#include <cstdint>

namespace kith::cli {

/// Keeps `count` rows of all columns, all if there are no more, in their order. The same seed and rows of the file give the
/// same part: that of the `count` least numbers, each mixed of the seed and a row.
void keep_random_rows(io::Snapshot& snapshot, std::int64_t count, std::uint64_t seed);

} // namespace kith::cli
