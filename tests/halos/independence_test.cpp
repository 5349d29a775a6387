// Values do not depend on threads or on the order of rows, to the last bit.
#include "halos/samples.hpp"
#include "support/point_sets.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace kith::test {
namespace {

std::vector<std::int32_t> one_large_many_small() {
    std::vector<std::int32_t> sizes{static_cast<std::int32_t>(sized(120000)), 20000, 8193, 8192, 300};
    sizes.insert(sizes.end(), 500, 30);
    sizes.insert(sizes.end(), 500, 2);
    return sizes;
}

TEST(Independence, ThreadsDoNotMatter) {
    Sample<float> made = sample<float>(one_large_many_small(), 3, 1);
    made.groups.box = Box::periodic(sample_period);
    const Catalog one = catalog(made.groups, made.everything(), {.execution = cpu(1)});
    ASSERT_EQ(one.groups, 505);
    for (const int threads : {2, 7}) {
        const Catalog several = catalog(made.groups, made.everything(), {.execution = cpu(threads)});
        EXPECT_TRUE(same_values(several, one)) << threads << " threads";
        EXPECT_EQ(several.member_array, one.member_array) << threads << " threads";
    }
}

/// A random order of the rows in which every group keeps its lowest-index member.
template <class T>
std::vector<std::int32_t> order_that_keeps_references(const Sample<T>& made, std::uint64_t seed) {
    Random random(seed);
    const std::span<const std::int32_t> labels = made.groups.labels();
    std::vector<std::int32_t> place(labels.size());
    std::iota(place.begin(), place.end(), 0);
    for (std::size_t i = place.size(); i > 1; --i) {
        std::swap(place[i - 1], place[random.integer(static_cast<std::int64_t>(i))]);
    }
    std::vector<std::int32_t> reference(made.groups.sizes.size(), -1);
    std::vector<std::int32_t> foremost(made.groups.sizes.size(), -1); // the member that came first in the new order
    for (std::size_t i = 0; i < labels.size(); ++i) {
        const std::int32_t g = labels[i];
        if (reference[g] < 0) {
            reference[g] = static_cast<std::int32_t>(i);
        }
        if (foremost[g] < 0 || place[i] < place[foremost[g]]) {
            foremost[g] = static_cast<std::int32_t>(i);
        }
    }
    for (std::size_t g = 0; g < reference.size(); ++g) {
        std::swap(place[reference[g]], place[foremost[g]]);
    }
    return place;
}

template <class T>
void check_order() {
    Sample<T> made = sample<T>(one_large_many_small(), 3, 2);
    made.groups.box = Box::periodic(sample_period);
    const Catalog before = catalog(made.groups, made.everything(), {.min_members = 2});
    const auto place = order_that_keeps_references(made, 3);
    const Sample<T> moved = permuted(made, place);
    const Catalog after = catalog(moved.groups, moved.everything(), {.min_members = 2});
    EXPECT_TRUE(same_values(after, before));
    ASSERT_EQ(after.member_array.size(), before.member_array.size());
    EXPECT_NE(after.member_array, before.member_array);
    for (std::int64_t g = 0; g < before.groups; ++g) { // the same members, by type, then by their new index
        std::vector<std::int32_t> expected;
        for (std::int64_t i = before.offset[g]; i < before.offset[g] + before.count[g]; ++i) {
            expected.push_back(place[before.member_array[i]]);
        }
        std::sort(expected.begin(), expected.end(), [&](std::int32_t a, std::int32_t b) {
            return std::pair(moved.types[a], a) < std::pair(moved.types[b], b);
        });
        ASSERT_TRUE(std::equal(expected.begin(), expected.end(), after.members().begin() + after.offset[g])) << g;
    }
}

TEST(Independence, OrderOfRowsDoesNotMatterFloat32) {
    check_order<float>();
}
TEST(Independence, OrderOfRowsDoesNotMatterFloat64) {
    check_order<double>();
}

TEST(Independence, SignsOfZeroDoNotMatter) {
    const FofResult groups = groups_with({0, 0, 0});
    const std::vector<double> one{0.0, 0.0, 0.0, -0.0, -0.0, 0.0};
    const std::vector<double> other{0.0, 0.0, -0.0, 0.0, 0.0, -0.0};
    Particles first;
    first.positions = PointsView(one, 2);
    Particles second;
    second.positions = PointsView(other, 2);
    EXPECT_TRUE(same_values(catalog(groups, first, {.min_members = 1}), catalog(groups, second, {.min_members = 1})));
}

} // namespace
} // namespace kith::test
