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
#include <memory>
#include <utility>
#include <vector>

namespace kith::test {

using CallsOnDevice = NeedsDimension<3>;

inline std::vector<float> clustered_points(std::int64_t count) {
    std::vector<float> points = point_set<float>("clustered", 3).coordinates;
    points.resize(
        static_cast<std::size_t>(std::min<std::int64_t>(count * 3, static_cast<std::int64_t>(points.size()))));
    return points;
}

/// An index in memory of the emulated device. The library itself, which has no GPU here, could not build it.
inline Tree index_on_device(const PointsView& view, TreeOptions options, const Device& device = cuda().device) {
    options.execution.device = device;
    options.execution.threads = 1;
    auto data = std::make_shared<detail::TreeData>();
    data->on_device = detail::on_gpu().build_tree(view, options, data->stages);
    data->engine = options.engine;
    data->size = view.count();
    data->dimension = view.dimension();
    data->dtype = view.dtype();
    data->box = data->on_device->box;
    data->shape = options.shape;
    EXPECT_EQ(data->stages.back().name, options.engine == Engine::clover && data->size > 0 ? "graph" : "tree");
    EXPECT_EQ(data->on_device->size, data->size);
    return Tree(std::move(data));
}
inline Tree tree_on_device(const PointsView& view, const Box& box) {
    return index_on_device(view, {.box = box});
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
