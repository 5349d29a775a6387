// The particles' columns as kernels read them: in memory of the device, in any layout, float32 or float64.
//
// What the type is, and whether rows are looked up, is the same for all threads, so that asking costs next to nothing
// beside the memory.
#pragma once

#include <kith/catalog.hpp>

#include "cuda/intrinsics.hpp"

#include <array>
#include <cstdint>

namespace kith::detail::inline KITH_GPU {

/// Positions, velocities or, with one axis, masses.
struct DeviceColumn {
    std::array<const void*, max_dimension> axes{}; ///< null: there is no such column
    bool is_float = false;
    std::int64_t row_stride = 0;        ///< in numbers
    const std::int32_t* rows = nullptr; ///< where in the column each member is; null: it is in their order

    DeviceColumn() = default;
    explicit DeviceColumn(const PointsView& view)
        : is_float(view.dtype() == DType::float32), row_stride(view.stride() / (is_float ? 4 : 8)) {
        for (int axis = 0; axis < max_dimension; ++axis) {
            axes[axis] = view.axis(axis);
        }
    }
    explicit DeviceColumn(const ScalarsView& scalars)
        : axes{scalars.data()}, is_float(scalars.dtype() == DType::float32),
          row_stride(scalars.stride() / (is_float ? 4 : 8)) {}

    [[nodiscard]] DeviceColumn of_rows(const std::int32_t* some) const {
        DeviceColumn column = *this;
        column.rows = some;
        return column;
    }
    [[nodiscard]] __device__ double operator()(std::int64_t member, int axis) const {
        const std::int64_t row = rows != nullptr ? rows[member] : member;
        return is_float ? static_cast<double>(static_cast<const float*>(axes[axis])[row * row_stride])
                        : static_cast<const double*>(axes[axis])[row * row_stride];
    }
};

} // namespace kith::detail::inline KITH_GPU
