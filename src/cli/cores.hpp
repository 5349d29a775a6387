// The cores that ranks on one machine share. A rank need not be allowed to use all: mpirun --bind-to, taskset, Slurm
// and containers restrict each process to some (its affinity).
#pragma once

#include <span>
#include <vector>

namespace kith::cli {

/// For each core of the machine, by its number, 1 if this process may use it, else 0. As long in all processes.
[[nodiscard]] std::vector<int> usable_cores();

/// Threads for a rank that may use the cores `mine`, where users[core] ranks may use each: its equal share, 1 at least.
[[nodiscard]] int share_of_cores(std::span<const int> mine, std::span<const int> users);

} // namespace kith::cli
