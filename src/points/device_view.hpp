// A caller's points as kernels read them: where they lie, in working coordinates.
#pragma once

#include "cuda/intrinsics.hpp"
#include "points/coordinates.hpp"
#include "points/frame.hpp"

#include <array>
#include <cstdint>

namespace kith::detail::inline KITH_GPU {

template <class T>
struct DeviceView {
    Coordinates<T> raw; ///< of the whole, of which these points may be a piece
    std::int64_t count = 0;
    std::int32_t first = 0; ///< index of the first point: of a piece of the caller's, else 0
    T factor = 1;           ///< all that Frame::load comes to; 0 if it takes more
    Frame<T> frame;

    /// The points must be in memory of the device. Those of a piece keep the indices that they have in the whole.
    static DeviceView of(const NormalizedPoints<T>& points, std::int32_t first = 0) {
        DeviceView view = raw_points(points.view, first);
        view.work_in(points.frame, points.wraps);
        return view;
    }
    /// Points that have no frame yet.
    static DeviceView raw_points(const PointsView& view, std::int32_t first = 0) {
        return {Coordinates<T>(view.moved(-first * view.stride(), view.device())), view.count(), first, T(1), {}};
    }
    /// Gives points their frame; `wraps` says that some lie outside a periodic axis.
    KITH_HOST_DEVICE void work_in(const Frame<T>& its_frame, bool wraps) {
        factor = wraps ? T(0) : its_frame.scale.as_factor();
        frame = its_frame;
    }

    __device__ T coordinate(std::int64_t point, int axis) const {
        const T x = raw(point, axis);
        return factor != 0 ? x * factor + T(0) : frame.load(x, axis);
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
