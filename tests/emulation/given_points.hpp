// What a backend of the emulated GPU is given: points on either side, and trees of two shapes.
#pragma once

#include "emulation/async_memory.hpp"
#include "support/cases.hpp"

#include <kith/tree.hpp>

#include <optional>
#include <vector>

namespace kith::test {

/// Points on either side.
template <class T>
class GivenPoints {
public:
    GivenPoints(detail::DeviceContext& context, const PointsView& points, bool on_device) : view_(points) {
        if (on_device) {
            const T* data = static_cast<const T*>(points.axis(0));
            memory_.emplace(context, std::vector<T>(data, data + points.count() * points.dimension()));
            view_ = memory_->points(points.dimension());
        }
    }
    [[nodiscard]] const PointsView& view() const { return view_; }

private:
    std::optional<ThereOn<T>> memory_;
    PointsView view_;
};

inline TreeShape drawn_shape(Random& draw) {
    return draw.integer(3) == 0 ? TreeShape{} : TreeShape{.leaf_size = 6, .coarsening = 3, .top_size = 4};
}

} // namespace kith::test
