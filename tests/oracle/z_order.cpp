// See z_order.hpp.
#include "oracle/z_order.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace kith::oracle {

template <class T>
int most_significant_difference(T a, T b) {
    if (a == b) {
        return no_bit;
    }
    if ((a < 0) != (b < 0)) {
        return std::numeric_limits<T>::max_exponent;
    }
    a = std::abs(a);
    b = std::abs(b);
    if (a == 0 || b == 0) {
        return std::ilogb(std::max(a, b));
    }
    const int exponent = std::ilogb(a);
    if (exponent != std::ilogb(b)) {
        return std::max(exponent, std::ilogb(b));
    }
    // Mantissas in [1, 2): strip equal bits from the front until they differ.
    T left = std::ldexp(a, -exponent);
    T right = std::ldexp(b, -exponent);
    int bit = exponent;
    while ((left >= 1) == (right >= 1)) {
        left = (left >= 1 ? left - 1 : left) * 2;
        right = (right >= 1 ? right - 1 : right) * 2;
        --bit;
    }
    return bit;
}

template <class T>
int deciding_axis(const T* p, const T* q, int dimension) {
    int decides = -1;
    int most = no_bit;
    for (int axis = 0; axis < dimension; ++axis) {
        const int bit = most_significant_difference(p[axis], q[axis]);
        if (bit > most) {
            most = bit;
            decides = axis;
        }
    }
    return decides;
}

template <class T>
bool comes_before(const T* p, const T* q, int dimension) {
    const int axis = deciding_axis(p, q, dimension);
    return axis >= 0 && p[axis] < q[axis];
}

template <class T>
std::int64_t level(const T* p, const T* q, int dimension) {
    const int axis = deciding_axis(p, q, dimension);
    if (axis < 0) {
        return std::numeric_limits<std::int64_t>::min();
    }
    return (std::int64_t{most_significant_difference(p[axis], q[axis])} + 1) * dimension - axis;
}

template <class T>
std::vector<std::int32_t> z_order(const WorkingCopy<T>& points) {
    std::vector<std::int32_t> order(static_cast<std::size_t>(points.count()));
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
        return comes_before(points.point(a), points.point(b), points.dimension);
    });
    return order;
}

template int most_significant_difference(float, float);
template int most_significant_difference(double, double);
template int deciding_axis(const float*, const float*, int);
template int deciding_axis(const double*, const double*, int);
template bool comes_before(const float*, const float*, int);
template bool comes_before(const double*, const double*, int);
template std::int64_t level(const float*, const float*, int);
template std::int64_t level(const double*, const double*, int);
template std::vector<std::int32_t> z_order(const WorkingCopy<float>&);
template std::vector<std::int32_t> z_order(const WorkingCopy<double>&);

} // namespace kith::oracle
