// A tree in memory of a GPU, whatever the type and the dimension of its points: what the host can say of it.
#pragma once

#include <kith/points.hpp>

#include "cuda/namespace.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace kith::detail::inline KITH_GPU {

template <Coordinate T>
struct DevicePlaneTree;

struct DeviceTreeHandle {
    std::shared_ptr<const void> tree; ///< a DevicePlaneTree of the points' type
    std::int64_t size = 0;
    int dimension = 0;
    Box box; ///< with every origin resolved
    std::int64_t wrapped_points = 0;
    std::span<const std::int32_t> order;               ///< in memory of the GPU
    std::vector<std::span<const std::int32_t>> planes; ///< first points, leaves first; in memory of the GPU

    template <Coordinate T>
    [[nodiscard]] const DevicePlaneTree<T>& as() const {
        return *static_cast<const DevicePlaneTree<T>*>(tree.get());
    }
};

} // namespace kith::detail::inline KITH_GPU
