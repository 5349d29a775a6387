// Where and how a call runs.
#pragma once

#include <kith/points.hpp>
#include <kith/progress.hpp>

#include <utility>

namespace kith {

/// The place and the means of one call. There is no global state: calls with different executions can run side by side.
/// The answer never depends on it.
struct Execution {
    Device device;     ///< only the CPU so far
    int threads = 0;   ///< 0 means all that the machine has
    Progress progress; ///< optional
};

/// Run on the CPU with that many threads; 0 means all.
inline Execution cpu(int threads = 0, Progress progress = {}) {
    return Execution{Device{}, threads, std::move(progress)};
}

} // namespace kith
