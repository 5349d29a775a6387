// How much memory this process may use: the machine's, or less in a container or batch job.
//
// Containers and batch systems limit the memory of a control group, and Linux ends a process that exceeds it, without
// an error; results of unusual size are therefore compared with the limit before memory is allocated. Limits are in
// memory.max (cgroup v2) or memory.limit_in_bytes (v1) of the group of this process and of all groups above it, as far
// as they are mounted; see cgroups(7). The address space can be limited, too (ulimit -v). The smallest number counts.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace kith::detail {

struct MemoryLimit {
    std::int64_t bytes = 0;
    std::string_view who_states_it; ///< "this machine has", to be followed by the bytes
};

/// Of this process. Control groups are looked at once, at the first call.
[[nodiscard]] MemoryLimit memory_limit();

/// The content of a file; nothing if it cannot be read.
using ReadFile = std::function<std::optional<std::string>(const std::string& path)>;

/// The smallest limit of control groups, given /proc/self/cgroup and /proc/self/mountinfo; nothing if there is none.
[[nodiscard]] std::optional<std::int64_t> control_group_limit(std::string_view groups, std::string_view mounts,
                                                              const ReadFile& read);

} // namespace kith::detail
