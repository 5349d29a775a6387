#include "points/frame.hpp"

#include <kith/error.hpp>

#include "points/coordinates.hpp"
#include "points/resolve_frame.hpp"
#include "support/dimension.hpp"
#include "support/message.hpp"
#include "support/number_types.hpp"
#include "support/parallel.hpp"

#include <algorithm>
#include <cmath>

namespace kith::detail {

namespace {

constexpr std::int64_t grain = 1 << 15;

/// |x|, but infinity for 0.
template <Coordinate T>
T distance_from_zero(T x) {
    return x == 0 ? std::numeric_limits<T>::infinity() : std::abs(x);
}

/// Takes the points [begin, end) of an array without gaps into the bounds, a few at a time so that compilers make
/// vectors of them. Returns whether all are finite; if not, the bounds say nothing.
template <Coordinate T, int D>
bool extend_dense(const T* points, std::int64_t begin, std::int64_t end, PointBounds<T>& bounds) {
    constexpr std::int64_t block = 8;
    constexpr int width = block * D;
    T least[width];
    T greatest[width];
    T zeros[width] = {}; // NaN once a number is not finite
    T nearest[width];
    for (int i = 0; i < width; ++i) {
        least[i] = bounds.lower[i % D];
        greatest[i] = bounds.upper[i % D];
        nearest[i] = bounds.nearest_to_zero;
    }
    const auto take = [&](const T* x) {
        for (int i = 0; i < width; ++i) {
            least[i] = x[i] < least[i] ? x[i] : least[i];
            greatest[i] = x[i] > greatest[i] ? x[i] : greatest[i];
            zeros[i] += x[i] * T(0);
            const T distance = distance_from_zero(x[i]);
            nearest[i] = distance < nearest[i] ? distance : nearest[i];
        }
    };
    std::int64_t first = begin;
    for (; first + block <= end; first += block) {
        take(points + first * D);
    }
    if (first < end) { // filled up with the last point
        T rest[width];
        for (int i = 0; i < width; ++i) {
            rest[i] = points[std::min(first + i / D, end - 1) * D + i % D];
        }
        take(rest);
    }
    bool finite = true;
    for (int i = 0; i < width; ++i) {
        bounds.lower[i % D] = std::min(bounds.lower[i % D], least[i]);
        bounds.upper[i % D] = std::max(bounds.upper[i % D], greatest[i]);
        bounds.nearest_to_zero = std::min(bounds.nearest_to_zero, nearest[i]);
        finite = finite && zeros[i] == 0;
    }
    return finite;
}

/// The same for any strides.
template <Coordinate T>
bool extend(const Coordinates<T>& points, int dimension, std::int64_t begin, std::int64_t end, PointBounds<T>& bounds) {
    bool finite = true;
    for (int axis = 0; axis < dimension; ++axis) {
        // In registers: the points could lie where the bounds do, for all the compiler knows.
        T least = bounds.lower[axis];
        T greatest = bounds.upper[axis];
        T nearest = bounds.nearest_to_zero;
        for (std::int64_t i = begin; i < end; ++i) {
            const T x = points(i, axis);
            finite = finite && std::isfinite(x);
            least = std::min(least, x);
            greatest = std::max(greatest, x);
            nearest = std::min(nearest, distance_from_zero(x));
        }
        bounds.lower[axis] = least;
        bounds.upper[axis] = greatest;
        bounds.nearest_to_zero = nearest;
    }
    return finite;
}

template <Coordinate T>
std::int64_t first_not_finite(const Coordinates<T>& points, int dimension, std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
        for (int axis = 0; axis < dimension; ++axis) {
            if (!std::isfinite(points(i, axis))) {
                return i;
            }
        }
    }
    return all_are_finite;
}

template <Coordinate T>
PointBounds<T> bounds_of(const PointsView& view) {
    const Coordinates<T> points(view);
    const int dimension = view.dimension();
    bool dense = view.count() > 0 && points.stride == dimension &&
                 dimension_is_built(dimension); // catalogs may have a dimension without tree
    for (int axis = 1; axis < dimension; ++axis) {
        dense = dense && points.axes[axis] == points.axes[axis - 1] + 1;
    }
    return parallel_reduce(
        0, view.count(), grain, PointBounds<T>{},
        [&](std::int64_t begin, std::int64_t end, PointBounds<T> sum) {
            bool finite = true;
            if (dense) {
                with_dimension(dimension, [&]<int D>(std::integral_constant<int, D>) {
                    finite = extend_dense<T, D>(points.axes[0], begin, end, sum);
                });
            } else {
                finite = extend(points, dimension, begin, end, sum);
            }
            if (!finite) {
                sum.first_not_finite = std::min(sum.first_not_finite, first_not_finite(points, dimension, begin, end));
            }
            return sum;
        },
        join_values);
}

template <Coordinate T>
NormalizedPoints<T> with_bounds(const PointsView& view, const PointBounds<T>& bounds) {
    NormalizedPoints<T> normalized;
    normalized.view = view;
    if (view.count() > 0) {
        normalized.lower = bounds.lower;
        normalized.upper = bounds.upper;
    }
    return normalized;
}

} // namespace

template <Coordinate T>
PointBounds<T> finite_bounds_of(const PointsView& view, PointError refusal) {
    const PointBounds<T> bounds = bounds_of<T>(view);
    const std::int64_t first = bounds.first_not_finite;
    for (int axis = 0; first != all_are_finite && axis < view.dimension(); ++axis) {
        const T x = Coordinates<T>(view)(first, axis);
        if (!std::isfinite(x)) {
            check(DeviceStatus{refusal, axis, first, static_cast<double>(x)});
        }
    }
    return bounds;
}

template <Coordinate T>
void check_box(const Box& box, int dimension) {
    if (box.axes() != 0 && box.axes() != dimension) {
        throw error(ErrorKind::invalid_argument, of_value(box.axes()), "the box has ", box.axes(),
                    " periods but the points have ", dimension, " axes; give one period per axis, 0 for open");
    }
    int origins = 0;
    for (int axis = 0; axis < max_dimension; ++axis) {
        origins += box.origin(axis) ? 1 : 0;
    }
    const bool has_all = box.axes() == 0 && origins == max_dimension; // meant for points of any dimension
    for (int axis = dimension; axis < max_dimension && !has_all; ++axis) {
        if (const auto origin = box.origin(axis)) {
            throw error(ErrorKind::invalid_argument, {.axis = axis, .value = *origin}, "the box has origin ", *origin,
                        " on axis ", axis, ", but the points have the axes 0 to ", dimension - 1,
                        "; remove that origin");
        }
    }
    for (int axis = 0; axis < dimension; ++axis) {
        const double period = box.period(axis);
        if (!(period >= 0) || std::isinf(period)) {
            throw error(ErrorKind::invalid_argument, {.axis = axis, .value = period}, "the box has period ", period,
                        " on axis ", axis, "; it must be positive, or 0 for an open axis");
        }
        const T as_type = static_cast<T>(period);
        if (period > 0 && (as_type == 0 || std::isinf(as_type))) {
            throw error(ErrorKind::invalid_argument, {.axis = axis, .value = period}, "the box has period ", period,
                        " on axis ", axis,
                        ", which the points' type cannot express; give the period in the points' unit");
        }
        const auto origin = box.origin(axis);
        if (origin && !std::isfinite(*origin)) {
            throw error(ErrorKind::invalid_argument, {.axis = axis, .value = *origin}, "the box has origin ", *origin,
                        " on axis ", axis, "; it must be a finite number");
        }
    }
}

void check_memory(const PointsView& view, const char* what) {
    if (view.count() < 0) {
        throw error(ErrorKind::invalid_argument, what, ": the view says ", view.count(), " points");
    }
    const std::int64_t size = item_size(view.dtype());
    const auto require_aligned = [&](const char* which, std::int64_t bytes) {
        if (bytes % size != 0) {
            throw error(ErrorKind::invalid_argument, what, ": ", which, " ", bytes,
                        " is not a multiple of the scalar's size, ", size, " bytes; copy the points to aligned memory");
        }
    };
    for (int axis = 0; view.count() > 0 && axis < view.dimension(); ++axis) {
        if (view.axis(axis) == nullptr) {
            throw error(ErrorKind::invalid_argument, what, ": the view says ", view.count(),
                        " points but its address is null");
        }
        require_aligned("address", static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(view.axis(axis))));
        require_aligned("stride", view.stride());
    }
}

void check_shape(const PointsView& view, const char* what) {
    require_dimension(view.dimension());
    check_memory(view, what);
    if (view.count() > std::numeric_limits<std::int32_t>::max()) {
        throw error(ErrorKind::too_large, what, ": ", view.count(),
                    " points are more than one process can "
                    "index (2147483647); split them");
    }
}

void check_view(const PointsView& view, const char* what) {
    check_shape(view, what);
    if (view.device().kind != DeviceKind::cpu) {
        throw error(ErrorKind::invalid_argument, what, " are in the memory of GPU ", view.device().index,
                    ", but the call runs on the CPU; run it with kith::cuda(", view.device().index,
                    ") or copy them to the host");
    }
}

template <Coordinate T>
NormalizedPoints<T> normalize_sources(const PointsView& points, const Box& box) {
    check_box<T>(box, points.dimension());
    NormalizedPoints<T> normalized =
        normalize_sources(points, box, finite_bounds_of<T>(points, PointError::points_not_finite));
    if (normalized.wraps) {
        normalized.frame.outside = count_outside(points, normalized.frame);
    }
    return normalized;
}

template <Coordinate T>
std::int64_t count_outside(const PointsView& view, const Frame<T>& frame) {
    const Coordinates<T> points(view);
    return parallel_sum(view.count(), grain, [&](std::int64_t i) {
        bool inside = true;
        for (int axis = 0; axis < view.dimension(); ++axis) {
            inside = inside && frame.is_inside(points(i, axis), axis);
        }
        return inside ? 0 : 1;
    });
}

template <Coordinate T>
NormalizedPoints<T> normalize_sources(const PointsView& points, const Box& box, const PointBounds<T>& bounds) {
    check_box<T>(box, points.dimension());
    NormalizedPoints<T> normalized = with_bounds(points, bounds);
    check(resolve_frame(PlainBox(box, points.dimension()), points.dimension(), normalized.lower, normalized.upper,
                        normalized.frame));
    normalized.wraps = !all_inside(normalized.frame, normalized.lower, normalized.upper);
    normalized.has_tiny = may_be_tiny(normalized.frame, bounds.nearest_to_zero);
    normalized.frame.has_tiny = normalized.has_tiny;
    return normalized;
}

void check_queries(const PointsView& queries, int dimension, DType dtype) {
    if (queries.dimension() != dimension) {
        throw error(ErrorKind::invalid_argument, "queries have ", queries.dimension(),
                    " coordinates but the "
                    "points have ",
                    dimension, "; they must agree");
    }
    if (queries.dtype() != dtype) {
        throw error(ErrorKind::invalid_argument, "queries are ", name_of(queries.dtype()), " but the points are ",
                    name_of(dtype), "; convert one of them");
    }
}

template <Coordinate T>
int axis_too_far(const NormalizedPoints<T>& queries) {
    return queries.view.count() > 0 ? axis_too_far(queries.frame, queries.lower, queries.upper) : -1;
}

template <Coordinate T>
NormalizedPoints<T> normalize_queries(const PointsView& queries, const Frame<T>& frame) {
    NormalizedPoints<T> normalized =
        normalize_queries(queries, frame, finite_bounds_of<T>(queries, PointError::queries_not_finite));
    if (const int axis = axis_too_far(normalized); axis >= 0) {
        const T farthest = std::max(std::abs(normalized.lower[axis]), std::abs(normalized.upper[axis]));
        for (std::int64_t i = 0; i < queries.count(); ++i) {
            const T x = Coordinates<T>(queries)(i, axis);
            if (std::abs(x) == farthest) {
                check(DeviceStatus{PointError::queries_too_far, axis, i, static_cast<double>(x)});
            }
        }
    }
    return normalized;
}

template <Coordinate T>
NormalizedPoints<T> normalize_queries(const PointsView& queries, const Frame<T>& frame, const PointBounds<T>& bounds) {
    NormalizedPoints<T> normalized = with_bounds(queries, bounds);
    normalized.frame = frame;
    normalized.wraps = !all_inside(frame, normalized.lower, normalized.upper);
    normalized.has_tiny = frame.has_tiny || bounds.nearest_to_zero < frame.tiny;
    return normalized;
}

template <Coordinate T>
Box resolved_box(const Frame<T>& frame) {
    std::array<double, max_dimension> periods{};
    for (int axis = 0; axis < frame.dimension; ++axis) {
        periods[axis] = frame.period[axis];
    }
    Box box = Box::periodic(std::span<const double>(periods.data(), static_cast<std::size_t>(frame.dimension)));
    for (int axis = 0; axis < frame.dimension; ++axis) {
        if (frame.period[axis] > 0) {
            box = box.with_origin(axis, frame.origin[axis]);
        }
    }
    return box;
}

template PointBounds<float> finite_bounds_of(const PointsView&, PointError);
template PointBounds<double> finite_bounds_of(const PointsView&, PointError);
template void check_box<float>(const Box&, int);
template void check_box<double>(const Box&, int);
template std::int64_t count_outside(const PointsView&, const Frame<float>&);
template std::int64_t count_outside(const PointsView&, const Frame<double>&);
template NormalizedPoints<float> normalize_sources(const PointsView&, const Box&);
template NormalizedPoints<double> normalize_sources(const PointsView&, const Box&);
template NormalizedPoints<float> normalize_queries(const PointsView&, const Frame<float>&);
template NormalizedPoints<double> normalize_queries(const PointsView&, const Frame<double>&);
template NormalizedPoints<float> normalize_sources(const PointsView&, const Box&, const PointBounds<float>&);
template NormalizedPoints<float> normalize_queries(const PointsView&, const Frame<float>&, const PointBounds<float>&);
template int axis_too_far(const NormalizedPoints<float>&);
template Box resolved_box(const Frame<float>&);
template NormalizedPoints<double> normalize_sources(const PointsView&, const Box&, const PointBounds<double>&);
template NormalizedPoints<double> normalize_queries(const PointsView&, const Frame<double>&,
                                                    const PointBounds<double>&);
template int axis_too_far(const NormalizedPoints<double>&);
template Box resolved_box(const Frame<double>&);

} // namespace kith::detail
