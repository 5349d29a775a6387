// Measures what calls over ranks cost here, for kith plan: the constants of rank_model.hpp.
#pragma once

#include "cli/parser.hpp"
#include "cli/rank_model.hpp"

#include <kith/execution.hpp>

#include <cstdint>
#include <vector>

namespace kith::cli {

/// Measures k nearest neighbors and groups of uniform points in a periodic box, first by the calls without ranks, then
/// over ranks that are threads of this process, one for each half of up to three axes. The dimension, type, k, b,
/// points_per_rank and threads of `wanted` say how. On a machine of two cores about two seconds for 50,000 points per
/// rank. Ranks that share cores slow each other down, so the time for points of other ranks is taken in proportion to
/// that for a rank's own points, whose time comes from the call without ranks.
[[nodiscard]] RankConstants measure_rank_constants(RankConstants wanted, const Execution& execution);

/// For a plan: enough for stable constants, in some seconds.
inline constexpr std::int64_t usual_points_per_rank = 50'000;

/// Adds -k, -b, -d and --float64.
void add_rank_options(const Parser& command, RankConstants& wanted);

/// The points in the unit cube that lie in one block of a grid (blocks_of), blocks counted with the last axis fastest.
[[nodiscard]] io::RealArray points_of_block(const io::RealArray& points, int rank, const std::vector<int>& blocks);

} // namespace kith::cli
