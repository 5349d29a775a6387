// The accumulator itself: exact where a 128-bit integer is, and never dependent on order.
#include "support/fixed_sum.hpp"

#include "support/point_sets.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

namespace kith::test {
namespace {

using detail::FixedSum;
using detail::split;
using detail::to_double;

double sum_of_products(const std::vector<double>& a, const std::vector<double>& b) {
    int top = 2 * detail::SplitNumber::exponent_of_zero;
    for (std::size_t i = 0; i < a.size(); ++i) {
        top = std::max(top, split(a[i]).exponent + split(b[i]).exponent);
    }
    FixedSum sum(top, static_cast<std::int64_t>(a.size()));
    for (std::size_t i = 0; i < a.size(); ++i) {
        sum.add(split(a[i]), split(b[i]));
    }
    return to_double(sum.value());
}

double sum_of(const std::vector<double>& a) {
    return sum_of_products(a, std::vector<double>(a.size(), 1.0));
}

TEST(FixedSum, SplitsEveryNumber) {
    EXPECT_EQ(split(0.0).mantissa, 0);
    EXPECT_EQ(split(-0.0).mantissa, 0);
    for (const double x : {1.0, -1.0, 0.1, -3e300, 5e-324, -2.2250738585072009e-308, 1e-310, 0x1p-1022, 1.7e308}) {
        const detail::SplitNumber number = split(x);
        EXPECT_EQ(std::ldexp(static_cast<double>(number.mantissa), number.exponent - 53), x);
        int exponent = 0;
        std::frexp(x, &exponent);
        EXPECT_EQ(number.exponent, exponent) << x;
    }
}

TEST(FixedSum, RoundsIntegersAsTheCompilerDoes) {
    using detail::Int128;
    Random random(3);
    for (int width = 1; width <= 127; ++width) {
        for (int draw = 0; draw < 200; ++draw) {
            Int128 x = 1;
            for (int bit = 1; bit < width; ++bit) { // ends in runs of equal bits, where ties and near ties are
                x = 2 * x +
                    (draw % 2 == 0 ? random.integer(2) : (bit < 50 + draw % 8 ? random.integer(2) : (draw % 4) / 2));
            }
            for (const Int128 y : {x, x + 1, x - 1, -x}) {
                EXPECT_EQ(detail::nearest_double(y), static_cast<double>(y)) << width << ", " << draw;
            }
        }
    }
    EXPECT_EQ(detail::nearest_double(static_cast<Int128>(1) << 127), -0x1p127);
}

TEST(FixedSum, KeepsWhatCancellationUncovers) {
    EXPECT_EQ(sum_of({1e20, 1.0, -1e20}), 1.0);
    EXPECT_EQ(sum_of({1e20, -1e20, 0x1p-20, 0.0}), 0x1p-20);
    EXPECT_EQ(sum_of({0x1p52, 0x1p-50, -0x1p52}), 0x1p-50);
    EXPECT_EQ(sum_of({-0.1, 0.1}), 0.0);
    EXPECT_EQ(sum_of({}), 0.0);
    EXPECT_EQ(sum_of({0.0, -0.0}), 0.0);
}

TEST(FixedSum, MultipliesWithoutRounding) {
    const double a = 1 + 0x1p-52;
    EXPECT_EQ(sum_of_products({a, -1.0}, {a, 1 + 0x1p-51}), 0x1p-104);
    EXPECT_EQ(sum_of_products({1e300, -1e300}, {1e300, 1e300}), 0.0);
    EXPECT_EQ(sum_of_products({0x1p-1074, 0x1p-1074}, {0x1p1000, 0x1p1000}), 0x1p-73);
    EXPECT_EQ(sum_of_products({5e-324, 5e-324, 0.0}, {1.0, 1.0, 1e308}), 1e-323);
}

TEST(FixedSum, RoundsToTheNearestUnit) {
    // The unit of a sum with top 2^1 is 2^-105 for three terms; of the small terms one is kept, one rounded up, one
    // lost.
    EXPECT_EQ(sum_of({1.0, 0x1p-105, -1.0}), 0x1p-104); // half a unit goes up: 1.0 times 1.0 has two exponents of 1
    EXPECT_EQ(sum_of({1.0, 0x1p-104, -1.0}), 0x1p-104);
    EXPECT_EQ(sum_of({1.0, 0x1p-106, -1.0}), 0.0);
    EXPECT_EQ(sum_of({1.0, 1e-300, -1.0}), 0.0);
}

TEST(FixedSum, HoldsAsManyTermsAsItWasMadeFor) {
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
    const double largest = 2 - 0x1p-52;
    FixedSum few(1 + 1, most);
    few.add(split(largest), split(1.0));
    FixedSum many(1 + 1, most);
    for (int doubling = 0; doubling < 31; ++doubling) { // 2^31 - 1 terms: 1, then 3, 7, ...
        many.join(FixedSum(many));
        many.join(few);
    }
    EXPECT_EQ(to_double(many.value()), largest * static_cast<double>(most));
}

TEST(FixedSum, DoesNotDependOnOrderOrParts) {
    Random random(5);
    std::vector<double> terms;
    for (int i = 0; i < 1000; ++i) {
        terms.push_back(random.normal() * std::ldexp(1.0, static_cast<int>(random.integer(150))));
    }
    const double forward = sum_of(terms);
    std::vector<double> sorted = terms;
    std::sort(sorted.begin(), sorted.end());
    EXPECT_EQ(sum_of(sorted), forward);
    std::reverse(sorted.begin(), sorted.end());
    EXPECT_EQ(sum_of(sorted), forward);
    EXPECT_NE(std::accumulate(sorted.begin(), sorted.end(), 0.0), std::accumulate(terms.begin(), terms.end(), 0.0));
}

} // namespace
} // namespace kith::test
