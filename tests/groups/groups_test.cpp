// Groups in trees of every shape, of larger sets, and in every dimension that is built, against the oracle.
#include "support/linking_lengths.hpp"

#include <kith/kith.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace kith::test {
namespace {

const std::vector<Engine> engines = fof_engines();

class TheShapeOfTheTreeDoesNotMatterToGroups : public testing::TestWithParam<Case> {};

TEST_P(TheShapeOfTheTreeDoesNotMatterToGroups, AtAnyLength) {
    with_type(GetParam().dtype, [&]<class T>(T) {
        const PointSet<T> set = point_set<T>(GetParam().set, GetParam().dimension);
        for (const NamedBox& named : {set.boxes.front(), set.boxes.back()}) {
            const oracle::WorkingCopy<T> copy = oracle::working_copy<T>(set.coordinates, set.dimension, named.box);
            for (const double length : interesting_lengths(set, named.box)) {
                const oracle::Groups expected = oracle::groups(copy, length);
                for (const TreeShape& shape :
                     {TreeShape{1, 2, 1, 0}, TreeShape{4, 8, 256, 50}, TreeShape{24, 2, 1, 50}, TreeShape{1, 8, 16, 0},
                      TreeShape{64, 8, 1, 0}, TreeShape{100, 8, 1, 0}}) {
                    const Tree tree(set.view(), {.box = named.box, .shape = shape});
                    EXPECT_TRUE(same_groups(
                        fof(tree, LinkingLength::absolute(length), {.engine = Engine::tree, .execution = cpu(2)}),
                        expected))
                        << "box " << named.name << ", linking length " << length << ", leaf_size " << shape.leaf_size
                        << ", coarsening " << shape.coarsening << ", top_size " << shape.top_size;
                }
            }
        }
    });
}

INSTANTIATE_TEST_SUITE_P(SomeSets, TheShapeOfTheTreeDoesNotMatterToGroups,
                         testing::ValuesIn(cases_of({"uniform", "clustered", "lattice", "coincident", "far_outlier",
                                                     "few_distinct"})),
                         case_name);

class Groups : public NeedsDimension<3> {};

TEST_F(Groups, OfALargerClusteredSet) {
    // Clumps of 150 points in a thin background.
    std::vector<float> points = uniform_points<float>(sized(1500), 3, 0, 1, 131);
    const std::vector<float> centers = uniform_points<float>(10, 3, 0, 1, 132);
    Random random(133);
    for (std::int64_t i = 0; i < sized(1500); ++i) {
        for (std::int64_t axis = 0; axis < 3; ++axis) {
            points.push_back(centers[static_cast<std::size_t>(i % 10 * 3 + axis)] +
                             static_cast<float>(0.01 * random.normal()));
        }
    }
    const oracle::WorkingCopy<float> copy = oracle::working_copy<float>(points, 3, Box::periodic(1));
    for (const double length : {0.002, 0.01, 0.05, 0.3}) {
        const oracle::Groups expected = oracle::groups(copy, length);
        for (const Engine engine : engines) {
            EXPECT_TRUE(same_groups(fof(PointsView(points, 3), LinkingLength::absolute(length),
                                        {.box = Box::periodic(1), .engine = engine}),
                                    expected))
                << length << ", " << name_of(engine);
        }
    }
}

template <class T>
void expect_groups_in(int dimension) {
    const std::int64_t count = sized(600);
    const std::vector<T> points = uniform_points<T>(count, dimension, 0, 1, 134);
    const double separation = std::pow(1.0 / static_cast<double>(count), 1.0 / dimension);
    for (const Box& box : {Box(), Box::periodic(1)}) {
        const oracle::WorkingCopy<T> copy = oracle::working_copy<T>(points, dimension, box);
        for (const double length : {0.5 * separation, 0.8 * separation, separation}) {
            const oracle::Groups expected = oracle::groups(copy, length);
            for (const Engine engine : engines) {
                EXPECT_TRUE(same_groups(
                    fof(PointsView(points, dimension), LinkingLength::absolute(length), {.box = box, .engine = engine}),
                    expected))
                    << dimension << " dimensions, " << length << ", " << name_of(engine);
            }
        }
    }
}

TEST(GroupsInEveryDimension, EqualTheOracle) {
    for (int dimension = 2; dimension <= max_dimension; ++dimension) {
        if (is_built(dimension)) {
            expect_groups_in<float>(dimension);
            expect_groups_in<double>(dimension);
        }
    }
}

TEST_F(Groups, OfAHundredThousandCoincidentPoints) {
    const std::vector<float> points(300000, 0.7F);
    for (const double length : {0.0, 0.1}) {
        const FofResult found = fof(PointsView(points, 3), LinkingLength::absolute(length), {.engine = Engine::tree});
        EXPECT_EQ(found.sizes, GroupSizes(std::vector{100000}));
        EXPECT_EQ(found.label_array, std::vector<std::int32_t>(100000, 0));
    }
}

TEST_F(Groups, KnowTheirBox) {
    const std::vector<float> points{5, -0.25F, 0.5F, 5.5F, 0.25F, 0.5F};
    const PointsView view(points, 3);
    const Tree tree(view, {.box = Box::periodic({1.0, 1.0, 0.0})});
    const auto length = LinkingLength::absolute(0.1);
    std::vector<std::int32_t> labels(2);
    for (const Engine engine : engines) {
        const FofOptions options{.box = Box::periodic({1.0, 1.0, 0.0}), .engine = engine};
        const FofResult found = fof(view, length, options);
        EXPECT_EQ(found.box.axes(), 3);
        EXPECT_EQ(found.box.period(1), 1);
        EXPECT_EQ(found.box.period(2), 0);
        EXPECT_EQ(found.box.origin(0), 5);
        EXPECT_EQ(found.box.origin(1), -0.5);
        EXPECT_EQ(found.box, tree.box());
        EXPECT_EQ(fof(Tree(view, {.box = options.box, .engine = engine}), length).box, tree.box());
        EXPECT_EQ(fof_into(labels, view, length, options).box, tree.box());
    }
}

TEST_F(Groups, OfTheCallersLabelsAreTheSame) {
    PointSet<float> set = point_set<float>("clustered", 3);
    set.coordinates.insert(set.coordinates.end(), {50, 50, 50}); // a single point
    const auto length = LinkingLength::absolute(0.02);
    for (const Engine engine : engines) {
        const Tree tree(set.view(), {.engine = engine});
        const FofResult expected = fof(set.view(), length, {.engine = engine});
        EXPECT_EQ(expected.groups, static_cast<std::int64_t>(expected.sizes.size()));
        EXPECT_EQ(expected.sizes.back(), 1);
        std::vector<std::int32_t> labels(expected.label_array.size(), -7);
        for (const PointsOrTree& points : {PointsOrTree(set.view()), PointsOrTree(tree)}) {
            const FofSummary found = fof_into(labels, points, length, {.engine = engine});
            EXPECT_EQ(labels, expected.label_array);
            EXPECT_EQ(found.sizes, expected.sizes);
            EXPECT_EQ(found.groups, expected.groups);
            EXPECT_EQ(found.linking_length, expected.linking_length);
            EXPECT_EQ(found.groups_of_at_least(20), expected.groups_of_at_least(20));
        }
    }
}

TEST_F(Groups, CountedByMinimumSize) {
    const std::vector<float> points{0, 0, 0, 10, 0, 0, 20, 0, 0, 1, 0, 0, 21, 0, 0, 22, 0, 0, 30, 0, 0, 31, 0, 0};
    const FofResult found = fof(PointsView(points, 3), LinkingLength::absolute(1));
    EXPECT_EQ(found.label_array, (std::vector<std::int32_t>{1, 3, 0, 1, 0, 0, 2, 2}));
    EXPECT_EQ(found.sizes, GroupSizes(std::vector{3, 2, 2, 1}));
    EXPECT_EQ(found.groups_of_at_least(1), 4);
    EXPECT_EQ(found.groups_of_at_least(2), 3);
    EXPECT_EQ(found.groups_of_at_least(3), 1);
    EXPECT_EQ(found.groups_of_at_least(4), 0);
}

} // namespace
} // namespace kith::test
