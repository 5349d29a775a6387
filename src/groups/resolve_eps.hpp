// eps of DBSCAN in the type of the points.
#pragma once

#include <kith/dbscan.hpp>
#include <kith/error.hpp>

#include "points/as_given.hpp"
#include "points/frame.hpp"
#include "support/message.hpp"

#include <cmath>
#include <cstdint>
#include <limits>

namespace kith::detail {

/// Whatever the points are.
inline void check_eps(double eps) {
    if (!(eps >= 0) || std::isinf(eps)) {
        throw error(ErrorKind::invalid_argument, of_value(eps), "eps is ", eps,
                    "; it must be a finite number, 0 or more");
    }
}

template <Coordinate T>
double rounded_eps(double eps) {
    if (!(static_cast<T>(eps) <= std::numeric_limits<T>::max())) {
        throw error(ErrorKind::invalid_argument, of_value(eps), "eps is ", eps, ", more than ",
                    dtype_of<T> == DType::float32 ? "float32" : "float64", " points can be apart; give a smaller one");
    }
    return static_cast<double>(static_cast<T>(eps));
}

/// For an eps whose square vanishes beside a coordinate.
inline Error unresolved_eps(double eps, const LargestCoordinate& largest) {
    const DeviceStatus status = unresolved_beside(largest, eps);
    return error(ErrorKind::invalid_argument, unresolved_details(status), "eps is ", eps, unresolved_length(status));
}

/// States eps, rounded, and the box in the result. If eps is unresolved, find_largest() tells beside which coordinate.
template <Coordinate T, class FindLargest>
void resolve_eps(double eps, const Frame<T>& frame, std::int64_t count, DbscanSummary& result,
                 const FindLargest& find_largest) {
    result.eps = rounded_eps<T>(eps);
    if (count > 0 && frame.largest > 0 && frame.is_unresolved(eps)) {
        throw unresolved_eps(eps, find_largest());
    }
    result.box = resolved_box(frame);
    result.wrapped_points = frame.outside;
}

} // namespace kith::detail
