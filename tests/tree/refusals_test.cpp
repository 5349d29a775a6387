// What building a tree refuses.
#include "support/cases.hpp"

#include <kith/kith.hpp>

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace kith::test {
namespace {

class TreeRefuses : public NeedsDimension<3> {
protected:
    std::vector<float> points = uniform_points<float>(30, 3, 0, 1, 121);

    testing::AssertionResult refuses(const TreeShape& shape, const std::vector<std::string>& parts) {
        return is_refused(ErrorKind::invalid_argument, parts,
                          [&] { const Tree tree(PointsView(points, 3), {.shape = shape}); });
    }
};

TEST_F(TreeRefuses, LeavesOfNoPoints) {
    EXPECT_TRUE(refuses({.leaf_size = 0}, {"leaf_size", "0"}));
    EXPECT_TRUE(refuses({.leaf_size = -4}, {"leaf_size", "-4"}));
}

TEST_F(TreeRefuses, PlanesThatDoNotGetCoarser) {
    EXPECT_TRUE(refuses({.coarsening = 1}, {"coarsening", "1"}));
    EXPECT_TRUE(refuses({.coarsening = -2}, {"coarsening", "-2"}));
}

TEST_F(TreeRefuses, TopsOfNoNodes) {
    EXPECT_TRUE(refuses({.top_size = 0}, {"top_size", "0"}));
}

TEST_F(TreeRefuses, RegularizationThatIsNone) {
    EXPECT_TRUE(refuses({.regularization = -1}, {"regularization", "-1"}));
    EXPECT_TRUE(refuses({.regularization = std::numeric_limits<double>::quiet_NaN()}, {"regularization", "nan"}));
}

TEST_F(TreeRefuses, PlanesThatDoNotExist) {
    const Tree tree{PointsView(points, 3)};
    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"plane", "-1"}, [&] { (void)tree.plane(-1); }));
    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"plane", std::to_string(tree.plane_count())},
                           [&] { (void)tree.plane(tree.plane_count()); }));
}

TEST_F(TreeRefuses, MorePointsThanAnIndexCounts) {
    // Strides of zero: one point in memory, 2^31 in the view.
    const PointsView many(points.data(), DType::float32, std::int64_t{1} << 31, 3, 0, 1);
    EXPECT_TRUE(is_refused(ErrorKind::too_large, {"2147483648", "2147483647"}, [&] { const Tree tree(many); }));
}

TEST_F(TreeRefuses, ThreadsAndDevicesThatDoNotExist) {
    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"threads", "-1"},
                           [&] { const Tree tree(PointsView(points, 3), {.execution = cpu(-1)}); }));
    EXPECT_TRUE(lacks_its_gpu([&] { const Tree tree(PointsView(points, 3), {.execution = on_no_gpu}); }));
}

} // namespace
} // namespace kith::test
