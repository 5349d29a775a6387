#include "halos/concentration.hpp"

#include <cmath>
#include <limits>
#include <numbers>

namespace kith::detail::halos {

namespace {

constexpr double least = 1;
constexpr double most = 1000;
constexpr double undefined = std::numeric_limits<double>::quiet_NaN();

/// The natural logarithm of a number above 0: 2 artanh t = 2 (t + t^3/3 + ...) of its mantissa, t = (x - 1)/(x + 1).
double logarithm(double x) {
    int exponent = 0;
    double mantissa = std::frexp(x, &exponent); // in [1/2, 1)
    if (mantissa < std::numbers::sqrt2 / 2) {
        mantissa *= 2;
        --exponent;
    }
    const double t = (mantissa - 1) / (mantissa + 1);
    const double square = t * t; // at most 0.03
    double sum = 0;
    for (int term = 12; term > 0; --term) {
        sum = square * (sum + 1.0 / (2 * term + 1));
    }
    return exponent * std::numbers::ln2 + (2 * t + 2 * t * sum);
}

/// The mass within so many scale radii, and what it grows by with each.
struct Enclosed {
    double mass;
    double slope;
    explicit Enclosed(double c) : mass(logarithm(1 + c) - c / (1 + c)), slope(c / ((1 + c) * (1 + c))) {}
};

/// A function at a point, and its slope there.
struct Value {
    double value;
    double slope;
};

/// The root, if it is at most `most`, of a function that is convex from its root on, and above 0 behind it. Where there
/// is none from 1 on, something below 1.
template <class Function>
double largest_root(const Function& function) {
    double c = most;
    if (!(function(c).value >= 0)) {
        return undefined;
    }
    while (c >= least) {
        const Value at = function(c);
        const double next = c - at.value / at.slope;
        if (!(next < c)) {
            break;
        }
        c = next;
    }
    return c;
}

} // namespace

double concentration_of_mean_radius(double ratio) {
    // Of a sphere of c scale radii that is (c - 2 ln(1 + c) + c/(1 + c))/(c m(c)).
    const double c = largest_root([ratio](double x) {
        const Enclosed within(x);
        const double share = x / (1 + x);
        const double moment = x - 2 * within.mass - share;
        return Value{ratio * x * within.mass - moment, ratio * (within.mass + x * within.slope) - share * share};
    });
    return c >= least ? c : undefined;
}

double concentration_of_peak(double ratio) {
    constexpr double of_peak = 2.1625815870646098; // scale radii at which m(x)/x is largest, and how large it is
    constexpr double largest = 0.21621659550187312;
    if (!(ratio >= 1)) {
        return undefined;
    }
    const double c = largest_root([target = ratio / largest](double x) { // c/m(c)
        const Enclosed within(x);
        return Value{x - target * within.mass, 1 - target * within.slope};
    });
    return c < of_peak ? of_peak : c; // by rounding alone
}

} // namespace kith::detail::halos
