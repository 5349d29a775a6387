// What calls that run on a GPU check and decide.
#pragma once

#include <kith/error.hpp>
#include <kith/execution.hpp>
#include <kith/points.hpp>
#include <kith/tree.hpp>

#include "cuda/namespace.hpp"
#include "support/message.hpp"

namespace kith::detail::inline KITH_GPU {

inline void require_same_device(const PointsView& view, const Execution& execution, const char* what) {
    if (view.device().kind == DeviceKind::cuda && view.device() != execution.device) {
        throw error(ErrorKind::invalid_argument, what, " are in the memory of GPU ", view.device().index,
                    ", but the call runs on GPU ", execution.device.index, "; run it there or copy them");
    }
}

inline void require_same_device(const PointsOrTree& points, const PointsView* queries, const Execution& execution) {
    require_same_device(points.points(), execution, "points");
    if (queries != nullptr) {
        require_same_device(*queries, execution, "queries");
    }
}

} // namespace kith::detail::inline KITH_GPU
