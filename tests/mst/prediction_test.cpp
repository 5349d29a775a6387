// Clusters for new points, bit for bit as the oracle finds them, on every case and for trees of many shapes.
#include "mst/many_points.hpp"
#include "oracle/hdbscan.hpp"
#include "oracle/working_copy.hpp"
#include "support/cases.hpp"
#include "support/thinned.hpp"

#include <kith/kith.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

namespace kith::test {
namespace {

template <class T>
void expect_equal(const HdbscanPrediction& found, const oracle::Predictions<T>& expected) {
    EXPECT_EQ(found.neighbors, expected.neighbors);
    EXPECT_EQ(found.distances, std::vector<double>(expected.distances.begin(), expected.distances.end()));
    EXPECT_EQ(found.labels, expected.labels);
    EXPECT_EQ(found.probabilities, expected.probabilities);
}

class PredictionCases : public testing::TestWithParam<Case> {};

TEST_P(PredictionCases, EqualTheOracle) {
    with_type(GetParam().dtype, [&]<class T>(T) {
        const PointSet<T> set = thinned(point_set<T>(GetParam().set, GetParam().dimension), 200); // many leaves
        Random draw(std::accumulate(GetParam().set.begin(), GetParam().set.end(), std::uint64_t{179}));
        for (const NamedBox& named : set.boxes) {
            const oracle::WorkingCopy<T> copy = oracle::working_copy<T>(set.coordinates, set.dimension, named.box);
            std::vector<T> others = queries_for(set, named.box, 20);
            others.insert(others.end(), set.coordinates.begin(),
                          set.coordinates.begin() + std::min<std::int64_t>(10, set.view().count()) * set.dimension);
            const std::vector<T> working = oracle::normalized_queries<T>(copy, others);
            oracle::DensityRequest request{.min_samples = 1 + draw.integer(draw.integer(2) == 0 ? 3 : 12),
                                           .min_cluster_size = 2 + draw.integer(6),
                                           .by_leaves = draw.integer(3) == 0,
                                           .allow_single_cluster = draw.integer(3) == 0};
            request.epsilon = draw.integer(3) == 0 ? set.extent() * draw.uniform() * draw.uniform() : 0;
            SCOPED_TRACE("box " + named.name + ", min_samples " + std::to_string(request.min_samples));
            const HdbscanResult clusters =
                hdbscan(set.view(), request.min_cluster_size,
                        {.min_samples = request.min_samples,
                         .selection = request.by_leaves ? ClusterSelection::leaf : ClusterSelection::excess_of_mass,
                         .selection_epsilon = request.epsilon,
                         .allow_single_cluster = request.allow_single_cluster,
                         .box = named.box});
            const auto expected = oracle::predict(copy, oracle::hdbscan(copy, request), request, working);
            const PointsView view(others, set.dimension);
            expect_equal(approximate_predict(clusters, set.view(), view, cpu(2)), expected);
            const Tree tree(set.view(), {.box = named.box, .shape = {.leaf_size = 1 + int(draw.integer(20))}});
            expect_equal(approximate_predict(clusters, tree, view), expected);
        }
    });
}

INSTANTIATE_TEST_SUITE_P(EveryCase, PredictionCases, testing::ValuesIn(every_case()), case_name);

class Predictions : public NeedsDimension<3> {
protected:
    const std::vector<float> points_ = uniform_points<float>(200, 3, 0, 1, 3);
    const PointsView view_{points_, 3};
    const HdbscanResult clusters_ = hdbscan(view_, 5);
};

// Points enough for several planes of nodes, and neighbors that are farther than the row of a new point.
TEST_F(Predictions, OfManyPointsEqualTheOracle) {
    for (const char* kind : {"halos", "lattice", "crowded places"}) {
        SCOPED_TRACE(kind);
        const std::vector<float> points = many_points(kind, sized(2048));
        const std::vector<float> others = uniform_points<float>(100, 3, 0, 1, 191);
        const oracle::WorkingCopy<float> copy = oracle::working_copy<float>(points, 3);
        const oracle::DensityRequest request{.min_samples = 2, .min_cluster_size = 10};
        const auto expected = oracle::predict(copy, oracle::hdbscan(copy, request), request,
                                              oracle::normalized_queries<float>(copy, others));
        const HdbscanResult clusters = hdbscan(PointsView(points, 3), 10, {.min_samples = 2});
        expect_equal(approximate_predict(clusters, PointsView(points, 3), PointsView(others, 3), cpu(2)), expected);
        const Tree tree(PointsView(points, 3), {.shape = {.leaf_size = 5}});
        expect_equal(approximate_predict(clusters, tree, PointsView(others, 3)), expected);
    }
}

TEST_F(Predictions, RefuseOtherPoints) {
    constexpr ErrorKind invalid = ErrorKind::invalid_argument;
    const std::vector<float> fewer(points_.begin(), points_.end() - 3);
    EXPECT_TRUE(is_refused(invalid, {"199 points", "those of 200", "pass the points that were clustered"},
                           [&] { (void)approximate_predict(clusters_, PointsView(fewer, 3), view_); }));
    const std::vector<double> wide(points_.begin(), points_.end());
    EXPECT_TRUE(is_refused(invalid, {"float64", "float32"},
                           [&] { (void)approximate_predict(clusters_, PointsView(wide, 3), view_); }));
    EXPECT_TRUE(is_refused(invalid, {"new_points are float64"},
                           [&] { (void)approximate_predict(clusters_, view_, PointsView(wide, 3)); }));
    const Tree periodic(view_, {.box = Box::periodic(2.0)});
    EXPECT_TRUE(is_refused(invalid, {"box"}, [&] { (void)approximate_predict(clusters_, periodic, view_); }));
    const Tree brute(view_, {.engine = Engine::brute_force});
    EXPECT_TRUE(is_refused(ErrorKind::unsupported, {"engine 'brute'", "'tree'"},
                           [&] { (void)approximate_predict(clusters_, brute, view_); }));
    EXPECT_TRUE(is_refused(ErrorKind::unsupported, {"on the CPU only"},
                           [&] { (void)approximate_predict(clusters_, view_, view_, on_no_gpu); }));
    std::vector<float> broken = points_;
    broken[7] = std::numeric_limits<float>::quiet_NaN();
    EXPECT_TRUE(is_refused(ErrorKind::invalid_points, {"new_points: point 2 has NaN"},
                           [&] { (void)approximate_predict(clusters_, view_, PointsView(broken, 3)); }));
}

TEST_F(Predictions, OfNoPointsAreNoise) {
    const std::vector<float> nothing;
    EXPECT_TRUE(approximate_predict(clusters_, view_, PointsView(nothing, 3)).labels.empty());
    const HdbscanPrediction found =
        approximate_predict(hdbscan(PointsView(nothing, 3), 5), PointsView(nothing, 3), view_);
    EXPECT_EQ(found.labels, std::vector<std::int32_t>(200, -1));
    EXPECT_EQ(found.neighbors, std::vector<std::int32_t>(200, -1));
    EXPECT_EQ(found.distances, std::vector<double>(200, std::numeric_limits<double>::infinity()));
}

TEST_F(Predictions, CanBeCanceled) {
    EXPECT_TRUE(is_refused(ErrorKind::canceled, {}, [&] {
        (void)approximate_predict(clusters_, view_, view_, cpu(2, [](std::string_view, double) { return false; }));
    }));
}

} // namespace
} // namespace kith::test
