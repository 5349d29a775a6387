// The nodes of a device's tree in memory of the host, and the row of each position: with these a rank requests points
// of other ranks, and answers requests. Coordinates stay on the device.
#pragma once

#include "cuda/device_context.hpp"
#include "tree/device_planes.hpp"
#include "tree/view.hpp"

#include <cstdint>
#include <vector>

namespace kith::detail::inline KITH_GPU {

template <Coordinate T, int D>
class NodesOnHost {
public:
    NodesOnHost() = default;
    /// Copies the leaves and, unless they alone are wanted, all planes above, within a stage of the caller.
    NodesOnHost(DeviceContext& context, const DevicePlaneTree<T>& tree, bool leaves_alone = false)
        : period_(tree.points.frame.working_period) {
        const auto copied = [&](const auto* from, std::int64_t count) {
            bytes_ += count * static_cast<std::int64_t>(sizeof(*from));
            return context.to_host(from, count);
        };
        order_ = copied(tree.points.indices.data(), tree.points.count);
        for (const OwnedDevicePlane<T>& plane : tree.planes) {
            Plane& copy = planes_.emplace_back();
            copy.nodes = plane.nodes;
            copy.stride = plane.stride;
            copy.first_point = copied(plane.first_point.data(), plane.nodes + 1);
            copy.first_child = copied(plane.first_child.data(), plane.first_child.size());
            copy.smallest_index = copied(plane.smallest_index.data(), plane.nodes);
            copy.lower_corners = copied(plane.lower_corners.data(), plane.nodes * D);
            copy.upper_corners = copied(plane.upper_corners.data(), plane.nodes * D);
            if (leaves_alone) {
                break;
            }
        }
    }

    /// Without planes if there are no points; coordinates are null.
    [[nodiscard]] TreeView<T> view() const {
        TreeView<T> view;
        view.points = {nullptr, 0, static_cast<std::int32_t>(std::ssize(order_)), order_.data()};
        view.top = static_cast<int>(std::ssize(planes_)) - 1;
        for (std::size_t plane = 0; plane < planes_.size(); ++plane) {
            view.planes[plane] = planes_[plane].view();
        }
        view.period = period_;
        return view;
    }
    [[nodiscard]] std::int64_t bytes() const noexcept { return bytes_; } ///< that were copied

private:
    template <class Element>
    using Array = std::vector<Element>;
    using Plane = PlaneArrays<T, Array>;

    std::vector<std::int32_t> order_;
    std::vector<Plane> planes_;
    Periods<T> period_{};
    std::int64_t bytes_ = 0;
};

} // namespace kith::detail::inline KITH_GPU
