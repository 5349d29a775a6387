// The spanning tree of every backend against the oracle: every type, built dimension, point set and box; and of more
// points against all pairs.
#include "mst/conformance.hpp"
#include "oracle/working_copy.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace kith::test {

namespace {

/// Edges whose points differ, but whose squared length has lost digits.
template <class T>
std::int64_t unresolved_edges(const oracle::WorkingCopy<T>& copy, const std::vector<oracle::TreeEdge<T>>& edges) {
    const T* const given = copy.given.data();
    return std::count_if(edges.begin(), edges.end(), [&](const oracle::TreeEdge<T>& edge) {
        return oracle::is_unresolved(copy, given + std::ptrdiff_t{edge.smaller} * copy.dimension,
                                     given + std::ptrdiff_t{edge.larger} * copy.dimension,
                                     oracle::squared_distance(copy, copy.point(edge.smaller), copy.point(edge.larger)));
    });
}

class SpanningTreeConformance : public testing::TestWithParam<Case> {
protected:
    void SetUp() override {
        if (spanning_tree_backends().empty()) {
            GTEST_SKIP() << "there is no device to find the tree on";
        }
    }
};

TEST_P(SpanningTreeConformance, TreesEqualTheOracle) {
    with_type(GetParam().dtype, [&]<class T>(T) {
        const PointSet<T> set = point_set<T>(GetParam().set, GetParam().dimension);
        Random draw(std::accumulate(GetParam().set.begin(), GetParam().set.end(),
                                    static_cast<std::uint64_t>(16 * set.dimension) + sizeof(T)));
        for (const NamedBox& named : set.boxes) {
            if (draw.integer(spanning_tree_effort().one_in) != 0) {
                continue;
            }
            const oracle::WorkingCopy<T> copy = oracle::working_copy<T>(set.coordinates, set.dimension, named.box);
            const auto expected = oracle::spanning_tree(copy);
            const SpanningTree like = spanning_tree(set.view(), {.box = named.box, .execution = cpu(1)});
            for (const SpanningTreeBackend& backend : spanning_tree_backends()) {
                SCOPED_TRACE(backend.name + ", box " + named.name);
                const SpanningTree found = backend.find({set.view(), named.box}, draw);
                EXPECT_EQ(difference(edges_of<T>(found), expected), "");
                EXPECT_EQ(found.unresolved.count, unresolved_edges(copy, expected));
                EXPECT_EQ(found.points(), set.count());
                EXPECT_EQ(found.box(), like.box());
                EXPECT_EQ(found.mean_separation(), like.mean_separation());
                EXPECT_EQ(found.facts().shortest_length, like.facts().shortest_length);
            }
        }
    });
}

INSTANTIATE_TEST_SUITE_P(EveryCase, SpanningTreeConformance, testing::ValuesIn(every_case()), case_name);

class ManyPointsConformance : public NeedsDimension<3> {};

TEST_F(ManyPointsConformance, TreesEqualAllPairs) {
    Random draw(47);
    for (const char* kind : {"halos", "lattice", "crowded places", "two clusters", "one far away", "growing steps"}) {
        const std::vector<float> points = many_points(kind, spanning_tree_effort().points);
        const PointsView view(points, 3);
        for (const Box& box : {Box{}, Box::periodic({0.0, 0.0, 1300.0})}) {
            if (!box.is_open() && (kind == std::string("one far away") || kind == std::string("growing steps"))) {
                continue;
            }
            const auto expected =
                edges_of<float>(spanning_tree(view, {.box = box, .engine = Engine::brute_force, .execution = cpu(1)}));
            for (const SpanningTreeBackend& backend : spanning_tree_backends()) {
                const SpanningTree found = backend.find({view, box}, draw);
                EXPECT_EQ(difference(edges_of<float>(found), expected), "") << kind << ", " << backend.name;
            }
        }
    }
}

} // namespace
} // namespace kith::test
