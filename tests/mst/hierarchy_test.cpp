// The hierarchy of groups: its matrix against the oracle, and its cuts against fof() at every kind of linking length.
#include "oracle/hierarchy.hpp"
#include "oracle/working_copy.hpp"
#include "support/cases.hpp"
#include "support/linking_lengths.hpp"

#include <kith/kith.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace kith::test {
namespace {

std::vector<oracle::LinkageRow> linkage_of(const Hierarchy& hierarchy) {
    std::vector<double> numbers(4 * hierarchy.merges().size());
    hierarchy.write_linkage(numbers);
    std::vector<oracle::LinkageRow> rows;
    for (std::size_t i = 0; i < numbers.size(); i += 4) {
        rows.push_back({numbers[i], numbers[i + 1], numbers[i + 2], numbers[i + 3]});
    }
    return rows;
}

class Hierarchies : public testing::TestWithParam<Case> {};

// Of the edges that the tree has, which are the oracle's (spanning_tree_test.cpp).
TEST_P(Hierarchies, EqualTheOracle) {
    with_type(GetParam().dtype, [&]<class T>(T) {
        const PointSet<T> set = point_set<T>(GetParam().set, GetParam().dimension);
        for (const NamedBox& named : set.boxes) {
            const Hierarchy found = hierarchy(set.view(), {.box = named.box});
            const SpanningTree& tree = found.spanning_tree();
            std::vector<oracle::TreeEdge<T>> edges;
            for (std::size_t i = 0; i < tree.edges().size(); ++i) {
                const auto [smaller, larger] = tree.edges()[i];
                edges.push_back({smaller, larger, tree.weights<T>()[i], tree.heights<T>()[i]});
            }
            EXPECT_EQ(linkage_of(found), oracle::linkage(edges)) << "box " << named.name;
        }
    });
}

/// Those of the set, and heights of its tree, with the numbers beside them.
template <class T>
std::vector<double> lengths_of(const PointSet<T>& set, const Box& box, const SpanningTree& tree) {
    std::vector<double> lengths = interesting_lengths(set, box);
    for (const std::int64_t edge : {std::int64_t{0}, tree.count() / 2, tree.count() - 1}) {
        const T height = tree.count() > 0 ? tree.heights<T>()[static_cast<std::size_t>(edge)] : T{0};
        for (const T length : {std::nextafter(height, T{0}), height, std::nextafter(height, T{1})}) {
            if (std::isfinite(length)) {
                lengths.push_back(static_cast<double>(length));
            }
        }
    }
    return lengths;
}

TEST_P(Hierarchies, CutsAreGroups) {
    with_type(GetParam().dtype, [&]<class T>(T) {
        const PointSet<T> set = point_set<T>(GetParam().set, GetParam().dimension);
        for (const NamedBox& named : set.boxes) {
            const SpanningTree tree = spanning_tree(set.view(), {.box = named.box});
            const oracle::WorkingCopy<T> copy = oracle::working_copy<T>(set.coordinates, set.dimension, named.box);
            for (const double length : lengths_of(set, named.box, tree)) {
                SCOPED_TRACE("box " + named.name + ", linking length " + testing::PrintToString(length));
                const auto absolute = LinkingLength::absolute(length);
                if (oracle::is_refused(copy, length)) {
                    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"underflows relative to"},
                                           [&] { (void)fof(tree, absolute); }));
                    continue;
                }
                const FofResult expected = fof(set.view(), absolute, {.box = named.box});
                const FofResult found = fof(tree, absolute, cpu(2));
                EXPECT_EQ(found.label_array, expected.label_array);
                EXPECT_EQ(found.sizes, GroupSizes(expected.sizes));
                EXPECT_EQ(found.groups, expected.groups);
                EXPECT_EQ(found.linking_length, expected.linking_length);
                EXPECT_EQ(found.box, expected.box);
            }
        }
    });
}

// Relative lengths are resolved to the same bits, or refused alike.
TEST_P(Hierarchies, RelativeCutsAreGroups) {
    with_type(GetParam().dtype, [&]<class T>(T) {
        const PointSet<T> set = point_set<T>(GetParam().set, GetParam().dimension);
        const auto relative = LinkingLength::relative(0.37);
        for (const NamedBox& named : set.boxes) {
            SCOPED_TRACE("box " + named.name);
            const SpanningTree tree = spanning_tree(set.view(), {.box = named.box});
            FofResult expected;
            try {
                expected = fof(set.view(), relative, {.box = named.box});
            } catch (const Error& error) {
                const std::string reason = error.what(); // which may name a point that the tree does not
                EXPECT_TRUE(is_refused(error.kind(), {reason.substr(0, reason.find(" beside"))},
                                       [&] { (void)fof(tree, relative); }));
                continue;
            }
            const FofResult found = fof(tree, relative);
            EXPECT_EQ(found.label_array, expected.label_array);
            EXPECT_EQ(found.linking_length, expected.linking_length);
            EXPECT_EQ(found.volume, expected.volume);
            EXPECT_EQ(found.volume_kind, expected.volume_kind);
        }
    });
}

INSTANTIATE_TEST_SUITE_P(EveryCase, Hierarchies, testing::ValuesIn(every_case()), case_name);

class HierarchyCalls : public NeedsDimension<3> {
protected:
    const std::vector<float> points_ = uniform_points<float>(300, 3, 0, 1, 3);
    const PointsView view_{points_, 3};
};

TEST_F(HierarchyCalls, RefuseWhatMeansNothing) {
    const Hierarchy found = hierarchy(view_);
    std::vector<double> numbers(4);
    std::vector<std::int32_t> labels(299);
    EXPECT_TRUE(
        is_refused(ErrorKind::invalid_argument, {"4 numbers", "299 merges"}, [&] { found.write_linkage(numbers); }));
    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"299", "300 points"},
                           [&] { fof_into(labels, found.spanning_tree(), LinkingLength::absolute(1)); }));
    for (const double length : {-1.0, std::nan(""), std::numeric_limits<double>::infinity(), 1e39}) {
        EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"linking length"}, [&] {
            (void)fof(found.spanning_tree(), LinkingLength::absolute(length));
        })) << length;
    }
}

// Every cluster but the last is joined once, later than it is made, and counts add up.
TEST_F(HierarchyCalls, OfManyPointsIsATree) {
    const std::vector<float> points = uniform_points<float>(sized(100'000), 3, 0, 1, 4);
    const Hierarchy found = hierarchy(PointsView(points, 3));
    const auto count = static_cast<std::uint32_t>(points.size() / 3);
    ASSERT_EQ(found.merges().size(), count - 1);
    std::vector<std::int32_t> sizes(2 * found.merges().size() + 1, 0); // of clusters that wait to be joined
    std::fill_n(sizes.begin(), count, 1);
    for (std::size_t i = 0; i < found.merges().size(); ++i) {
        const auto [left, right, members] = found.merges()[i];
        ASSERT_LT(left, right);
        ASSERT_GT(sizes[left], 0);
        ASSERT_GT(sizes[right], 0);
        ASSERT_EQ(members, sizes[left] + sizes[right]);
        sizes[left] = sizes[right] = 0;
        sizes[count + i] = members;
    }
    EXPECT_EQ(sizes.back(), static_cast<std::int32_t>(count));
}

TEST_F(HierarchyCalls, CanBeCanceled) {
    const SpanningTree tree = spanning_tree(view_);
    const Execution execution = cpu(2, [](std::string_view, double) { return false; });
    EXPECT_TRUE(is_refused(ErrorKind::canceled, {"merge"}, [&] { (void)hierarchy(tree, execution); }));
    EXPECT_TRUE(
        is_refused(ErrorKind::canceled, {"link"}, [&] { (void)fof(tree, LinkingLength::absolute(1), execution); }));
}

TEST(EmptyHierarchy, IsOrdinary) {
    const Hierarchy none;
    EXPECT_TRUE(none.merges().empty());
    EXPECT_TRUE(fof(none.spanning_tree(), LinkingLength::absolute(1)).label_array.empty());
}

} // namespace
} // namespace kith::test
