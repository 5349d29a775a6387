// Error status of asynchronous calls.
//
// A synchronous call throws if it rejects the points. An asynchronous call (async.hpp) cannot: it writes a DeviceStatus
// to device memory instead. Copy it to the host and call check(), which throws the same error.
#pragma once

#include <cstdint>

namespace kith {

enum class PointError : std::int32_t {
    none,
    points_not_finite,
    points_too_wide, ///< the extent is more than twice a period
    origin_too_far,  ///< at the origin of the box, the points' type cannot express the period
    queries_not_finite,
    queries_too_far,   ///< a squared distance could overflow
    no_volume,         ///< a relative linking length, but the points have no volume
    length_too_large,  ///< the points' type cannot express the linking length
    length_unresolved, ///< relative to the largest coordinate or period, its square underflows
    velocities_not_finite,
};

/// Plain data. If refusal is none, rows and labels are complete; otherwise their contents are unspecified.
struct DeviceStatus {
    PointError refusal = PointError::none;
    std::int32_t axis = 0;
    /// Index of the first rejected point, or of that with the largest coordinate; -1: a period is larger.
    std::int64_t point = 0;
    double value = 0; ///< the invalid value: a coordinate, an extent, an origin, a length
    double limit = 0; ///< its limit: a period, the largest value of the points' type, the largest coordinate
};

/// Throws the Error of the synchronous call, with the same kind and text, unless refusal is none. The status must be in
/// host memory.
void check(const DeviceStatus& status);

} // namespace kith
