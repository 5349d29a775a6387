// One report for each stage of a call that runs stages of the same name several times.
#pragma once

#include <kith/progress.hpp>

#include <algorithm>

namespace kith::detail {

/// In the order of their first occurrence: seconds are added up, and the largest peak is that of all.
inline StageReports joined_stages(const StageReports& stages) {
    StageReports joined;
    for (const StageReport& stage : stages) {
        const auto same = std::ranges::find(joined, stage.name, &StageReport::name);
        if (same == joined.end()) {
            joined.push_back(stage);
        } else {
            same->seconds += stage.seconds;
            same->peak_bytes = std::max(same->peak_bytes, stage.peak_bytes);
        }
    }
    return joined;
}

} // namespace kith::detail
