// A random part of a snapshot's particles.
#pragma once

#include <kith/io.hpp>

#include <cstdint>
#include <functional>
#include <span>

namespace kith::cli {

/// Sums numbers over the ranks.
using SumOfRanks = std::function<void(std::span<std::int64_t>)>;

/// A part of `count` rows, all if there are no more than that of `all`: those of the least numbers, each mixed of the
/// seed and a row of the file, different for each. This is the greatest number of the part. Collective.
[[nodiscard]] std::uint64_t last_of_sample(std::span<const std::int64_t> file_rows, std::int64_t all,
                                           std::int64_t count, std::uint64_t seed, const SumOfRanks& sum);

/// Keeps the rows of all columns whose numbers are `last` or less, in their order.
void keep_random_rows(io::Snapshot& snapshot, std::uint64_t last, std::uint64_t seed);

} // namespace kith::cli
