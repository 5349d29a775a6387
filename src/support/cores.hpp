// The cores that processes on one machine share. A process need not be allowed to use all: mpirun --bind-to, taskset,
// Slurm and containers restrict each one to some (its affinity).
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <thread>
#include <vector>

#if defined(__linux__)
#include <sched.h>
#endif

namespace kith::detail {

/// For each core of the machine, by its number, 1 if this process may use it, else 0. As long in all processes.
inline std::vector<int> usable_cores() {
    constexpr std::size_t max_cores = 8192; // as many as Linux can have
    std::vector<int> cores(max_cores, 0);
#if defined(__linux__)
    std::vector<cpu_set_t> set(max_cores / CPU_SETSIZE);
    const std::size_t bytes = set.size() * sizeof(cpu_set_t);
    if (sched_getaffinity(0, bytes, set.data()) == 0) {
        for (std::size_t core = 0; core < max_cores; ++core) {
            cores[core] = CPU_ISSET_S(core, bytes, set.data()) ? 1 : 0;
        }
        return cores;
    }
#endif
    std::fill_n(cores.begin(), std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, max_cores), 1);
    return cores;
}

/// Threads for a process that may use the cores `mine`, where users[core] processes may use each: its equal share, 1 at
/// least.
inline int share_of_cores(std::span<const int> mine, std::span<const int> users) {
    double share = 0;
    for (std::size_t core = 0; core < mine.size(); ++core) {
        share += mine[core] != 0 ? 1.0 / users[core] : 0;
    }
    return std::max(1, static_cast<int>(share + 1e-6)); // six sixths may come to less than 1
}

} // namespace kith::detail
