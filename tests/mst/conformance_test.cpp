// The spanning tree of every backend against the oracle: every type, built dimension, point set and box; and of more
// points against all pairs.
#include "mst/conformance.hpp"
#include "oracle/working_copy.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

namespace kith::test {

std::vector<float> many_points(const std::string& kind, std::int64_t count) {
    Random random(31);
    std::vector<float> points;
    for (std::int64_t i = 0; i < count; ++i) {
        for (std::int64_t axis = 0; axis < 3; ++axis) {
            if (kind == "halos") { // ever denser toward twenty centers
                const auto center = static_cast<double>(i * 7919 % 20);
                points.push_back(static_cast<float>(center + 0.1 * random.normal() * random.uniform()));
            } else if (kind == "lattice") {
                const std::int64_t place = i * 389 % count;
                points.push_back(static_cast<float>((axis == 0 ? place : axis == 1 ? place / 16 : place / 256) % 16));
            } else if (kind == "crowded places") { // runs that fill several leaves, among points of their own
                const bool alone = i % 4 == 0;
                points.push_back(alone ? static_cast<float>(random.uniform(0, 20)) : static_cast<float>(i * 31 % 20));
            } else if (kind == "two clusters") {
                points.push_back(static_cast<float>((i % 2 == 0 ? 0 : 1000) + random.normal()));
            } else if (kind == "one far away") { // squares of most distances vanish beside it
                points.push_back(static_cast<float>(i == 77 ? 1e27 : random.normal() * std::exp(9 * random.normal())));
            } else { // steps that grow: components are few and wait for each other
                points.push_back(axis == 0 ? std::pow(1.01F, static_cast<float>(i * 389 % count)) : 0.0F);
            }
        }
    }
    return points;
}

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
