// Views of the caller's points, in whatever layout they are.
//
// A PointsView never owns or copies: it says where each axis starts, how far it is from point to point, the scalar
// type, and the device that owns the memory. The points must outlive the call.
//
//   std::vector<std::array<float, 3>> points;   knn(points, k)
//   struct Particle { double x, y, z, mass; };  knn(particles, k), by the names x, y and z
//   struct Particle { float mass, pos[3]; };    knn(PointsView(particles, &Particle::pos), k)
//   struct Nested { struct { double x, y, z; } pos; };
//                                               knn(PointsView({&n[0].pos.x, &n[0].pos.y, &n[0].pos.z}, n.size(), {},
//                                                              sizeof(Nested)), k)
//   std::vector<float> x, y, z;                 knn(PointsView(x, y, z), k)
//   std::vector<double> row_major;              knn(PointsView(row_major, 3), k)
//   const float* on_gpu;                        knn(PointsView(on_gpu, n, 3, cuda().device), k, {.execution = cuda()})
#pragma once

#include <kith/box.hpp>
#include <kith/types.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <ranges>
#include <span>
#include <type_traits>
#include <vector>

namespace kith {

/// A contiguous range of scalars.
template <class Range>
concept CoordinateRange = std::ranges::contiguous_range<Range> && Coordinate<std::ranges::range_value_t<Range>>;

namespace detail {

/// The coordinates of a point that is an array: its scalar type and number of axes.
template <class Point>
struct ArrayOf {};
template <Coordinate T, std::size_t d>
struct ArrayOf<std::array<T, d>> {
    using Scalar = T;
    static constexpr int axes = static_cast<int>(d);
};
template <Coordinate T, std::size_t d>
struct ArrayOf<T[d]> : ArrayOf<std::array<T, d>> {};

template <class Point>
concept ArrayPoint = requires {
    typename ArrayOf<Point>::Scalar;
};

/// A struct with members x and y of one scalar type; with a third, z, it is a point in 3-D.
template <class Point>
concept NamedPoint = requires(const Point& p) {
    requires Coordinate<std::remove_cvref_t<decltype(p.x)>>;
    requires std::is_same_v<decltype(p.x), decltype(p.y)>;
    {&p.x};
};
/// A third member z must be a coordinate, too: a point is never searched without it.
template <class Point>
concept ZFits = !requires(const Point& p) {
    p.z;
}
|| requires(const Point& p) {
    requires std::is_same_v<decltype(p.x), decltype(p.z)>;
};
template <class Point>
concept NamedPoint3 = NamedPoint<Point> && requires(const Point& p) {
    requires std::is_same_v<decltype(p.x), decltype(p.z)>;
};

template <class>
inline constexpr bool never = false;

/// Throw Error: invalid_argument.
[[noreturn]] void refuse_flat_array(std::size_t scalars, int dimension);
[[noreturn]] void refuse_axes(std::span<const std::size_t> lengths);

} // namespace detail

/// A contiguous range of points that need no further description: arrays std::array<T, d> or T[d], or structs with
/// members x, y and, in 3-D, z; T is float or double. A member z of another type is refused: name the members,
/// PointsView(particles, &P::x, &P::y).
template <class Range>
concept PointRange = std::ranges::contiguous_range<Range> &&
    (detail::ArrayPoint<std::ranges::range_value_t<Range>> ||
     (detail::NamedPoint<std::ranges::range_value_t<Range>> && detail::ZFits<std::ranges::range_value_t<Range>>));

/// A non-owning view of count() points with dimension() coordinates each: coordinate `axis` of point i is the scalar at
/// axis(axis) + i * stride() bytes. The stride may be negative or 0. A call throws Error: invalid_argument if an
/// address or the stride is not a multiple of the scalar's size.
class PointsView {
public:
    PointsView() = default;

    /// Points without further description. Implicit, like std::span.
    template <PointRange Range>
    PointsView(const Range& points) // NOLINT(google-explicit-constructor)
        : PointsView(std::ranges::data(points), static_cast<std::int64_t>(std::ranges::size(points)), Device{}) {}
    /// One point.
    template <Coordinate T, std::size_t d>
    PointsView(const std::array<T, d>& point) // NOLINT(google-explicit-constructor)
        : PointsView(point.data(), 1, static_cast<int>(d)) {
        static_assert(d <= max_dimension, "a std::array of scalars is one point; for a flat array of many points give "
                                          "their dimension: kith::PointsView(coordinates, 3)");
    }

    /// One point, a struct with members x, y and, in 3-D, z.
    template <class Point>
        requires(detail::NamedPoint<Point>&& detail::ZFits<Point> && !std::ranges::range<Point>)
    PointsView(const Point& point) // NOLINT(google-explicit-constructor)
        : PointsView(&point, 1, Device{}) {}

    /// Row-major n x d scalars.
    template <Coordinate T>
    PointsView(const T* coordinates, std::int64_t count, int dimension, Device device = {})
        : PointsView(coordinates, dtype_of<T>, count, dimension, dimension, 1, device) {}
    /// The same as a range. Throws Error: invalid_argument if its size is no multiple of d.
    template <CoordinateRange Range>
    PointsView(const Range& coordinates, int dimension)
        : PointsView(std::ranges::data(coordinates), rows_in(std::ranges::size(coordinates), dimension), dimension) {}

    /// One range per axis: PointsView(x, y, z). Throws Error: invalid_argument if their sizes differ.
    template <CoordinateRange X, CoordinateRange... Others>
        requires(sizeof...(Others) >= 1 && sizeof...(Others) < max_dimension &&
                 (std::is_same_v<std::ranges::range_value_t<X>, std::ranges::range_value_t<Others>> && ...))
    explicit PointsView(const X& x, const Others&... others)
        : PointsView({std::ranges::data(x), std::ranges::data(others)...},
                     common_size({std::ranges::size(x), std::ranges::size(others)...})) {}
    /// One address per axis; `stride` is in bytes.
    template <Coordinate T>
    PointsView(std::initializer_list<const T*> axes, std::int64_t count, Device device = {},
               std::int64_t stride = sizeof(T))
        : count_(count), stride_(stride), dimension_(static_cast<int>(axes.size())), dtype_(dtype_of<T>),
          device_(device) {
        std::size_t axis = 0;
        for (const T* const address : axes) {
            if (axis < axes_.size()) {
                axes_[axis++] = address;
            }
        }
    }

    /// Members of a struct, one per axis: PointsView(particles, &Particle::x, &Particle::y, &Particle::z).
    template <std::ranges::contiguous_range Range, class Struct, Coordinate T, std::same_as<T Struct::*>... Others>
        requires(sizeof...(Others) >= 1 && sizeof...(Others) < max_dimension)
    PointsView(const Range& structs, T Struct::*x, Others... others)
        : PointsView(std::ranges::data(structs), static_cast<std::int64_t>(std::ranges::size(structs)), x, others...) {}
    /// A member that is an array, std::array<T, d> or T[d]: PointsView(particles, &Particle::position).
    template <std::ranges::contiguous_range Range, class Struct, detail::ArrayPoint Member>
    PointsView(const Range& structs, Member Struct::*position)
        : PointsView(std::ranges::empty(structs) ? nullptr : &(std::ranges::data(structs)->*position),
                     static_cast<std::int64_t>(std::ranges::size(structs)), Device{},
                     sizeof(std::ranges::range_value_t<Range>)) {}

    /// Scalars of a type known at run time. Strides are in scalars: coordinate `axis` of point i is element
    /// i * point_stride + axis * axis_stride.
    PointsView(const void* data, DType dtype, std::int64_t count, int dimension, std::int64_t point_stride,
               std::int64_t axis_stride, Device device = {})
        : count_(count), stride_(point_stride * scalar_size(dtype)), dimension_(dimension), dtype_(dtype),
          device_(device) {
        for (int axis = 0; data != nullptr && axis < dimension && axis < max_dimension; ++axis) {
            axes_[static_cast<std::size_t>(axis)] =
                static_cast<const std::byte*>(data) + axis * axis_stride * scalar_size(dtype);
        }
    }

    /// The same with one address per axis; `stride` is in bytes.
    PointsView(std::span<const void* const> axes, DType dtype, std::int64_t count, std::int64_t stride,
               Device device = {})
        : count_(count), stride_(stride), dimension_(static_cast<int>(axes.size())), dtype_(dtype), device_(device) {
        for (std::size_t axis = 0; axis < axes.size() && axis < axes_.size(); ++axis) {
            axes_[axis] = axes[axis];
        }
    }

    /// Anything else is refused by the compiler.
    template <std::ranges::range Range>
        requires(!PointRange<Range> && !detail::ArrayPoint<Range>)
    PointsView(const Range&) { // NOLINT(google-explicit-constructor)
        static_assert(
            !CoordinateRange<Range>,
            "a flat range of coordinates needs the dimension of its points: kith::PointsView(coordinates, 3)");
        static_assert(CoordinateRange<Range> || detail::never<Range>,
                      "not points that kith can view: coordinates are float or double; points are a contiguous range "
                      "of std::array<T, d>, T[d] or structs with members x, y and z of one type; name other members: "
                      "kith::PointsView(particles, &P::px, &P::py, &P::pz) (kith/points.hpp)");
    }

    [[nodiscard]] std::int64_t count() const noexcept { return count_; }
    [[nodiscard]] int dimension() const noexcept { return dimension_; }
    [[nodiscard]] DType dtype() const noexcept { return dtype_; }
    [[nodiscard]] Device device() const noexcept { return device_; }
    /// Where coordinate `axis` of the first point is.
    [[nodiscard]] const void* axis(int axis) const noexcept { return axes_[static_cast<std::size_t>(axis)]; }
    /// Bytes from point to point.
    [[nodiscard]] std::int64_t stride() const noexcept { return stride_; }

    /// One coordinate of a point in host memory.
    [[nodiscard]] double coordinate(std::int64_t point, int axis) const noexcept {
        const std::byte* const scalar = static_cast<const std::byte*>(this->axis(axis)) + point * stride_;
        return dtype_ == DType::float32 ? static_cast<double>(*reinterpret_cast<const float*>(scalar))
                                        : *reinterpret_cast<const double*>(scalar);
    }

    /// The points first to first + count - 1.
    [[nodiscard]] PointsView subview(std::int64_t first, std::int64_t count) const {
        PointsView part = moved(first * stride_, device_);
        part.count_ = count;
        return part;
    }
    /// One axis alone, as points in one dimension.
    [[nodiscard]] PointsView axis_view(int axis) const {
        PointsView line = *this;
        line.axes_ = {this->axis(axis)};
        line.dimension_ = 1;
        return line;
    }
    /// The same layout shifted by `bytes`, for a copy of the points that may be on another device.
    [[nodiscard]] PointsView moved(std::int64_t bytes, Device device) const {
        PointsView view = *this;
        view.device_ = device;
        for (const void*& address : view.axes_) {
            if (address != nullptr) { // NOLINTNEXTLINE(performance-no-int-to-ptr): no pointer leads to other memory
                address = reinterpret_cast<const void*>(reinterpret_cast<std::intptr_t>(address) + bytes);
            }
        }
        return view;
    }

private:
    template <class Point>
        requires(detail::ArrayPoint<Point>)
    PointsView(const Point* points, std::int64_t count, Device device, std::int64_t stride = sizeof(Point))
        : PointsView(reinterpret_cast<const typename detail::ArrayOf<Point>::Scalar*>(points), count,
                     detail::ArrayOf<Point>::axes, device) {
        stride_ = stride;
    }
    template <class Point>
        requires(detail::NamedPoint<Point>)
    PointsView(const Point* points, std::int64_t count, Device /*device*/) {
        if constexpr (detail::NamedPoint3<Point>) {
            *this = PointsView(points, count, &Point::x, &Point::y, &Point::z);
        } else {
            *this = PointsView(points, count, &Point::x, &Point::y);
        }
    }
    template <class Point, class Struct, class T, class... Others>
    PointsView(const Point* points, std::int64_t count, T Struct::*x, Others... others)
        : PointsView({count > 0 ? &(points->*x) : nullptr, (count > 0 ? &(points->*others) : nullptr)...}, count,
                     Device{}, sizeof(Point)) {}

    static std::int64_t scalar_size(DType dtype) { return dtype == DType::float32 ? 4 : 8; }
    static std::int64_t rows_in(std::size_t scalars, int dimension) {
        if (dimension < 1 || scalars % static_cast<std::size_t>(dimension) != 0) {
            detail::refuse_flat_array(scalars, dimension);
        }
        return static_cast<std::int64_t>(scalars / static_cast<std::size_t>(dimension));
    }
    static std::int64_t common_size(std::initializer_list<std::size_t> sizes) {
        for (const std::size_t size : sizes) {
            if (size != *sizes.begin()) {
                detail::refuse_axes({sizes.begin(), sizes.size()});
            }
        }
        return static_cast<std::int64_t>(*sizes.begin());
    }

    std::array<const void*, max_dimension> axes_{};
    std::int64_t count_ = 0;
    std::int64_t stride_ = 0;
    int dimension_ = 0;
    DType dtype_ = DType::float32;
    Device device_;
};

/// A non-owning view of a column of float32 or float64 scalars: masses, weights. Scalar i is at data() + i * stride()
/// bytes. The stride may be negative or 0. A call throws Error: invalid_argument if the address or the stride is not a
/// multiple of the scalar's size.
///
///   std::vector<float> mass;                           .masses = mass
///   struct Particle { float position[3], mass; };      .masses = ScalarsView(particles, &Particle::mass)
class ScalarsView {
public:
    ScalarsView() = default;
    /// A contiguous range.
    template <CoordinateRange Range>
    ScalarsView(const Range& values) // NOLINT(google-explicit-constructor): a view of what is passed
        : ScalarsView(std::ranges::data(values), static_cast<std::int64_t>(std::ranges::size(values))) {}
    /// `stride` is in bytes.
    template <Coordinate T>
    ScalarsView(const T* values, std::int64_t count, std::int64_t stride = sizeof(T))
        : ScalarsView(values, dtype_of<T>, count, stride) {}
    /// A member of a struct.
    template <std::ranges::contiguous_range Range, class Struct, Coordinate T>
    ScalarsView(const Range& structs, T Struct::*member)
        : ScalarsView(std::ranges::empty(structs) ? nullptr : &(std::ranges::data(structs)->*member),
                      static_cast<std::int64_t>(std::ranges::size(structs)),
                      sizeof(std::ranges::range_value_t<Range>)) {}
    /// Scalars of a type known at run time; `stride` is in bytes.
    ScalarsView(const void* data, DType dtype, std::int64_t count, std::int64_t stride)
        : data_(data), count_(count), stride_(stride), dtype_(dtype) {}

    [[nodiscard]] const void* data() const noexcept { return data_; }
    [[nodiscard]] std::int64_t count() const noexcept { return count_; }
    [[nodiscard]] std::int64_t stride() const noexcept { return stride_; } ///< bytes
    [[nodiscard]] DType dtype() const noexcept { return dtype_; }
    /// Host memory only.
    [[nodiscard]] double operator[](std::int64_t i) const noexcept {
        const std::byte* const scalar = static_cast<const std::byte*>(data_) + i * stride_;
        return dtype_ == DType::float32 ? static_cast<double>(*reinterpret_cast<const float*>(scalar))
                                        : *reinterpret_cast<const double*>(scalar);
    }

private:
    const void* data_ = nullptr;
    std::int64_t count_ = 0;
    std::int64_t stride_ = 0;
    DType dtype_ = DType::float32;
};

template <class T>
concept Integer = std::integral<T> && !std::is_same_v<T, bool>;

/// A non-owning view of a column of integers of any width and sign: particle types, ids. Layouts are those of
/// ScalarsView.
///
///   std::vector<std::uint64_t> id;                            .ids = id
///   struct Particle { float position[3]; std::uint32_t id; }; .ids = IntegersView(particles, &Particle::id)
class IntegersView {
public:
    IntegersView() = default;
    /// A contiguous range.
    template <std::ranges::contiguous_range Range>
        requires(Integer<std::ranges::range_value_t<Range>>)
    IntegersView(const Range& values) // NOLINT(google-explicit-constructor): a view of what is passed
        : IntegersView(std::ranges::data(values), static_cast<std::int64_t>(std::ranges::size(values))) {}
    /// `stride` is in bytes.
    template <Integer T>
    IntegersView(const T* values, std::int64_t count, std::int64_t stride = sizeof(T))
        : data_(values), count_(count), stride_(stride), width_(sizeof(T)), is_signed_(std::is_signed_v<T>) {}
    /// A member of a struct.
    template <std::ranges::contiguous_range Range, class Struct, Integer T>
    IntegersView(const Range& structs, T Struct::*member)
        : IntegersView(std::ranges::empty(structs) ? nullptr : &(std::ranges::data(structs)->*member),
                       static_cast<std::int64_t>(std::ranges::size(structs)),
                       sizeof(std::ranges::range_value_t<Range>)) {}

    [[nodiscard]] const void* data() const noexcept { return data_; }
    [[nodiscard]] std::int64_t count() const noexcept { return count_; }
    [[nodiscard]] bool empty() const noexcept { return count_ == 0; }
    [[nodiscard]] std::int64_t stride() const noexcept { return stride_; } ///< bytes
    [[nodiscard]] int width() const noexcept { return width_; }            ///< bytes of an integer
    [[nodiscard]] bool is_signed() const noexcept { return is_signed_; }
    /// Host memory only. An unsigned number of 64 bits keeps its bits: 2^63 or more becomes negative.
    [[nodiscard]] std::int64_t operator[](std::int64_t i) const noexcept {
        const std::byte* const number = static_cast<const std::byte*>(data_) + i * stride_;
        const auto as = [number]<class T>(T) { return static_cast<std::int64_t>(*reinterpret_cast<const T*>(number)); };
        switch (width_) {
        case 1:
            return is_signed_ ? as(std::int8_t{}) : as(std::uint8_t{});
        case 2:
            return is_signed_ ? as(std::int16_t{}) : as(std::uint16_t{});
        case 4:
            return is_signed_ ? as(std::int32_t{}) : as(std::uint32_t{});
        default:
            return as(std::int64_t{});
        }
    }
    /// The elements first to first + count - 1.
    [[nodiscard]] IntegersView subview(std::int64_t first, std::int64_t count) const noexcept {
        IntegersView part = *this;
        part.data_ = data_ == nullptr ? nullptr : static_cast<const std::byte*>(data_) + first * stride_;
        part.count_ = count;
        return part;
    }
    /// The memory as a span if it is one of T: contiguous, and of this width and sign. Otherwise an empty span.
    template <Integer T>
    [[nodiscard]] std::span<const T> as_span() const noexcept {
        const bool is_one = width_ == sizeof(T) && is_signed_ == std::is_signed_v<T> && stride_ == sizeof(T);
        return is_one ? std::span(static_cast<const T*>(data_), static_cast<std::size_t>(count_))
                      : std::span<const T>();
    }

private:
    const void* data_ = nullptr;
    std::int64_t count_ = 0;
    std::int64_t stride_ = 1;
    int width_ = 1;
    bool is_signed_ = false;
};

} // namespace kith
