// How ranks on one machine share its cores.
#include "support/cores.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <sched.h>
#include <utility>
#include <vector>

namespace kith::detail {
namespace {

TEST(Cores, RanksThatMayUseAllShareThem) {
    const std::vector<int> all(12, 1);
    for (const auto& [ranks, threads] : {std::pair(1, 12), std::pair(2, 6), std::pair(5, 2), std::pair(6, 2),
                                         std::pair(7, 1), std::pair(12, 1), std::pair(100, 1)}) {
        EXPECT_EQ(share_of_cores(all, std::vector<int>(12, ranks)), threads) << ranks;
    }
}

TEST(Cores, ARankThatIsBoundToSomeHasThese) {
    EXPECT_EQ(share_of_cores(std::vector{1, 1, 1, 0, 0}, std::vector{1, 1, 1, 1, 1}), 3); // others have others
    EXPECT_EQ(share_of_cores(std::vector{1, 1, 1, 1, 0}, std::vector{2, 2, 1, 1, 1}), 3); // two are another's, too
}

#if defined(__linux__)
TEST(Cores, OfThisProcess) {
    cpu_set_t before;
    ASSERT_EQ(sched_getaffinity(0, sizeof(before), &before), 0);
    const std::vector<int> cores = usable_cores();
    EXPECT_EQ(std::accumulate(cores.begin(), cores.end(), 0), CPU_COUNT(&before));
    const auto last = static_cast<int>(cores.rend() - std::find(cores.rbegin(), cores.rend(), 1)) - 1;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(last, &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
    std::vector<int> expected(cores.size(), 0);
    expected[static_cast<std::size_t>(last)] = 1;
    EXPECT_EQ(usable_cores(), expected);
    EXPECT_EQ(sched_setaffinity(0, sizeof(before), &before), 0);
}
#endif

} // namespace
} // namespace kith::detail
