// What each of the four passes over a group's members collects on the CPU, block by block (vector_moments.hpp).
//
// Positions, velocities and masses share the passes, so that members are gathered once for each. A member's own terms
// are computed in double precision, always with the same operations.
#pragma once

#include "halos/member_block.hpp"
#include "halos/vector_moments.hpp"
#include "support/fixed_sum.hpp"

#include <algorithm>
#include <array>

namespace kith::detail::halos {

inline const SplitNumber one = split(1.0);

/// Of the positions and the velocities of a group's members.
using Moments = std::array<VectorMoments<max_dimension>, 2>;

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

/// First pass: where the members are, and the largest exponents of the terms of the sums.
struct Bounds {
    const Members* members;
    std::array<VectorBounds<max_dimension>, 2> vectors;
    std::array<int, max_types> mass_exponent;
    bool is_below = true; ///< every position is (PositionFrame)

    explicit Bounds(const Members& of) : members(&of) { mass_exponent.fill(no_product); }
    void add(const MemberBlock& block) {
        is_below = is_below && block.is_below;
        for (int v = 0; v < members->vectors(); ++v) {
            for (int axis = 0; axis < members->columns->dimension; ++axis) {
                add_axis(block, block.vectors[v][axis], axis, vectors[v]);
            }
        }
        for (int i = 0; members->weighted && i < block.count; ++i) {
            int& largest = mass_exponent[block.type[i]];
            largest = std::max(largest, product_exponent(block.weight[i], one));
        }
    }
    void join(const Bounds& other) {
        is_below = is_below && other.is_below;
        for (int v = 0; v < members->vectors(); ++v) {
            vectors[v].join(other.vectors[v]);
        }
        for (int type = 0; type < max_types; ++type) {
            mass_exponent[type] = std::max(mass_exponent[type], other.mass_exponent[type]);
        }
    }
    [[nodiscard]] int largest_mass_exponent() const {
        return *std::max_element(mass_exponent.begin(), mass_exponent.end());
    }

private:
    static void add_axis(const MemberBlock& block, const MemberBlock::Numbers& x, int axis,
                         VectorBounds<max_dimension>& bounds) {
        double least = bounds.lower[axis];
        double most = bounds.upper[axis];
        for (int i = 0; i < block.count; ++i) {
            least = std::min(least, x[i]);
            most = std::max(most, x[i]);
        }
        bounds.lower[axis] = least;
        bounds.upper[axis] = most;
        bounds.exponent[axis] = largest_exponent(block, x, bounds.exponent[axis]);
    }
};

/// Second pass: the sums of m, m x and m v.
struct FirstMoments {
    const Members* members;
    FixedSum mass;
    std::array<FixedSum, max_types> mass_by_type;
    std::array<VectorSums<max_dimension>, 2> vectors;

    FirstMoments(const Bounds& bounds, const Moments& moments)
        : members(bounds.members), mass(bounds.largest_mass_exponent(), members->count()) {
        for (int v = 0; v < members->vectors(); ++v) {
            vectors[v] = {moments[v], members->columns->dimension, members->count()};
        }
        for (int type = 0; type < max_types; ++type) {
            mass_by_type[type] = FixedSum(bounds.mass_exponent[type], members->count());
        }
    }
    void add(const MemberBlock& block) {
        for (int v = 0; v < members->vectors(); ++v) {
            for (int axis = 0; axis < members->columns->dimension; ++axis) {
                add_products(block, block.vectors[v][axis], vectors[v].sum[axis]);
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
        for (int v = 0; v < members->vectors(); ++v) {
            vectors[v].join(other.vectors[v]);
        }
    }
    [[nodiscard]] ScaledNumber total_weight() const {
        return members->weighted ? mass.value() : ScaledNumber{static_cast<double>(members->count()), 0};
    }
};

inline void add_squares(const MemberBlock& block, const MemberBlock::Numbers& squares, SpreadBounds& bounds) {
    bounds.largest = std::max(bounds.largest, *std::max_element(squares.begin(), squares.begin() + block.count));
    bounds.exponent = largest_exponent(block, squares, bounds.exponent);
}
inline void add_squares(const MemberBlock& block, const MemberBlock::Numbers& squares, SumPart& part) {
    add_products(block, squares, part.sum);
}

/// Third and fourth pass: over squared distances from the mean.
template <class Part>
struct OverSquares {
    const Members* members;
    const Moments* moments;
    std::array<Part, 2> vectors;

    void add(const MemberBlock& block) {
        for (int v = 0; v < members->vectors(); ++v) {
            const SquareUnit unit = (*moments)[v].unit;
            MemberBlock::Numbers squares;
            std::fill_n(squares.begin(), block.count, 0.0);
            for (int axis = 0; axis < members->columns->dimension; ++axis) {
                const double mean = (*moments)[v].mean[axis];
                for (int i = 0; i < block.count; ++i) {
                    squares[i] += unit.squared_difference(block.vectors[v][axis][i], mean);
                }
            }
            add_squares(block, squares, vectors[v]);
        }
    }
    void join(const OverSquares& other) {
        for (int v = 0; v < members->vectors(); ++v) {
            vectors[v].join(other.vectors[v]);
        }
    }
};

} // namespace kith::detail::halos
