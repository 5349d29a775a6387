// Progress, cancellation, and the cost of each stage.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace kith {

/// Called periodically with the name of the stage and its completed fraction, in [0, 1]. Calls come from worker
/// threads, one at a time. Returning false cancels: the running call throws an Error of kind canceled.
using Progress = std::function<bool(std::string_view stage, double fraction)>;

/// Cost of one stage of a call.
struct StageReport {
    std::string name;            ///< order, tree, search, link, catalog, ...
    double seconds = 0;          ///< wall-clock time
    std::int64_t peak_bytes = 0; ///< peak working memory, excluding the caller's points and the result
    std::int64_t pieces = 1;     ///< pieces in which the points were processed; several if GPU memory was insufficient
};

using StageReports = std::vector<StageReport>;

} // namespace kith
