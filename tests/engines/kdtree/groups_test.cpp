// Groups by range queries in a k-d tree beyond the conformance suites: trees of every small number of leaves, and large
// sets, whose nodes become whole while several threads query them.
#include "support/cases.hpp"
#include "support/point_sets.hpp"
#include "support/velocities.hpp"

#include <kith/kith.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

namespace kith::test {
namespace {

class KdTreeGroups : public NeedsDimension<3> {};
class KdTreeGroupsInPhaseSpace : public NeedsDimension<6> {};

void expect_groups_of(Engine other, const PointsView& points, LinkingLength length, FofOptions options) {
    options.engine = other;
    const FofResult expected = fof(points, length, options);
    options.engine = Engine::kdtree;
    const FofResult found = fof(points, length, options);
    EXPECT_EQ(found.engine, Engine::kdtree);
    EXPECT_TRUE(std::ranges::equal(found.labels(), expected.labels())) << points.count() << " points";
    EXPECT_EQ(found.groups, expected.groups);
}

/// A third of the points evenly, the others in balls of all sizes.
template <class T>
std::vector<T> crowds(std::int64_t count, std::uint64_t seed) {
    std::vector<T> points = uniform_points<T>(count, 3, 0, 1, seed);
    Random draw(seed);
    for (std::int64_t i = count / 3; i < count;) {
        double center[3];
        for (double& x : center) {
            x = draw.uniform(0, 1);
        }
        const double size = 0.1 * draw.uniform(0, 1) * draw.uniform(0, 1);
        for (std::int64_t left = 1 + draw.integer(count / 20 + 1); left > 0 && i < count; --left, ++i) {
            for (int axis = 0; axis < 3; ++axis) {
                points[3 * i + axis] = static_cast<T>(center[axis] + size * draw.normal());
            }
        }
    }
    return points;
}

// An index may have leaves of any size; they become whole vectors.
TEST_F(KdTreeGroups, NeighborsAndCountsWithLeavesOfAnySize) {
    const auto expect_of = [](const PointsView& points, const Box& box) {
        const Tree planes(points, {.box = box});
        for (const int leaf_size : {1, 2, 7, 45, 153, 5000}) {
            const Tree tree(points, {.box = box, .engine = Engine::kdtree, .kdtree = {.leaf_size = leaf_size}});
            EXPECT_TRUE(std::ranges::equal(knn(tree, 9).indices(), knn(planes, 9).indices())) << leaf_size;
            for (const double length : {0.02, 0.1}) {
                EXPECT_EQ(radius_count(tree, length).counts, radius_count(planes, length).counts) << leaf_size;
                EXPECT_TRUE(std::ranges::equal(fof(tree, LinkingLength::absolute(length)).labels(),
                                               fof(planes, LinkingLength::absolute(length)).labels()))
                    << leaf_size;
            }
        }
    };
    for (const std::int64_t count : {1, 44, 45, 46, 1500}) {
        expect_of(PointsView(crowds<float>(count, 5), 3), Box::periodic(1));
        expect_of(PointsView(crowds<double>(count, 6), 3), {});
    }
    expect_of(PointsView(std::vector<double>(3000, 0.25), 3), Box::periodic(1)); // coincident
}

TEST_F(KdTreeGroups, OfEveryNumberOfLeaves) {
    for (const std::int64_t leaves : {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 20, 31, 32, 33, 40}) {
        for (const std::int64_t count : {32 * leaves - 31, 32 * leaves}) {
            for (const double b : {0.2, 0.7, 1.1}) {
                expect_groups_of(Engine::brute_force, PointsView(crowds<float>(count, count), 3),
                                 LinkingLength::relative(b), {.box = Box::periodic(1)});
                expect_groups_of(Engine::brute_force, PointsView(crowds<double>(count, count + 1), 3),
                                 LinkingLength::absolute(b * std::pow(count, -1.0 / 3)), {});
            }
        }
    }
}

TEST_F(KdTreeGroups, OfManyPoints) {
    const std::vector<float> points = crowds<float>(sized(200'000), 5);
    for (const double b : {0.05, 0.2, 0.5, 2.0}) {
        for (const int threads : {1, 3}) {
            expect_groups_of(Engine::tree, PointsView(points, 3), LinkingLength::relative(b),
                             {.box = Box::periodic(1), .execution = cpu(threads)});
        }
    }
}

// Comparing all of them with each other would take 10^10 distances.
TEST_F(KdTreeGroups, OfAHundredThousandCoincidentPoints) {
    const std::vector<float> points(3 * 100'000, 0.25F);
    for (const double length : {0.0, 1.0}) {
        EXPECT_EQ(fof(PointsView(points, 3), LinkingLength::absolute(length), {.engine = Engine::kdtree}).groups, 1);
    }
}

TEST_F(KdTreeGroupsInPhaseSpace, OfManyPoints) {
    const std::vector<float> points = crowds<float>(sized(50'000), 6);
    const PointsView view(points, 3);
    Random draw(7);
    const std::vector<double> velocities = velocities_for<double>(view.count(), 3, draw);
    for (const double psi : {0.1, 1.0, 10.0}) {
        FofOptions options{.box = Box::periodic(1), .execution = cpu(3)};
        options.phase_space = PhaseSpace{PointsView(velocities, 3), VelocityLength::absolute(psi)};
        expect_groups_of(Engine::tree, view, LinkingLength::relative(0.6), options);
    }
}

} // namespace
} // namespace kith::test
