// Progress, cancellation, and the account of what each stage cost.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace kith {

/// Called now and then during long work with the stage's name and the fraction of it that is done, in [0, 1]. Calls
/// come from working threads, one at a time. Returning false cancels: the running call throws an Error of kind
/// canceled and leaves nothing behind.
using Progress = std::function<bool(std::string_view stage, double fraction)>;

/// What one stage of a call took.
struct StageReport {
    std::string name;   ///< order, tree, search, link, catalog, ...
    double seconds = 0; ///< wall-clock time
    std::int64_t peak_bytes =
        0; ///< most working memory held at once during the stage, beside the caller's points and the result
    std::int64_t pieces =
        1; ///< in how many pieces the points were worked on; more than one for want of memory on a GPU
};

using StageReports = std::vector<StageReport>;

} // namespace kith
