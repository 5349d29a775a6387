// Calls of few queries of a tree that is kept on the CPU, which the calling thread answers itself: no arena, no stages,
// no tree of the queries (neighbors/point_search.hpp, neighbors/point_radius.hpp).
#pragma once

#include <kith/error.hpp>
#include <kith/execution.hpp>
#include <kith/points.hpp>
#include <kith/tree.hpp>

#include "support/message.hpp"

namespace kith::detail {

/// Whether there is something to search, and the policy is one that a call can run by. Errors are left to the general
/// path.
inline bool can_run_on_this_thread(const PointsOrTree& points, const PointsView* queries, const Execution& execution) {
    return points.tree() != nullptr && queries != nullptr && execution.device.kind == DeviceKind::cpu &&
           execution.threads >= 0 && execution.threads <= max_threads && points.count() > 0 && queries->count() > 0;
}

/// Tells a progress function of the one stage of such a call. Throws canceled if the call is to end.
inline void tell(const Execution& execution, double fraction) {
    if (execution.progress && !execution.progress("search", fraction)) {
        throw error(ErrorKind::canceled, "canceled during the stage 'search'");
    }
}

} // namespace kith::detail
