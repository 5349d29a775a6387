// See kernel_weights.hpp. The formulas are those of docs/semantics.md, "Sums over neighbors".
#include "neighbors/kernel_weights.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "neighbors/kernel_weights.cpp"
#include <hwy/foreach_target.h> // must come before highway.h

#include "neighbors/exponential-inl.hpp"
#include "support/simd-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace kith::detail::HWY_NAMESPACE {

namespace {

using Doubles = hn::ScalableTag<double>;
using Vector = hn::Vec<Doubles>;
constexpr std::int64_t vector_lanes = static_cast<std::int64_t>(hn::MaxLanes(Doubles()));
constexpr std::int64_t vectors = sum_lanes / vector_lanes;

HWY_INLINE Vector set(double x) {
    return hn::Set(Doubles(), x);
}
HWY_INLINE Vector load(const double* x) {
    return hn::LoadU(Doubles(), x);
}
HWY_INLINE Vector fma(Vector a, Vector b, Vector c) {
    return fused_multiply_add(Doubles(), a, b, c);
}
HWY_INLINE Vector square(Vector x) {
    return hn::Mul(x, x);
}
HWY_INLINE Vector fourth_power(Vector x) {
    return square(square(x));
}
HWY_INLINE Vector fifth_power(Vector x) {
    return hn::Mul(fourth_power(x), x);
}
/// a - x, or 0 where that is negative.
HWY_INLINE Vector below(double a, Vector x) {
    return hn::Max(hn::Sub(set(a), x), hn::Zero(Doubles()));
}

// Each kernel has value(u), which is w, and slope(u), which is w'(u)/u.

struct CubicSpline {
    static HWY_INLINE Vector value(Vector u) {
        const Vector v = hn::Sub(set(1), u);
        const Vector inner = fma(square(u), fma(set(6), u, set(-6)), set(1));
        const Vector outer = hn::Mul(set(2), hn::Mul(square(v), v));
        return hn::IfThenElse(hn::Lt(u, set(0.5)), inner, outer);
    }
    static HWY_INLINE Vector slope(Vector u) {
        const Vector v = hn::Sub(set(1), u);
        const Vector inner = fma(set(18), u, set(-12));
        const Vector outer = hn::Div(hn::Mul(set(-6), square(v)), u);
        return hn::IfThenElse(hn::Lt(u, set(0.5)), inner, outer);
    }
};

struct QuinticSpline {
    static HWY_INLINE Vector value(Vector u) {
        const Vector q = hn::Mul(set(3), u);
        const Vector outer = fifth_power(hn::Sub(set(3), q));
        const Vector middle = fma(set(-6), fifth_power(below(2, q)), outer);
        return fma(set(15), fifth_power(below(1, q)), middle);
    }
    static HWY_INLINE Vector slope(Vector u) {
        const Vector q = hn::Mul(set(3), u);
        const Vector inner = hn::Mul(set(9), fma(square(q), fma(set(-50), q, set(120)), set(-120)));
        const Vector fourth = fma(set(-6), fourth_power(below(2, q)), fourth_power(hn::Sub(set(3), q)));
        const Vector outer = hn::Div(hn::Mul(set(-45), fourth), q);
        return hn::IfThenElse(hn::Lt(q, set(1)), inner, outer);
    }
};

struct WendlandC2 {
    static HWY_INLINE Vector value(Vector u) {
        return hn::Mul(fourth_power(hn::Sub(set(1), u)), fma(set(4), u, set(1)));
    }
    static HWY_INLINE Vector slope(Vector u) {
        const Vector v = hn::Sub(set(1), u);
        return hn::Mul(set(-20), hn::Mul(square(v), v));
    }
};

struct WendlandC4 {
    static HWY_INLINE Vector value(Vector u) {
        const Vector v = hn::Sub(set(1), u);
        const Vector sixth = hn::Mul(fourth_power(v), square(v));
        return hn::Mul(sixth, fma(u, fma(set(35.0 / 3), u, set(6)), set(1)));
    }
    static HWY_INLINE Vector slope(Vector u) {
        return hn::Mul(hn::Mul(set(-56.0 / 3), fma(set(5), u, set(1))), fifth_power(hn::Sub(set(1), u)));
    }
};

struct TopHat {
    static HWY_INLINE Vector value(Vector /*u*/) { return set(1); }
    static HWY_INLINE Vector slope(Vector /*u*/) { return set(0); }
};

struct Gaussian {
    static HWY_INLINE Vector value(Vector u) { return exponential(Doubles(), square(u)); }
    static HWY_INLINE Vector slope(Vector u) { return hn::Mul(set(-9), value(u)); }
};

struct LaneSums {
    Vector of[vectors];

    HWY_INLINE LaneSums() {
#pragma GCC unroll 16
        for (Vector& sum : of) {
            sum = hn::Zero(Doubles());
        }
    }
    /// Joined by pairs: lanes i and i + 8, then i and i + 4, and so on.
    [[nodiscard]] HWY_INLINE double join() {
#pragma GCC unroll 4
        for (std::int64_t half = vectors / 2; half > 0; half /= 2) {
#pragma GCC unroll 8
            for (std::int64_t v = 0; v < half; ++v) {
                of[v] = hn::Add(of[v], of[v + half]);
            }
        }
        HWY_ALIGN double lane[vector_lanes];
        hn::Store(of[0], Doubles(), lane);
        for (std::int64_t half = vector_lanes / 2; half > 0; half /= 2) {
            for (std::int64_t i = 0; i < half; ++i) {
                lane[i] += lane[i + half];
            }
        }
        return lane[0];
    }
};

/// Distances or masses in lanes of doubles.
HWY_INLINE Vector load(const float* x) {
    return hn::PromoteTo(Doubles(), hn::LoadU(hn::Rebind<float, Doubles>(), x));
}

/// A block of lanes.
template <class Kernel, bool of_slopes, class T>
HWY_INLINE void weigh_block(const T* distances, const double* masses, Vector inverse_reach, double* weights,
                            LaneSums& sums) {
#pragma GCC unroll 16
    for (std::int64_t v = 0; v < vectors; ++v) {
        const std::int64_t at = v * vector_lanes;
        const Vector u = hn::Mul(load(distances + at), inverse_reach);
        Vector weight = of_slopes ? Kernel::slope(u) : Kernel::value(u);
        if (masses != nullptr) {
            weight = hn::Mul(load(masses + at), weight);
        }
        if (weights != nullptr) {
            hn::StoreU(weight, Doubles(), weights + at);
        }
        sums.of[v] = hn::Add(sums.of[v], weight);
    }
}

template <class Kernel, bool of_slopes, class T>
HWY_INLINE double weigh_by(const WeighedRow<T>& row, double* weights) {
    const Vector inverse_reach = set(row.inverse_reach);
    LaneSums sums;
    std::int64_t i = 0;
    for (; i + sum_lanes <= row.count; i += sum_lanes) {
        weigh_block<Kernel, of_slopes>(row.distances + i, row.masses != nullptr ? row.masses + i : nullptr,
                                       inverse_reach, weights != nullptr ? weights + i : nullptr, sums);
    }
    if (i < row.count) {
        T distances[sum_lanes] = {};
        double masses[sum_lanes] = {};
        for (std::int64_t j = 0; i + j < row.count; ++j) {
            distances[j] = row.distances[i + j];
            masses[j] = row.masses != nullptr ? row.masses[i + j] : 1;
        }
        weigh_block<Kernel, of_slopes>(distances, masses, inverse_reach, weights != nullptr ? weights + i : nullptr,
                                       sums);
    }
    return sums.join();
}

template <bool of_slopes, class T>
HWY_INLINE double weigh_row(SmoothingKernel kernel, const WeighedRow<T>& row, double* weights) {
    switch (kernel) {
    case SmoothingKernel::cubic_spline:
        return weigh_by<CubicSpline, of_slopes>(row, weights);
    case SmoothingKernel::quintic_spline:
        return weigh_by<QuinticSpline, of_slopes>(row, weights);
    case SmoothingKernel::wendland_c2:
        return weigh_by<WendlandC2, of_slopes>(row, weights);
    case SmoothingKernel::wendland_c4:
        return weigh_by<WendlandC4, of_slopes>(row, weights);
    case SmoothingKernel::top_hat:
        return weigh_by<TopHat, of_slopes>(row, weights);
    case SmoothingKernel::gaussian:
        return weigh_by<Gaussian, of_slopes>(row, weights);
    }
    return 0;
}

double weigh_floats(SmoothingKernel kernel, const WeighedRow<float>& row, double* weights) {
    return weigh_row<false>(kernel, row, weights);
}
double weigh_doubles(SmoothingKernel kernel, const WeighedRow<double>& row, double* weights) {
    return weigh_row<false>(kernel, row, weights);
}
double weigh_slopes_of_floats(SmoothingKernel kernel, const WeighedRow<float>& row, double* weights) {
    return weigh_row<true>(kernel, row, weights);
}
double weigh_slopes_of_doubles(SmoothingKernel kernel, const WeighedRow<double>& row, double* weights) {
    return weigh_row<true>(kernel, row, weights);
}

double sum_products_of(const double* a, const double* b, std::int64_t count) {
    LaneSums sums;
    for (std::int64_t i = 0; i < count; i += sum_lanes) {
#pragma GCC unroll 16
        for (std::int64_t v = 0; v < vectors; ++v) {
            const std::int64_t at = i + v * vector_lanes;
            sums.of[v] = fma(load(a + at), load(b + at), sums.of[v]);
        }
    }
    return sums.join();
}

} // namespace

} // namespace kith::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kith::detail {

HWY_EXPORT(weigh_floats);
HWY_EXPORT(weigh_doubles);
HWY_EXPORT(weigh_slopes_of_floats);
HWY_EXPORT(weigh_slopes_of_doubles);
HWY_EXPORT(sum_products_of);

double weigh(SmoothingKernel kernel, const WeighedRow<float>& row, double* weights) {
    return HWY_DYNAMIC_DISPATCH(weigh_floats)(kernel, row, weights);
}
double weigh(SmoothingKernel kernel, const WeighedRow<double>& row, double* weights) {
    return HWY_DYNAMIC_DISPATCH(weigh_doubles)(kernel, row, weights);
}
void weigh_slopes(SmoothingKernel kernel, const WeighedRow<float>& row, double* weights) {
    (void)HWY_DYNAMIC_DISPATCH(weigh_slopes_of_floats)(kernel, row, weights);
}
void weigh_slopes(SmoothingKernel kernel, const WeighedRow<double>& row, double* weights) {
    (void)HWY_DYNAMIC_DISPATCH(weigh_slopes_of_doubles)(kernel, row, weights);
}

double sum_of_products(const double* a, const double* b, std::int64_t count) {
    return HWY_DYNAMIC_DISPATCH(sum_products_of)(a, b, count);
}

} // namespace kith::detail
#endif
