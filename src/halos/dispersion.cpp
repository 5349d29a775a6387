#include "halos/dispersion.hpp"

#include "halos/columns.hpp"
#include "halos/vector_moments.hpp"
#include "points/coordinates.hpp"
#include "support/dimension.hpp"
#include "support/parallel.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <type_traits>

namespace kith::detail::halos {

namespace {

constexpr std::int64_t grain = 1 << 15;

using Moments = VectorMoments<max_dimension>;

/// Adds every row of every rank to a part; parts are joined in any order.
template <class Part, class Add>
[[nodiscard]] Part over(std::int64_t rows, const DispersionOfRanks& ranks, const Part& empty, const Add& add) {
    Part mine = empty;
    ranks.run([&] {
        mine = parallel_reduce(
            0, rows, grain, empty,
            [&](std::int64_t begin, std::int64_t end, Part part) {
                for (std::int64_t row = begin; row < end; ++row) {
                    add(part, row);
                }
                return part;
            },
            join_values);
    });
    static_assert(std::is_trivially_copyable_v<Part>);
    const std::vector<std::byte> bytes = ranks.gather(std::as_bytes(std::span(&mine, 1)));
    Part all = empty;
    for (std::size_t i = 0; i < bytes.size(); i += sizeof(Part)) {
        Part of_rank = empty;
        std::memcpy(&of_rank, bytes.data() + i, sizeof(Part));
        all.join(of_rank);
    }
    return all;
}

/// The largest exponents of m v, on each axis, and of m.
struct Exponents {
    std::array<int, max_dimension> velocity;
    int mass = no_product;

    Exponents() { velocity.fill(no_product); }
    void join(const Exponents& other) {
        for (int axis = 0; axis < max_dimension; ++axis) {
            velocity[axis] = std::max(velocity[axis], other.velocity[axis]);
        }
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

struct ByMass {
    const ScalarsView& masses;
    [[nodiscard]] SplitNumber operator()(std::int64_t row) const { return split(masses[row]); }
};

struct Alike {
    [[nodiscard]] SplitNumber operator()(std::int64_t) const { return split(1.0); }
};

/// The passes over velocities. Of particles that count alike the largest components give the exponents.
template <class V, class Weights>
double dispersion_of(const FiniteVelocities& velocities, const Weights& weight_of, const DispersionOfRanks& ranks) {
    constexpr bool is_weighted = std::is_same_v<Weights, ByMass>;
    const SplitNumber one = split(1.0);
    const std::int64_t rows = velocities.view.count();
    const int dimension = velocities.view.dimension();
    const Coordinates<V> source(velocities.view);
    double largest = 0;
    for (int axis = 0; axis < dimension; ++axis) {
        largest = std::max(largest, largest_between(velocities.lower[axis], velocities.upper[axis]));
    }
    const double scale = scale_for(largest);
    const auto component = [&](std::int64_t row, int axis) { return scale * static_cast<double>(source(row, axis)); };

    Moments moments{};
    VectorBounds<max_dimension> bounds;
    for (int axis = 0; axis < dimension; ++axis) {
        bounds.lower[axis] = scale * velocities.lower[axis];
        bounds.upper[axis] = scale * velocities.upper[axis];
        bounds.exponent[axis] = product_exponent(one, split(largest_between(bounds.lower[axis], bounds.upper[axis])));
    }
    int mass_exponent = product_exponent(one, one);
    if constexpr (is_weighted) {
        const Exponents exponents = over(rows, ranks, Exponents{}, [&](Exponents& part, std::int64_t row) {
            const SplitNumber weight = weight_of(row);
            part.mass = std::max(part.mass, product_exponent(weight, one));
            for (int axis = 0; axis < dimension; ++axis) {
                part.velocity[axis] =
                    std::max(part.velocity[axis], product_exponent(weight, split(component(row, axis))));
            }
        });
        std::copy_n(exponents.velocity.begin(), dimension, bounds.exponent);
        mass_exponent = exponents.mass;
    }
    bounds.conclude(moments, dimension);

    const Sums no_sums{{moments, dimension, ranks.count}, {mass_exponent, ranks.count}};
    const Sums sums = over(rows, ranks, no_sums, [&](Sums& part, std::int64_t row) {
        const SplitNumber weight = weight_of(row);
        if constexpr (is_weighted) {
            part.mass.add(weight, one);
        }
        for (int axis = 0; axis < dimension; ++axis) {
            part.velocity.sum[axis].add(weight, split(component(row, axis)));
        }
    });
    const ScaledNumber weight = is_weighted ? sums.mass.value() : ScaledNumber{static_cast<double>(ranks.count), 0};
    sums.velocity.conclude(moments, dimension, weight);

    const auto square_of = [&](std::int64_t row) {
        double square = 0;
        for (int axis = 0; axis < dimension; ++axis) {
            square += moments.unit.squared_difference(component(row, axis), moments.mean[axis]);
        }
        return square;
    };
    over(rows, ranks, SpreadBounds{}, [&](SpreadBounds& part, std::int64_t row) {
        const double square = square_of(row);
        part.largest = std::max(part.largest, square);
        if constexpr (is_weighted) {
            part.exponent = std::max(part.exponent, product_exponent(weight_of(row), split(square)));
        }
    }).conclude(moments);
    if constexpr (!is_weighted) {
        moments.square_exponent = product_exponent(one, split(moments.largest_square));
    }
    over(rows, ranks, SumPart{{moments.square_exponent, ranks.count}}, [&](SumPart& part, std::int64_t row) {
        part.sum.add(weight_of(row), split(square_of(row)));
    }).conclude(moments, weight, 1);
    return moments.root_mean_square / scale;
}

} // namespace

bool any_has_mass(const ScalarsView& masses) {
    check_masses(masses);
    return parallel_find(masses.count(), grain, [&](std::int64_t row) { return masses[row] > 0; }) < masses.count();
}

double velocity_dispersion(const FiniteVelocities& velocities, const std::optional<ScalarsView>& masses) {
    DispersionOfRanks alone{velocities.view.count(), masses && any_has_mass(*masses), {}, {}};
    alone.run = [](const std::function<void()>& pass) { pass(); };
    alone.gather = [](std::span<const std::byte> bytes) { return std::vector(bytes.begin(), bytes.end()); };
    return velocity_dispersion(velocities, masses, alone);
}

double velocity_dispersion(const FiniteVelocities& velocities, const std::optional<ScalarsView>& masses,
                           const DispersionOfRanks& ranks) {
    if (ranks.count == 0) {
        return 0;
    }
    double dispersion = 0;
    with_dtype(velocities.view.dtype(), [&]<Coordinate V>(V) {
        dispersion = ranks.weighted ? dispersion_of<V>(velocities, ByMass{*masses}, ranks)
                                    : dispersion_of<V>(velocities, Alike{}, ranks);
    });
    return dispersion;
}

} // namespace kith::detail::halos
