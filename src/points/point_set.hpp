// The working copy: scaled, wrapped coordinates as a structure of arrays, with original indices beside them.
#pragma once

#include <kith/points.hpp>

#include "points/frame.hpp"
#include "support/context.hpp"
#include "support/parallel.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <numeric>

namespace kith::detail {

/// Reads points of a view in working coordinates.
template <Coordinate T, int D>
class Loader {
public:
    Loader(const PointsView& view, const Frame<T>& frame) : view_(&view), frame_(&frame) {}
    [[nodiscard]] std::array<T, D> operator()(std::int64_t point) const noexcept {
        std::array<T, D> x;
        const T* p = view_->data_as<T>() + point * view_->point_stride();
        for (int axis = 0; axis < D; ++axis) {
            x[axis] = frame_->load(p[axis * view_->axis_stride()], axis);
        }
        return x;
    }
    [[nodiscard]] std::int64_t count() const noexcept { return view_->count(); }

private:
    const PointsView* view_;
    const Frame<T>* frame_;
};

template <Coordinate T>
struct PointSet {
    Frame<T> frame;
    std::int64_t count = 0;
    std::int64_t stride = 0;      ///< between axes; at least a whole vector longer than the count
    Buffer<T> coordinates;        ///< axis after axis
    Buffer<std::int32_t> indices; ///< original index of each point

    [[nodiscard]] const T* axis(int a) const noexcept { return coordinates.data() + a * stride; }
    [[nodiscard]] T* axis(int a) noexcept { return coordinates.data() + a * stride; }
    [[nodiscard]] int dimension() const noexcept { return frame.dimension; }
};

/// Room for a working copy. Behind its end lie points that are within no distance of anything.
template <Coordinate T>
PointSet<T> make_point_set(Context& context, const Frame<T>& frame, std::int64_t count) {
    PointSet<T> points;
    points.frame = frame;
    points.count = count;
    points.stride = (count + 31) / 16 * 16;
    points.coordinates = Buffer<T>(context.ledger(), points.stride * frame.dimension);
    points.indices = Buffer<std::int32_t>(context.ledger(), count);
    for (int axis = 0; axis < frame.dimension; ++axis) {
        std::fill(points.axis(axis) + count, points.axis(axis) + points.stride, std::numeric_limits<T>::quiet_NaN());
    }
    return points;
}

/// The working copy in the order given.
template <Coordinate T, int D>
PointSet<T> gather_points(Context& context, const PointsView& view, const Frame<T>& frame) {
    PointSet<T> points = make_point_set(context, frame, view.count());
    std::iota(points.indices.data(), points.indices.data() + points.count, 0);
    const Loader<T, D> load(view, frame);
    parallel_for(0, points.count, 1 << 14, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
            const std::array<T, D> x = load(i);
            for (int axis = 0; axis < D; ++axis) {
                points.axis(axis)[i] = x[axis];
            }
        }
    });
    return points;
}

} // namespace kith::detail
