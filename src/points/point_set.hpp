// The working copy: scaled, wrapped coordinates as a structure of arrays, with original indices beside them.
#pragma once

#include <kith/points.hpp>

#include "points/coordinates.hpp"
#include "points/frame.hpp"
#include "points/point_set_view.hpp"
#include "support/context.hpp"
#include "support/dimension.hpp"
#include "support/parallel.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <numeric>

namespace kith::detail {

/// Reads placed points in working coordinates.
template <Coordinate T, int D>
class PointReader {
public:
    explicit PointReader(const NormalizedPoints<T>& points)
        : view_(points.view), factor_(points.wraps ? T(0) : points.frame.scale.as_factor()), points_(&points) {}
    [[nodiscard]] std::array<T, D> operator()(std::int64_t point) const noexcept {
        std::array<T, D> x;
        for (int axis = 0; axis < D; ++axis) {
            const T raw = view_(point, axis);
            x[axis] = factor_ != 0 ? raw * factor_ + T(0) : points_->frame.load(raw, axis);
        }
        return x;
    }

private:
    Coordinates<T> view_;
    T factor_; ///< all that Frame::load comes to; 0 if it takes more
    const NormalizedPoints<T>* points_;
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
    [[nodiscard]] PointSetView<T> view() const noexcept {
        return {coordinates.data(), stride, static_cast<std::int32_t>(count), indices.data()};
    }
};

/// Room for a working copy. Behind its end lie points that are within no distance of anything.
template <Coordinate T>
PointSet<T> make_point_set(Context& context, const Frame<T>& frame, std::int64_t count) {
    PointSet<T> points;
    points.frame = frame;
    points.count = count;
    points.stride = (count + 31) / 16 * 16;
    points.coordinates = Buffer<T>(context.memory_tracker(), points.stride * frame.dimension);
    points.indices = Buffer<std::int32_t>(context.memory_tracker(), count);
    for (int axis = 0; axis < frame.dimension; ++axis) {
        std::fill(points.axis(axis) + count, points.axis(axis) + points.stride, std::numeric_limits<T>::quiet_NaN());
    }
    return points;
}

/// The working copy in the order given.
template <Coordinate T, int D>
PointSet<T> gather_points(Context& context, const NormalizedPoints<T>& normalized) {
    PointSet<T> points = make_point_set(context, normalized.frame, normalized.view.count());
    std::iota(points.indices.data(), points.indices.data() + points.count, 0);
    const PointReader<T, D> load(normalized);
    parallel_each(points.count, 1 << 14, [&](std::int64_t i) {
        const std::array<T, D> x = load(i);
        for (int axis = 0; axis < D; ++axis) {
            points.axis(axis)[i] = x[axis];
        }
    });
    return points;
}
template <Coordinate T>
PointSet<T> gather_points(Context& context, const NormalizedPoints<T>& normalized) {
    PointSet<T> points;
    with_dimension(normalized.view.dimension(),
                   [&]<int D>(std::integral_constant<int, D>) { points = gather_points<T, D>(context, normalized); });
    return points;
}

} // namespace kith::detail
