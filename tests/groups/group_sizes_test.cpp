#include <kith/group_sizes.hpp>
#include <kith/index_array.hpp>

#include "support/cases.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace kith::test {

namespace {

TEST(GroupSizes, AreRunsThatReadAsNumbers) {
    const std::vector<std::int32_t> sizes{7, 3, 3, 3, 1, 1};
    const GroupSizes runs(sizes);
    EXPECT_EQ(runs.size(), 6);
    EXPECT_EQ(runs.front(), 7);
    EXPECT_EQ(runs.back(), 1);
    EXPECT_EQ(std::vector<std::int32_t>(runs.begin(), runs.end()), sizes);
    for (std::int64_t group = 0; group < 6; ++group) {
        EXPECT_EQ(runs[group], sizes[static_cast<std::size_t>(group)]);
    }
    const GroupsOfSize expected[] = {{7, 1}, {3, 3}, {1, 2}};
    EXPECT_TRUE(std::ranges::equal(runs.runs(), expected));
    EXPECT_EQ(runs, GroupSizes(expected));
    for (const auto& [least, groups] : {std::pair(8, 0), {7, 1}, {4, 1}, {3, 4}, {2, 4}, {1, 6}, {-1, 6}}) {
        EXPECT_EQ(runs.of_at_least(least), groups) << least;
    }
    for (const auto& [groups, members] : {std::pair(0, 0), {1, 7}, {2, 10}, {4, 16}, {6, 18}}) {
        EXPECT_EQ(runs.members_of_first(groups), members) << groups;
    }
}

TEST(GroupSizes, OfNoGroupsAreEmpty) {
    const GroupSizes none;
    EXPECT_TRUE(none.empty());
    EXPECT_EQ(none.size(), 0);
    EXPECT_EQ(none.of_at_least(1), 0);
    EXPECT_EQ(none.members_of_first(0), 0);
    EXPECT_EQ(none, GroupSizes(std::vector<std::int32_t>()));
    EXPECT_TRUE(none.begin() == none.end());
}

TEST(GroupSizes, RefuseWhatIsNoOrderOfSizes) {
    const auto refused = [](const auto& sizes, const std::vector<std::string>& words) {
        EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, words, [&] { GroupSizes{sizes}; }));
    };
    refused(std::vector{3, 5}, {"group 1 has 5 members, more than group 0 with 3", "decreasing size"});
    refused(std::vector{5, 3, 0}, {"group 2 has size 0", "at least one member"});
    refused(std::vector<GroupsOfSize>{{3, 4}, {5, 1}}, {"group 4 has 5 members, more than group 3 with 3"});
    refused(std::vector<GroupsOfSize>{{3, 4}, {3, 1}}, {"size 3 is listed twice"});
    refused(std::vector<GroupsOfSize>{{3, 4}, {2, 0}}, {"size 2 is listed without a group"});
    refused(std::vector<GroupsOfSize>{{-1, 4}}, {"group 0 has size -1"});
    const std::int64_t many = std::int64_t{1} << 32;
    refused(std::vector<GroupsOfSize>{{many, many}}, {"at most 2^63 - 1 members"});
    refused(std::vector<GroupsOfSize>{{many, many / 4 * 2 - 1}, {many / 2, 3}},
            {"3 groups", "at most 2^63 - 1 members"});
}

TEST(IndexArray, HoldsOneWidth) {
    IndexArray numbers;
    EXPECT_TRUE(numbers.empty());
    EXPECT_EQ(numbers.type(), IndexType::int32);
    numbers.vector<std::int32_t>() = {3, -1};
    EXPECT_EQ(numbers.size(), 2);
    EXPECT_EQ(numbers[1], -1);
    EXPECT_EQ(numbers.as_int32()[0], 3);
    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"32 bits wide"}, [&] { (void)numbers.as_int64(); }));
    numbers = std::vector<std::int64_t>{std::int64_t{1} << 40};
    EXPECT_EQ(numbers.type(), IndexType::int64);
    EXPECT_EQ(numbers[0], std::int64_t{1} << 40);
    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"64 bits wide"}, [&] { (void)numbers.as_int32(); }));
    EXPECT_TRUE(numbers.vector<std::int32_t>().empty());
}

} // namespace

} // namespace kith::test
