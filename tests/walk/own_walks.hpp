// What tests of the public walks share: trees of every case and plain distances of its points.
#pragma once

#include "support/cases.hpp"

#include <kith/tree.hpp>
#include <kith/walk.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace kith::test {

/// Every type, dimension that is built, and point set.
inline std::vector<Case> cases_of_walks() {
    std::vector<Case> cases;
    for (int dimension = 2; dimension <= max_dimension; ++dimension) {
        if (is_built(dimension)) {
            std::ranges::copy(every_case_in(dimension), std::back_inserter(cases));
        }
    }
    return cases;
}

/// body(T{}, integral_constant<int, D>{}) for a case.
template <int D = 2, class Body>
void with_case(const Case& named, const Body& body) {
    if constexpr (D <= max_dimension) {
        if constexpr ((KITH_DIMENSION_MASK >> D & 1) != 0) {
            if (named.dimension == D) {
                with_type(named.dtype, [&]<class T>(T type) { body(type, std::integral_constant<int, D>{}); });
                return;
            }
        }
        with_case<D + 1>(named, body);
    }
}

/// At most `most` points of a set: every n-th one from the first on, so that all kinds of points are among them.
template <class T>
std::vector<T> some_of(const PointSet<T>& set, std::int64_t most, std::int64_t first = 0) {
    const std::int64_t step = std::max<std::int64_t>((set.count() + most - 1) / most, 1);
    std::vector<T> kept;
    for (std::int64_t i = first; i < set.count(); i += step) {
        kept.insert(kept.end(), set.coordinates.begin() + i * set.dimension,
                    set.coordinates.begin() + (i + 1) * set.dimension);
    }
    return kept;
}

/// Of sorted points of two trees in one space, by the plainest loop.
template <class T, int D>
T plain_distance(const walk::TreeView<T, D>& tree, std::int32_t i, const walk::TreeView<T, D>& other, std::int32_t j) {
    T sum = 0;
    for (int axis = 0; axis < D; ++axis) {
        const T t = std::abs(tree.axis(axis)[i] - other.axis(axis)[j]);
        const T shorter = std::min(t, tree.space.periods[axis] - t);
        sum = axis == 0 ? shorter * shorter : std::fma(shorter, shorter, sum);
    }
    return sum;
}

inline const std::vector<TreeShape> shapes_of_walks{{2, 2, 1, 0}, {3, 3, 8, 50}, {8, 4, 2, 1}, {}};

} // namespace kith::test
