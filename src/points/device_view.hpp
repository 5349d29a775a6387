// A caller's points as kernels read them: where they lie, in working coordinates.
#pragma once

#include "cuda/intrinsics.hpp"
#include "points/coordinates.hpp"
#include "points/frame.hpp"

#include <array>
#include <cstdint>

namespace kith::detail::inline KITH_GPU {

/// The frame in which some points are worked on, as kernels find it in memory of the device.
template <class T>
struct DeviceFrame {
    Frame<T> frame; ///< of the sources
    T factor = 1;   ///< all that Frame::load comes to for these points; 0 if it takes more
    bool is_refused = false;

    DeviceFrame() = default;
    /// `wraps` says that some points lie outside a periodic axis.
    KITH_HOST_DEVICE DeviceFrame(const Frame<T>& its_frame, bool wraps)
        : frame(its_frame), factor(wraps ? T(0) : its_frame.scale.as_factor()) {}
};

template <class T>
struct DeviceView {
    Coordinates<T> raw; ///< of the whole, of which these points may be a piece
    std::int64_t count = 0;
    std::int32_t first = 0;                ///< index of the first point: of a piece of the caller's, else 0
    const DeviceFrame<T>* frame = nullptr; ///< in memory of the device; null if only raw coordinates are read

    /// The points must be in memory of the device. Those of a piece keep the indices that they have in the whole.
    static DeviceView of(const PointsView& view, const DeviceFrame<T>* frame, std::int32_t first = 0) {
        return {Coordinates<T>(view.moved(-first * view.stride(), view.device())), view.count(), first, frame};
    }

    __device__ T coordinate(std::int64_t point, int axis) const {
        const T x = raw(point, axis);
        const T factor = frame->factor;
        return factor != 0 ? x * factor + T(0) : frame->frame.load(x, axis);
    }
    template <int D>
    __device__ std::array<T, D> position(std::int64_t point) const {
        std::array<T, D> x;
#pragma unroll
        for (int axis = 0; axis < D; ++axis) {
            x[axis] = coordinate(point, axis);
        }
        return x;
    }
};

} // namespace kith::detail::inline KITH_GPU
