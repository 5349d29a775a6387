// kith::kdtree_order gives the order of the tree that the header builds in place, whatever the layout and the threads.
#include "engines/kdtree/plain_build.hpp"
#include "support/cases.hpp"

#include <kith/communicator.hpp>
#include <kith/distributed.hpp>
#include <kith/kdtree_order.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

namespace kith::test {
namespace {

using kdtree::Split;

constexpr Split all_splits[] = {Split::cyclic, Split::widest, Split::widest_box};

template <class T, int D>
void expect_order_in_place(const std::vector<T>& coordinates) {
    if (!is_built(D)) {
        return;
    }
    const PointsView view(coordinates, D);
    std::vector<T> by_axis(coordinates.size()); // descending, axis after axis
    for (std::int64_t i = 0; i < view.count(); ++i) {
        for (int axis = 0; axis < D; ++axis) {
            by_axis[axis * view.count() + view.count() - 1 - i] = coordinates[i * D + axis];
        }
    }
    const PointsView reversed(by_axis.data() + std::max<std::int64_t>(0, view.count() - 1), dtype_of<T>, view.count(),
                              D, -1, view.count());
    for (const Split split : all_splits) {
        SCOPED_TRACE(std::to_string(view.count()) + " points, split " + std::to_string(static_cast<int>(split)));
        const BuiltTree<std::array<T, D>> expected(arrays_of<T, D>(coordinates), split);
        for (const auto& [points, threads] : {std::pair(view, 1), std::pair(view, 3), std::pair(reversed, 2)}) {
            const KdTreeOrder found = kdtree_order(points, split, cpu(threads));
            EXPECT_EQ(found.indices, expected.indices);
            EXPECT_EQ(found.split_axes, expected.split_axes);
            EXPECT_TRUE(std::equal(found.lower.begin(), found.lower.begin() + D, expected.bounds.lower.x));
            EXPECT_TRUE(std::equal(found.upper.begin(), found.upper.begin() + D, expected.bounds.upper.x));
        }
        std::vector<std::int32_t> indices(expected.indices.size(), -1);
        const KdTreeSummary into = kdtree_order_into(indices, {}, view, split, cpu(2));
        EXPECT_EQ(indices, expected.indices);
        EXPECT_EQ(into.stages.size(), view.count() > 0 ? 1U : 0U);
    }
}

class KdTreeOrders : public testing::TestWithParam<Case> {};

TEST_P(KdTreeOrders, AreThoseInPlace) {
    with_type(GetParam().dtype, [&]<class T>(T) {
        const PointSet<T> set = point_set<T>(GetParam().set, GetParam().dimension);
        set.dimension == 2 ? expect_order_in_place<T, 2>(set.coordinates)
                           : expect_order_in_place<T, 3>(set.coordinates);
    });
}

INSTANTIATE_TEST_SUITE_P(In2D, KdTreeOrders, testing::ValuesIn(every_case_in(2)), case_name);
INSTANTIATE_TEST_SUITE_P(In3D, KdTreeOrders, testing::ValuesIn(every_case_in(3)), case_name);

TEST(KdTreeOrder, IsThatInPlaceInOtherDimensions) {
    for (const char* name : {"clustered", "lattice", "coincident"}) {
        SCOPED_TRACE(name);
        expect_order_in_place<double, 4>(point_set<double>(name, 4).coordinates);
        expect_order_in_place<float, 7>(point_set<float>(name, 7).coordinates);
        expect_order_in_place<double, 8>(point_set<double>(name, 8).coordinates);
    }
}

TEST(KdTreeOrder, IsThatInPlaceForFewPointsAndMany) {
    for (std::int64_t count = 0; count < 12; ++count) {
        expect_order_in_place<float, 3>(uniform_points<float>(count, 3, -1, 1, 3));
    }
    expect_order_in_place<float, 3>(uniform_points<float>((1 << 17) + 1000, 3, -1, 1, 1));
    expect_order_in_place<double, 6>(uniform_points<double>(30'000, 6, -1, 1, 2));
}

// No coordinate is scaled: these stay apart, and extents beyond all numbers are as wide as each other.
TEST(KdTreeOrder, KeepsTheLargestAndTheSmallestNumbersApart) {
    using Limits = std::numeric_limits<float>;
    std::vector<float> points;
    for (int i = 0; i < 40; ++i) {
        points.push_back((i % 3 == 0 ? -1.0F : 1.0F) * Limits::denorm_min() * static_cast<float>(i * 7 % 40));
        points.push_back(i == 20 ? Limits::max()
                                 : (i == 30 ? Limits::lowest() : Limits::min() * static_cast<float>(i)));
        points.push_back(i % 2 == 0 ? 0.0F : -0.0F);
    }
    expect_order_in_place<float, 3>(points);
}

class RefusedOrder : public NeedsDimension<3> {
protected:
    std::vector<float> points_ = uniform_points<float>(50, 3, 0, 1, 1);
    PointsView view_{points_, 3};
    std::vector<std::int32_t> indices_ = std::vector<std::int32_t>(50, 7);
    std::vector<std::uint8_t> axes_ = std::vector<std::uint8_t>(50);
};

TEST_F(RefusedOrder, OfWhatIsNotFinite) {
    points_[3 * 20 + 1] = std::numeric_limits<float>::quiet_NaN();
    int steps = 0;
    EXPECT_TRUE(is_refused(ErrorKind::invalid_points, {"coordinate 1", "point 20"}, [&] {
        (void)kdtree_order(view_, Split::widest, cpu(1, [&](std::string_view, double) { return ++steps > 0; }));
    }));
    EXPECT_EQ(steps, 0);
}

TEST_F(RefusedOrder, OfOtherShapes) {
    EXPECT_TRUE(is_refused(ErrorKind::unsupported, {"1 dimension;"},
                           [&] { (void)kdtree_order(PointsView(points_.data(), 50, 1)); }));
    EXPECT_TRUE(is_refused(ErrorKind::too_large, {"2147483648"},
                           [&] { (void)kdtree_order(PointsView(points_.data(), std::int64_t{1} << 31, 3)); }));
    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"null"},
                           [&] { (void)kdtree_order(PointsView(static_cast<const float*>(nullptr), 50, 3)); }));
    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"indices", "49", "50"},
                           [&] { kdtree_order_into(std::span(indices_).first(49), axes_, view_); }));
    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"split axes", "3", "50"},
                           [&] { kdtree_order_into(indices_, std::span(axes_).first(3), view_); }));
    EXPECT_EQ(indices_, std::vector<std::int32_t>(50, 7));
}

TEST_F(RefusedOrder, ElsewhereThanInThisProcess) {
    run_ranks(2, [&](Communicator& ranks) {
        EXPECT_TRUE(is_refused(ErrorKind::unsupported, {"does not run over ranks"},
                               [&] { (void)kdtree_order(view_, Split::widest, over(ranks)); }));
    });
    EXPECT_TRUE(lacks_its_gpu([&] { (void)kdtree_order(view_, Split::widest, on_no_gpu); }));
    EXPECT_TRUE(is_refused(ErrorKind::unsupported, {"widest_box", "kith::cpu()"},
                           [&] { (void)kdtree_order(view_, Split::widest_box, on_no_gpu); }));
}

} // namespace
} // namespace kith::test
