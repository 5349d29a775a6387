// The spanning tree against the oracle, edge by edge, bit for bit: every type, built dimension, point set and box, by
// every engine, of points and of kept trees.
#include "oracle/spanning_tree.hpp"
#include "support/cases.hpp"

#include <kith/kith.hpp>

#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

namespace kith::test {
namespace {

template <class T>
std::vector<oracle::TreeEdge<T>> edges_of(const SpanningTree& tree) {
    std::vector<oracle::TreeEdge<T>> edges;
    for (std::size_t i = 0; i < tree.edges().size(); ++i) {
        const auto [smaller, larger] = tree.edges()[i];
        edges.push_back({smaller, larger, tree.weights<T>()[i], tree.heights<T>()[i]});
    }
    return edges;
}

/// Where edges first differ, for the reader of a failure.
template <class T>
std::string difference(const std::vector<oracle::TreeEdge<T>>& found,
                       const std::vector<oracle::TreeEdge<T>>& expected) {
    if (found.size() != expected.size()) {
        return std::to_string(found.size()) + " edges, not " + std::to_string(expected.size());
    }
    const auto text = [](const oracle::TreeEdge<T>& edge) {
        return "(" + std::to_string(edge.smaller) + ", " + std::to_string(edge.larger) + ") of weight " +
               testing::PrintToString(edge.weight) + " and height " + testing::PrintToString(edge.height);
    };
    for (std::size_t i = 0; i < expected.size(); ++i) {
        if (found[i] != expected[i]) {
            return "edge " + std::to_string(i) + " is " + text(found[i]) + ", not " + text(expected[i]);
        }
    }
    return "";
}

class SpanningTrees : public testing::TestWithParam<Case> {};

TEST_P(SpanningTrees, EqualTheOracle) {
    with_type(GetParam().dtype, [&]<class T>(T) {
        const PointSet<T> set = point_set<T>(GetParam().set, GetParam().dimension);
        Random draw(
            std::accumulate(GetParam().set.begin(), GetParam().set.end(), static_cast<std::uint64_t>(set.dimension)));
        for (const NamedBox& named : set.boxes) {
            const auto expected =
                oracle::spanning_tree(oracle::working_copy<T>(set.coordinates, set.dimension, named.box));
            for (const Engine engine : {Engine::tree, Engine::brute_force, Engine::automatic}) {
                const auto drawn = [&](std::initializer_list<int> values) {
                    return values.begin()[draw.integer(static_cast<std::int64_t>(values.size()))];
                };
                const Execution execution = cpu(drawn({1, 2, 7}));
                SpanningTreeOptions options{.engine = engine, .execution = execution};
                const TreeShape shape{.leaf_size = drawn({1, 5, 40}), .top_size = drawn({1, 256})};
                const SpanningTree kept = spanning_tree(Tree(set.view(), {.box = named.box, .shape = shape}), options);
                options.box = named.box;
                const SpanningTree found = spanning_tree(set.view(), options);
                const std::string what = "box " + named.name + ", engine " + name_of(engine) + ", threads " +
                                         std::to_string(execution.threads) + ", leaf_size " +
                                         std::to_string(shape.leaf_size);
                EXPECT_EQ(difference(edges_of<T>(found), expected), "") << what;
                EXPECT_EQ(difference(edges_of<T>(kept), expected), "") << what << ", kept tree";
                EXPECT_EQ(found.points(), set.count());
                EXPECT_EQ(found.box(), kept.box());
            }
        }
    });
}

INSTANTIATE_TEST_SUITE_P(EveryCase, SpanningTrees, testing::ValuesIn(every_case()), case_name);

// A height links its edge, and the number below does not: what connects then are the edges of smaller heights.
TEST_P(SpanningTrees, HeightsAreLinkingLengths) {
    with_type(GetParam().dtype, [&]<class T>(T) {
        const PointSet<T> set = point_set<T>(GetParam().set, GetParam().dimension);
        Random draw(7);
        for (const NamedBox& named : set.boxes) {
            const SpanningTree tree = spanning_tree(set.view(), {.box = named.box});
            const std::span<const T> heights = tree.heights<T>();
            EXPECT_TRUE(std::is_sorted(heights.begin(), heights.end()));
            for (int i = 0; i < 2 && tree.count() > 0; ++i) {
                const T height = heights[static_cast<std::size_t>(draw.integer(tree.count()))];
                const auto shorter = std::lower_bound(heights.begin(), heights.end(), height) - heights.begin();
                const auto up_to = std::upper_bound(heights.begin(), heights.end(), height) - heights.begin();
                const auto groups = [&](T length) {
                    return fof(set.view(), LinkingLength::absolute(static_cast<double>(length)), {.box = named.box})
                        .groups;
                };
                EXPECT_EQ(groups(height), set.count() - up_to) << "box " << named.name << ", height " << height;
                if (height > 0) {
                    EXPECT_EQ(groups(std::nextafter(height, T{0})), set.count() - shorter)
                        << "box " << named.name << ", below height " << height;
                }
            }
        }
    });
}

class SpanningTreeCalls : public NeedsDimension<3> {
protected:
    const std::vector<float> points_ = uniform_points<float>(300, 3, 0, 1, 3);
    const PointsView view_{points_, 3};
};

TEST_F(SpanningTreeCalls, SayWhatTheyAreOf) {
    const SpanningTree tree = spanning_tree(view_, {.box = Box::periodic(1)});
    EXPECT_EQ(tree.points(), 300);
    EXPECT_EQ(tree.count(), 299);
    EXPECT_EQ(tree.dtype(), DType::float32);
    EXPECT_EQ(tree.box(), Box::periodic({1.0, 1.0, 1.0}).with_origin(0, 0).with_origin(1, 0).with_origin(2, 0));
    EXPECT_FALSE(tree.stages.empty());
    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"float32"}, [&] { (void)tree.weights<double>(); }));
    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"float32"}, [&] { (void)tree.heights<double>(); }));
}

TEST_F(SpanningTreeCalls, RefuseWhatMeansNothing) {
    const Tree tree(view_);
    std::vector<float> not_finite = points_;
    not_finite[31] = std::numeric_limits<float>::quiet_NaN();
    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"a tree has its own"},
                           [&] { (void)spanning_tree(tree, {.box = Box::periodic(1)}); }));
    EXPECT_TRUE(is_refused(ErrorKind::invalid_points, {"point 10", "NaN"},
                           [&] { (void)spanning_tree(PointsView(not_finite, 3)); }));
    EXPECT_TRUE(
        is_refused(ErrorKind::unsupported, {"CPU only"}, [&] { (void)spanning_tree(view_, {.execution = cuda()}); }));
}

TEST_F(SpanningTreeCalls, CanBeCanceledInAnyStage) {
    for (const Engine engine : {Engine::tree, Engine::brute_force}) {
        const SpanningTree tree = spanning_tree(view_, {.engine = engine});
        ASSERT_FALSE(tree.stages.empty());
        for (const StageReport& stage : tree.stages) {
            const Execution execution = cpu(2, [&](std::string_view now, double) { return now != stage.name; });
            EXPECT_TRUE(is_refused(ErrorKind::canceled, {stage.name}, [&] {
                (void)spanning_tree(view_, {.engine = engine, .execution = execution});
            })) << stage.name;
        }
    }
}

} // namespace
} // namespace kith::test
