// A tree that is kept in memory of the emulated device.
#pragma once

#include "calls/device_calls.hpp"
#include "engines/kept_index.hpp"

#include <kith/tree.hpp>

#include <memory>
#include <utility>

namespace kith::test {

/// A tree of the emulated device, as the library of a GPU makes it.
inline Tree tree_there(const PointsView& points, const TreeOptions& options) {
    auto data = std::make_shared<detail::TreeData>();
    data->size = points.count();
    data->dimension = points.dimension();
    data->dtype = points.dtype();
    data->shape = options.shape;
    data->device = options.execution.device;
    data->on_device = detail::on_gpu().build_tree(points, options, data->stages);
    return Tree(std::move(data));
}

} // namespace kith::test
