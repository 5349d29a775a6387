// What each of the four passes over a group's members collects, block by block, and how parts of it are joined.
//
// Bounds and FirstMoments first; from these the means; then SpreadBounds and SpreadSum of the squared distances from
// the means. The bounds of one pass give the units of the fixed-point sums of the next. All of them are minima, maxima
// and integer sums: joining parts in any order gives the same bits. A member's own terms are computed in double
// precision, always with the same operations.
#pragma once

#include "halos/fixed_sum.hpp"
#include "halos/member_block.hpp"
#include "halos/terms.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

namespace kith::detail::halos {

inline const SplitNumber one = split(1.0);

using Vector = std::array<double, max_dimension>;
using Axes = std::array<MemberBlock::Numbers, max_dimension>;

/// The largest exponent of the products of weights and numbers, at least `largest`.
inline int largest_exponent(const MemberBlock& block, const MemberBlock::Numbers& numbers, int largest) {
    for (int i = 0; i < block.count; ++i) {
        largest = std::max(largest, product_exponent(block.weight[i], split(numbers[i])));
    }
    return largest;
}

inline void add_products(const MemberBlock& block, const MemberBlock::Numbers& numbers, FixedSum& total) {
    FixedSum sum = total; // in registers
    for (int i = 0; i < block.count; ++i) {
        sum.add(block.weight[i], split(numbers[i]));
    }
    total = sum;
}

/// Bounds of one vector (offset or velocity) of all members, and of its product with the weight.
struct VectorBounds {
    Vector lower;
    Vector upper;
    std::array<int, max_dimension> exponent;

    VectorBounds() {
        lower.fill(std::numeric_limits<double>::infinity());
        upper.fill(-std::numeric_limits<double>::infinity());
        exponent.fill(no_product);
    }
    void add(const MemberBlock& block, const Axes& x, int dimension) {
        for (int axis = 0; axis < dimension; ++axis) {
            double least = lower[axis];
            double most = upper[axis];
            for (int i = 0; i < block.count; ++i) {
                least = std::min(least, x[axis][i]);
                most = std::max(most, x[axis][i]);
            }
            lower[axis] = least;
            upper[axis] = most;
            exponent[axis] = largest_exponent(block, x[axis], exponent[axis]);
        }
    }
    void join(const VectorBounds& other) {
        for (int axis = 0; axis < max_dimension; ++axis) {
            lower[axis] = std::min(lower[axis], other.lower[axis]);
            upper[axis] = std::max(upper[axis], other.upper[axis]);
            exponent[axis] = std::max(exponent[axis], other.exponent[axis]);
        }
    }
    /// The largest absolute component.
    [[nodiscard]] double largest(int dimension) const {
        double far = 0;
        for (int axis = 0; axis < dimension; ++axis) {
            far = std::max(far, largest_between(lower[axis], upper[axis]));
        }
        return far;
    }
};

/// First pass: where the members are, and the largest exponents of the terms of the sums.
struct Bounds {
    const Members* members;
    VectorBounds offset;
    VectorBounds velocity;
    std::array<int, max_types> mass_exponent;

    explicit Bounds(const Members& of) : members(&of) { mass_exponent.fill(no_product); }
    void add(const MemberBlock& block) {
        offset.add(block, block.offset, members->columns->dimension);
        if (members->columns->velocities) {
            velocity.add(block, block.velocity, members->columns->dimension);
        }
        for (int i = 0; members->weighted && i < block.count; ++i) {
            int& largest = mass_exponent[block.type[i]];
            largest = std::max(largest, product_exponent(block.weight[i], one));
        }
    }
    void join(const Bounds& other) {
        offset.join(other.offset);
        velocity.join(other.velocity);
        for (int type = 0; type < max_types; ++type) {
            mass_exponent[type] = std::max(mass_exponent[type], other.mass_exponent[type]);
        }
    }
    [[nodiscard]] int largest_mass_exponent() const {
        return *std::max_element(mass_exponent.begin(), mass_exponent.end());
    }
};

/// Second pass: the sums of m, m x and m v.
struct FirstMoments {
    const Members* members;
    FixedSum mass;
    std::array<FixedSum, max_types> mass_by_type;
    std::array<FixedSum, max_dimension> offset;
    std::array<FixedSum, max_dimension> velocity;

    explicit FirstMoments(const Bounds& bounds)
        : members(bounds.members), mass(bounds.largest_mass_exponent(), bounds.members->count()) {
        for (int type = 0; type < max_types; ++type) {
            mass_by_type[type] = FixedSum(bounds.mass_exponent[type], members->count());
        }
        for (int axis = 0; axis < max_dimension; ++axis) {
            offset[axis] = FixedSum(bounds.offset.exponent[axis], members->count());
            velocity[axis] = FixedSum(bounds.velocity.exponent[axis], members->count());
        }
    }
    void add(const MemberBlock& block) {
        for (int axis = 0; axis < members->columns->dimension; ++axis) {
            add_products(block, block.offset[axis], offset[axis]);
            if (members->columns->velocities) {
                add_products(block, block.velocity[axis], velocity[axis]);
            }
        }
        for (int i = 0; members->weighted && i < block.count; ++i) {
            mass.add(block.weight[i], one);
            mass_by_type[block.type[i]].add(block.weight[i], one);
        }
    }
    void join(const FirstMoments& other) {
        mass.join(other.mass);
        for (int type = 0; type < max_types; ++type) {
            mass_by_type[type].join(other.mass_by_type[type]);
        }
        for (int axis = 0; axis < members->columns->dimension; ++axis) {
            offset[axis].join(other.offset[axis]);
            velocity[axis].join(other.velocity[axis]);
        }
    }
    [[nodiscard]] ScaledNumber total_weight() const {
        return members->weighted ? mass.value() : ScaledNumber{static_cast<double>(members->count()), 0};
    }
};

/// The mean of a vector, and the power of two in whose units differences from it are squared.
struct Mean {
    int dimension;
    Vector value{};
    SquareUnit unit;

    Mean(const std::array<FixedSum, max_dimension>& sum, const ScaledNumber& weight, const VectorBounds& bounds, int d)
        : dimension(d), unit(bounds.largest(d)) {
        for (int axis = 0; axis < dimension; ++axis) {
            value[axis] = mean_of(sum[axis], weight);
        }
    }
    /// Squared distances from the mean.
    void squares(const MemberBlock& block, const Axes& x, MemberBlock::Numbers& square) const {
        std::fill_n(square.begin(), block.count, 0.0);
        for (int axis = 0; axis < dimension; ++axis) {
            for (int i = 0; i < block.count; ++i) {
                square[i] += unit.squared_difference(x[axis][i], value[axis]);
            }
        }
    }
};

/// Third pass: the largest weighted and unweighted squares of distances from a mean.
struct SpreadBounds {
    double largest = 0;
    int exponent = no_product;

    void add(const MemberBlock& block, const MemberBlock::Numbers& square) {
        largest = std::max(largest, *std::max_element(square.begin(), square.begin() + block.count));
        exponent = largest_exponent(block, square, exponent);
    }
    void join(const SpreadBounds& other) {
        largest = std::max(largest, other.largest);
        exponent = std::max(exponent, other.exponent);
    }
};

/// Fourth pass: the sums of weighted squares.
struct SpreadSum {
    FixedSum sum;

    void add(const MemberBlock& block, const MemberBlock::Numbers& square) { add_products(block, square, sum); }
    void join(const SpreadSum& other) { sum.join(other.sum); }
};

/// A pass over squared distances: of positions always, of velocities if there are any.
template <class Value>
struct OverSquares {
    const Mean* center;
    const Mean* velocity; ///< or null
    Value radius;
    Value speed;

    void add(const MemberBlock& block) {
        MemberBlock::Numbers square;
        center->squares(block, block.offset, square);
        radius.add(block, square);
        if (velocity != nullptr) {
            velocity->squares(block, block.velocity, square);
            speed.add(block, square);
        }
    }
    void join(const OverSquares& other) {
        radius.join(other.radius);
        speed.join(other.speed);
    }
};

} // namespace kith::detail::halos
