// See working_copy.hpp.
#include "oracle/working_copy.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

namespace kith::oracle {

namespace {

template <class T>
T default_origin(std::span<const T> sources, int dimension, int axis, T length) {
    T lower = 0;
    T upper = 0;
    for (auto i = static_cast<std::size_t>(axis); i < sources.size(); i += static_cast<std::size_t>(dimension)) {
        const bool is_first = i == static_cast<std::size_t>(axis);
        lower = is_first ? sources[i] : std::min(lower, sources[i]);
        upper = is_first ? sources[i] : std::max(upper, sources[i]);
    }
    if (lower >= 0 && upper <= length) {
        return 0;
    }
    if (lower >= -length / 2 && upper <= length / 2) {
        return -length / 2;
    }
    return static_cast<T>(upper - lower) <= length ? lower : T{0};
}

template <class T>
T wrapped(T x, T origin, T length) {
    if (length == 0 || is_inside(x, origin, length)) {
        return x;
    }
    const double given = x;
    const double period = length;
    const T image = static_cast<T>(given - period * std::floor((given - origin) / period));
    if (!(image >= origin)) {
        return origin;
    }
    T kept = std::min(image, static_cast<T>(origin + length));
    while (!is_inside(kept, origin, length)) {
        kept = std::nextafter(kept, origin);
    }
    return kept;
}

template <class T>
std::vector<T> scaled(const WorkingCopy<T>& copy, std::vector<T> inside) {
    for (T& x : inside) {
        x = std::ldexp(x, copy.exponent) + T{0}; // adding +0.0 turns -0.0 into +0.0
    }
    return inside;
}

template <class T>
T along_axis(T query, T point, T period) {
    const T t = std::abs(query - point);
    return period != 0 ? std::min(t, period - t) : t;
}

} // namespace

template <class T>
bool is_inside(T x, T origin, T length) {
    return x >= origin && static_cast<T>(x - origin) <= length;
}

template <class T>
WorkingCopy<T> working_copy(std::span<const T> sources, int dimension, const Box& box) {
    WorkingCopy<T> copy;
    copy.dimension = dimension;
    for (const T x : sources) {
        copy.largest = std::max(copy.largest, std::abs(x));
    }
    for (int axis = 0; axis < dimension; ++axis) {
        const auto a = static_cast<std::size_t>(axis);
        copy.length[a] = static_cast<T>(box.period(axis));
        copy.largest = std::max(copy.largest, copy.length[a]);
        if (copy.length[a] != 0) {
            copy.origin[a] = box.origin(axis) ? static_cast<T>(*box.origin(axis))
                                              : default_origin(sources, dimension, axis, copy.length[a]);
        }
    }
    const int top = std::is_same_v<T, float> ? 47 : 31;
    copy.exponent = copy.largest == 0 ? 0 : top - std::ilogb(copy.largest);
    for (std::size_t axis = 0; axis < copy.length.size(); ++axis) {
        copy.period[axis] = std::ldexp(copy.length[axis], copy.exponent);
    }
    copy.given = wrapped_queries(copy, sources);
    copy.points = scaled(copy, copy.given);
    return copy;
}

template <class T, class V>
WorkingCopy<T> phase_space_copy(std::span<const T> positions, std::span<const V> velocities, int dimension,
                                const Box& box, double linking_length, double psi) {
    const double scale = static_cast<double>(static_cast<T>(linking_length)) / psi;
    const auto d = static_cast<std::size_t>(dimension);
    std::vector<T> points;
    for (std::size_t point = 0; point < positions.size() / d; ++point) {
        for (std::size_t axis = 0; axis < d; ++axis) {
            points.push_back(positions[point * d + axis]);
        }
        for (std::size_t axis = 0; axis < d; ++axis) {
            points.push_back(static_cast<T>(static_cast<double>(velocities[point * d + axis]) * scale));
        }
    }
    std::vector<double> periods(2 * d, 0.0);
    for (int axis = 0; axis < dimension; ++axis) {
        periods[static_cast<std::size_t>(axis)] = box.period(axis);
    }
    Box space = Box::periodic(periods);
    for (int axis = 0; axis < dimension; ++axis) {
        if (box.origin(axis)) {
            space = space.with_origin(axis, *box.origin(axis));
        }
    }
    return working_copy<T>(points, 2 * dimension, space);
}

template <class T>
std::vector<T> wrapped_queries(const WorkingCopy<T>& sources, std::span<const T> queries) {
    std::vector<T> result;
    for (std::size_t i = 0; i < queries.size(); ++i) {
        const std::size_t axis = i % static_cast<std::size_t>(sources.dimension);
        result.push_back(wrapped(queries[i], sources.origin[axis], sources.length[axis]));
    }
    return result;
}

template <class T>
std::vector<T> normalized_queries(const WorkingCopy<T>& sources, std::span<const T> queries) {
    return scaled(sources, wrapped_queries(sources, queries));
}

template <class T>
T squared_radius(const WorkingCopy<T>& sources, double radius) {
    const T scaled = std::ldexp(static_cast<T>(radius), sources.exponent);
    return scaled * scaled;
}

template <class T>
bool is_refused(const WorkingCopy<T>& sources, double radius, bool separate) {
    return radius > 0 && squared_radius(sources, radius) < std::numeric_limits<T>::min() && sources.count() > 0 &&
           (sources.largest > 0 || separate);
}

template <class T>
bool is_unresolved(const WorkingCopy<T>& sources, const T* query, const T* point, T squared) {
    bool is_apart = false;
    for (int axis = 0; axis < sources.dimension; ++axis) {
        is_apart =
            is_apart || along_axis(query[axis], point[axis], sources.length[static_cast<std::size_t>(axis)]) != 0;
    }
    return is_apart && squared < std::numeric_limits<T>::min();
}

template <class T>
T squared_distance(const WorkingCopy<T>& sources, const T* query, const T* point) {
    T squared = 0;
    for (int axis = 0; axis < sources.dimension; ++axis) {
        const T t = along_axis(query[axis], point[axis], sources.period[static_cast<std::size_t>(axis)]);
        squared = axis == 0 ? t * t : std::fma(t, t, squared);
    }
    return squared;
}

template bool is_inside(float, float, float);
template bool is_inside(double, double, double);
template WorkingCopy<float> working_copy(std::span<const float>, int, const Box&);
template WorkingCopy<double> working_copy(std::span<const double>, int, const Box&);
template WorkingCopy<float> phase_space_copy(std::span<const float>, std::span<const float>, int, const Box&, double,
                                             double);
template WorkingCopy<float> phase_space_copy(std::span<const float>, std::span<const double>, int, const Box&, double,
                                             double);
template WorkingCopy<double> phase_space_copy(std::span<const double>, std::span<const float>, int, const Box&, double,
                                              double);
template WorkingCopy<double> phase_space_copy(std::span<const double>, std::span<const double>, int, const Box&, double,
                                              double);
template std::vector<float> normalized_queries(const WorkingCopy<float>&, std::span<const float>);
template std::vector<double> normalized_queries(const WorkingCopy<double>&, std::span<const double>);
template std::vector<float> wrapped_queries(const WorkingCopy<float>&, std::span<const float>);
template std::vector<double> wrapped_queries(const WorkingCopy<double>&, std::span<const double>);
template bool is_refused(const WorkingCopy<float>&, double, bool);
template bool is_refused(const WorkingCopy<double>&, double, bool);
template bool is_unresolved(const WorkingCopy<float>&, const float*, const float*, float);
template bool is_unresolved(const WorkingCopy<double>&, const double*, const double*, double);
template float squared_radius(const WorkingCopy<float>&, double);
template double squared_radius(const WorkingCopy<double>&, double);
template float squared_distance(const WorkingCopy<float>&, const float*, const float*);
template double squared_distance(const WorkingCopy<double>&, const double*, const double*);

} // namespace kith::oracle
