// The kernels that make a tree of points, run on the CPU, against the CPU's own tree: the same keys, cuts, boxes and
// indices.
#include "emulation/kernel_cases.hpp"
#include "emulation/kernel_trees.hpp"

#include "order/key_kernel.hpp"
#include "order/order.hpp"
#include "tree/cut_kernel.hpp"
#include "tree/cuts.hpp"
#include "tree/summary_kernel.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace kith::test {
namespace {

constexpr int threads_of_block = 64;

/// Runs a kernel with a thread, or several, for each of so many items.
template <class Kernel>
void run_threads(const char* name, std::int64_t threads, const Kernel& kernel) {
    const auto blocks = static_cast<unsigned>((threads + threads_of_block - 1) / threads_of_block);
    emulation::run(name, {{blocks, 1, 1}, {threads_of_block, 1, 1}}, kernel);
}

template <class T, int D>
int sign_exponent_of(const detail::PointSet<T>& points) {
    std::array<T, D> lower{};
    std::array<T, D> upper{};
    for (int axis = 0; axis < D; ++axis) {
        const auto [least, most] = std::minmax_element(points.axis(axis), points.axis(axis) + points.count);
        lower[axis] = points.count > 0 ? *least : T(0);
        upper[axis] = points.count > 0 ? *most : T(0);
    }
    return detail::sign_exponent_of<T, D>(lower, upper);
}

/// Keys of the cell of all points, which are sorted: the CPU's, and in order.
template <class T, int D>
void expect_same_keys(const detail::PointSet<T>& points) {
    const int sign_exponent = sign_exponent_of<T, D>(points);
    const auto x = [&](std::int64_t i) {
        std::array<T, D> place;
        for (int axis = 0; axis < D; ++axis) {
            place[axis] = points.axis(axis)[i];
        }
        return place;
    };
    int top = points.count > 1 ? detail::parting<T, D>(x(0), x(points.count - 1), sign_exponent).exponent : 0;
    top = top == detail::coincident ? 0 : top;
    const detail::DeviceKeyMaker<T, D> maker(top, sign_exponent);
    std::vector<std::uint64_t> keys(static_cast<std::size_t>(points.count), ~std::uint64_t{0});
    std::vector<std::int32_t> indices(keys.size(), -7);
    const detail::DeviceView<T> view{points.axis(0), 1, points.stride, points.count, 0, T(1), {}};
    const detail::KeyKernelJob<T, D> job{view, maker, keys.data(), indices.data()};
    run_threads("make_keys", points.count, [&] { detail::make_keys_kernel<T, D>(job); });
    for (std::int64_t i = 0; i < points.count; ++i) {
        EXPECT_EQ(keys[i], maker(x(i))) << "point " << i;
        EXPECT_EQ(indices[i], i);
    }
    EXPECT_TRUE(std::is_sorted(keys.begin(), keys.end()));
}

template <class T, int D>
void expect_same_cuts(const detail::PointSet<T>& points, std::int64_t n_max) {
    const int sign_exponent = sign_exponent_of<T, D>(points);
    std::vector<std::uint8_t> is_cut(static_cast<std::size_t>(points.count), 7);
    const detail::CutKernelJob<T> job{device_points(points), sign_exponent, n_max, is_cut.data()};
    run_threads("mark_cuts", points.count, [&] { detail::mark_cuts_kernel<T, D>(job); });
    std::vector<std::int32_t> positions;
    for (std::size_t i = 0; i < is_cut.size(); ++i) {
        if (is_cut[i] == 1) {
            positions.push_back(static_cast<std::int32_t>(i));
        }
    }
    const detail::Cuts expected = detail::Cutter<T, D>(points, sign_exponent).cut(n_max);
    ASSERT_EQ(positions.size(), expected.size()) << "n_max " << n_max;

    std::vector<std::int32_t> sizes(positions.size(), -1);
    const detail::CutSizesKernelJob<T> measured{
        device_points(points),
        sign_exponent,
        {static_cast<std::int32_t>(positions.size()), positions.data(), sizes.data()}};
    run_threads("measure_cuts", static_cast<std::int64_t>(positions.size()),
                [&] { detail::measure_cuts_kernel<T, D>(measured); });
    for (std::size_t i = 0; i < expected.size(); ++i) {
        EXPECT_EQ(positions[i], expected[i].position) << "cut " << i << ", n_max " << n_max;
        EXPECT_EQ(sizes[i], expected[i].size) << "cut " << i << ", n_max " << n_max;
    }
}

template <class T, int D>
void expect_same_summaries(const detail::PlaneTree<T>& tree) {
    for (std::size_t i = 0; i < tree.planes.size(); ++i) {
        const detail::Plane<T>& plane = tree.planes[i];
        const bool of_points = i == 0;
        const detail::DeviceBoxes<T> below =
            of_points ? detail::DeviceBoxes<T>{tree.points.axis(0), tree.points.axis(0), tree.points.stride,
                                               tree.points.indices.data()}
                      : detail::DeviceBoxes<T>{tree.planes[i - 1].lower(0), tree.planes[i - 1].upper(0),
                                               tree.planes[i - 1].stride, tree.planes[i - 1].smallest_index.data()};
        const auto size = static_cast<std::size_t>(plane.nodes);
        std::vector<T> lower(size * D, T(-7));
        std::vector<T> upper(size * D, T(-7));
        std::vector<std::int32_t> index(size, -7);
        const detail::SummaryKernelJob<T> job{static_cast<std::int32_t>(plane.nodes),
                                              of_points ? plane.first_point.data() : plane.first_child.data(),
                                              below,
                                              lower.data(),
                                              upper.data(),
                                              plane.nodes,
                                              index.data()};
        run_threads("summarise", plane.nodes * detail::lanes_of_node, [&] { detail::summarise_kernel<T, D>(job); });
        for (std::int64_t node = 0; node < plane.nodes; ++node) {
            EXPECT_EQ(index[node], plane.smallest_index[node]) << "plane " << i << ", node " << node;
            for (int axis = 0; axis < D; ++axis) {
                EXPECT_EQ(lower[axis * plane.nodes + node], plane.lower(axis)[node])
                    << "plane " << i << ", node " << node;
                EXPECT_EQ(upper[axis * plane.nodes + node], plane.upper(axis)[node])
                    << "plane " << i << ", node " << node;
            }
        }
    }
}

class TreeKernels : public testing::TestWithParam<Case> {};

TEST_P(TreeKernels, MakeTheTreeOfTheCpu) {
    with_type(GetParam().dtype, [&]<class T>(T) {
        with_tested_dimension(GetParam().dimension, [&]<int D>(std::integral_constant<int, D>) {
            const PointSet<T> set = point_set<T>(GetParam().set, D);
            Random draw(D);
            for (const NamedBox& named : set.boxes) {
                SCOPED_TRACE(named.name);
                detail::Context context(cpu(1));
                const auto placed = detail::place_sources<T>(set.view(), named.box);
                const auto tree = detail::build_plane_tree<T>(context, placed, drawn_tree_options(draw));
                expect_same_keys<T, D>(tree.points);
                for (const std::int64_t n_max : {1, 5, 40}) {
                    expect_same_cuts<T, D>(tree.points, n_max);
                }
                expect_same_summaries<T, D>(tree);
            }
        });
    });
}

INSTANTIATE_TEST_SUITE_P(EveryCase, TreeKernels, testing::ValuesIn(every_case()), case_name);

} // namespace
} // namespace kith::test
