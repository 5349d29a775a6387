// Neighbor searches of every backend against the oracle, bit for bit: every type, built dimension, point set and box,
// every interesting k, among the points themselves and with separate queries.
//
// The other options (the point itself, largest distance, squared, index width) are drawn afresh for each search from a
// fixed stream, so that over the suite they meet each other and everything else.
#include "neighbors/conformance.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

namespace kith::test {
namespace {

std::vector<std::int64_t> interesting_k(std::int64_t count, bool self, std::int64_t box, Random& draw) {
    // All neighbors, or more: in every other box, because these rows take the longest.
    std::vector<std::int64_t> values = self ? std::vector<std::int64_t>{1, 7, 16, 33, 64, 100, count + 3 * (box % 2)}
                                            : std::vector<std::int64_t>{1, 16, 50, count + 2};
    std::erase(values, 0);
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
    if (!knn_effort().every_k) {
        values = {values[static_cast<std::size_t>(draw.integer(static_cast<std::int64_t>(values.size())))]};
    }
    return values;
}

// None, all neighbors, and lengths at which rows are cut in the middle; among them distances that occur exactly.
template <class T>
std::vector<double> interesting_distances(const oracle::Neighbors<T>& expected) {
    std::vector<double> values{0, std::numeric_limits<double>::infinity()};
    const oracle::Rows<T> some = expected.rows(8);
    for (const std::size_t i : {some.distances.size() / 3, some.distances.size() / 2}) {
        if (i < some.distances.size() && some.indices[i] >= 0) {
            values.push_back(static_cast<double>(some.distances[i]));
            values.push_back(static_cast<double>(some.distances[i]) * 1.1);
        }
    }
    return values;
}

KnnOptions drawn_options(bool self, const std::vector<double>& distances, Random& draw) {
    KnnOptions options{.exclude_self = self && draw.integer(2) == 0,
                       .squared = draw.integer(2) == 0,
                       .index_type = draw.integer(2) == 0 ? IndexType::int32 : IndexType::int64};
    if (draw.integer(2) == 0) {
        options.max_distance =
            distances[static_cast<std::size_t>(draw.integer(static_cast<std::int64_t>(distances.size())))];
    }
    return options;
}

/// The points of a set that come first.
template <class T>
std::vector<T> first_of(const PointSet<T>& set, std::int64_t count) {
    std::vector<T> points = set.coordinates;
    points.resize(static_cast<std::size_t>(std::min(count, set.count()) * set.dimension));
    return points;
}

template <class T>
void expect_searches(const std::vector<T>& points, const std::vector<T>* queries, const PointSet<T>& set,
                     std::int64_t box, Random& draw) {
    const int dimension = set.dimension;
    const NamedBox& named = set.boxes[static_cast<std::size_t>(box)];
    const oracle::WorkingCopy<T> copy = oracle::working_copy<T>(points, dimension, named.box);
    const oracle::Neighbors<T> expected =
        queries == nullptr ? oracle::Neighbors<T>(copy) : oracle::Neighbors<T>(copy, std::span<const T>(*queries));
    const std::vector<double> distances = interesting_distances(expected);
    const PointsView queries_view = queries != nullptr ? PointsView(*queries, dimension) : PointsView();
    KnnRequest<T> request{PointsView(points, dimension), queries != nullptr ? &queries_view : nullptr};
    for (const std::int64_t k : interesting_k(request.points.count(), queries == nullptr, box, draw)) {
        for (const KnnBackend& backend : knn_backends()) {
            if (draw.integer(backend.one_in) != 0) {
                continue;
            }
            request.k = k;
            request.options = drawn_options(queries == nullptr, distances, draw);
            request.options.box = named.box;
            EXPECT_TRUE(same_rows<T>(backend.search(request, draw), expected.rows(k, request.options), k))
                << backend.name << ", box " << named.name << ", k " << k << ", "
                << (queries == nullptr ? "self-search" : std::to_string(request.rows()) + " queries")
                << ", exclude_self " << request.options.exclude_self << ", max_distance "
                << request.options.max_distance << ", squared " << request.options.squared;
        }
    }
}

// Other searches for other sets.
Random drawn_for(const Case& named) {
    return Random(std::accumulate(named.set.begin(), named.set.end(), static_cast<std::uint64_t>(named.dimension)));
}

class KnnConformance : public testing::TestWithParam<Case> {
protected:
    void SetUp() override {
        if (knn_backends().empty()) {
            GTEST_SKIP() << "there is no device to search on";
        }
    }
};

TEST_P(KnnConformance, SelfSearchEqualsTheOracle) {
    with_type(GetParam().dtype, [&]<class T>(T) {
        const PointSet<T> set = point_set<T>(GetParam().set, GetParam().dimension);
        const std::vector<T> points = first_of(set, knn_effort().self_points);
        Random draw = drawn_for(GetParam());
        for (std::int64_t box = 0; box < std::ssize(set.boxes); ++box) {
            expect_searches<T>(points, nullptr, set, box, draw);
        }
    });
}

// Few queries in many sources, many in few, none, and queries far outside the box, which are wrapped.
TEST_P(KnnConformance, SeparateQueriesEqualTheOracle) {
    with_type(GetParam().dtype, [&]<class T>(T) {
        const PointSet<T> set = point_set<T>(GetParam().set, GetParam().dimension);
        const std::vector<T> points = first_of(set, knn_effort().points);
        Random draw = drawn_for(GetParam());
        for (std::int64_t box = 0; box < std::ssize(set.boxes); ++box) {
            const Box& of_points = set.boxes[static_cast<std::size_t>(box)].box;
            std::vector<std::int64_t> counts{0, 3, set.count() / 2 + 40};
            if (!knn_effort().every_k) {
                counts = {counts[static_cast<std::size_t>(draw.integer(3))]};
            }
            for (const std::int64_t count : counts) {
                const std::vector<T> queries = queries_for(set, of_points, std::min(count, knn_effort().queries));
                expect_searches<T>(points, &queries, set, box, draw);
            }
        }
    });
}

INSTANTIATE_TEST_SUITE_P(EveryCase, KnnConformance, testing::ValuesIn(every_case()), case_name);

} // namespace
} // namespace kith::test
