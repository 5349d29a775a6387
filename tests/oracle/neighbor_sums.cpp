// See neighbor_sums.hpp.
#include "oracle/neighbor_sums.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>

namespace kith::oracle {

namespace {

__extension__ using Wide = __int128;

struct Term {
    double a;
    double b;
};

double added_in_lanes(const std::vector<Term>& terms) {
    std::array<double, 16> lane{};
    for (std::size_t k = 0; k < terms.size(); ++k) {
        lane[k % 16] = std::fma(terms[k].a, terms[k].b, lane[k % 16]);
    }
    for (std::size_t half = 8; half > 0; half /= 2) {
        for (std::size_t i = 0; i < half; ++i) {
            lane[i] += lane[i + half];
        }
    }
    return lane[0];
}

/// The least e with |x| < 2^e.
std::optional<int> exponent_of(double x) {
    int exponent = 0;
    (void)std::frexp(x, &exponent);
    return x == 0 ? std::nullopt : std::optional(exponent);
}

/// A whole number of 53 bits times 2^(exponent - 53).
Wide mantissa_of(double x) {
    int exponent = 0;
    return static_cast<Wide>(std::ldexp(std::frexp(x, &exponent), 53));
}

/// A sum in whole multiples of 2^(top - f), rounded once.
double added_without_order(const std::vector<Term>& terms, int top, std::int64_t sources) {
    int bits = 0;
    while ((sources >> bits) > 0) {
        ++bits;
    }
    const int f = std::min(106, 126 - bits);
    Wide sum = 0;
    for (const Term& term : terms) {
        if (term.a == 0 || term.b == 0) {
            continue;
        }
        const int down = top - f - (*exponent_of(term.a) + *exponent_of(term.b) - 106); // bits below the unit
        const Wide product = mantissa_of(term.a) * mantissa_of(term.b);
        if (down > 107) {
            continue;
        }
        const Wide unit = Wide{1} << down;
        Wide whole = product / unit;
        Wide rest = product % unit;
        if (rest < 0) { // rounded down, not toward 0
            whole -= 1;
            rest += unit;
        }
        sum += whole + (2 * rest >= unit ? 1 : 0);
    }
    return std::ldexp(static_cast<double>(sum), top - f);
}

int largest_exponent(const std::vector<double>& numbers) {
    int largest = -5000;
    for (const double x : numbers) {
        largest = std::max(largest, exponent_of(x).value_or(-5000));
    }
    return largest;
}

double power_of(double x, int n) {
    double power = x;
    for (int i = 1; i < n; ++i) {
        power *= x;
    }
    return power;
}

/// From the source to the query along an axis, nearest image, as given.
template <class T>
double offset(const WorkingCopy<T>& sources, T query, T source, int axis) {
    const T period = sources.period[static_cast<std::size_t>(axis)];
    const T t = std::abs(query - source);
    T x = query - source;
    if (period != 0 && period - t < t) {
        x = query > source ? -(period - t) : period - t;
    }
    return std::ldexp(static_cast<double>(x), -sources.exponent);
}

double exponential(double x) {
    const double y = -0.28125 * x;
    double factorial = 479001600;
    double p = 1 / factorial;
    for (int n = 12; n >= 1; --n) {
        factorial /= n;
        p = std::fma(p, y, 1 / factorial);
    }
    for (int i = 0; i < 4; ++i) {
        p = p * p;
    }
    return p;
}

double fourth(double x) {
    return (x * x) * (x * x);
}
double fifth(double x) {
    return fourth(x) * x;
}

} // namespace

double kernel_value(SmoothingKernel kernel, double u) {
    const double v = 1 - u;
    const double q = 3 * u;
    switch (kernel) {
    case SmoothingKernel::cubic_spline:
        return u < 0.5 ? std::fma(u * u, std::fma(6, u, -6), 1) : 2 * (v * v * v);
    case SmoothingKernel::quintic_spline:
        return std::fma(15, fifth(std::max(1 - q, 0.0)), std::fma(-6, fifth(std::max(2 - q, 0.0)), fifth(3 - q)));
    case SmoothingKernel::wendland_c2:
        return fourth(v) * std::fma(4, u, 1);
    case SmoothingKernel::wendland_c4:
        return fourth(v) * (v * v) * std::fma(u, std::fma(35.0 / 3, u, 6), 1);
    case SmoothingKernel::top_hat:
        return 1;
    case SmoothingKernel::gaussian:
        return exponential(u * u);
    }
    return 0;
}

double kernel_slope(SmoothingKernel kernel, double u) {
    const double v = 1 - u;
    const double q = 3 * u;
    switch (kernel) {
    case SmoothingKernel::cubic_spline:
        return u < 0.5 ? std::fma(18, u, -12) : -6 * (v * v) / u;
    case SmoothingKernel::quintic_spline:
        return q < 1 ? 9 * std::fma(q * q, std::fma(-50, q, 120), -120)
                     : -45 * std::fma(-6, fourth(std::max(2 - q, 0.0)), fourth(3 - q)) / q;
    case SmoothingKernel::wendland_c2:
        return -20 * (v * v * v);
    case SmoothingKernel::wendland_c4:
        return (-56.0 / 3) * std::fma(5, u, 1) * fifth(v);
    case SmoothingKernel::top_hat:
        return 0;
    case SmoothingKernel::gaussian:
        return -9 * exponential(u * u);
    }
    return 0;
}

double kernel_factor(SmoothingKernel kernel, int dimension) {
    constexpr std::array<std::array<double, 7>, 6> factors{{
        {1.8189136353359467, 2.5464790894703255, 3.6606363122393, 5.403796460924681, 8.19138184785262,
         12.748841846535328, 20.36642303426378},
        {0.041952976630918015, 0.0716197243913529, 0.12439360041545763, 0.21983078236685785, 0.39529285250674046,
         0.723250108356227, 1.346416952062941},
        {2.2281692032865346, 3.342253804929802, 5.106587655573824, 7.9790432118340995, 12.771607635546998,
         20.95341877706929, 35.23285109807664},
        {2.864788975654116, 4.923856051905512, 8.597826154792662, 15.281292579807271, 27.67181654368516,
         51.0739582691064, 96.08959390384538},
        {0.3183098861837907, 0.238732414637843, 0.20264236728467555, 0.18997721932938333, 0.19350920659919693,
         0.21165069471787165, 0.24638357411242404},
        {1.4484857105714901, 1.7660575618837238, 2.1852730157779963, 2.756196468317403, 3.5561992872836434,
         4.706507104957084, 6.4005906389907805},
    }};
    return factors[static_cast<std::size_t>(kernel)][static_cast<std::size_t>(dimension - 2)];
}

namespace {

/// With masses that have been divided.
template <class T>
Totals plain_sums(const WorkingCopy<T>& sources, const std::vector<T>* queries, const RaggedRows<T>& rows,
                  const std::vector<double>& reach, SmoothingKernel kernel, Adding adding,
                  const std::vector<double>& masses, const std::vector<std::vector<double>>& fields) {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    const int d = sources.dimension;
    const double factor = kernel_factor(kernel, d);
    const int value_top = kernel == SmoothingKernel::quintic_spline ? 7 : 1;
    const int slope_top = std::array{4, 11, 5, 5, 0, 4}[static_cast<std::size_t>(kernel)];
    const auto total = [&](const std::vector<Term>& terms, int top) {
        return adding == Adding::in_lanes ? added_in_lanes(terms) : added_without_order(terms, top, sources.count());
    };
    const std::vector<T>& at = queries != nullptr ? *queries : sources.points;
    const std::size_t count = reach.size();
    Totals totals;
    totals.density.resize(count);
    totals.gradient.resize(count * static_cast<std::size_t>(d));
    totals.fields.resize(fields.size());

    struct OneRow {
        std::vector<std::size_t> sources;
        std::vector<double> u;
        double h;
    };
    const auto row_of = [&](std::size_t i) {
        OneRow row{{}, {}, reach[i]};
        for (auto k = static_cast<std::size_t>(rows.offsets[i]); k < static_cast<std::size_t>(rows.offsets[i + 1]);
             ++k) {
            row.sources.push_back(static_cast<std::size_t>(rows.indices[k]));
            const double inverse = 1 / row.h;
            row.u.push_back(std::isfinite(inverse) ? static_cast<double>(rows.distances[k]) * inverse : 0);
        }
        return row;
    };
    const auto gradient = [&](std::size_t i, const OneRow& row, const std::vector<double>& weights, int top,
                              std::vector<double>& out) {
        for (int axis = 0; axis < d; ++axis) {
            std::vector<Term> terms;
            for (std::size_t k = 0; k < row.sources.size(); ++k) {
                terms.push_back(
                    {weights[k], offset(sources, at[i * static_cast<std::size_t>(d) + static_cast<std::size_t>(axis)],
                                        sources.point(static_cast<std::int64_t>(row.sources[k]))[axis], axis)});
            }
            out[i * static_cast<std::size_t>(d) + static_cast<std::size_t>(axis)] =
                row.h == 0            ? nan
                : row.sources.empty() ? 0
                                      : factor * total(terms, top + *exponent_of(row.h) + 1) / power_of(row.h, d + 2);
        }
    };

    const int top = largest_exponent(masses) + value_top;
    for (std::size_t i = 0; i < count; ++i) {
        const OneRow row = row_of(i);
        std::vector<double> c;
        std::vector<double> slopes;
        std::vector<Term> terms;
        for (std::size_t k = 0; k < row.sources.size(); ++k) {
            c.push_back(masses[row.sources[k]] * kernel_value(kernel, row.u[k]));
            slopes.push_back(masses[row.sources[k]] * kernel_slope(kernel, row.u[k]));
            terms.push_back({c[k], 1});
        }
        const double sum = total(terms, top + 1);
        totals.density[i] = c.empty() ? 0 : factor * sum / power_of(row.h, d);
        gradient(i, row, slopes, largest_exponent(masses) + slope_top, totals.gradient);
        for (std::size_t f = 0; f < fields.size(); ++f) {
            const int largest = largest_exponent(fields[f]);
            double least = nan;
            double greatest = nan;
            for (std::size_t k = 0; k < c.size(); ++k) {
                const double a = fields[f][row.sources[k]] + 0.0; // no -0.0
                terms[k] = {c[k], a};
                least = k == 0 ? a : std::min(least, a);
                greatest = k == 0 ? a : std::max(greatest, a);
            }
            const double weighted = total(terms, top + largest);
            double mean = nan;
            double variance = nan;
            if (sum > 0) {
                mean = std::clamp(weighted / sum, least, greatest);
                for (std::size_t k = 0; k < c.size(); ++k) {
                    const double e = fields[f][row.sources[k]] - mean;
                    terms[k] = {c[k] * e, e};
                }
                variance = total(terms, top + 2 * (largest + 1)) / sum;
            }
            FieldTotals& of = totals.fields[f];
            of.sum.push_back(c.empty() ? 0 : factor * weighted / power_of(row.h, d));
            of.mean.push_back(mean);
            of.variance.push_back(variance);
            of.least.push_back(least);
            of.greatest.push_back(greatest);
        }
    }
    if (queries != nullptr) {
        return totals;
    }
    std::vector<double> volumes;
    for (std::size_t j = 0; j < masses.size(); ++j) {
        volumes.push_back(totals.density[j] > 0 ? masses[j] / totals.density[j] : 0);
    }
    for (std::size_t f = 0; f < fields.size(); ++f) {
        totals.fields[f].gradient.resize(totals.gradient.size());
        for (std::size_t i = 0; i < count; ++i) {
            const OneRow row = row_of(i);
            std::vector<double> weights;
            for (std::size_t k = 0; k < row.sources.size(); ++k) {
                weights.push_back(volumes[row.sources[k]] * kernel_slope(kernel, row.u[k]) *
                                  (fields[f][row.sources[k]] - fields[f][i]));
            }
            gradient(i, row, weights, largest_exponent(volumes) + slope_top + largest_exponent(fields[f]) + 1,
                     totals.fields[f].gradient);
        }
    }
    return totals;
}

} // namespace

template <class T>
Totals neighbor_sums(const WorkingCopy<T>& sources, const std::vector<T>* queries, const RaggedRows<T>& rows,
                     const std::vector<double>& reach, SmoothingKernel kernel, Adding adding,
                     const std::vector<double>& masses, const std::vector<std::vector<double>>& fields) {
    int of_fields = 0;
    for (const std::vector<double>& field : fields) {
        of_fields = std::max(of_fields, largest_exponent(field));
    }
    const int p = std::max(0, largest_exponent(masses) + of_fields + 71 - 1023);
    const auto times = [](std::vector<double> numbers, int exponent) {
        for (double& number : numbers) {
            number = std::ldexp(number, exponent);
        }
        return numbers;
    };
    Totals totals = plain_sums(sources, queries, rows, reach, kernel, adding, times(masses, -p), fields);
    totals.density = times(totals.density, p);
    totals.gradient = times(totals.gradient, p);
    for (FieldTotals& field : totals.fields) {
        field.sum = times(field.sum, p);
    }
    return totals;
}

template Totals neighbor_sums(const WorkingCopy<float>&, const std::vector<float>*, const RaggedRows<float>&,
                              const std::vector<double>&, SmoothingKernel, Adding, const std::vector<double>&,
                              const std::vector<std::vector<double>>&);
template Totals neighbor_sums(const WorkingCopy<double>&, const std::vector<double>*, const RaggedRows<double>&,
                              const std::vector<double>&, SmoothingKernel, Adding, const std::vector<double>&,
                              const std::vector<std::vector<double>>&);

} // namespace kith::oracle
