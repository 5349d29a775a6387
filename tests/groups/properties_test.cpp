// Properties of groups that need no oracle.
#include "support/cases.hpp"

#include <kith/kith.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <vector>

namespace kith::test {
namespace {

const std::vector<Engine> engines = fof_engines();

class GroupProperties : public NeedsDimension<3> {};

TEST_F(GroupProperties, PermutingThePointsPermutesThePartition) {
    const PointSet<float> set = point_set<float>("clustered", 3);
    const auto count = static_cast<std::size_t>(set.count());
    std::vector<std::size_t> old_index(count);
    std::iota(old_index.begin(), old_index.end(), std::size_t{0});
    std::shuffle(old_index.begin(), old_index.end(), std::mt19937_64(141));
    std::vector<float> shuffled;
    for (const std::size_t i : old_index) {
        const auto start = set.coordinates.begin() + static_cast<std::ptrdiff_t>(i * 3);
        shuffled.insert(shuffled.end(), start, start + 3);
    }
    for (const Engine engine : engines) {
        const FofResult before = fof(set.view(), LinkingLength::absolute(0.02), {.engine = engine});
        const FofResult after = fof(PointsView(shuffled, 3), LinkingLength::absolute(0.02), {.engine = engine});
        EXPECT_EQ(before.sizes, after.sizes);
        std::map<std::int32_t, std::int32_t> renamed;
        for (std::size_t i = 0; i < count; ++i) {
            const auto [entry, is_new] = renamed.emplace(after.label_array[i], before.label_array[old_index[i]]);
            EXPECT_EQ(entry->second, before.label_array[old_index[i]]) << "point " << i;
        }
        EXPECT_EQ(std::ssize(renamed), before.sizes.size());
    }
}

TEST_F(GroupProperties, ScalingPointsAndLengthByTwoChangesNothing) {
    const PointSet<float> set = point_set<float>("gaussian", 3);
    for (const Engine engine : engines) {
        const FofResult before = fof(set.view(), LinkingLength::absolute(0.3), {.engine = engine});
        for (const float factor : {2.0F, 0x1p-50F, 0x1p60F}) {
            std::vector<float> scaled = set.coordinates;
            for (float& x : scaled) {
                x *= factor;
            }
            const FofResult after = fof(
                PointsView(scaled, 3), LinkingLength::absolute(static_cast<double>(0.3F) * static_cast<double>(factor)),
                {.engine = engine});
            EXPECT_EQ(after.label_array, before.label_array) << factor;
        }
    }
}

TEST_F(GroupProperties, LabelsFollowSizeAndSmallestMember) {
    const PointSet<double> set = point_set<double>("clustered", 3);
    const FofResult found = fof(set.view(), LinkingLength::absolute(0.03));
    ASSERT_GT(found.sizes.size(), 3);
    std::vector<std::int32_t> counted(found.sizes.size(), 0);
    std::vector<std::size_t> smallest(found.sizes.size(), found.label_array.size());
    for (std::size_t i = 0; i < found.labels().size(); ++i) {
        const auto label = static_cast<std::size_t>(found.label_array[i]);
        ++counted.at(label);
        smallest[label] = std::min(smallest[label], i);
    }
    EXPECT_EQ(GroupSizes(counted), found.sizes);
    for (std::int64_t label = 1; label < found.sizes.size(); ++label) {
        EXPECT_TRUE(found.sizes[label - 1] > found.sizes[label] ||
                    (found.sizes[label - 1] == found.sizes[label] && smallest[label - 1] < smallest[label]))
            << label;
    }
}

TEST_F(GroupProperties, AChainThroughThePeriodicEdgeIsOneGroup) {
    // 1,000 points in a ring around the first axis, one step apart.
    std::vector<double> ring;
    for (int i = 0; i < 1000; ++i) {
        ring.insert(ring.end(), {static_cast<double>(i * 37 % 1000) / 1024, 0.5, 0.5});
    }
    const double step = 1.0 / 1024;
    const Box box = Box::periodic({1000.0 / 1024, 0.0, 0.0});
    for (const Engine engine : engines) {
        EXPECT_EQ(fof(PointsView(ring, 3), LinkingLength::absolute(step), {.box = box, .engine = engine}).sizes.size(),
                  1);
        EXPECT_EQ(fof(PointsView(ring, 3), LinkingLength::absolute(step * 0.999), {.box = box, .engine = engine})
                      .sizes.size(),
                  1000);
    }
}

TEST_F(GroupProperties, AnswersAreTheSameForAnyNumberOfThreadsAndFromRunToRun) {
    const std::vector<float> points = uniform_points<float>(sized(20000), 3, 0, 1, 142);
    const FofResult first =
        fof(PointsView(points, 3), LinkingLength::relative(0.6), {.box = Box::periodic(1), .execution = cpu(1)});
    for (int run = 0; run < 8; ++run) {
        const FofResult again = fof(PointsView(points, 3), LinkingLength::relative(0.6),
                                    {.box = Box::periodic(1), .execution = cpu(run % 5)});
        EXPECT_EQ(again.label_array, first.label_array);
        EXPECT_EQ(again.sizes, first.sizes);
    }
}

TEST_F(GroupProperties, CanBeCanceledInAnyStage) {
    const std::vector<float> points = uniform_points<float>(5000, 3, 0, 1, 143);
    const PointsView view(points, 3);
    const FofResult found = fof(view, LinkingLength::relative(0.2), {.engine = Engine::tree});
    ASSERT_FALSE(found.stages.empty());
    for (const StageReport& stage : found.stages) {
        const Execution execution = cpu(2, [&](std::string_view now, double) { return now != stage.name; });
        EXPECT_TRUE(is_refused(ErrorKind::canceled, {stage.name}, [&] {
            (void)fof(view, LinkingLength::relative(0.2), {.engine = Engine::tree, .execution = execution});
        })) << stage.name;
    }
}

} // namespace
} // namespace kith::test
