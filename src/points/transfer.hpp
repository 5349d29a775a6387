// Points from the memory of the host to that of a device, and back.
//
// What is copied is the piece of memory from the first scalar of a view to the last, gaps included, so that one copy does
// whatever the strides are; views with wide gaps are packed first where the host can do that.
#pragma once

#include "cuda/device_context.hpp"
#include "support/item_size.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace kith::detail::inline KITH_GPU {

/// The scalars that a view with points reaches, counted from its own first one.
struct ScalarRange {
    std::int64_t first = 0; ///< 0 or less
    std::int64_t count = 0;

    static ScalarRange of(const PointsView& view) {
        if (view.count() == 0) {
            return {};
        }
        const std::int64_t along_points = (view.count() - 1) * view.point_stride();
        const std::int64_t along_axes = (view.dimension() - 1) * view.axis_stride();
        const std::int64_t first = std::min<std::int64_t>(0, along_points) + std::min<std::int64_t>(0, along_axes);
        const std::int64_t last = std::max<std::int64_t>(0, along_points) + std::max<std::int64_t>(0, along_axes);
        return {first, last - first + 1};
    }
};

/// Bytes of the device that a view takes there: none if it is a device's already.
inline std::int64_t bytes_to_copy(const PointsView& view) {
    if (view.device().kind == DeviceKind::cuda) {
        return 0;
    }
    const std::int64_t scalars = view.count() * view.dimension();
    const std::int64_t width = item_size(view.dtype());
    const std::int64_t range = ScalarRange::of(view).count;
    return (range > 2 * scalars ? scalars : range) * width;
}

/// Points of a device, copied to the host.
template <Coordinate T>
class HostPoints {
public:
    HostPoints(DeviceContext& context, const PointsView& view) {
        const ScalarRange range = ScalarRange::of(view);
        scalars_ = context.to_host(view.data_as<T>() + range.first, range.count);
        view_ = {scalars_.data() - range.first, view.dtype(),      view.count(), view.dimension(),
                 view.point_stride(),           view.axis_stride()};
    }
    [[nodiscard]] const PointsView& view() const noexcept { return view_; }

private:
    std::vector<T> scalars_;
    PointsView view_;
};

/// Points that a device can read: as they are if they are there, or else a copy of the host's.
template <Coordinate T>
class PointsOnDevice {
public:
    PointsOnDevice(DeviceContext& context, const PointsView& view) : view_(view) {
        if (view.device().kind == DeviceKind::cuda || view.count() == 0) {
            return;
        }
        ScalarRange range = ScalarRange::of(view);
        const std::int64_t scalars = view.count() * view.dimension();
        if (range.count > 2 * scalars) {
            const std::vector<T> packed = pack(view);
            copy(context, packed.data(), scalars);
            view_ = {scalars_.data(), view.dtype(), view.count(), view.dimension(), view.dimension(), 1,
                     context.device()};
            context.wait(); // for the packed points
            return;
        }
        copy(context, view.data_as<T>() + range.first, range.count);
        view_ = {scalars_.data() - range.first, view.dtype(),      view.count(), view.dimension(),
                 view.point_stride(),           view.axis_stride()};
    }
    [[nodiscard]] const PointsView& view() const noexcept { return view_; }

private:
    static std::vector<T> pack(const PointsView& view) {
        std::vector<T> packed(static_cast<std::size_t>(view.count() * view.dimension()));
        for (std::int64_t i = 0; i < view.count(); ++i) {
            for (int axis = 0; axis < view.dimension(); ++axis) {
                packed[static_cast<std::size_t>(i * view.dimension() + axis)] =
                    view.data_as<T>()[i * view.point_stride() + axis * view.axis_stride()];
            }
        }
        return packed;
    }
    void copy(DeviceContext& context, const T* from, std::int64_t count) {
        scalars_ = context.buffer<T>(count);
        context.copy(scalars_.data(), from, count * static_cast<std::int64_t>(sizeof(T)));
    }

    DeviceBuffer<T> scalars_;
    PointsView view_;
};

/// Points where kernels can read them; runs the stage "upload" if they must be brought there.
template <Coordinate T>
PointsOnDevice<T> points_on_device(DeviceContext& context, const PointsView& points) {
    if (points.device().kind == DeviceKind::cuda || points.count() == 0) {
        return {context, points};
    }
    std::optional<PointsOnDevice<T>> uploaded;
    context.stage("upload", [&] { uploaded.emplace(context, points); });
    return std::move(*uploaded);
}

} // namespace kith::detail::inline KITH_GPU
