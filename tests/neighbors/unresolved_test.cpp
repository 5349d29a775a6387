// Rows that a placeholder, far from all other points, leaves unresolved: counted by every call, and said; and what such
// a point leaves alone. The conformance suites hold the numbers of such rows against the oracle on every point set.
#include "support/cases.hpp"

#include <kith/kith.hpp>

#include <gtest/gtest.h>

#include <span>
#include <string>
#include <vector>

namespace kith::test {
namespace {

/// Points of order one, one of which is a placeholder.
template <class T>
class WithPlaceholder {
public:
    explicit WithPlaceholder(T placeholder) : points_(uniform_points<T>(300, 3, -1, 1, 61)) {
        points_[3 * 17 + 1] = placeholder;
    }
    [[nodiscard]] PointsView view() const { return {points_, 3}; }
    [[nodiscard]] const std::vector<T>& points() const { return points_; }
    [[nodiscard]] oracle::Rows<T> expected(std::int64_t k) const {
        return oracle::Neighbors<T>(oracle::working_copy<T>(points_, 3)).rows(k);
    }

private:
    std::vector<T> points_;
};

void expect_all_but_the_placeholder(const UnresolvedRows& found) {
    EXPECT_EQ(found.rows, 299);
    EXPECT_EQ(found.first_query, 0);
    EXPECT_EQ(found.farthest_point, 17);
    EXPECT_EQ(found.axis, 1);
    EXPECT_EQ(found.value, static_cast<double>(-1e37F));
    EXPECT_EQ(found.dtype, DType::float32);
}

using Unresolved = NeedsDimension<3>;

TEST_F(Unresolved, RowsAreCountedByEveryCall) {
    const WithPlaceholder<float> set(-1e37F);
    const PointsView view = set.view();
    for (const Engine engine : knn_engines()) {
        const Tree tree(view, {.engine = engine});
        const KnnOptions options{.engine = engine};
        EXPECT_TRUE(same_rows<float>(knn(view, 3, options), set.expected(3)));
        expect_all_but_the_placeholder(knn(view, 3, options).unresolved);
        expect_all_but_the_placeholder(knn(tree, 3, options).unresolved);
        expect_all_but_the_placeholder(knn(tree, view, 3, options).unresolved);
        expect_all_but_the_placeholder(knn_visit([](const NeighborBlock&) {}, view, 3, options).unresolved);
    }
    for (const Engine engine : radius_engines()) {
        const Tree tree(view, {.engine = engine});
        expect_all_but_the_placeholder(radius_search(view, 1e30, {.engine = engine}).unresolved);
        expect_all_but_the_placeholder(radius_visit([](const RadiusBlock&) {}, tree, 1e30).unresolved);
    }
    const Tree tree(view, {.engine = Engine::clover, .clover = {.form = CloverForm::flat, .hubs = 7}});
    expect_all_but_the_placeholder(knn(tree, 3).unresolved);
    std::vector<float> distances(300 * 3);
    const NeighborRows only_distances{std::span<std::int32_t>(), std::span(distances)};
    expect_all_but_the_placeholder(knn_into(only_distances, view, 3).unresolved);
    expect_all_but_the_placeholder(knn_into(NeighborRows(), Tree(view), 3).unresolved);
}

TEST_F(Unresolved, FewQueriesAreCounted) {
    const WithPlaceholder<float> set(1e37F);
    const Tree tree(set.view());
    const std::vector<float> queries{0.5F, 0.5F, 1e37F, 0.5F, 0.5F, 0.5F};
    const UnresolvedRows found = knn(tree, PointsView(queries, 3), 2, {.execution = cpu(1)}).unresolved;
    EXPECT_EQ(found.rows, 1);
    EXPECT_EQ(found.first_query, 1);
    EXPECT_EQ(found.farthest_point, 17);
    // Coordinates of queries alone may be the reason.
    const std::vector<float> sources{0, 0, 0, 1, 1, 1};
    const std::vector<float> tiny{1e-35F, 0, 0};
    for (const Engine engine : knn_engines()) {
        for (const CloverForm form : {CloverForm::hierarchical, CloverForm::flat}) {
            const CloverOptions clover{.form = engine == Engine::clover ? form : CloverForm::hierarchical};
            const Tree of_sources(PointsView(sources, 3), {.engine = engine, .clover = clover});
            EXPECT_EQ(knn(of_sources, PointsView(tiny, 3), 1).unresolved.rows, 1) << name_of(engine);
            EXPECT_EQ(knn(of_sources, PointsView(sources, 3), 1).unresolved.rows, 0) << name_of(engine);
        }
    }
}

// What scaling makes equal is told apart by the points as given, which a kept tree remembers.
TEST_F(Unresolved, PointsThatScalingMakesEqual) {
    const float smallest = std::numeric_limits<float>::denorm_min();
    const std::vector<float> points{0, 0, 0, smallest, 0, 0, 0, 0, 0, 1e38F, 0, 0};
    const auto expect_three = [](const KnnResult& found) {
        EXPECT_EQ(found.unresolved.rows, 3) << name_of(found.engine);
        EXPECT_EQ(found.distances<float>()[1], 0);
    };
    expect_three(knn(PointsView(points, 3), 3));
    for (const Engine engine : knn_engines()) {
        expect_three(knn(Tree(PointsView(points, 3), {.engine = engine}), 3));
    }
}

TEST_F(Unresolved, APeriodCanBeTheReason) {
    const std::vector<float> points{0, 0, 0, 1e-6F, 0, 0};
    const UnresolvedRows found = knn(PointsView(points, 3), 2, {.box = Box::periodic(1e30)}).unresolved;
    EXPECT_EQ(found.rows, 2);
    EXPECT_EQ(found.farthest_point, -1);
    EXPECT_EQ(found.value, static_cast<double>(1e30F));
    EXPECT_NE(found.warning().find("the largest coordinate or period, 1e+30"), std::string::npos) << found.warning();
}

TEST_F(Unresolved, TheWarningNamesThePointAndTheRemedy) {
    const std::string text = knn(WithPlaceholder<float>(-1e37F).view(), 3).unresolved.warning();
    for (const char* part :
         {"299 queries", "coordinate 1 of point 17", "-1e+37", "query 0", "placeholder", "float64"}) {
        EXPECT_NE(text.find(part), std::string::npos) << text;
    }
    EXPECT_EQ(UnresolvedRows{}.warning(), "");
}

TEST_F(Unresolved, NothingIsWhereDistancesAreResolved) {
    EXPECT_EQ(knn(WithPlaceholder<double>(-1e37).view(), 3).unresolved.rows, 0);
    const WithPlaceholder<float> set(1e30F); // those nearer than 5e-4 would be unresolved
    const KnnResult found = knn(set.view(), 3);
    EXPECT_EQ(found.unresolved.rows, 0);
    EXPECT_TRUE(same_rows<float>(found, set.expected(3)));
    EXPECT_EQ(knn(WithPlaceholder<float>(0.5F).view(), 3).unresolved.rows, 0);
}

// Up to 2^62 in working units, in which the largest coordinate is below 2^48.
TEST_F(Unresolved, QueriesMayLie16384TimesFartherOut) {
    const std::vector<float> points{-1, 0, 0, 0.5F, 0.75F, 0.25F};
    const Tree tree(PointsView(points, 3));
    const std::vector<float> far{0x1.fp14F, -0x1.fp14F, 0x1.fp14F};
    for (const Engine engine : knn_engines()) {
        const KnnResult found = knn(PointsView(points, 3), PointsView(far, 3), 2, {.engine = engine});
        EXPECT_TRUE(same_rows<float>(
            found,
            oracle::Neighbors<float>(oracle::working_copy<float>(points, 3), std::span<const float>(far)).rows(2)));
    }
    EXPECT_EQ(knn(tree, PointsView(far, 3), 1).row(0)[0].index, 1);
    const std::vector<float> too_far{0x1p15F, 0, 0};
    EXPECT_TRUE(is_refused(ErrorKind::invalid_points, {"point 0", "32768", "coordinate 0"},
                           [&] { (void)knn(tree, PointsView(too_far, 3), 1); }));
}

TEST_F(Unresolved, RadiiThatVanishAreRefused) {
    const WithPlaceholder<float> set(1e37F);
    const PointsView view = set.view();
    const Tree tree(view);
    const auto refused = [](const std::vector<std::string>& parts, const auto& call) {
        EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, parts, call));
    };
    const std::vector<std::string> parts{"the radius is 1000", "coordinate 1 of point 17", "1e+37", "placeholder",
                                         "float64"};
    refused(parts, [&] { (void)radius_search(view, 1e3); });
    refused(parts, [&] { (void)radius_count(tree, 1e3); });
    refused(parts, [&] { radius_visit([](const RadiusBlock&) {}, tree, view, 1e3); });
    std::vector<float> radii(300, 1e30F);
    radii[5] = 0;
    radii[6] = 2;
    refused({"the radius of query 6 is 2"}, [&] { (void)radius_count(view, radii); });
    EXPECT_GT(radius_count(view, 0.0).counts[3], 1); // it takes what has d2 = 0
    EXPECT_EQ(radius_count(view, 1e5).counts[3], 299);
    const std::vector<float> zeros(9, 0.0F);
    EXPECT_EQ(radius_count(PointsView(zeros, 3), 1e-30).counts[0], 3); // all in one place
    const std::vector<float> queries{1e-25F, 0, 0};
    refused({"the radius is 1e-30"}, [&] { (void)radius_count(PointsView(zeros, 3), PointsView(queries, 3), 1e-30); });
    EXPECT_EQ(radius_count(PointsView(std::span<const float>(), 3), PointsView(queries, 3), 1e-30).counts[0], 0);
}

} // namespace
} // namespace kith::test
