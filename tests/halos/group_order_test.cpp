// The order of groups against a stable sort by label, and rows of any width copied in the order of a list.
#include "halos/orders.hpp"
#include "support/cases.hpp"

#include <kith/group_order.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <numeric>
#include <span>
#include <string>
#include <vector>

namespace kith::test {
namespace {

TEST(GroupOrder, IsAStableSortByGroup) {
    for (const LabeledCase& each : labeled_cases(200000)) {
        const GroupOrder expected = sorted_by_label(each.labels, each.groups);
        for (const int threads : {1, 3}) {
            const GroupOrder found = group_order(each.labels, each.groups, cpu(threads));
            EXPECT_EQ(found.indices, expected.indices) << each.name;
            EXPECT_EQ(found.offsets, expected.offsets) << each.name;
            EXPECT_EQ(found.members, expected.members) << each.name;
            EXPECT_EQ(found.stages.at(0).name, "order");
        }
        std::vector<std::int32_t> indices(each.labels.size(), -9);
        EXPECT_EQ(group_order_into(indices, {}, each.labels, each.groups).members, expected.members);
        EXPECT_EQ(indices, expected.indices) << each.name;
    }
}

TEST(GroupOrder, RefusesWrongSizes) {
    const std::vector<std::int32_t> labels{0, 1, 0};
    std::vector<std::int32_t> indices(3);
    std::vector<std::int64_t> offsets(3);
    for (const std::int64_t groups : {std::int64_t{-1}, std::int64_t{1} << 31}) {
        EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"groups is", std::to_string(groups)},
                               [&] { (void)group_order(labels, groups); }));
    }
    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"indices", "2 numbers", "must hold 3"},
                           [&] { (void)group_order_into(std::span(indices).first(2), offsets, labels, 2); }));
    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"offsets", "3 numbers", "must hold 4"},
                           [&] { (void)group_order_into(indices, offsets, labels, 3); }));
    EXPECT_TRUE(lacks_its_gpu([&] { (void)group_order(labels, 2, on_no_gpu); }));
}

TEST(GatherRows, CopiesRowsInTheOrderOfMembers) {
    const std::vector<std::array<float, 3>> rows{{0, 1, 2}, {10, 11, 12}, {20, 21, 22}, {30, 31, 32}};
    const std::vector<std::int32_t> members{3, 0, 0, 2};
    std::vector<std::array<float, 3>> out(4);
    gather_rows(members, rows.data(), sizeof rows[0], out.data());
    const std::vector<std::array<float, 3>> expected{{30, 31, 32}, {0, 1, 2}, {0, 1, 2}, {20, 21, 22}};
    EXPECT_EQ(out, expected);
}

TEST(GatherRows, CopiesRowsOfOddWidth) {
    constexpr std::int32_t count = 50000;
    constexpr std::size_t width = 7;
    std::vector<std::uint8_t> rows(count * width);
    std::iota(rows.begin(), rows.end(), std::uint8_t{0});
    std::vector<std::int32_t> members(count);
    for (std::int32_t i = 0; i < count; ++i) {
        members[i] = static_cast<std::int32_t>((std::int64_t{i} * 7919) % count);
    }
    std::vector<std::uint8_t> out(rows.size() + 1, 0xEE);
    gather_rows(members, rows.data(), width, out.data());
    for (std::int32_t i = 0; i < count; ++i) {
        for (std::size_t byte = 0; byte < width; ++byte) {
            ASSERT_EQ(out[i * width + byte], rows[members[i] * width + byte]) << i;
        }
    }
    EXPECT_EQ(out.back(), 0xEE);
}

TEST(GatherRows, CopiesNothingForNoMembers) {
    std::uint8_t untouched = 5;
    gather_rows({}, nullptr, 4, &untouched);
    EXPECT_EQ(untouched, 5);
}

TEST(GatherRows, RefusesNegativeRows) {
    const std::vector<std::int32_t> members{0, 1, -1};
    std::vector<float> rows(2);
    std::vector<float> out(3, 9.0F);
    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"indices[2] is -1"},
                           [&] { gather_rows(members, rows.data(), sizeof(float), out.data()); }));
    EXPECT_EQ(out, std::vector<float>(3, 9.0F));
    EXPECT_TRUE(lacks_its_gpu(
        [&] { gather_rows(std::span(members).first(2), rows.data(), sizeof(float), out.data(), on_no_gpu); }));
}

} // namespace
} // namespace kith::test
