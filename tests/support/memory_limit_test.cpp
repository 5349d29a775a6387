// Limits of control groups, from the texts that Linux shows in containers and batch jobs.
#include "support/memory_limit.hpp"

#include <kith/error.hpp>
#include <kith/knn.hpp>

#include <gtest/gtest.h>

#include <map>

#include <sys/resource.h>

using kith::detail::control_group_limit;

namespace {

using Files = std::map<std::string, std::string>;

std::optional<std::int64_t> limit(std::string_view groups, std::string_view mounts, const Files& files) {
    return control_group_limit(groups, mounts, [&](const std::string& path) -> std::optional<std::string> {
        const auto found = files.find(path);
        return found == files.end() ? std::nullopt : std::optional(found->second);
    });
}

constexpr std::string_view v2_mounts =
    "22 1 0:20 / / rw - ext4 /dev/root rw\n"
    "29 22 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";
constexpr std::string_view v1_mounts = "32 31 0:29 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu,cpuacct\n"
                                       "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n";

TEST(MemoryLimit, TheSmallestOfAllGroupsAboveCounts) {
    const std::string slurm = "0::/system.slice/slurm/job_7/step_0\n";
    EXPECT_EQ(limit(slurm, v2_mounts,
                    {{"/sys/fs/cgroup/system.slice/slurm/job_7/step_0/memory.max", "max\n"},
                     {"/sys/fs/cgroup/system.slice/slurm/job_7/memory.max", "4294967296\n"},
                     {"/sys/fs/cgroup/system.slice/memory.max", "8589934592\n"}}),
              std::int64_t{1} << 32);
    EXPECT_EQ(limit(slurm, v2_mounts, {{"/sys/fs/cgroup/system.slice/memory.max", "1000\n"}}), 1000);
    EXPECT_EQ(limit(slurm, v2_mounts, {{"/sys/fs/cgroup/system.slice/memory.max", "max\n"}}), std::nullopt);
    EXPECT_EQ(limit(slurm, v2_mounts, {}), std::nullopt);
}

// In a namespace of its own a container is the root of what it sees.
TEST(MemoryLimit, ContainersOfVersion2) {
    EXPECT_EQ(limit("0::/\n", v2_mounts, {{"/sys/fs/cgroup/memory.max", "536870912\n"}}), 536870912);
}

TEST(MemoryLimit, Version1) {
    const std::string groups = "5:cpu,cpuacct:/docker/4f\n4:memory:/docker/4f\n0::/\n";
    const Files below = {{"/sys/fs/cgroup/memory/docker/4f/memory.limit_in_bytes", "268435456\n"},
                         {"/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n"}};
    EXPECT_EQ(limit(groups, v1_mounts, below), 268435456);
    // Docker without a namespace mounts the container's group alone, under a path that is seen from outside.
    const std::string mounted = "35 31 0:32 /docker/4f /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n";
    const Files at_root = {{"/sys/fs/cgroup/memory/memory.limit_in_bytes", "4096\n"}};
    EXPECT_EQ(limit(groups, mounted, at_root), 4096);
    EXPECT_EQ(limit("4:memory:/docker/4f/child\n", mounted, at_root), 4096);
    EXPECT_EQ(limit("4:memory:/docker/4fx\n", mounted, at_root), 4096);
    // Both versions at once.
    EXPECT_EQ(limit("4:memory:/a\n0::/b\n", std::string(v1_mounts) + std::string(v2_mounts),
                    {{"/sys/fs/cgroup/memory/a/memory.limit_in_bytes", "700"}, {"/sys/fs/cgroup/b/memory.max", "600"}}),
              600);
}

TEST(MemoryLimit, TextsThatMeanNothingSetNoLimit) {
    for (const std::string_view groups : {"", "\n", "0:", "4:memory", "::", "4:cpu:/", "0::/a\n"}) {
        EXPECT_EQ(limit(groups, "", {{"/memory.max", "1"}}), std::nullopt);
        EXPECT_EQ(limit(groups, "- cgroup2\n1 2 3 4 5 6 -\n1 2 3 / /x rw - cgroup2 c rw", {{"/x/memory.max", "x"}}),
                  std::nullopt);
    }
}

TEST(MemoryLimit, TheAddressSpaceIsALimit) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "the sanitizers take more address space than there is memory";
#endif
    rlimit before{};
    ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
    const kith::detail::MemoryLimit without = kith::detail::memory_limit();
    EXPECT_GT(without.bytes, 1 << 20);
    rlimit small = before;
    small.rlim_cur = static_cast<rlim_t>(without.bytes) - 4096;
    if (before.rlim_max != RLIM_INFINITY && small.rlim_cur > before.rlim_max) {
        GTEST_SKIP() << "the address space is limited already";
    }
    ASSERT_EQ(setrlimit(RLIMIT_AS, &small), 0);
    const kith::detail::MemoryLimit with = kith::detail::memory_limit();
    try {
        const kith::KnnResult result(without.bytes / 8, 1, kith::IndexType::int32, kith::DType::float32);
        ADD_FAILURE() << "more than the limit was allocated";
    } catch (const kith::Error& error) {
        EXPECT_EQ(error.kind(), kith::ErrorKind::out_of_memory);
        EXPECT_NE(std::string_view(error.what()).find("address space of this process (ulimit -v)"),
                  std::string_view::npos)
            << error.what();
    }
    setrlimit(RLIMIT_AS, &before);
    EXPECT_EQ(with.bytes, without.bytes - 4096);
}

} // namespace
