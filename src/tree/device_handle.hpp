// An index in memory of a GPU, whatever its engine and its points' type and dimension: what the host can say of it.
#pragma once

#include <kith/points.hpp>

#include "cuda/namespace.hpp"
#include "points/frame.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace kith::detail::inline KITH_GPU {

struct DeviceTreeHandle {
    std::shared_ptr<const void> index; ///< of one engine; a DevicePlaneTree of the points' type if it has no points
    std::int64_t size = 0;
    int dimension = 0;
    Box box; ///< with every origin resolved
    std::int64_t wrapped_points = 0;
    // Of planes, in memory of the GPU:
    std::span<const std::int32_t> order;
    std::vector<std::span<const std::int32_t>> planes; ///< first points, leaves first

    template <class Index>
    [[nodiscard]] const Index& as() const {
        return *static_cast<const Index*>(index.get());
    }
};

/// An index of `size` points, without planes.
template <Coordinate T>
DeviceTreeHandle handle_of(std::shared_ptr<const void> index, const Frame<T>& frame, std::int64_t size) {
    return {std::move(index), size, frame.dimension, resolved_box(frame), frame.outside, {}, {}};
}

} // namespace kith::detail::inline KITH_GPU
