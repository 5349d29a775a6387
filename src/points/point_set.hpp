// The working copy: scaled, wrapped coordinates as a structure of arrays, with original indices beside them.
#pragma once

#include <kith/points.hpp>

#include "points/frame.hpp"
#include "support/context.hpp"
#include "support/parallel.hpp"

#include <array>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>

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

/// The working copy in the order of `indices`, which it takes over. Without them, in the order given.
template <Coordinate T, int D>
PointSet<T> gather_points(Context& context, const PointsView& view, const Frame<T>& frame,
                          Buffer<std::int32_t> indices = {}) {
    PointSet<T> points;
    points.frame = frame;
    points.count = view.count();
    points.stride = (points.count + 31) / 16 * 16;
    points.coordinates = Buffer<T>(context.ledger(), points.stride * D);
    if (indices.size() == 0) {
        indices = Buffer<std::int32_t>(context.ledger(), points.count);
        std::iota(indices.data(), indices.data() + points.count, 0);
    }
    points.indices = std::move(indices);
    const Loader<T, D> load(view, frame);
    parallel_for(0, points.count, 1 << 14, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
            const std::array<T, D> x = load(points.indices[i]);
            for (int axis = 0; axis < D; ++axis) {
                points.axis(axis)[i] = x[axis];
            }
        }
    });
    for (int axis = 0; axis < D; ++axis) { // behind the end lie points that are within no distance of anything
        for (std::int64_t i = points.count; i < points.stride; ++i) {
            points.axis(axis)[i] = std::numeric_limits<T>::quiet_NaN();
        }
    }
    return points;
}

} // namespace kith::detail
