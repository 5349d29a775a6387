// Linking lengths resolved to the units of the points.
#pragma once

#include <kith/fof.hpp>

#include "groups/resolve_length.hpp"
#include "points/as_given.hpp"
#include "points/frame.hpp"

#include <cstdint>

namespace kith::detail {

/// b (V / N)^(1/d), and the V that was used. If the length is unresolved, find_largest() tells beside which coordinate.
template <Coordinate T, class FindLargest>
void resolve_length(const LinkingLength& length, const Frame<T>& frame, std::int64_t count, ResolvedLengths& result,
                    const FindLargest& find_largest) {
    ResolvedLength resolved;
    const DeviceStatus status = resolve_length(length.value(), length.is_relative(), frame, count, resolved);
    check(status.refusal == PointError::length_unresolved ? unresolved_beside(find_largest(), status.value) : status);
    result.linking_length = resolved.length;
    result.volume = resolved.volume;
    result.volume_kind = resolved.volume_kind;
}

/// What a search leaves of the points that it linked.
template <Coordinate T>
void describe_frame(const Frame<T>& frame, FofSummary& result) {
    result.box = resolved_box(frame);
    result.wrapped_points = frame.outside;
    result.coordinates_below = coordinates_below(frame);
}

} // namespace kith::detail
