// The scalars of a caller's points, on the host or on a device, for a type that is known.
#pragma once

#include <kith/points.hpp>

#include "support/host_device.hpp"

#include <array>
#include <cstdint>

namespace kith::detail {

template <class T>
struct Coordinates {
    std::array<const T*, max_dimension> axes{};
    std::int64_t stride = 0; ///< in scalars

    Coordinates() = default;
    /// The view must be of this type.
    explicit Coordinates(const PointsView& view) : stride(view.stride() / static_cast<std::int64_t>(sizeof(T))) {
        for (int axis = 0; axis < max_dimension; ++axis) {
            axes[axis] = static_cast<const T*>(view.axis(axis));
        }
    }
    [[nodiscard]] KITH_HOST_DEVICE T operator()(std::int64_t point, int axis) const noexcept {
        return axes[axis][point * stride];
    }
};

} // namespace kith::detail
