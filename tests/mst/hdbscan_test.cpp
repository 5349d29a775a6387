// HDBSCAN*: the tree, clusters and scores of every engine against the oracle, and cuts against dbscan().
#include "mst/many_points.hpp"
#include "oracle/hdbscan.hpp"
#include "oracle/working_copy.hpp"
#include "support/cases.hpp"
#include "support/engines.hpp"
#include "support/special_numbers.hpp"
#include "support/thinned.hpp"

#include <kith/kith.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

namespace kith::test {
namespace {

const std::vector<Engine> engines = engines_of(detail::Task::density_clusters);

HdbscanOptions options_for(const oracle::DensityRequest& request, const Box& box, Engine engine, int threads) {
    return {.min_samples = request.min_samples,
            .selection = request.by_leaves ? ClusterSelection::leaf : ClusterSelection::excess_of_mass,
            .selection_epsilon = request.epsilon,
            .max_cluster_size = request.max_cluster_size,
            .allow_single_cluster = request.allow_single_cluster,
            .box = box,
            .engine = engine,
            .execution = cpu(threads)};
}

/// Requests of every kind, at lengths that the set has.
oracle::DensityRequest drawn_request(Random& draw, double extent) {
    oracle::DensityRequest request;
    request.min_samples = 1 + draw.integer(draw.integer(3) == 0 ? 12 : 5);
    request.min_cluster_size = 2 + draw.integer(8);
    request.by_leaves = draw.integer(3) == 0;
    request.epsilon = draw.integer(3) == 0 ? extent * draw.uniform() * draw.uniform() : 0;
    request.max_cluster_size = draw.integer(3) == 0 ? 1 + draw.integer(60) : 0;
    request.allow_single_cluster = draw.integer(3) == 0;
    return request;
}

template <class T>
std::vector<oracle::TreeEdge<T>> edges_of(const HdbscanResult& found) {
    std::vector<oracle::TreeEdge<T>> edges;
    for (std::size_t i = 0; i < found.edges.size(); ++i) {
        edges.push_back({found.edges[i].smaller, found.edges[i].larger, T(0), static_cast<T>(found.heights[i])});
    }
    return edges;
}

/// Weights are not among the answers: heights are.
template <class T>
std::vector<oracle::TreeEdge<T>> without_weights(std::vector<oracle::TreeEdge<T>> edges) {
    for (oracle::TreeEdge<T>& edge : edges) {
        edge.weight = 0;
    }
    return edges;
}

std::vector<CondensedCluster> clusters_of(const std::vector<oracle::DensityCluster>& expected) {
    std::vector<CondensedCluster> clusters;
    for (const oracle::DensityCluster& cluster : expected) {
        clusters.push_back(
            {cluster.parent, cluster.size, cluster.label, cluster.birth, cluster.death, cluster.stability});
    }
    return clusters;
}

template <class T>
void expect_equal(const HdbscanResult& found, const oracle::DensityClusters<T>& expected) {
    EXPECT_EQ(found.core_distances,
              std::vector<double>(expected.core_distances.begin(), expected.core_distances.end()));
    EXPECT_EQ(edges_of<T>(found), without_weights(expected.edges));
    EXPECT_EQ(found.condensed_tree.clusters, clusters_of(expected.clusters));
    EXPECT_EQ(found.condensed_tree.last_clusters, expected.last_clusters);
    EXPECT_EQ(found.condensed_tree.lambdas, expected.lambdas);
    EXPECT_EQ(found.labels, expected.labels);
    EXPECT_EQ(found.probabilities, expected.probabilities);
    EXPECT_EQ(found.outlier_scores, expected.outlier_scores);
    EXPECT_EQ(found.noise_points, std::count(found.labels.begin(), found.labels.end(), -1));
    for (std::int64_t cluster = 0; cluster < found.clusters(); ++cluster) {
        EXPECT_EQ(found.sizes[static_cast<std::size_t>(cluster)],
                  std::count(found.labels.begin(), found.labels.end(), cluster));
    }
}

class HdbscanCases : public testing::TestWithParam<Case> {};

TEST_P(HdbscanCases, EqualTheOracle) {
    with_type(GetParam().dtype, [&]<class T>(T) {
        const PointSet<T> set = thinned(point_set<T>(GetParam().set, GetParam().dimension), 260); // many leaves
        Random draw(std::accumulate(GetParam().set.begin(), GetParam().set.end(),
                                    static_cast<std::uint64_t>(16 * set.dimension) + sizeof(T)));
        for (const NamedBox& named : set.boxes) {
            const oracle::WorkingCopy<T> copy = oracle::working_copy<T>(set.coordinates, set.dimension, named.box);
            const oracle::DensityRequest request = drawn_request(draw, set.extent());
            const oracle::DensityClusters<T> expected = oracle::hdbscan(copy, request);
            for (const Engine engine : engines) {
                SCOPED_TRACE(name_of(engine) + ", box " + named.name + ", min_samples " +
                             std::to_string(request.min_samples));
                const int threads = 1 + static_cast<int>(draw.integer(3));
                expect_equal(
                    hdbscan(set.view(), request.min_cluster_size, options_for(request, named.box, engine, threads)),
                    expected);
            }
        }
    });
}

/// Lengths at which the hierarchy changes, the numbers beside them, and others.
template <class T>
std::vector<double> cuts_of(const HdbscanResult& found, double extent, Random& draw) {
    std::vector<double> lengths{0};
    for (int i = 0; i < 20; ++i) {
        lengths.push_back(extent * draw.uniform() * draw.uniform());
    }
    for (const std::vector<double>* from : {&found.heights, &found.core_distances}) {
        for (int i = 0; i < 3 && !from->empty(); ++i) {
            const auto height = static_cast<T>((*from)[static_cast<std::size_t>(draw.integer(std::ssize(*from)))]);
            for (const T length : {std::nextafter(height, T(0)), height, std::nextafter(height, T(infinity))}) {
                lengths.push_back(static_cast<double>(length));
            }
        }
    }
    std::erase_if(lengths, [](double length) { return std::isinf(length); });
    return lengths;
}

template <class T>
void expect_cuts(const HdbscanResult& found, const PointsView& points, const Box& box, double extent, Random& draw) {
    for (const double eps : cuts_of<T>(found, extent, draw)) {
        SCOPED_TRACE("eps " + testing::PrintToString(eps));
        std::vector<std::int32_t> expected;
        try {
            const DbscanResult clusters = dbscan(points, eps, found.min_samples, {.box = box, .star = true});
            expected.assign(clusters.labels().begin(), clusters.labels().end());
        } catch (const Error& error) {
            const std::string reason = error.what(); // which may name a point that the tree does not
            EXPECT_TRUE(is_refused(error.kind(), {reason.substr(0, reason.find(" relative to"))},
                                   [&] { (void)found.cut(eps); }));
            continue;
        }
        EXPECT_EQ(found.cut(eps, cpu(2)), expected);
    }
}

TEST_P(HdbscanCases, CutsAreDbscanStar) {
    with_type(GetParam().dtype, [&]<class T>(T) {
        const PointSet<T> set = point_set<T>(GetParam().set, GetParam().dimension);
        Random draw(171);
        for (const NamedBox& named : set.boxes) {
            SCOPED_TRACE("box " + named.name);
            const auto min_samples = 1 + draw.integer(8);
            const HdbscanResult found = hdbscan(set.view(), 5, {.min_samples = min_samples, .box = named.box});
            expect_cuts<T>(found, set.view(), named.box, set.extent(), draw);
        }
    });
}

INSTANTIATE_TEST_SUITE_P(EveryCase, HdbscanCases, testing::ValuesIn(every_case()), case_name);

class ManyDensities : public NeedsDimension<3> {};

// Points enough for several planes of nodes: trees of any shape, of any number of threads, are those of all pairs, and
// so are all numbers.
TEST_F(ManyDensities, EnginesAgreeAndCutsAreDbscanStar) {
    Random draw(173);
    for (const char* kind : {"halos", "lattice", "crowded places", "two clusters", "one far away", "growing steps"}) {
        SCOPED_TRACE(kind);
        const std::vector<float> points = many_points(kind, sized(4096));
        const PointsView view(points, 3);
        for (const std::int64_t min_samples : {1, 5, 30}) {
            const HdbscanOptions options{.min_samples = min_samples, .engine = Engine::brute_force};
            const HdbscanResult expected = hdbscan(view, 10, options);
            const Tree tree(view, {.shape = {.leaf_size = 1 + static_cast<int>(draw.integer(40))}});
            for (const int threads : {1, 2, 3}) {
                const HdbscanResult found =
                    threads == 2
                        ? hdbscan(tree, 10, {.min_samples = min_samples, .execution = cpu(threads)})
                        : hdbscan(view, 10,
                                  {.min_samples = min_samples, .engine = Engine::tree, .execution = cpu(threads)});
                EXPECT_EQ(found.core_distances, expected.core_distances);
                EXPECT_EQ(found.edges, expected.edges);
                EXPECT_EQ(found.heights, expected.heights);
                EXPECT_EQ(found.labels, expected.labels);
                EXPECT_EQ(found.probabilities, expected.probabilities);
                EXPECT_EQ(found.condensed_tree.clusters, expected.condensed_tree.clusters);
            }
            expect_cuts<float>(expected, view, {}, 30, draw);
        }
    }
}

class HdbscanCalls : public NeedsDimension<3> {
protected:
    const std::vector<float> points_ = uniform_points<float>(200, 3, 0, 1, 3);
    const PointsView view_{points_, 3};
};

TEST_F(HdbscanCalls, RefuseWhatMeansNothing) {
    constexpr ErrorKind invalid = ErrorKind::invalid_argument;
    EXPECT_TRUE(is_refused(invalid, {"min_cluster_size is 1", "2 or more"}, [&] { (void)hdbscan(view_, 1); }));
    EXPECT_TRUE(is_refused(invalid, {"min_samples is -1"}, [&] { (void)hdbscan(view_, 5, {.min_samples = -1}); }));
    for (const double epsilon : {-1.0, nan}) {
        EXPECT_TRUE(is_refused(invalid, {"selection_epsilon"},
                               [&] { (void)hdbscan(view_, 5, {.selection_epsilon = epsilon}); }));
    }
    EXPECT_TRUE(
        is_refused(invalid, {"max_cluster_size is -2"}, [&] { (void)hdbscan(view_, 5, {.max_cluster_size = -2}); }));
    const HdbscanResult found = hdbscan(view_, 5);
    for (const double eps : {-1.0, nan, infinity, 1e39}) {
        EXPECT_TRUE(is_refused(invalid, {"eps is"}, [&] { (void)found.cut(eps); }));
    }
    EXPECT_TRUE(lacks_its_gpu([&] { (void)hdbscan(view_, 5, {.execution = on_no_gpu}); }));
}

TEST_F(HdbscanCalls, MinSamplesAreMinClusterSizeUnlessGiven) {
    EXPECT_EQ(hdbscan(view_, 7).min_samples, 7);
    EXPECT_EQ(hdbscan(view_, 7).edges, hdbscan(view_, 9, {.min_samples = 7}).edges);
}

TEST_F(HdbscanCalls, CanBeCanceled) {
    const HdbscanOptions options{.engine = Engine::tree,
                                 .execution = cpu(2, [](std::string_view, double) { return false; })};
    EXPECT_TRUE(is_refused(ErrorKind::canceled, {}, [&] { (void)hdbscan(view_, 5, options); }));
}

TEST_F(HdbscanCalls, OfNoPointsAreEmpty) {
    const HdbscanResult none = hdbscan(PointsView(std::vector<float>{}, 3), 5);
    EXPECT_EQ(none.points(), 0);
    EXPECT_TRUE(none.condensed_tree.clusters.empty());
    EXPECT_TRUE(none.cut(1).empty());
    EXPECT_TRUE(HdbscanResult().cut(1).empty());
}

} // namespace
} // namespace kith::test
