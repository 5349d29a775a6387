#include "halos/dispersion.hpp"

#include <kith/error.hpp>

#include "halos/columns.hpp"
#include "halos/vector_moments.hpp"
#include "support/message.hpp"
#include "support/parallel.hpp"

#include <algorithm>
#include <cmath>

namespace kith::detail::halos {

namespace {

constexpr std::int64_t grain = 1 << 15;

using Moments = VectorMoments<max_dimension>;

/// Velocities and weights, and what the passes over them share.
struct Weighted {
    const PointsView& velocities;
    const std::optional<ScalarsView>& masses;
    double scale = 1;      ///< velocities are read times this
    bool weighted = false; ///< by mass

    [[nodiscard]] SplitNumber weight(std::int64_t row) const { return split(weighted ? (*masses)[row] : 1.0); }
    [[nodiscard]] double component(std::int64_t row, int axis) const {
        return scale * velocities.coordinate(row, axis);
    }
    [[nodiscard]] double squared_distance(std::int64_t row, const Moments& moments) const {
        double square = 0;
        for (int axis = 0; axis < velocities.dimension(); ++axis) {
            square += moments.unit.squared_difference(component(row, axis), moments.mean[axis]);
        }
        return square;
    }
    /// Adds every row to a part; parts are joined in any order.
    template <class Part, class Add>
    [[nodiscard]] Part over(const Part& empty, const Add& add) const {
        return parallel_reduce(
            0, velocities.count(), grain, empty,
            [&](std::int64_t begin, std::int64_t end, Part part) {
                for (std::int64_t row = begin; row < end; ++row) {
                    add(part, row);
                }
                return part;
            },
            [](Part left, const Part& right) {
                left.join(right);
                return left;
            });
    }
};

/// What can be said of the masses alone.
struct Masses {
    bool any = false; ///< above 0
    std::int64_t first_bad = all_are_finite;

    void join(const Masses& other) {
        any = any || other.any;
        first_bad = std::min(first_bad, other.first_bad);
    }
};

/// Whether particles are to be weighted by mass.
bool have_mass(const Weighted& all) {
    const Masses found = all.over(Masses{}, [&](Masses& part, std::int64_t row) {
        const double mass = (*all.masses)[row];
        part.any = part.any || mass > 0;
        part.first_bad = !(mass >= 0) || std::isinf(mass) ? std::min(part.first_bad, row) : part.first_bad;
    });
    if (found.first_bad != all_are_finite) {
        throw Error(ErrorKind::invalid_argument,
                    message("masses: row ", found.first_bad, " is ", (*all.masses)[found.first_bad],
                            "; masses must be finite and not negative"));
    }
    return found.any;
}

/// The largest exponents of the terms of the first sums.
struct Exponents {
    VectorBounds<max_dimension> velocity;
    int mass = no_product;

    void join(const Exponents& other) {
        velocity.join(other.velocity);
        mass = std::max(mass, other.mass);
    }
};

/// The sums of m v and m.
struct Sums {
    VectorSums<max_dimension> velocity;
    FixedSum mass;

    void join(const Sums& other) {
        velocity.join(other.velocity);
        mass.join(other.mass);
    }
};

} // namespace

double velocity_dispersion(const FiniteVelocities& velocities, const std::optional<ScalarsView>& masses) {
    const std::int64_t count = velocities.view.count();
    const int dimension = velocities.view.dimension();
    double largest = 0;
    for (int axis = 0; axis < dimension; ++axis) {
        largest = std::max(largest, largest_between(velocities.lower[axis], velocities.upper[axis]));
    }
    Weighted all{velocities.view, masses, scale_for(largest)};
    all.weighted = masses && have_mass(all);
    if (count == 0) {
        return 0;
    }
    const SplitNumber one = split(1.0);

    Moments moments{};
    const Exponents exponents = all.over(Exponents{}, [&](Exponents& part, std::int64_t row) {
        const SplitNumber weight = all.weight(row);
        part.mass = std::max(part.mass, product_exponent(weight, one));
        for (int axis = 0; axis < dimension; ++axis) {
            const double v = all.component(row, axis);
            part.velocity.lower[axis] = std::min(part.velocity.lower[axis], v);
            part.velocity.upper[axis] = std::max(part.velocity.upper[axis], v);
            part.velocity.exponent[axis] = std::max(part.velocity.exponent[axis], product_exponent(weight, split(v)));
        }
    });
    exponents.velocity.conclude(moments, dimension);
    const Sums sums =
        all.over(Sums{{moments, dimension, count}, {exponents.mass, count}}, [&](Sums& part, std::int64_t row) {
            const SplitNumber weight = all.weight(row);
            part.mass.add(weight, one);
            for (int axis = 0; axis < dimension; ++axis) {
                part.velocity.sum[axis].add(weight, split(all.component(row, axis)));
            }
        });
    const ScaledNumber weight = sums.mass.value();
    sums.velocity.conclude(moments, dimension, weight);
    all.over(SpreadBounds{},
             [&](SpreadBounds& part, std::int64_t row) {
                 const double square = all.squared_distance(row, moments);
                 part.largest = std::max(part.largest, square);
                 part.exponent = std::max(part.exponent, product_exponent(all.weight(row), split(square)));
             })
        .conclude(moments);
    all.over(SumPart{{moments.square_exponent, count}},
             [&](SumPart& part, std::int64_t row) {
                 part.sum.add(all.weight(row), split(all.squared_distance(row, moments)));
             })
        .conclude(moments, weight, 1);
    return moments.root_mean_square / all.scale;
}

} // namespace kith::detail::halos
