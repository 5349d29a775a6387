// Neighbors within a radius by every backend against the oracle, bit for bit: every type, built dimension, point set and
// box, among the points themselves and with separate queries, as rows, as counts and through a visitor.
#include "neighbors/radius_conformance.hpp"
#include "support/special_numbers.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

namespace kith::test {
namespace {

/// Radii at which rows are empty, cut in the middle, hold all points; among them distances that occur exactly.
template <class T>
std::vector<double> interesting_radii(const oracle::Neighbors<T>& expected) {
    std::vector<double> radii{0, infinity};
    const oracle::Rows<T> some = expected.rows(9);
    for (const std::size_t i : {some.distances.size() / 3, some.distances.size() / 2}) {
        if (i < some.distances.size() && some.indices[i] >= 0) {
            radii.push_back(static_cast<double>(some.distances[i]));
            radii.push_back(static_cast<double>(some.distances[i]) * 2.2);
        }
    }
    return radii;
}

template <class T>
void expect_answers(const RadiusBackend& backend, const RadiusRequest<T>& request, const oracle::RaggedRows<T>& truth,
                    const std::string& what, Random& draw) {
    const RadiusAnswers<T> found = backend.search(request, draw);
    const std::string which = backend.name + ", " + what + ", exclude_self " +
                              std::to_string(request.options.exclude_self) + ", squared " +
                              std::to_string(request.options.squared) + ", by index " +
                              std::to_string(request.options.order == RowOrder::index);
    EXPECT_EQ(difference(found.rows, truth), "") << which;
    EXPECT_EQ(difference(found.visited, truth), "") << which << ", visited";
    EXPECT_TRUE(found.rows.unresolved == truth.unresolved) << which << ", unresolved";
    EXPECT_TRUE(found.visited.unresolved == truth.unresolved) << which << ", unresolved, visited";
    ASSERT_EQ(std::ssize(found.counts), request.rows()) << which;
    for (std::size_t i = 0; i < found.counts.size(); ++i) {
        ASSERT_EQ(found.counts[i], truth.offsets[i + 1] - truth.offsets[i]) << which << ", count of row " << i;
    }
}

template <class T>
void expect_searches(const std::vector<T>& points, const std::vector<T>* queries, int dimension, const NamedBox& named,
                     Random& draw) {
    const oracle::WorkingCopy<T> copy = oracle::working_copy<T>(points, dimension, named.box);
    const oracle::Neighbors<T> expected =
        queries == nullptr ? oracle::Neighbors<T>(copy) : oracle::Neighbors<T>(copy, std::span<const T>(*queries));
    const PointsView query_view = queries != nullptr ? PointsView(*queries, dimension) : PointsView();
    std::vector<double> some = interesting_radii(expected);
    std::erase_if(some, [&](double radius) { return oracle::is_refused(copy, radius, queries != nullptr); });
    const auto drawn_radius = [&] {
        return some[static_cast<std::size_t>(draw.integer(static_cast<std::int64_t>(some.size())))];
    };
    const std::vector<RadiusBackend> backends = radius_backends();
    for (int i = 0; i < radius_effort().searches; ++i) {
        const bool one_each = draw.integer(3) == 0;
        std::vector<double> radii(static_cast<std::size_t>(expected.row_count()), drawn_radius());
        if (one_each) {
            std::generate(radii.begin(), radii.end(), drawn_radius);
        }
        const double uniform = radii.empty() ? 0 : radii.front();
        const RadiusRequest<T> request{PointsView(points, dimension),
                                       queries != nullptr ? &query_view : nullptr,
                                       one_each ? Radii(radii) : Radii(uniform),
                                       {.box = named.box,
                                        .exclude_self = queries == nullptr && draw.integer(2) == 0,
                                        .squared = draw.integer(2) == 0,
                                        .order = draw.integer(2) == 0 ? RowOrder::distance : RowOrder::index,
                                        .index_type = draw.integer(2) == 0 ? IndexType::int32 : IndexType::int64}};
        const RadiusOptions& options = request.options;
        expect_answers(backends[static_cast<std::size_t>(draw.integer(std::ssize(backends)))], request,
                       expected.within(radii, options.exclude_self, options.squared, options.order),
                       "box " + named.name + ", radius " + (one_each ? "one each" : std::to_string(uniform)), draw);
    }
}

/// The points that come first.
template <class T>
std::vector<T> first_of(std::vector<T> points, int dimension, std::int64_t count) {
    points.resize(std::min(points.size(), static_cast<std::size_t>(count * dimension)));
    return points;
}

class RadiusConformance : public testing::TestWithParam<Case> {
protected:
    void SetUp() override {
        if (radius_backends().empty()) {
            GTEST_SKIP() << "there is no device to search on";
        }
    }
};

TEST_P(RadiusConformance, EqualsTheOracle) {
    with_type(GetParam().dtype, [&]<class T>(T) {
        const PointSet<T> set = point_set<T>(GetParam().set, GetParam().dimension);
        const RadiusEffort effort = radius_effort();
        Random draw(
            std::accumulate(GetParam().set.begin(), GetParam().set.end(), static_cast<std::uint64_t>(set.dimension)));
        for (const NamedBox& named : set.boxes) {
            expect_searches<T>(first_of(set.coordinates, set.dimension, effort.self_points), nullptr, set.dimension,
                               named, draw);
            const std::int64_t count = std::vector<std::int64_t>{0, 3, 9, set.count() / 2 + 40}[draw.integer(4)];
            const std::vector<T> queries = queries_for(set, named.box, std::min(count, effort.queries));
            expect_searches<T>(first_of(set.coordinates, set.dimension, effort.points), &queries, set.dimension, named,
                               draw);
        }
    });
}

INSTANTIATE_TEST_SUITE_P(EveryCase, RadiusConformance, testing::ValuesIn(every_case()), case_name);

// Rows longer than one sort takes: that in registers on the CPU, that in shared memory on a GPU. On the grid most
// distances are alike, of coincident points all.
class LongRows : public NeedsDimension<3> {
protected:
    template <class T>
    static void expect_rows(const std::vector<T>& points) {
        constexpr int dimension = 3;
        const bool self_search = std::ssize(points) / dimension <= radius_effort().self_points;
        const std::vector<T> queries = first_of(points, dimension, radius_effort().queries);
        const oracle::WorkingCopy<T> copy = oracle::working_copy<T>(points, dimension, Box{});
        const oracle::Neighbors<T> expected =
            self_search ? oracle::Neighbors<T>(copy) : oracle::Neighbors<T>(copy, std::span<const T>(queries));
        const PointsView query_view(queries, dimension);
        Random draw(7);
        for (const double radius : {0.6, infinity}) {
            for (const RowOrder order : {RowOrder::distance, RowOrder::index}) {
                const std::vector<double> radii(static_cast<std::size_t>(expected.row_count()), radius);
                const oracle::RaggedRows<T> truth = expected.within(radii, false, false, order);
                const RadiusRequest<T> request{
                    PointsView(points, dimension), self_search ? nullptr : &query_view, radius, {.order = order}};
                for (const RadiusBackend& backend : radius_backends()) {
                    expect_answers<T>(backend, request, truth, "radius " + std::to_string(radius), draw);
                }
            }
        }
    }
};

TEST_F(LongRows, EqualTheOracle) {
    std::vector<float> grid = uniform_points<float>(1100, 3, 0, 1, 5);
    std::transform(grid.begin(), grid.end(), grid.begin(), [](float x) { return std::round(8 * x) / 8; });
    expect_rows(grid);
    expect_rows(uniform_points<float>(1100, 3, 0, 1, 5));
    expect_rows(uniform_points<double>(1100, 3, 0, 1, 6));
    expect_rows(std::vector<float>(std::size_t{3} * 1200, 0.5F));
    expect_rows(std::vector<double>(std::size_t{3} * 1030, 0.5));
}

} // namespace
} // namespace kith::test
