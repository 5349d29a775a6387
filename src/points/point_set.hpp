// The working copy: scaled, wrapped coordinates as a structure of arrays, with original indices beside them.
#pragma once

#include <kith/points.hpp>

#include "points/coordinates.hpp"
#include "points/frame.hpp"
#include "points/point_set_view.hpp"
#include "support/context.hpp"

#include <array>
#include <cstdint>

namespace kith::detail {

/// Reads placed points in working coordinates.
template <Coordinate T>
class PointReader {
public:
    explicit PointReader(const NormalizedPoints<T>& points)
        : view_(points.view), factor_(points.wraps ? T(0) : points.frame.scale.as_factor()), points_(&points) {}
    [[nodiscard]] T operator()(std::int64_t point, int axis) const noexcept {
        const T raw = view_(point, axis);
        return factor_ != 0 ? raw * factor_ + T(0) : points_->frame.load(raw, axis);
    }
    template <int D>
    [[nodiscard]] std::array<T, D> position(std::int64_t point) const noexcept {
        std::array<T, D> x;
        for (int axis = 0; axis < D; ++axis) {
            x[axis] = (*this)(point, axis);
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
PointSet<T> make_point_set(Context& context, const Frame<T>& frame, std::int64_t count);

/// The working copy in the order given.
template <Coordinate T>
PointSet<T> gather_points(Context& context, const NormalizedPoints<T>& normalized);

} // namespace kith::detail
