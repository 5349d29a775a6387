#include "cli/cores.hpp"

#include <algorithm>
#include <thread>

#if defined(__linux__)
#include <sched.h>
#endif

namespace kith::cli {

namespace {

constexpr std::size_t max_cores = 8192; ///< as many as Linux can have

} // namespace

std::vector<int> usable_cores() {
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

int share_of_cores(std::span<const int> mine, std::span<const int> users) {
    double share = 0;
    for (std::size_t core = 0; core < mine.size(); ++core) {
        share += mine[core] != 0 ? 1.0 / users[core] : 0;
    }
    return std::max(1, static_cast<int>(share + 1e-6)); // six sixths may come to less than 1
}

} // namespace kith::cli
