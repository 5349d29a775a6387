// Views of points, and boxes.
//
// A PointsView describes an array of the caller's, like DLPack: address, scalar type, count, dimension, strides,
// device. It never owns or copies; the array must outlive the call. A Box has one period per axis; 0 leaves the axis
// open.
#pragma once

#include <kith/types.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <ranges>
#include <span>
#include <type_traits>

namespace kith {

/// A contiguous range of scalars.
template <class Range>
concept CoordinateRange = std::ranges::contiguous_range<Range> && Coordinate<std::ranges::range_value_t<Range>>;

/// The scalar type of a range of std::array.
template <class Range>
using ScalarOf = typename std::ranges::range_value_t<Range>::value_type;

/// A contiguous range of std::array<float or double, d>.
template <class Range>
concept PointRange = std::ranges::contiguous_range<Range> && Coordinate<ScalarOf<Range>> &&
    (std::tuple_size<std::ranges::range_value_t<Range>>::value >= 1);

/// A non-owning view of `count` points with `dimension` coordinates each. Strides are in scalars, not bytes: coordinate
/// `axis` of point `i` is at `data + i * point_stride + axis * axis_stride`. Row-major n x d arrays have strides
/// (d, 1); structure-of-arrays blocks have (1, n). Strides may be negative or zero.
class PointsView {
public:
    PointsView() = default;

    PointsView(const void* data, DType dtype, std::int64_t count, int dimension, std::int64_t point_stride,
               std::int64_t axis_stride, Device device = {})
        : data_(data), count_(count), point_stride_(point_stride), axis_stride_(axis_stride), dimension_(dimension),
          dtype_(dtype), device_(device) {}

    /// A row-major n x d array.
    template <Coordinate T>
    PointsView(const T* data, std::int64_t count, int dimension)
        : PointsView(data, dtype_of<T>, count, dimension, dimension, 1) {}

    /// A flat range (vector, span, array) of n * d scalars, row-major. A call with a view whose size is no multiple of
    /// d throws invalid_argument.
    template <CoordinateRange Range>
    PointsView(const Range& coordinates, int dimension)
        : PointsView(std::ranges::data(coordinates), rows_in(std::ranges::size(coordinates), dimension), dimension) {}

    /// A range of std::array<float or double, d>. Implicit, like std::span.
    template <PointRange Range>
    PointsView(const Range& points) // NOLINT(google-explicit-constructor)
        : PointsView(reinterpret_cast<const ScalarOf<Range>*>(std::ranges::data(points)),
                     static_cast<std::int64_t>(std::ranges::size(points)),
                     static_cast<int>(std::tuple_size_v<std::ranges::range_value_t<Range>>)) {}

    [[nodiscard]] const void* data() const noexcept { return data_; }
    template <Coordinate T>
    [[nodiscard]] const T* data_as() const noexcept {
        return static_cast<const T*>(data_);
    }
    [[nodiscard]] std::int64_t count() const noexcept { return count_; }
    [[nodiscard]] int dimension() const noexcept { return dimension_; }
    [[nodiscard]] DType dtype() const noexcept { return dtype_; }
    [[nodiscard]] std::int64_t point_stride() const noexcept { return point_stride_; }
    [[nodiscard]] std::int64_t axis_stride() const noexcept { return axis_stride_; }
    [[nodiscard]] Device device() const noexcept { return device_; }

private:
    // A negative count marks a flat array whose length is no multiple of the dimension; the error message names both.
    static std::int64_t rows_in(std::size_t scalars, int dimension) {
        const bool whole = dimension >= 1 && scalars % static_cast<std::size_t>(dimension) == 0;
        return whole ? static_cast<std::int64_t>(scalars / static_cast<std::size_t>(dimension))
                     : -static_cast<std::int64_t>(scalars) - 1;
    }

    const void* data_ = nullptr;
    std::int64_t count_ = 0;
    std::int64_t point_stride_ = 0;
    std::int64_t axis_stride_ = 0;
    int dimension_ = 0;
    DType dtype_ = DType::float32;
    Device device_;
};

/// Period and origin of each axis, in the units of the points. A period of 0 leaves the axis open. Distances on a
/// periodic axis are to the nearest image. Points outside [origin, origin + period] are wrapped into it. The default
/// origin of an axis of period L is 0 if all points lie in [0, L], else -L/2 if they lie in [-L/2, L/2], else their
/// smallest coordinate if their extent is at most L, else 0.
class Box {
public:
    /// Open on every axis, in any dimension.
    Box() = default;

    /// The same period on every axis, in any dimension.
    static Box periodic(double period) {
        Box box;
        box.period_.fill(period);
        return box;
    }

    /// One period per axis, for points of that dimension only.
    static Box periodic(std::span<const double> periods) {
        Box box;
        box.axes_ = static_cast<int>(periods.size());
        for (std::size_t axis = 0; axis < periods.size() && axis < box.period_.size(); ++axis) {
            box.period_[axis] = periods[axis];
        }
        return box;
    }
    static Box periodic(std::initializer_list<double> periods) {
        return periodic(std::span<const double>(periods.begin(), periods.size()));
    }

    /// The same box with another origin (lower edge) on one axis. Throws std::out_of_range unless axis is in
    /// [0, max_dimension).
    [[nodiscard]] Box with_origin(int axis, double origin) const {
        Box box = *this;
        box.origin_.at(static_cast<std::size_t>(axis)) = origin;
        return box;
    }

    /// Number of axes of the box; 0 fits any dimension.
    [[nodiscard]] int axes() const noexcept { return axes_; }
    /// Both throw std::out_of_range unless axis is in [0, max_dimension).
    [[nodiscard]] double period(int axis) const { return period_.at(static_cast<std::size_t>(axis)); }
    [[nodiscard]] std::optional<double> origin(int axis) const { return origin_.at(static_cast<std::size_t>(axis)); }
    [[nodiscard]] bool is_open() const noexcept {
        for (const double period : period_) {
            if (period != 0) {
                return false;
            }
        }
        return true;
    }

private:
    std::array<double, max_dimension> period_{};
    std::array<std::optional<double>, max_dimension> origin_{};
    int axes_ = 0;
};

} // namespace kith
