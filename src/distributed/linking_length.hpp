// Linking lengths over ranks: relative ones refer to the points of all ranks.
#pragma once

#include <kith/fof.hpp>

#include "distributed/ranks.hpp"
#include "distributed/shared_frame.hpp"
#include "groups/linking_length.hpp"

#include <cstdint>

namespace kith::detail {

/// Collective. Resolves the linking length of the points of all ranks.
template <Coordinate T>
void resolve_length(Ranks& ranks, const SharedPoints<T>& shared, const LinkingLength& length, ResolvedLengths& result) {
    const Frame<T>& frame = shared.points.frame;
    const std::int64_t total = shared.ownership.total();
    ResolvedLength resolved;
    LargestCoordinate largest;
    if (resolve_length(length.value(), length.is_relative(), frame, total, resolved).refusal ==
        PointError::length_unresolved) { // on all ranks; alike() must not communicate
        largest = largest_of_all(ranks, shared);
    }
    Ranks::alike([&] { resolve_length(length, frame, total, result, [&] { return largest; }); });
}

} // namespace kith::detail
