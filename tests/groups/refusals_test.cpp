// What friends-of-friends refuses, and what it accepts although it looks odd.
#include "support/cases.hpp"
#include "support/special_numbers.hpp"

#include <kith/kith.hpp>

#include <gtest/gtest.h>

#include <vector>

namespace kith::test {
namespace {

class FofRefuses : public NeedsDimension<3> {
protected:
    std::vector<float> points = uniform_points<float>(30, 3, 0, 1, 151);

    testing::AssertionResult refuses(LinkingLength length, const std::vector<std::string>& parts) {
        for (const Engine engine : fof_engines()) {
            const Tree tree(PointsView(points, 3), {.engine = engine});
            const auto kept =
                is_refused(ErrorKind::invalid_argument, parts, [&] { (void)fof(tree, length, {.engine = engine}); });
            const auto direct = is_refused(ErrorKind::invalid_argument, parts,
                                           [&] { (void)fof(PointsView(points, 3), length, {.engine = engine}); });
            if (!kept || !direct) {
                return kept ? direct : kept;
            }
        }
        return testing::AssertionSuccess();
    }
};

TEST_F(FofRefuses, LengthsThatAreNone) {
    EXPECT_TRUE(refuses(LinkingLength::absolute(-0.5), {"linking length", "-0.5"}));
    EXPECT_TRUE(refuses(LinkingLength::absolute(nan), {"linking length", "nan"}));
    EXPECT_TRUE(refuses(LinkingLength::relative(-0.25), {"linking length", "-0.25"}));
    EXPECT_TRUE(refuses(LinkingLength::relative(nan), {"linking length", "nan"}));
    EXPECT_TRUE(refuses(LinkingLength::absolute(1e300), {"linking length", "1e+300", "float32"}));
    EXPECT_TRUE(refuses(LinkingLength::relative(1e300), {"linking length", "e+299", "float32"}));
}

// Beside the largest coordinate, the square of the length must be a normal number.
TEST_F(FofRefuses, LengthsThatVanishBesideAPlaceholder) {
    points[3 * 7 + 1] = -1e37F;
    EXPECT_TRUE(
        refuses(LinkingLength::absolute(1e3), {"1000", "coordinate 1", "point 7", "-1e+37", "placeholder", "float64"}));
    EXPECT_TRUE(refuses(LinkingLength::relative(1e-33), {"coordinate 1", "point 7", "-1e+37"}));
    EXPECT_TRUE(refuses(LinkingLength::absolute(1e-300), {"1e-300", "point 7"})); // 0 in float32
    EXPECT_EQ(fof(PointsView(points, 3), LinkingLength::absolute(0)).groups, 2);  // it joins what has d2 = 0
    EXPECT_EQ(fof(PointsView(points, 3), LinkingLength::absolute(1e5)).groups, 2);
    const std::vector<double> doubles(points.begin(), points.end());
    EXPECT_EQ(fof(PointsView(doubles, 3), LinkingLength::absolute(1e3)).groups, 2);
    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"the largest coordinate or period, 1e+30", "1e-05"}, [&] {
        points[3 * 7 + 1] = 0;
        (void)fof(PointsView(points, 3), LinkingLength::absolute(1e-5), {.box = Box::periodic({1e30, 1e30, 1e30})});
    }));
    const std::vector<float> zeros(30, 0.0F); // all at zero: every length is resolved
    EXPECT_EQ(fof(PointsView(zeros, 3), LinkingLength::absolute(1e-30)).groups, 1);
}

TEST_F(FofRefuses, RelativeLengthsWithoutAVolume) {
    for (std::size_t i = 1; i < points.size(); i += 3) {
        points[i] = 0.25F; // flat along axis 1
    }
    EXPECT_TRUE(refuses(LinkingLength::relative(0.2), {"volume", "absolute"}));
    // A period on the flat axis gives it a length.
    const FofResult found =
        fof(PointsView(points, 3), LinkingLength::relative(0.2), {.box = Box::periodic({0.0, 1.0, 0.0})});
    EXPECT_GT(found.linking_length, 0);
}

TEST_F(FofRefuses, RelativeLengthsOfASinglePoint) {
    points.resize(3);
    EXPECT_TRUE(refuses(LinkingLength::relative(0.2), {"volume", "absolute"}));
}

TEST_F(FofRefuses, BoxesBesideATree) {
    const Tree tree{PointsView(points, 3)};
    const auto length = LinkingLength::absolute(1);
    std::vector<std::int32_t> labels(30);
    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"box", "a tree has its own"},
                           [&] { (void)fof(tree, length, {.box = Box::periodic(1)}); }));
    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"box", "a tree has its own"},
                           [&] { (void)fof_into(labels, tree, length, {.box = Box::periodic(1)}); }));
}

TEST_F(FofRefuses, ThreadsAndDevicesThatDoNotExist) {
    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"threads", "-2"}, [&] {
        (void)fof(PointsView(points, 3), LinkingLength::absolute(1), {.execution = cpu(-2)});
    }));
    EXPECT_TRUE(
        lacks_its_gpu([&] { (void)fof(PointsView(points, 3), LinkingLength::absolute(1), {.execution = on_no_gpu}); }));
    EXPECT_TRUE(lacks_its_gpu([&] { (void)fof_async_bytes({.points = 20}, on_no_gpu); }));
    const PointsView there(points.data(), DType::float32, 20, 3, 3, 1, on_no_gpu.device);
    std::vector<std::int32_t> twenty(20);
    EXPECT_TRUE(lacks_its_gpu(
        [&] { fof_async(twenty, there, LinkingLength::absolute(1), {.execution = on_no_gpu}, {}, nullptr, nullptr); }));
    std::vector<std::int32_t> labels(points.size() / 3 + 1);
    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"labels", std::to_string(labels.size())},
                           [&] { (void)fof_into(labels, PointsView(points, 3), LinkingLength::absolute(1)); }));
}

TEST_F(FofRefuses, ButNoPointsAreFine) {
    points.clear();
    for (const Engine engine : fof_engines()) {
        const FofResult found = fof(PointsView(points, 3), LinkingLength::absolute(1), {.engine = engine});
        EXPECT_TRUE(found.label_array.empty());
        EXPECT_TRUE(found.sizes.empty());
        EXPECT_EQ(found.groups_of_at_least(1), 0);
    }
}

} // namespace
} // namespace kith::test
