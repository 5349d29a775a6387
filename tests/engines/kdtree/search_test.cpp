// Searches of left-balanced trees against the oracle, bit for bit: every traversal, list of candidates and box.
#include "engines/kdtree/plain_build.hpp"
#include "oracle/neighbors.hpp"
#include "support/cases.hpp"

#include <kith/device/kdtree.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

namespace kith::test {
namespace {

using kdtree::Node;
using kdtree::Split;
using kdtree::Traversal;

template <class Body>
void with_every_traversal(const Body& body) {
    body(std::integral_constant<Traversal, Traversal::stack_free>{});
    body(std::integral_constant<Traversal, Traversal::stack>{});
    body(std::integral_constant<Traversal, Traversal::closest_corner>{});
}

template <class T, int D>
kdtree::Position<T, D> position_at(const T* coordinates) {
    kdtree::Position<T, D> position;
    std::copy_n(coordinates, D, position.x);
    return position;
}

template <class T, class List>
void append_row(const oracle::WorkingCopy<T>& copy, const List& list, std::int64_t k, oracle::Rows<T>& rows) {
    for (std::int64_t i = 0; i < k; ++i) {
        const bool found = i < list.size();
        rows.indices.push_back(found ? list[static_cast<int>(i)].index : -1);
        rows.distances.push_back(found
                                     ? std::ldexp(std::sqrt(list[static_cast<int>(i)].squared_distance), -copy.exponent)
                                     : std::numeric_limits<T>::infinity());
    }
}

/// Every list of candidates with one traversal, against the oracle.
template <Traversal method, class View, class T>
void compare_searches(const View& view, const oracle::WorkingCopy<T>& copy, const std::vector<T>& queries,
                      const oracle::Neighbors<T>& expected) {
    constexpr int D = View::dimension;
    const auto count = static_cast<std::int64_t>(view.count);
    const std::int64_t long_k = std::min<std::int64_t>(count + 3, 40);
    oracle::Rows<T> closest;
    oracle::Rows<T> five;
    oracle::Rows<T> many;
    std::vector<kdtree::Neighbor<T>> memory(static_cast<std::size_t>(long_k));
    std::vector<double> radii;
    std::vector<std::int64_t> counts;
    std::vector<std::int64_t> within_radii; // original indices, row by row
    for (std::size_t i = 0; i < queries.size(); i += D) {
        const auto query = position_at<T, D>(&queries[i]);
        kdtree::Closest<T> one;
        kdtree::search<method>(view, query, one);
        append_row(copy, one, 1, closest);
        kdtree::Nearest<T, 5> few;
        kdtree::search<method>(view, query, few);
        append_row(copy, few, 5, five);
        kdtree::NearestHeap<T> heap(memory.data(), long_k);
        kdtree::search<method>(view, query, heap);
        heap.sort();
        append_row(copy, heap, long_k, many);
        // As far as the third: often exactly at the edge.
        const T radius = few.size() > 2 ? std::sqrt(few[2].squared_distance) : T(0);
        radii.push_back(std::ldexp(static_cast<double>(radius), -copy.exponent));
        const kdtree::SquaredRadius<T> limit{oracle::squared_radius(copy, radii.back())};
        kdtree::CountWithin within(limit);
        kdtree::search<method>(view, query, within);
        counts.push_back(within.count());
        std::vector<std::pair<T, std::int32_t>> row;
        const auto note = [&](T squared, std::int32_t index, Node) { row.emplace_back(squared, index); };
        kdtree::WithinRadius visited(limit, note);
        kdtree::search<method>(view, query, visited);
        std::sort(row.begin(), row.end());
        for (const auto& [squared, index] : row) {
            within_radii.push_back(index);
        }
    }
    EXPECT_TRUE(same_rows(closest, expected.rows(1), 1));
    EXPECT_TRUE(same_rows(five, expected.rows(5), 5));
    EXPECT_TRUE(same_rows(many, expected.rows(long_k), long_k));
    const oracle::RaggedRows<T> expected_within = expected.within(radii, false, false, RowOrder::distance);
    for (std::size_t i = 0; i < counts.size(); ++i) {
        EXPECT_EQ(counts[i], expected_within.offsets[i + 1] - expected_within.offsets[i]) << "query " << i;
    }
    EXPECT_EQ(within_radii, expected_within.indices);
}

template <class T, int D>
void compare_with_oracle(const PointSet<T>& set) {
    for (const NamedBox& named : set.boxes) {
        SCOPED_TRACE(named.name);
        const oracle::WorkingCopy<T> copy = oracle::working_copy<T>(set.coordinates, D, named.box);
        const std::vector<T> given = queries_for(set, named.box, 20);
        const std::vector<T> queries = oracle::normalized_queries<T>(copy, given);
        const oracle::Neighbors<T> expected(copy, given);
        for (const Split split : {Split::cyclic, Split::widest}) {
            const BuiltTree<std::array<T, D>> tree(arrays_of<T, D>(copy.points), split);
            auto view = tree.view();
            std::copy_n(copy.period.begin(), D, view.periods.x);
            with_every_traversal([&]<Traversal method>(std::integral_constant<Traversal, method>) {
                compare_searches<method>(view, copy, queries, expected);
            });
        }
    }
}

class KdTreeSearch : public testing::TestWithParam<Case> {};

TEST_P(KdTreeSearch, FindsWhatTheOracleFinds) {
    with_type(GetParam().dtype, [&]<class T>(T) {
        const PointSet<T> set = point_set<T>(GetParam().set, GetParam().dimension);
        switch (set.dimension) {
        case 2:
            return compare_with_oracle<T, 2>(set);
        case 3:
            return compare_with_oracle<T, 3>(set);
        default:
            return compare_with_oracle<T, 6>(set);
        }
    });
}

INSTANTIATE_TEST_SUITE_P(In2D, KdTreeSearch, testing::ValuesIn(every_case_in(2)), case_name);
INSTANTIATE_TEST_SUITE_P(In3D, KdTreeSearch, testing::ValuesIn(every_case_in(3)), case_name);
INSTANTIATE_TEST_SUITE_P(In6D, KdTreeSearch, testing::ValuesIn(every_case_in(6)), case_name);

// The header depends on no dimension that is built.
TEST(KdTreeSearches, InOtherDimensions) {
    for (const char* name : {"clustered", "lattice", "far_outlier"}) {
        SCOPED_TRACE(name);
        compare_with_oracle<double, 5>(point_set<double>(name, 5));
        compare_with_oracle<float, 8>(point_set<float>(name, 8));
    }
}

// Near opposite faces, distances round as L - t.
TEST(KdTreeSearches, AcrossTheFacesOfABox) {
    Random random(8);
    std::vector<float> points;
    for (int i = 0; i < 3 * 400; ++i) {
        const double inward = random.uniform(0, 1e-6);
        const double x = random.integer(4) == 0 ? random.uniform() : (random.integer(2) == 0 ? inward : 1 - inward);
        points.push_back(static_cast<float>(x));
    }
    PointSet<float> set{"faces", 3, points, {{"periodic", Box::periodic(1)}}};
    compare_with_oracle<float, 3>(set);
}

/// A node's coordinates, and how many were read.
struct CountedNodes {
    using Scalar = float;
    static constexpr int dimension = 3;
    const std::array<float, 3>* points;
    std::int64_t* reads;
    float operator()(Node node, int axis) const {
        ++*reads;
        return points[node][static_cast<std::size_t>(axis)];
    }
};

// With the smallest index of each subtree, a run of coincident points costs little. Only the distance to a closest
// corner tells that a run beside the query is as far as its first point.
void expect_few_visits(std::vector<std::array<float, 3>> points, std::int32_t first_index) {
    const BuiltTree<std::array<float, 3>> tree(std::move(points), Split::widest);
    std::int64_t reads = 0;
    kdtree::TreeView<CountedNodes> view{{tree.nodes.data(), &reads},
                                        static_cast<Node>(tree.nodes.size()),
                                        tree.bounds,
                                        tree.indices.data(),
                                        tree.split_axes.data(),
                                        tree.least_indices.data()};
    for (const float period : {0.0F, 1.0F}) {
        view.periods = {{period, period, period}};
        for (const float x : {0.5F, 0.499F, 0.501F}) {
            for (const float y : {0.5F, 0.4995F, 0.5005F}) {
                with_every_traversal([&]<Traversal method>(std::integral_constant<Traversal, method>) {
                    reads = 0;
                    kdtree::Nearest<float, 20> found;
                    kdtree::search<method>(view, {{x, y, 0.5F}}, found);
                    for (int i = 0; i < 20; ++i) {
                        EXPECT_EQ(found[i].index, first_index + i);
                    }
                    if (method == Traversal::closest_corner || (x == 0.5F && y == 0.5F)) {
                        EXPECT_LT(reads, 10000) << static_cast<int>(method) << " from " << x << ", " << y;
                    }
                });
            }
        }
    }
}

TEST(KdTreeSearches, OfCoincidentPointsVisitFew) {
    std::vector<std::array<float, 3>> points(100000, {0.5F, 0.5F, 0.5F});
    expect_few_visits(points, 0);
    const auto others = arrays_of<float, 3>(uniform_points<float>(1000, 3, 0, 1, 12));
    points.insert(points.begin(), others.begin(), others.end());
    expect_few_visits(points, 1000);
}

struct Photon {
    float power;
    std::int32_t position[2];
};

} // namespace
} // namespace kith::test

template <>
struct kith::kdtree::PointTraits<kith::test::Photon> {
    using Scalar = std::int32_t;
    static constexpr int dimension = 2;
    static std::int32_t coordinate(const kith::test::Photon& photon, int axis) { return photon.position[axis]; }
};

namespace kith::test {
namespace {

// Structs with payload and integer coordinates: differences as large as the type's range are exact in double.
TEST(KdTreeSearches, OfStructsWithIntegers) {
    Random random(9);
    std::vector<Photon> photons;
    for (int i = 0; i < 500; ++i) {
        const auto coordinate = [&] {
            return static_cast<std::int32_t>(random.integer(2) == 0 ? random.uniform(0, 8)
                                                                    : random.uniform(-2147483648.0, 2147483647.0));
        };
        const std::int32_t x = coordinate();
        photons.push_back({static_cast<float>(i), {x, coordinate()}});
    }
    const BuiltTree<Photon> tree(photons, Split::widest_box);
    const auto view = tree.view();
    for (std::size_t i = 0; i < photons.size(); i += 7) {
        std::vector<std::tuple<double, std::int32_t>> expected;
        for (std::size_t j = 0; j < photons.size(); ++j) {
            const double dx = static_cast<double>(photons[i].position[0]) - photons[j].position[0];
            const double dy = static_cast<double>(photons[i].position[1]) - photons[j].position[1];
            if (j != i) {
                expected.emplace_back(std::fma(dy, dy, dx * dx), static_cast<std::int32_t>(j));
            }
        }
        std::sort(expected.begin(), expected.end());
        kdtree::Nearest<double, 4> nearest;
        kdtree::Except others(nearest, static_cast<std::int32_t>(i));
        kdtree::search(view, kdtree::position_of(photons[i]), others);
        for (int j = 0; j < 4; ++j) {
            EXPECT_EQ(std::tuple(nearest[j].squared_distance, nearest[j].index), expected[static_cast<std::size_t>(j)]);
            EXPECT_EQ(tree.nodes[nearest[j].node].power, static_cast<float>(nearest[j].index));
        }
    }
}

TEST(KdTreeSearches, OfSeparateArraysOnALine) {
    const BuiltTree<std::array<double, 1>> tree({{5}, {1}, {4}, {2}, {2}}, Split::cyclic);
    const std::vector<std::array<double, 1>>& nodes = tree.nodes;
    std::vector<double> line;
    for (const std::array<double, 1>& node : nodes) {
        line.push_back(node[0]);
    }
    kdtree::TreeView<kdtree::ArrayNodes<double, 1>> view{{line.data(), 5}, 5, tree.bounds, tree.indices.data()};
    with_every_traversal([&]<Traversal method>(std::integral_constant<Traversal, method>) {
        std::vector<std::int32_t> met;
        const auto note = [&](double squared, std::int32_t index, Node node) {
            EXPECT_EQ(squared, (line[node] - 3) * (line[node] - 3));
            met.push_back(index);
        };
        kdtree::WithinRadius within(kdtree::squared_radius<double>(1), note);
        kdtree::search<method>(view, {{3}}, within);
        std::sort(met.begin(), met.end());
        EXPECT_EQ(met, (std::vector<std::int32_t>{2, 3, 4}));
        const auto stop = [&](double, std::int32_t, Node) {
            met.clear();
            return false;
        };
        kdtree::WithinRadius first(kdtree::squared_radius<double>(10), stop);
        met = {1};
        kdtree::search<method>(view, {{3}}, first);
        EXPECT_TRUE(met.empty());
    });
}

TEST(KdTreeSearches, WithoutIndicesNameNodes) {
    BuiltTree<std::array<float, 2>> tree(arrays_of<float, 2>(uniform_points<float>(200, 2, 0, 1, 3)), Split::cyclic);
    const auto plain = kdtree::view_of(tree.nodes.data(), 200, tree.bounds);
    kdtree::Nearest<float, 3> nearest(kdtree::squared_radius<float>(0.1));
    kdtree::search(plain, kdtree::position_of(tree.nodes[17]), nearest);
    ASSERT_GE(nearest.size(), 1);
    EXPECT_EQ(nearest[0].index, 17);
    EXPECT_EQ(nearest[0].node, 17U);
    kdtree::Nearest<float, 3> none(kdtree::squared_radius<float>(0.1));
    kdtree::search(plain, {{5, 5}}, none);
    EXPECT_EQ(none.size(), 0);
}

TEST(KdTreeSearches, SquareRadiiAsRadiusSearchDoes) {
    // Neighbors along an axis of this lattice are at 0.05, five steps away, up to rounding.
    std::vector<std::array<float, 3>> points;
    for (int i = 0; i < 12 * 12 * 12; ++i) {
        points.push_back({0.01F * static_cast<float>(i % 12), 0.01F * static_cast<float>(i / 12 % 12),
                          0.01F * static_cast<float>(i / 144)});
    }
    const double radius = 0.05;
    const std::vector<std::int64_t> expected = radius_count(points, radius).counts;
    const BuiltTree<std::array<float, 3>> tree(points, Split::cyclic);
    std::int64_t other = 0; // counts with the square of the number that was not rounded
    for (std::size_t i = 0; i < points.size(); ++i) {
        const auto query = kdtree::position_of(points[i]);
        kdtree::CountWithin within(kdtree::squared_radius<float>(radius));
        kdtree::search(tree.view(), query, within);
        ASSERT_EQ(within.count(), expected[i]) << "query " << i;
        kdtree::CountWithin unrounded(kdtree::SquaredRadius<float>{static_cast<float>(radius * radius)});
        kdtree::search(tree.view(), query, unrounded);
        other += unrounded.count() != expected[i] ? 1 : 0;
    }
    EXPECT_GT(other, 0); // the test can fail
}

} // namespace
} // namespace kith::test
