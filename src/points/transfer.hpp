// Points from the memory of the host to that of a device, and back.
//
// What is copied is the piece of memory from the first scalar of a view to the last, gaps included, so that one copy
// does whatever the layout is; views with wide gaps, such as those of separate arrays, are packed first.
#pragma once

#include "cuda/device_context.hpp"
#include "points/as_given.hpp"
#include "support/dimension.hpp"
#include "support/number_types.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

namespace kith::detail::inline KITH_GPU {

/// The memory that a view with points reaches.
struct ByteRange {
    std::uintptr_t first = 0;
    std::int64_t count = 0;

    static ByteRange of(const PointsView& view) {
        if (view.count() == 0) {
            return {};
        }
        const auto address = [&](int axis) { return reinterpret_cast<std::uintptr_t>(view.axis(axis)); };
        std::uintptr_t first = address(0);
        std::uintptr_t last = first;
        for (int axis = 1; axis < view.dimension(); ++axis) {
            first = std::min(first, address(axis));
            last = std::max(last, address(axis));
        }
        const std::int64_t reach = (view.count() - 1) * view.stride();
        (reach < 0 ? first : last) += static_cast<std::uintptr_t>(reach);
        return {first, static_cast<std::int64_t>(last - first) + item_size(view.dtype())};
    }
    [[nodiscard]] const std::byte* data() const { return reinterpret_cast<const std::byte*>(first); }
    /// The same view of a copy of this memory.
    [[nodiscard]] PointsView at(const void* copy, const PointsView& view, Device device) const {
        return view.moved(static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(copy) - first), device);
    }
};

/// Whether one copy of the range reads only the caller's memory and not much besides the points: rows that interleave
/// the axes, or memory without gaps. Between separate arrays there may be pages that nobody owns.
inline bool is_one_array(const PointsView& view, const ByteRange& range) {
    const std::int64_t packed = view.count() * view.dimension() * item_size(view.dtype());
    const std::int64_t row = ByteRange::of(view.subview(0, 1)).count;
    return range.count == packed || (row <= std::abs(view.stride()) && range.count <= 2 * packed);
}

/// Bytes of the device that a view takes there: none if it is a device's already.
inline std::int64_t bytes_to_copy(const PointsView& view) {
    if (view.device().kind == DeviceKind::cuda || view.count() == 0) {
        return 0;
    }
    const ByteRange range = ByteRange::of(view);
    return is_one_array(view, range) ? range.count : view.count() * view.dimension() * item_size(view.dtype());
}

/// Points of a device on the host: in the same layout, or one axis after the other if they are in separate arrays.
class HostCopy {
public:
    HostCopy() = default;
    HostCopy(DeviceContext& context, const PointsView& view) {
        if (view.count() == 0) {
            return;
        }
        const ByteRange range = ByteRange::of(view);
        if (is_one_array(view, range)) {
            copies_.push_back(context.to_host(range.data(), range.count));
            view_ = range.at(copies_[0].data(), view, {});
            return;
        }
        std::vector<const void*> axes;
        for (int axis = 0; axis < view.dimension(); ++axis) {
            const PointsView line = view.axis_view(axis);
            const ByteRange of_axis = ByteRange::of(line);
            copies_.push_back(context.to_host(of_axis.data(), of_axis.count));
            axes.push_back(of_axis.at(copies_.back().data(), line, {}).axis(0));
        }
        view_ = PointsView(axes, view.dtype(), view.count(), view.stride());
    }
    [[nodiscard]] const PointsView& view() const noexcept { return view_; }

private:
    std::vector<std::vector<std::byte>> copies_;
    PointsView view_;
};

/// Points on either side as rows without gaps, on the host.
template <Coordinate T>
std::vector<T> host_rows(DeviceContext& context, const PointsView& view) {
    return view.device().kind == DeviceKind::cuda ? packed<T>(HostCopy(context, view).view()) : packed<T>(view);
}

/// Points that a device can read: as they are if they are there, or else a copy of the host's.
class PointsOnDevice {
public:
    PointsOnDevice(DeviceContext& context, const PointsView& view) : view_(view) {
        if (view.device().kind == DeviceKind::cuda || view.count() == 0) {
            return;
        }
        const ByteRange range = ByteRange::of(view);
        if (is_one_array(view, range)) {
            copy(context, range.data(), range.count);
            view_ = range.at(bytes_.data(), view, context.device());
            return;
        }
        with_dtype(view.dtype(), [&]<Coordinate T>(T) {
            const std::vector<T> rows = packed<T>(view);
            copy(context, rows.data(), std::ssize(rows) * static_cast<std::int64_t>(sizeof(T)));
            view_ =
                PointsView(reinterpret_cast<const T*>(bytes_.data()), view.count(), view.dimension(), context.device());
            context.wait(); // for the rows
        });
    }
    [[nodiscard]] const PointsView& view() const noexcept { return view_; }

private:
    void copy(DeviceContext& context, const void* from, std::int64_t bytes) {
        bytes_ = context.buffer<std::byte>(bytes);
        context.copy(bytes_.data(), static_cast<const std::byte*>(from), bytes);
    }

    DeviceBuffer<std::byte> bytes_;
    PointsView view_;
};

/// Points where kernels can read them; runs the stage "upload" if they must be brought there.
inline PointsOnDevice points_on_device(DeviceContext& context, const PointsView& points) {
    if (points.device().kind == DeviceKind::cuda || points.count() == 0) {
        return {context, points};
    }
    std::optional<PointsOnDevice> uploaded;
    context.stage("upload", [&] { uploaded.emplace(context, points); });
    return std::move(*uploaded);
}

} // namespace kith::detail::inline KITH_GPU
