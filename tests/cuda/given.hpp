// What a backend of a real GPU is given: points on either side.
#pragma once

#include "cuda/gpu.hpp"

#include <optional>
#include <vector>

namespace kith::test {

/// Row-major points of the host, or a copy of them on the GPU.
template <class T>
class Given {
public:
    Given(const PointsView& points, bool on_gpu) : view_(points) {
        if (on_gpu) {
            const T* data = static_cast<const T*>(points.axis(0));
            memory_.emplace(std::vector<T>(data, data + points.count() * points.dimension()));
            view_ = memory_->points(points.dimension());
        }
    }
    [[nodiscard]] const PointsView& view() const { return view_; }

private:
    std::optional<OnGpu<T>> memory_;
    PointsView view_;
};

} // namespace kith::test
