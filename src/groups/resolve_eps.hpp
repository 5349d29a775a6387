// eps of DBSCAN in the type of the points.
#pragma once

#include <kith/dbscan.hpp>
#include <kith/error.hpp>

#include "points/as_given.hpp"
#include "points/frame.hpp"
#include "support/message.hpp"

#include <cstdint>
#include <limits>

namespace kith::detail {

/// States eps, rounded, and the box in the result. If eps is unresolved, find_largest() tells beside which coordinate.
template <Coordinate T, class FindLargest>
void resolve_eps(double eps, const Frame<T>& frame, std::int64_t count, DbscanSummary& result,
                 const FindLargest& find_largest) {
    if (!(static_cast<T>(eps) <= std::numeric_limits<T>::max())) {
        throw error(ErrorKind::invalid_argument, of_value(eps), "eps is ", eps, ", more than ",
                    dtype_of<T> == DType::float32 ? "float32" : "float64", " points can be apart; give a smaller one");
    }
    if (count > 0 && frame.largest > 0 && frame.is_unresolved(eps)) {
        const DeviceStatus status = unresolved_beside(find_largest(), eps);
        throw error(ErrorKind::invalid_argument, unresolved_details(status), "eps is ", eps, unresolved_length(status));
    }
    result.eps = static_cast<double>(static_cast<T>(eps));
    result.box = resolved_box(frame);
    result.wrapped_points = frame.outside;
}

} // namespace kith::detail
