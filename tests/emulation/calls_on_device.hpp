// What the tests of public functions on the emulated GPU share.
//
// The CPU's part runs on the calling thread alone: the kernels' shared memory is every thread's own here, and more than
// new threads have room for.
#pragma once

#include "calls/device_calls.hpp"

#include "engines/kept_index.hpp"
#include "support/cases.hpp"

#include <kith/dbscan.hpp>
#include <kith/tree.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace kith::test {

using CallsOnDevice = NeedsDimension<3>;

inline std::vector<float> clustered_points(std::int64_t count) {
    std::vector<float> points = point_set<float>("clustered", 3).coordinates;
    points.resize(
        static_cast<std::size_t>(std::min<std::int64_t>(count * 3, static_cast<std::int64_t>(points.size()))));
    return points;
}

/// A tree in memory of the emulated device. The library itself, which has no GPU here, could not build it.
inline Tree tree_on_device(const PointsView& view, const Box& box) {
    Tree tree(view, {.box = box, .execution = cpu(1)});
    StageReports stages;
    const_cast<detail::TreeData&>(tree.data()).on_device =
        detail::on_gpu().build_tree(view, {.box = box, .execution = cuda()}, stages);
    EXPECT_EQ(stages.back().name, "tree");
    return tree;
}

/// A call on the emulated device, by the points or their tree there.
inline DbscanResult clusters_on_device(const PointsOrTree& points, double eps, std::int64_t min_samples,
                                       DbscanOptions options, bool wants_flags = true) {
    options.execution = cuda();
    DbscanResult found;
    std::vector<std::int32_t>& labels = found.label_array.vector<std::int32_t>();
    labels.assign(static_cast<std::size_t>(points.count()), -7);
    found.is_core.assign(labels.size(), 7);
    detail::on_gpu().dbscan(
        points, options,
        {eps, min_samples, options.star, labels, wants_flags ? std::span(found.is_core) : std::span<std::uint8_t>()},
        found);
    return found;
}

} // namespace kith::test
