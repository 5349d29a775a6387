// Groups at several linking lengths against fof() at each, and how they nest.
#include "support/cases.hpp"
#include "support/linking_lengths.hpp"

#include <kith/kith.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace kith::test {
namespace {

/// What a level is to list, from the labels and sizes that fof() finds.
struct ExpectedLevel {
    FofResult groups;
    std::vector<std::int32_t> sizes;
    std::vector<std::int32_t> first_members;

    ExpectedLevel(FofResult found, std::int64_t min_members) : groups(std::move(found)) {
        for (const std::int64_t size : groups.sizes) {
            if (size >= min_members) {
                sizes.push_back(static_cast<std::int32_t>(size));
            }
        }
        first_members.resize(sizes.size());
        for (std::int64_t i = groups.label_array.size(); i-- > 0;) {
            if (groups.label_array[i] < std::ssize(sizes)) {
                first_members[static_cast<std::size_t>(groups.label_array[i])] = static_cast<std::int32_t>(i);
            }
        }
    }
};

/// Each level has the groups that groups_at(its linking length) finds.
template <class GroupsAt>
void expect_levels(const FofLadder& found, std::int64_t min_members, const GroupsAt& groups_at) {
    std::vector<std::int32_t> before;
    for (std::size_t i = 0; i < found.levels().size(); ++i) {
        const FofLevel& level = found.levels()[i];
        SCOPED_TRACE("level " + std::to_string(i) + ", linking length " + std::to_string(level.linking_length));
        const ExpectedLevel expected(groups_at(level.linking_length), min_members);
        EXPECT_EQ(level.groups, expected.groups.groups);
        EXPECT_EQ(level.sizes, expected.sizes);
        EXPECT_EQ(level.first_members, expected.first_members);
        const std::vector<std::int32_t> labels = found.labels(static_cast<std::int64_t>(i), cpu(2));
        ASSERT_EQ(labels, expected.groups.label_array);
        if (i > 0) {
            const std::vector<std::int32_t>& parents = found.levels()[i - 1].parents;
            ASSERT_EQ(parents.size(), found.levels()[i - 1].sizes.size());
            for (std::size_t point = 0; point < labels.size(); ++point) {
                if (before[point] < std::ssize(parents)) {
                    ASSERT_EQ(parents[static_cast<std::size_t>(before[point])], labels[point]) << "point " << point;
                }
            }
        }
        before = labels;
    }
    EXPECT_TRUE(found.levels().back().parents.empty());
}

/// Of points, as fof() finds it at each length.
void expect_ladder(const FofLadder& found, const PointsOrTree& points, const Box& box, std::int64_t min_members) {
    expect_levels(found, min_members,
                  [&](double length) { return fof(points, LinkingLength::absolute(length), {.box = box}); });
}

class Ladders : public testing::TestWithParam<Case> {};

TEST_P(Ladders, AreTheGroupsOfEveryLength) {
    with_type(GetParam().dtype, [&]<class T>(T) {
        const PointSet<T> set = point_set<T>(GetParam().set, GetParam().dimension);
        for (const NamedBox& named : set.boxes) {
            SCOPED_TRACE("box " + named.name);
            std::vector<double> ascending = interesting_lengths(set, named.box);
            ascending.push_back(ascending.front()); // equal lengths are levels, too
            std::sort(ascending.begin(), ascending.end());
            std::vector<LinkingLength> lengths;
            for (const double length : ascending) {
                lengths.push_back(LinkingLength::absolute(length));
            }
            for (const std::int64_t min_members : {1, 7}) {
                const FofLadder found = fof_ladder(set.view(), lengths,
                                                   {.box = named.box, .min_members = min_members, .execution = cpu(2)});
                ASSERT_EQ(found.levels().size(), lengths.size());
                expect_ladder(found, set.view(), named.box, min_members);
            }
        }
    });
}

INSTANTIATE_TEST_SUITE_P(SomeSets, Ladders,
                         testing::ValuesIn(cases_of({"empty", "one", "two", "clustered", "lattice", "coincident",
                                                     "few_distinct", "far_outlier", "huge", "tiny"})),
                         case_name);

class LadderCalls : public NeedsDimension<3> {
protected:
    const std::vector<float> points_ = uniform_points<float>(300, 3, 0, 1, 3);
    const PointsView view_{points_, 3};
};

TEST_F(LadderCalls, TakeRelativeLengthsAndTrees) {
    const std::vector lengths{LinkingLength::relative(0.2), LinkingLength::absolute(0.1), LinkingLength::relative(0.9)};
    const Box box = Box::periodic(1);
    const Tree tree(view_, {.box = box});
    const FofLadder of_points = fof_ladder(view_, lengths, {.box = box});
    const FofLadder of_tree = fof_ladder(tree, {lengths[0], lengths[1], lengths[2]});
    const FofLadder of_spanning_tree = fof_ladder(spanning_tree(tree), lengths);
    for (std::size_t i = 0; i < lengths.size(); ++i) {
        const FofResult expected = fof(tree, lengths[i]);
        for (const FofLadder* found : {&of_points, &of_tree, &of_spanning_tree}) {
            EXPECT_EQ(found->levels()[i].linking_length, expected.linking_length);
            EXPECT_EQ(found->levels()[i].volume, expected.volume);
            EXPECT_EQ(found->levels()[i].volume_kind, expected.volume_kind);
            EXPECT_EQ(GroupSizes(found->levels()[i].sizes), expected.sizes);
        }
    }
    EXPECT_EQ(of_points.stages.back().name, "levels");
}

using LaddersInPhaseSpace = NeedsDimension<6>;

// Psi is longer as much as the linking length is: here by powers of two, so that l / psi is the same number.
TEST_F(LaddersInPhaseSpace, AreTheGroupsOfEveryLength) {
    const std::vector<float> points = uniform_points<float>(400, 3, 0, 1, 21);
    const std::vector<float> velocities = uniform_points<float>(400, 3, -300, 300, 22);
    const PointsView view(points, 3);
    const std::vector lengths{LinkingLength::relative(0.5), LinkingLength::relative(1), LinkingLength::relative(2)};
    for (const Box& box : {Box{}, Box::periodic(1)}) {
        for (const VelocityLength& psi : {VelocityLength::sigmas(0.5), VelocityLength::absolute(128)}) {
            const PhaseSpaceAt at{{PointsView(velocities, 3), psi}, LinkingLength::relative(1)};
            const SpanningTree tree = spanning_tree(view, {.box = box, .phase_space = at});
            for (const std::int64_t min_members : {1, 3}) {
                const FofLadder found = fof_ladder(tree, lengths, {.min_members = min_members});
                expect_levels(found, min_members, [&](double length) {
                    const double factor = length / found.levels()[1].linking_length;
                    PhaseSpace scaled = at.phase_space;
                    scaled.length = psi.is_relative() ? VelocityLength::sigmas(factor * psi.value())
                                                      : VelocityLength::absolute(factor * psi.value());
                    return fof(view, LinkingLength::absolute(length), {.box = box, .phase_space = scaled});
                });
                EXPECT_LT(found.levels()[2].groups, found.levels()[0].groups);
                EXPECT_GT(found.levels()[1].groups, fof(view, lengths[1], {.box = box}).groups);
            }
        }
    }
}

// So many points that several threads share every step.
TEST_F(LadderCalls, OfManyPoints) {
    const std::vector<float> points = uniform_points<float>(sized(60'000), 3, 0, 1, 5);
    const Tree tree(PointsView(points, 3), {.box = Box::periodic(1)});
    const std::vector lengths{LinkingLength::relative(0.2), LinkingLength::relative(0.6),
                              LinkingLength::relative(0.85)};
    for (const int threads : {1, 4}) {
        for (const std::int64_t min_members : {1, 3}) {
            SCOPED_TRACE(std::to_string(threads) + " threads, min_members " + std::to_string(min_members));
            expect_ladder(fof_ladder(tree, lengths, {.min_members = min_members, .execution = cpu(threads)}), tree, {},
                          min_members);
        }
    }
}

TEST_F(LadderCalls, CanBeCanceledInAnyStage) {
    const std::vector lengths{LinkingLength::relative(0.2), LinkingLength::relative(0.9)};
    const SpanningTree tree = spanning_tree(view_);
    const FofLadder of_points = fof_ladder(view_, lengths);
    ASSERT_EQ(of_points.stages.back().name, "levels");
    for (const StageReport& stage : of_points.stages) {
        const Execution execution = cpu(2, [&](std::string_view now, double) { return now != stage.name; });
        EXPECT_TRUE(is_refused(ErrorKind::canceled, {stage.name}, [&] {
            (void)fof_ladder(view_, lengths, {.execution = execution});
        })) << stage.name;
        if (stage.name == "levels") {
            EXPECT_TRUE(is_refused(ErrorKind::canceled, {stage.name},
                                   [&] { (void)fof_ladder(tree, lengths, {.execution = execution}); }));
        }
    }
}

TEST_F(LadderCalls, RefuseWhatMeansNothing) {
    const auto refused = [&](const std::vector<std::string>& parts, const std::vector<LinkingLength>& lengths,
                             const FofLadderOptions& options = {}) {
        return is_refused(ErrorKind::invalid_argument, parts, [&] { (void)fof_ladder(view_, lengths, options); });
    };
    const std::vector one{LinkingLength::absolute(0.1)};
    EXPECT_TRUE(refused({"no linking lengths"}, {}));
    EXPECT_TRUE(refused({"-1"}, {LinkingLength::absolute(-1)}));
    EXPECT_TRUE(
        refused({"0.25 follows 0.5", "ascending"}, {LinkingLength::absolute(0.5), LinkingLength::absolute(0.25)}));
    EXPECT_TRUE(refused({"min_members is 0"}, one, {.min_members = 0}));
    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"a spanning tree has its own"},
                           [&] { (void)fof_ladder(spanning_tree(view_), one, {.box = Box::periodic(1)}); }));
    const FofLadder found = fof_ladder(view_, one);
    for (const std::int64_t level : {-1, 1}) {
        EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"there is no level"}, [&] { (void)found.labels(level); }));
    }
    const std::vector flat{0.0F, 0.0F, 0.0F, 1.0F, 1.0F, 0.0F};
    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"volume"},
                           [&] { (void)fof_ladder(PointsView(flat, 3), std::vector{LinkingLength::relative(0.2)}); }));
}

} // namespace
} // namespace kith::test
