// The kernels that link friends and number their groups, run on the CPU, against the oracle: labels and sizes, by the tree
// and by brute force.
#include "emulation/kernel_cases.hpp"
#include "emulation/kernel_trees.hpp"

#include "fof/link_device.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

namespace kith::test {
namespace {

using detail::DeviceBuffer;
using detail::DeviceContext;
using detail::DeviceGroups;

/// What label(context, labels) finds, in the oracle's terms.
template <class Label>
oracle::Groups groups_of(std::int64_t count, const Label& label) {
    DeviceContext context(cuda());
    const DeviceBuffer<std::int32_t> labels = context.buffer<std::int32_t>(count);
    const DeviceGroups found = label(context, labels.data());
    oracle::Groups groups{context.to_host(labels.data(), count), context.to_host(found.sizes.data(), found.groups)};
    EXPECT_EQ(found.sizes.size(), found.groups);
    groups.sizes.resize(static_cast<std::size_t>(found.groups + found.singles), 1);
    return groups;
}

template <class T, int D>
oracle::Groups groups_of_tree(const detail::PlaneTree<T>& tree, T squared_length) {
    return groups_of(tree.points.count, [&](DeviceContext& context, std::int32_t* labels) {
        return detail::label_groups<T, D>(context, device_tree(tree), tree.points.frame.periodic, squared_length,
                                          labels);
    });
}

template <class T, int D>
oracle::Groups groups_of_all_pairs(const detail::PointSet<T>& points, T squared_length) {
    return groups_of(points.count, [&](DeviceContext& context, std::int32_t* labels) {
        return detail::label_groups_all_pairs<T, D>(context, device_points(points), points.frame.working_period,
                                                    points.frame.periodic, squared_length, labels);
    });
}

testing::AssertionResult same_groups(const oracle::Groups& found, const oracle::Groups& expected) {
    if (found.sizes != expected.sizes) {
        return testing::AssertionFailure() << "found sizes " << testing::PrintToString(found.sizes) << ", not "
                                           << testing::PrintToString(expected.sizes);
    }
    const auto [label, other] = std::mismatch(found.labels.begin(), found.labels.end(), expected.labels.begin());
    return label == found.labels.end() ? testing::AssertionSuccess()
                                       : testing::AssertionFailure()
                                             << "point " << label - found.labels.begin() << " has label " << *label
                                             << ", not " << *other;
}

template <class T>
T squared_length_of(const detail::Frame<T>& frame, double length) {
    const T radius = frame.load_radius(static_cast<double>(static_cast<T>(length)));
    return radius * radius;
}

/// None, tiny, usual, large, of everything; one that occurs exactly, and the next smaller one.
template <class T>
std::vector<double> lengths_for(const PointSet<T>& set, const Box& box) {
    const double separation =
        set.extent() / std::pow(static_cast<double>(std::max<std::int64_t>(set.count(), 1)), 1.0 / set.dimension);
    std::vector<double> lengths{0, separation * 1e-3, separation * 0.2, separation * 0.6, set.extent() * 2};
    if (set.count() > 1) {
        const oracle::Neighbors<T> neighbors(oracle::working_copy<T>(set.coordinates, set.dimension, box), 2);
        const T exact = neighbors.rows(2).distances[static_cast<std::size_t>(set.count() / 2) * 2 + 1];
        lengths.push_back(static_cast<double>(exact));
        lengths.push_back(static_cast<double>(std::nextafter(exact, T{0})));
    }
    return lengths;
}

class FofKernels : public testing::TestWithParam<Case> {};

TEST_P(FofKernels, EqualTheOracle) {
    with_type(GetParam().dtype, [&]<class T>(T) {
        detail::with_dimension(GetParam().dimension, [&]<int D>(std::integral_constant<int, D>) {
            const PointSet<T> set = point_set<T>(GetParam().set, D);
            Random draw(std::accumulate(GetParam().set.begin(), GetParam().set.end(), std::uint64_t{D}));
            for (const NamedBox& named : set.boxes) {
                const oracle::WorkingCopy<T> copy = oracle::working_copy<T>(set.coordinates, D, named.box);
                detail::Context context(cpu(1));
                const auto placed = detail::place_sources<T>(set.view(), named.box);
                for (const double length : lengths_for(set, named.box)) {
                    const oracle::Groups expected = oracle::groups(copy, length);
                    const T limit = squared_length_of(placed.frame, length);
                    const TreeOptions options = drawn_tree_options(draw);
                    const auto tree = detail::build_plane_tree<T>(context, placed, options);
                    EXPECT_TRUE(same_groups(groups_of_tree<T, D>(tree, limit), expected))
                        << "box " << named.name << ", linking length " << length << ", leaf_size "
                        << options.leaf_size << ", coarsening " << options.coarsening << ", top_size "
                        << options.top_size;
                    if (draw.integer(3) == 0) {
                        const auto points = detail::gather_points<T, D>(context, placed);
                        EXPECT_TRUE(same_groups(groups_of_all_pairs<T, D>(points, limit), expected))
                            << "box " << named.name << ", linking length " << length << ", by brute force";
                    }
                }
            }
        });
    });
}

INSTANTIATE_TEST_SUITE_P(EveryCase, FofKernels, testing::ValuesIn(every_case()), case_name);

} // namespace
} // namespace kith::test
