// kith::kdtree_order on the emulated GPU, against the CPU: from either memory to either memory.
#include "emulation/calls_on_device.hpp"
#include "emulation/given_points.hpp"

#include "cuda_emulation/cuda_runtime.hpp"

#include <kith/kdtree_order.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace kith::test {
namespace {

using kdtree::Split;

template <class T>
void expect_order_of_cpu(const std::vector<T>& coordinates, int dimension) {
    const PointsView points(coordinates, dimension);
    const auto count = static_cast<std::size_t>(points.count());
    for (const Split split : {Split::cyclic, Split::widest}) {
        SCOPED_TRACE(std::to_string(count) + " points, split " + std::to_string(static_cast<int>(split)));
        const KdTreeOrder expected = kdtree_order(points, split, cpu(1));
        const auto expect_same = [&](const KdTreeSummary& found, const std::vector<std::int32_t>& indices,
                                     const std::vector<std::uint8_t>& axes) {
            EXPECT_EQ(indices, expected.indices);
            EXPECT_EQ(axes, expected.split_axes);
            EXPECT_EQ(found.lower, expected.lower);
            EXPECT_EQ(found.upper, expected.upper);
        };
        for (const bool there : {false, true}) {
            detail::DeviceContext context(cuda());
            const GivenPoints<T> given(context, points, there);
            KdTreeOrder found;
            found.indices.assign(count, -7);
            found.split_axes.assign(count, 99);
            detail::on_gpu().kdtree_order(found.indices, found.split_axes, given.view(), split, cuda(), found);
            expect_same(found, found.indices, found.split_axes);
            if (count > 0) {
                const ThereOn<std::int32_t> indices(context, points.count());
                const ThereOn<std::uint8_t> axes(context, points.count());
                KdTreeSummary into;
                detail::on_gpu().kdtree_order(indices.span(), axes.span(), given.view(), split, cuda(), into);
                expect_same(into, indices.on_host(), axes.on_host());
                detail::on_gpu().kdtree_order(indices.span(), {}, given.view(), split, cuda(), into);
                expect_same(into, indices.on_host(), axes.on_host());
            }
        }
    }
    EXPECT_EQ(emulation::held_on_device(), 0);
}

class KdTreeOrderOnDevice : public testing::TestWithParam<Case> {};

TEST_P(KdTreeOrderOnDevice, IsThatOfTheCpu) {
    with_type(GetParam().dtype, [&]<class T>(T) {
        std::vector<T> points = point_set<T>(GetParam().set, GetParam().dimension).coordinates;
        points.resize(std::min<std::size_t>(points.size(), 150 * GetParam().dimension));
        expect_order_of_cpu(points, GetParam().dimension);
    });
}

INSTANTIATE_TEST_SUITE_P(Sets, KdTreeOrderOnDevice,
                         testing::ValuesIn(cases_of({"uniform", "lattice", "coincident", "clustered"})), case_name);

TEST_F(CallsOnDevice, OrderFewPointsAndManyAsAKdTree) {
    for (std::int64_t count = 0; count < 6; ++count) {
        expect_order_of_cpu(uniform_points<double>(count, 3, -1, 1, 7), 3);
    }
    expect_order_of_cpu(uniform_points<float>(1100, 3, -1, 1, 7), 3); // more than one block sorts
}

// Scaled by the largest of them, the smallest would be equal.
TEST_F(CallsOnDevice, OrderTheSmallestNumbersOfAKdTree) {
    std::vector<float> points(3 * 40, std::numeric_limits<float>::max());
    for (std::size_t i = 0; i < 40; ++i) {
        points[3 * i + 1] = std::numeric_limits<float>::denorm_min() * static_cast<float>(i * 7 % 40);
    }
    expect_order_of_cpu(points, 3);
}

} // namespace
} // namespace kith::test
