// The union-find of a device alone: many unions in random orders.
#include "emulation/kernel_cases.hpp"

#include "groups/device_union_find.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

namespace kith::test {
namespace {

struct UnionsJob {
    std::int32_t unions;
    const std::int32_t* pairs;
    detail::DeviceUnionFind groups;
};

__global__ void unite_kernel(const __grid_constant__ UnionsJob job) {
    const auto i = static_cast<std::int32_t>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < job.unions) {
        job.groups.unite(job.pairs[2 * i], job.pairs[2 * i + 1]);
    }
}

TEST(DeviceUnionFind, HasTheLowestMemberAsRootWhateverTheOrder) {
    Random draw(7);
    for (int round = 0; round < 40; ++round) {
        const std::int64_t count = 1 + draw.integer(300);
        const std::int64_t unions = draw.integer(count + 50);
        std::vector<std::int32_t> pairs;
        for (std::int64_t i = 0; i < 2 * unions; ++i) {
            pairs.push_back(static_cast<std::int32_t>(draw.integer(count)));
        }
        std::vector<std::int32_t> expected(static_cast<std::size_t>(count));
        std::iota(expected.begin(), expected.end(), 0);
        for (std::int64_t i = 0; i < unions; ++i) {
            const auto [lower, higher] = std::minmax({expected[pairs[2 * i]], expected[pairs[2 * i + 1]]});
            std::replace(expected.begin(), expected.end(), int{higher}, int{lower});
        }
        std::vector<std::int32_t> parents(expected.size());
        std::iota(parents.begin(), parents.end(), 0);
        const detail::DeviceUnionFind groups(parents.data());
        const UnionsJob job{static_cast<std::int32_t>(unions), pairs.data(), groups};
        run_warps("unite", (unions + 31) / 32, 2, static_cast<std::uint64_t>(round + 1), [&] { unite_kernel(job); });
        for (std::int32_t i = 0; i < count; ++i) {
            EXPECT_EQ(groups.known_root(i), expected[i]);
            EXPECT_EQ(groups.find(i), expected[i]);
            EXPECT_LE(parents[i], i);
        }
    }
}

} // namespace
} // namespace kith::test
