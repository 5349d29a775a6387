// Points and boxes that cannot be used are refused before any work starts, with the first offending point and value.
#include "support/cases.hpp"
#include "support/special_numbers.hpp"

#include <kith/kith.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace kith::test {
namespace {

// By every way in: a tree, a search without one, groups.
testing::AssertionResult is_refused_everywhere(ErrorKind kind, const std::vector<std::string>& parts,
                                               const PointsView& points, const Box& box = {}) {
    std::vector<testing::AssertionResult> results{
        is_refused(kind, parts, [&] { const Tree tree(points, {.box = box}); })};
    for (const Engine engine : {Engine::tree, Engine::brute_force, Engine::automatic}) {
        results.push_back(is_refused(kind, parts, [&] { (void)knn(points, 1, {.box = box, .engine = engine}); }));
        results.push_back(is_refused(
            kind, parts, [&] { (void)fof(points, LinkingLength::absolute(1), {.box = box, .engine = engine}); }));
    }
    for (const testing::AssertionResult& result : results) {
        if (!result) {
            return result;
        }
    }
    return testing::AssertionSuccess();
}

class Refused : public NeedsDimension<3> {
protected:
    std::vector<double> points = uniform_points<double>(40, 3, 0, 1, 171);
    [[nodiscard]] PointsView view() const { return {points, 3}; }
};

TEST_F(Refused, NotANumber) {
    points[3 * 17 + 1] = nan;
    points[3 * 20] = nan;
    EXPECT_TRUE(is_refused_everywhere(ErrorKind::invalid_points, {"point 17", "NaN", "coordinate 1"}, view()));
}

TEST_F(Refused, Infinity) {
    points[3 * 5 + 2] = -infinity;
    points[3 * 6] = nan;
    EXPECT_TRUE(is_refused_everywhere(ErrorKind::invalid_points, {"point 5", "-inf", "coordinate 2"}, view()));
}

TEST_F(Refused, TheFirstOffenderIsNamedWhateverTheThreads) {
    std::vector<float> many(300000 * 3, 0.5F);
    many[3 * 123456] = std::numeric_limits<float>::quiet_NaN();
    many[3 * 299999 + 2] = std::numeric_limits<float>::infinity();
    for (const int threads : {1, 2, 7}) {
        EXPECT_TRUE(is_refused(ErrorKind::invalid_points, {"point 123456", "NaN"},
                               [&] { const Tree tree(PointsView(many, 3), {.execution = cpu(threads)}); }));
    }
}

/// What a program reads instead of the text.
template <class Call>
ErrorDetails details_of(const Call& call) {
    try {
        call();
    } catch (const Error& error) {
        return error.details();
    }
    ADD_FAILURE() << "nothing was thrown";
    return {};
}

TEST_F(Refused, WithDetailsForPrograms) {
    std::vector<float> stars = uniform_points<float>(100, 3, 0, 1, 3);
    const PointsView all(stars, 3);
    const ErrorDetails wide = details_of([&] { (void)knn(all, 1, {.box = Box::periodic({0.0, 0.25, 0.0})}); });
    EXPECT_FALSE(wide.point);
    EXPECT_EQ(wide.axis, 1);
    EXPECT_GT(wide.value, 0.5);
    EXPECT_EQ(wide.limit, 0.25);
    std::vector<double> radii(100, 0.1);
    radii[70] = -2;
    const ErrorDetails radius = details_of([&] { (void)radius_count(all, radii); });
    EXPECT_EQ(radius.point, 70);
    EXPECT_EQ(radius.value, -2);
    const ErrorDetails period = details_of([&] { (void)Tree(all, {.box = Box::periodic(-3)}); });
    EXPECT_EQ(period.axis, 0);
    EXPECT_EQ(period.value, -3);
    stars[3 * 17 + 2] = -std::numeric_limits<float>::infinity();
    const ErrorDetails infinite = details_of([&] { (void)fof(all, LinkingLength::absolute(0.1)); });
    EXPECT_EQ(infinite.point, 17);
    EXPECT_EQ(infinite.axis, 2);
    EXPECT_EQ(infinite.value, -std::numeric_limits<double>::infinity());
    EXPECT_FALSE(infinite.limit || infinite.rank);
    stars[3 * 17 + 2] = 1e37F;
    const ErrorDetails tiny = details_of([&] { (void)dbscan(all, 1e-3, 2); });
    EXPECT_EQ(tiny.point, 17);
    EXPECT_EQ(tiny.axis, 2);
    EXPECT_EQ(tiny.value, 1e-3);
    EXPECT_EQ(tiny.limit, static_cast<double>(1e37F));
    EXPECT_EQ(details_of([&] { (void)knn(all, 0); }).value, 0);
    EXPECT_EQ(details_of([&] { (void)knn(all, 1, {.max_distance = -2}); }).value, -2);
    EXPECT_EQ(details_of([&] { (void)dbscan(all, 0.1, -3); }).value, -3);
    EXPECT_EQ(details_of([&] { (void)knn(all, 1, {.box = Box::periodic({1.0, 1.0})}); }).value, 2);
    EXPECT_EQ(details_of([] { (void)Box::periodic(std::vector<double>(9, 1.0)); }).value, 9);
    EXPECT_EQ(details_of([] { (void)Box().with_origin(1, 5); }).axis, 1);
    stars[3 * 17 + 2] = std::numeric_limits<float>::quiet_NaN();
    run_ranks(2, [&](Communicator& ranks) {
        const ErrorDetails of_rank =
            details_of([&] { (void)knn(all.subview(10 * ranks.rank(), 10), 1, {.execution = over(ranks)}); });
        EXPECT_EQ(of_rank.rank, 1);
        EXPECT_EQ(of_rank.point, 7);
        EXPECT_EQ(of_rank.axis, 2);
    });
    run_ranks(2, [&](Communicator& ranks) {
        const auto details_of_ids = [&](const std::vector<std::uint64_t>& ids) {
            return details_of(
                [&] { (void)knn(all.subview(0, 2), 1, {.execution = over(ranks, cpu(), {.ids = ids})}); });
        };
        const auto rank = static_cast<std::uint64_t>(ranks.rank());
        const ErrorDetails large = details_of_ids({2 * rank, rank << 63});
        EXPECT_EQ(large.rank, 1);
        EXPECT_EQ(large.point, 1);
        EXPECT_EQ(large.value, 0x1p63);
        const ErrorDetails twice = details_of_ids({rank, 7});
        EXPECT_EQ(twice.rank, 1);
        EXPECT_EQ(twice.value, 7);
    });
}

TEST_F(Refused, FlatArraysThatAreNoWholePoints) {
    points.pop_back();
    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument,
                           {"a flat array of 119 numbers cannot be cut into points of 3 coordinates"},
                           [&] { (void)view(); }));
    for (const int dimension : {0, -3}) {
        EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"119", std::to_string(dimension)},
                               [&] { (void)PointsView(points, dimension); }));
    }
}

TEST_F(Refused, NegativeCounts) {
    EXPECT_TRUE(is_refused_everywhere(ErrorKind::invalid_argument, {"points", "-4"}, PointsView(points.data(), -4, 3)));
}

TEST_F(Refused, ScalarsThatAreNotAligned) {
    const auto* const bytes = reinterpret_cast<const std::byte*>(points.data());
    EXPECT_TRUE(is_refused_everywhere(ErrorKind::invalid_argument, {"points", "address", "8", "aligned"},
                                      PointsView(reinterpret_cast<const double*>(bytes + 4), 4, 3)));
    EXPECT_TRUE(is_refused_everywhere(ErrorKind::invalid_argument, {"points", "stride 20 is not a multiple", "8"},
                                      PointsView({&points[0], &points[1], &points[2]}, 4, {}, 20)));
    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"queries", "stride 20 is not a multiple", "8"}, [&] {
        (void)knn(view(), PointsView({&points[0], &points[1], &points[2]}, 4, {}, 20), 1);
    }));
}

TEST_F(Refused, DimensionsThatAreNotBuilt) {
    EXPECT_TRUE(is_refused_everywhere(ErrorKind::unsupported,
                                      {"1 dimension;", "2 to 8", "column of zeros", "densities"}, {points, 1}));
    EXPECT_TRUE(is_refused_everywhere(ErrorKind::unsupported, {"9 dimensions", "2 to 8", "transpose"},
                                      PointsView(points.data(), DType::float64, 4, 9, 9, 1)));
    EXPECT_TRUE(is_refused_everywhere(ErrorKind::unsupported, {"0 dimensions", "2 to 8"},
                                      PointsView(points.data(), DType::float64, 4, 0, 1, 1)));
    for (int dimension = 2; dimension <= max_dimension; ++dimension) {
        if (!is_built(dimension)) {
            EXPECT_TRUE(is_refused_everywhere(ErrorKind::unsupported,
                                              {std::to_string(dimension) + " dimensions", "2 to 8", "KITH_DIMS"},
                                              PointsView(points.data(), 4, dimension)));
        }
    }
}

TEST_F(Refused, PointsAtNoAddress) {
    EXPECT_TRUE(is_refused_everywhere(ErrorKind::invalid_argument, {"4 points", "null"},
                                      PointsView(static_cast<const float*>(nullptr), 4, 3)));
}

TEST_F(Refused, PointsOnADevice) {
    EXPECT_TRUE(
        is_refused_everywhere(ErrorKind::invalid_argument, {"points", "GPU 0", "CPU"},
                              PointsView(points.data(), DType::float64, 40, 3, 3, 1, Device{DeviceKind::cuda, 0})));
}

TEST_F(Refused, PeriodsThatAreNone) {
    EXPECT_TRUE(is_refused_everywhere(ErrorKind::invalid_argument, {"period", "-2", "axis 1"}, view(),
                                      Box::periodic({1.0, -2.0, 1.0})));
    EXPECT_TRUE(is_refused_everywhere(ErrorKind::invalid_argument, {"period", "nan", "axis 2"}, view(),
                                      Box::periodic({1.0, 1.0, nan})));
    EXPECT_TRUE(is_refused_everywhere(ErrorKind::invalid_argument, {"period", "inf", "axis 0"}, view(),
                                      Box::periodic(infinity)));
}

TEST_F(Refused, OriginsThatAreNone) {
    EXPECT_TRUE(is_refused_everywhere(ErrorKind::invalid_argument, {"origin", "nan", "axis 1"}, view(),
                                      Box::periodic(1).with_origin(1, nan)));
    EXPECT_TRUE(is_refused_everywhere(ErrorKind::invalid_argument, {"origin", "inf", "axis 0"}, view(),
                                      Box::periodic(1).with_origin(0, infinity)));
}

TEST_F(Refused, OriginsThatSwallowThePeriod) {
    // Beside 1e30 a period of 1 is nothing: every point would be wrapped onto the same place.
    EXPECT_TRUE(is_refused_everywhere(ErrorKind::invalid_argument, {"box", "1e+30", "axis 0"}, view(),
                                      Box::periodic(1).with_origin(0, 1e30)));
    const std::vector<float> narrow(points.begin(), points.end());
    EXPECT_TRUE(is_refused_everywhere(ErrorKind::invalid_argument, {"box", "axis 2"}, PointsView(narrow, 3),
                                      Box::periodic(1).with_origin(2, -1e8)));
}

TEST_F(Refused, BoxesOfAnotherDimension) {
    EXPECT_TRUE(
        is_refused_everywhere(ErrorKind::invalid_argument, {"box", "2", "3"}, view(), Box::periodic({1.0, 1.0})));
}

TEST_F(Refused, PointsWiderThanTwicePeriod) {
    points[0] = 0;
    points[3] = 4.25;
    EXPECT_TRUE(is_refused_everywhere(ErrorKind::invalid_points, {"4.25", "axis 0", "2"}, view(), Box::periodic(2)));
    points[3] = 4;
    EXPECT_EQ(Tree(view(), {.box = Box::periodic(2)}).size(), 40);
}

TEST_F(Refused, PeriodsThatTheTypeCannotExpress) {
    const std::vector<float> narrow(points.begin(), points.end());
    EXPECT_TRUE(is_refused_everywhere(ErrorKind::invalid_argument, {"period", "1e+100"}, PointsView(narrow, 3),
                                      Box::periodic(1e100)));
    EXPECT_TRUE(is_refused_everywhere(ErrorKind::invalid_argument, {"period", "1e-100"}, PointsView(narrow, 3),
                                      Box::periodic(1e-100)));
}

} // namespace
} // namespace kith::test
