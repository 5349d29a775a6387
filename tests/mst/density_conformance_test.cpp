// The tree that HDBSCAN* cuts of every backend against the oracle: every type, built dimension, point set and box; and of
// more points against all pairs.
#include "mst/density_conformance.hpp"
#include "oracle/hdbscan.hpp"
#include "oracle/working_copy.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace kith::test {

namespace {

/// Of core points that need nothing, few others, more than rows of the rounds have, more than lists of a search hold, all
/// points, and more than there are.
std::int64_t drawn_min_samples(std::int64_t points, Random& draw) {
    const std::int64_t all = std::clamp<std::int64_t>(points, 1, 80); // rows of hundreds take too long
    const std::vector<std::int64_t> kinds{1, 2 + draw.integer(4), 7 + draw.integer(9), 66, all, points + 1};
    return kinds[static_cast<std::size_t>(draw.integer(std::ssize(kinds)))];
}

template <class T>
void expect_tree(const HdbscanResult& found, const oracle::DensityClusters<T>& expected) {
    EXPECT_EQ(found.core_distances,
              std::vector<double>(expected.core_distances.begin(), expected.core_distances.end()));
    std::vector<SpanningEdge> edges;
    std::vector<double> heights;
    for (const oracle::TreeEdge<T>& edge : expected.edges) {
        edges.push_back({edge.smaller, edge.larger});
        heights.push_back(static_cast<double>(edge.height));
    }
    EXPECT_EQ(found.edges, edges);
    EXPECT_EQ(found.heights, heights);
}

class DensityTreeConformance : public testing::TestWithParam<Case> {};

TEST_P(DensityTreeConformance, TreesEqualTheOracle) {
    with_type(GetParam().dtype, [&]<class T>(T) {
        const PointSet<T> set = point_set<T>(GetParam().set, GetParam().dimension);
        Random draw(std::accumulate(GetParam().set.begin(), GetParam().set.end(),
                                    static_cast<std::uint64_t>(16 * set.dimension) + sizeof(T) + 1));
        for (const NamedBox& named : set.boxes) {
            if (draw.integer(density_tree_effort().one_in) != 0) {
                continue;
            }
            const std::int64_t min_samples = drawn_min_samples(set.count(), draw);
            const oracle::WorkingCopy<T> copy = oracle::working_copy<T>(set.coordinates, set.dimension, named.box);
            const oracle::DensityClusters<T> expected = oracle::hdbscan(copy, {.min_samples = min_samples});
            const HdbscanResult like =
                hdbscan(set.view(), 5, {.min_samples = min_samples, .box = named.box, .execution = cpu(1)});
            for (const DensityTreeBackend& backend : density_tree_backends()) {
                SCOPED_TRACE(backend.name + ", box " + named.name + ", min_samples " + std::to_string(min_samples));
                const HdbscanResult found = backend.find({set.view(), named.box, min_samples}, draw);
                expect_tree(found, expected);
                EXPECT_EQ(found.unresolved.warning(), like.unresolved.warning());
                EXPECT_EQ(found.box, like.box);
                EXPECT_EQ(found.wrapped_points, like.wrapped_points);
                EXPECT_EQ(found.shortest_length, like.shortest_length);
                EXPECT_EQ(found.largest, like.largest);
            }
        }
    });
}

INSTANTIATE_TEST_SUITE_P(EveryCase, DensityTreeConformance, testing::ValuesIn(every_case()), case_name);

class ManyDensitiesConformance : public NeedsDimension<3> {};

TEST_F(ManyDensitiesConformance, TreesEqualAllPairs) {
    Random draw(53);
    for (const char* kind : {"halos", "lattice", "crowded places", "two clusters", "one far away", "growing steps"}) {
        const std::vector<float> points = many_points(kind, density_tree_effort().points);
        const PointsView view(points, 3);
        for (const std::int64_t min_samples : {2, 5, 40}) {
            const HdbscanResult expected =
                hdbscan(view, 5, {.min_samples = min_samples, .engine = Engine::brute_force, .execution = cpu(1)});
            for (const DensityTreeBackend& backend : density_tree_backends()) {
                SCOPED_TRACE(backend.name + ", " + kind + ", min_samples " + std::to_string(min_samples));
                const HdbscanResult found = backend.find({view, {}, min_samples}, draw);
                EXPECT_EQ(found.core_distances, expected.core_distances);
                EXPECT_EQ(found.edges, expected.edges);
                EXPECT_EQ(found.heights, expected.heights);
            }
        }
    }
}

} // namespace
} // namespace kith::test
