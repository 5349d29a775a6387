// What a device found that a call cannot work with.
//
// A call that waits throws what it refuses. One that only puts work on a stream (async.hpp) cannot: what there is to say
// about the points themselves is written here, in memory of the device, and becomes the same error once it is copied to
// the host and checked.
#pragma once

#include <cstdint>

namespace kith {

enum class Refusal : std::int32_t {
    none,
    points_not_finite,
    points_too_wide, ///< over more than twice a period
    origin_too_far,  ///< of a box: where the points' type cannot express its period
    queries_not_finite,
    queries_too_far,  ///< for their squared distances to be numbers
    no_volume,        ///< for a relative linking length
    length_too_large, ///< a linking length, for the points' type
};

/// Plain data. Rows and labels are complete if nothing was refused, and hold anything if something was.
struct DeviceStatus {
    Refusal refusal = Refusal::none;
    std::int32_t axis = 0;
    std::int64_t point = 0; ///< the first one that is refused, where it is about one
    double value = 0;       ///< what is wrong: a coordinate, an extent, an origin, a length
    double limit = 0;       ///< what it should keep to: a period, or what the points' type can express
};

/// Throws the Error of the call that waits, same kind and same text, if something was refused. The status must have been
/// copied to the host.
void check(const DeviceStatus& status);

} // namespace kith
