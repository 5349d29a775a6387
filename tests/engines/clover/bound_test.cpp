// The bound by the triangle inequality, against distances as the contract computes them.
#include "engines/clover/bound.hpp"
#include "oracle/working_copy.hpp"
#include "points/resolve_frame.hpp"
#include "support/cases.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace kith::test {
namespace {

template <class T>
detail::Frame<T> frame_of(const oracle::WorkingCopy<T>& copy, const Box& box) {
    std::array<T, max_dimension> lower{};
    std::array<T, max_dimension> upper{};
    for (int axis = 0; axis < copy.dimension; ++axis) {
        lower[axis] = upper[axis] = copy.given[static_cast<std::size_t>(axis)];
        for (std::int64_t i = 0; i < copy.count(); ++i) {
            const T x = copy.given[static_cast<std::size_t>(i * copy.dimension + axis)];
            lower[axis] = std::min(lower[axis], x);
            upper[axis] = std::max(upper[axis], x);
        }
    }
    detail::Frame<T> frame;
    EXPECT_EQ(resolve_frame(detail::PlainBox(box, copy.dimension), copy.dimension, lower, upper, frame).refusal,
              PointError::none);
    EXPECT_EQ(frame.exponent, copy.exponent);
    return frame;
}

struct Violations {
    std::int64_t of_bound = 0;
    std::int64_t without_slack = 0; ///< of a bound that takes distances for exact up to their last bits
    std::int64_t tight = 0;         ///< excluded where the distance is at most a thousandth larger
};

/// Triples (hub, query, point) of consecutive points: the bound must not exclude a point at its own distance.
template <class T>
Violations violations(const std::vector<T>& points, int dimension, const Box& box) {
    const auto copy = oracle::working_copy<T>(points, dimension, box);
    const detail::TriangleBound<T> bound(frame_of(copy, box));
    const T c = static_cast<T>(dimension) / 2 + 3;
    const T u = std::numeric_limits<T>::epsilon() / 2;
    Violations found;
    for (std::int64_t i = 0; i + 2 < copy.count(); ++i) {
        const T weight = std::sqrt(oracle::squared_distance(copy, copy.point(i), copy.point(i + 1)));
        const T radius = std::sqrt(oracle::squared_distance(copy, copy.point(i), copy.point(i + 2)));
        const T squared = oracle::squared_distance(copy, copy.point(i + 1), copy.point(i + 2));
        const T plain = weight * (1 - c * u) - radius * (1 + c * u);
        const T by_bits = plain * plain * (1 - (static_cast<T>(dimension) + 3) * u);
        found.of_bound += bound.is_beyond(weight, radius, squared) ? 1 : 0;
        found.without_slack += plain > 0 && by_bits > squared ? 1 : 0;
        found.tight += bound.is_beyond(weight, radius, squared * static_cast<T>(0.998)) ? 1 : 0;
    }
    return found;
}

/// Points within a millionth of the lower or upper faces of the unit box; on a diagonal, the inequality is an equality.
template <class T>
std::vector<T> near_faces(std::int64_t count, int dimension, bool on_diagonal) {
    Random draw(5);
    std::vector<T> points;
    for (std::int64_t i = 0; i < count * dimension; ++i) {
        const auto step = static_cast<T>(draw.uniform() * 1e-6);
        const T x = draw.integer(2) == 0 ? step : T(1) - step;
        points.push_back(on_diagonal && i % dimension > 0 ? points.back() : x);
    }
    return points;
}

template <class T>
class TriangleBound : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(TriangleBound, Types);

TYPED_TEST(TriangleBound, HoldsNearOppositeFacesOfThePeriodicBox) {
    for (const int dimension : {2, 3, 6, 8}) {
        for (const bool on_diagonal : {false, true}) {
            const auto points = near_faces<TypeParam>(100'000, dimension, on_diagonal);
            const Violations found = violations<TypeParam>(points, dimension, Box::periodic(1));
            EXPECT_EQ(found.of_bound, 0) << dimension;
            if (on_diagonal) {
                EXPECT_GT(found.without_slack, 0) << dimension; // so this test can fail
            }
        }
    }
}

TYPED_TEST(TriangleBound, HoldsAnywhere) {
    for (const int dimension : {2, 3, 6, 8}) {
        const auto points = uniform_points<TypeParam>(100'000, dimension, 0, 1, 11);
        EXPECT_EQ(violations<TypeParam>(points, dimension, Box()).of_bound, 0);
        EXPECT_EQ(violations<TypeParam>(points, dimension, Box::periodic(1)).of_bound, 0);
    }
}

/// Triples on a line: the inequality is an equality, and the bound is to exclude what is hardly nearer.
TYPED_TEST(TriangleBound, HoldsOnALineAndExcludesWhatIsHardlyFarther) {
    Random draw(7);
    std::vector<TypeParam> points;
    for (int i = 0; i < 100'000; ++i) {
        const auto x = static_cast<TypeParam>(draw.uniform());
        points.insert(points.end(), {x, x * 3, x / 5});
    }
    const Violations found = violations<TypeParam>(points, 3, Box());
    EXPECT_EQ(found.of_bound, 0);
    EXPECT_GT(found.tight, 10'000);
}

/// An outlier makes the squares of all other distances lose their digits.
TYPED_TEST(TriangleBound, HoldsWhereSquaresLoseDigits) {
    Random draw(9);
    const int lost = std::is_same_v<TypeParam, float> ? -121 : -568;
    std::vector<TypeParam> points{TypeParam(1), TypeParam(1), TypeParam(1)};
    for (int i = 0; i < 300'000; ++i) {
        points.push_back(std::ldexp(static_cast<TypeParam>(draw.uniform()), lost));
    }
    const Violations found = violations<TypeParam>(points, 3, Box());
    EXPECT_EQ(found.of_bound, 0);
    EXPECT_GT(found.without_slack, 0);
}

} // namespace
} // namespace kith::test
