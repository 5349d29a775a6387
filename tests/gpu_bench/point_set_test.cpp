// The point sets are what they say, on the host; the device computes the same.
#include "point_set.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

namespace bench {
namespace {

template <class T>
std::vector<T> points_of(const PointSet& set) {
    const HaloTable table = set.kind == Kind::clustered ? make_halos(set.count, set.seed) : HaloTable{};
    const HaloArrays halos = set.kind == Kind::clustered ? HaloArrays::of(table) : HaloArrays{};
    std::vector<T> points(static_cast<std::size_t>(set.count * set.dimension));
    for (std::int64_t i = 0; i < set.count; ++i) {
        place_point(set, halos, i, points.data() + i * set.dimension);
    }
    return points;
}

TEST(CounterRandom, APermutationNamesEveryPlaceOnce) {
    for (const std::int64_t count : {1, 2, 3, 5, 64, 65, 1000}) {
        std::vector<std::int64_t> places;
        for (std::int64_t i = 0; i < count; ++i) {
            places.push_back(permuted(7, i, count));
        }
        std::sort(places.begin(), places.end());
        for (std::int64_t i = 0; i < count; ++i) {
            EXPECT_EQ(places[static_cast<std::size_t>(i)], i);
        }
    }
}

TEST(PointSet, UniformPointsHaveTheMomentsOfAUniformDistribution) {
    const std::vector<float> points = points_of<float>({Kind::uniform, 200'000, 6});
    double sum = 0;
    double squares = 0;
    double products = 0; // of neighboring axes, which must not know of each other
    for (std::size_t i = 0; i < points.size(); ++i) {
        ASSERT_GE(points[i], 0);
        ASSERT_LT(points[i], 1);
        const double x = static_cast<double>(points[i]) - 0.5;
        sum += x;
        squares += x * x;
        products += i > 0 ? x * (static_cast<double>(points[i - 1]) - 0.5) : 0;
    }
    const auto count = static_cast<double>(points.size());
    EXPECT_NEAR(sum / count, 0, 5 * std::sqrt(1 / 12.0 / count));
    EXPECT_NEAR(squares / count, 1 / 12.0, 5 * std::sqrt(1 / 180.0 / count));
    EXPECT_NEAR(products / count, 0, 5 / 12.0 / std::sqrt(count));
}

TEST(PointSet, SeedsGiveOtherPoints) {
    EXPECT_NE(points_of<float>({Kind::uniform, 10, 3, 1}), points_of<float>({Kind::uniform, 10, 3, 2}));
}

TEST(PointSet, TypesAreOfTheirOwnPrecision) {
    const std::vector<double> points = points_of<double>({Kind::uniform, 1000});
    EXPECT_TRUE(std::any_of(points.begin(), points.end(),
                            [](double x) { return static_cast<double>(static_cast<float>(x)) != x; }));
}

TEST(HaloTable, SevenTenthsAreInHalosOfTheirMassFunction) {
    const std::int64_t count = 16'777'216;
    const HaloTable table = make_halos(count, 1);
    EXPECT_EQ(table.background, count * 3 / 10);
    EXPECT_EQ(table.first.back(), count - table.background);
    ASSERT_EQ(table.first.size(), table.radius.size() + 1);
    // Halos above a mass go with m^-0.9, so of those above 20 the share (20/200)^0.9 is above 200; the last is cut
    // short.
    std::int64_t above = 0;
    const auto halos = static_cast<std::int64_t>(table.radius.size());
    for (std::int64_t halo = 0; halo < halos; ++halo) {
        const auto h = static_cast<std::size_t>(halo);
        const std::int64_t mass = table.first[h + 1] - table.first[h];
        ASSERT_TRUE(mass >= 20 || halo + 1 == halos);
        ASSERT_LE(mass, count / 20 + 1);
        above += mass > 200 ? 1 : 0;
    }
    const double share = static_cast<double>(above) / static_cast<double>(halos);
    EXPECT_NEAR(share, std::pow(0.1, 0.9), 5 * std::sqrt(share / static_cast<double>(halos)));
}

TEST(HaloTable, TheProfileHoldsTheMassItSays) {
    const HaloTable table = make_halos(1000, 1);
    const auto enclosed = [](double x) { return std::log1p(x) - x / (1 + x); };
    for (int step = 0; step <= profile_steps; step += 64) {
        const double root = static_cast<double>(step) / profile_steps;
        const double x = 8 * table.profile_of_root[static_cast<std::size_t>(step)];
        EXPECT_NEAR(enclosed(x) / enclosed(8), root * root, 1e-12);
    }
}

TEST(PointSet, MembersLieWithinTheirHaloAllAroundItsCenter) {
    const PointSet set{Kind::clustered, 100'000};
    const HaloTable table = make_halos(set.count, set.seed);
    const HaloArrays halos = HaloArrays::of(table);
    std::array<double, 3> offsets{};
    double largest = 0;
    const std::int64_t members = table.first.back();
    for (std::int64_t member = 0; member < members; ++member) {
        std::array<double, 3> place{};
        place_member(set, halos, member, place.data());
        const std::int64_t halo = halo_of(halos, member);
        ASSERT_LE(table.first[static_cast<std::size_t>(halo)], member);
        ASSERT_LT(member, table.first[static_cast<std::size_t>(halo) + 1]);
        double squared = 0;
        for (std::size_t axis = 0; axis < 3; ++axis) {
            ASSERT_GE(place[axis], 0);
            ASSERT_LT(place[axis], 1);
            double apart = place[axis] - random_share<double>(set.seed + 1, static_cast<std::uint64_t>(halo), axis);
            apart -= std::round(apart);
            squared += apart * apart;
            offsets[axis] += apart / table.radius[static_cast<std::size_t>(halo)];
        }
        largest = std::max(largest, std::sqrt(squared) / table.radius[static_cast<std::size_t>(halo)]);
    }
    EXPECT_LE(largest, 1 + 1e-9);
    EXPECT_GT(largest, 0.99);
    for (const double offset : offsets) { // of unit length at most, so a mean of that error at most
        EXPECT_NEAR(offset / static_cast<double>(members), 0, 5 / std::sqrt(static_cast<double>(members)));
    }
}

TEST(PointSet, ClusteredPointsAreInTheBoxAndInNoOrder) {
    const PointSet set{Kind::clustered, 50'000};
    const std::vector<float> points = points_of<float>(set);
    for (const float x : points) {
        ASSERT_GE(x, 0);
        ASSERT_LT(x, 1);
    }
    // Three tenths of the first thousand are background, as of all.
    std::int64_t background = 0;
    for (std::int64_t i = 0; i < 1000; ++i) {
        background += permuted(set.seed, i, set.count) < set.count * 3 / 10 ? 1 : 0;
    }
    EXPECT_NEAR(static_cast<double>(background), 300, 75);
}

TEST(PointSet, ALatticeHasEverySiteOnce) {
    const std::vector<float> points = points_of<float>({Kind::lattice, 1000});
    std::vector<int> sites;
    for (std::size_t i = 0; i < points.size(); i += 3) {
        sites.push_back(static_cast<int>(points[i] + 10 * points[i + 1] + 100 * points[i + 2]));
    }
    std::sort(sites.begin(), sites.end());
    std::vector<int> wanted(1000);
    std::iota(wanted.begin(), wanted.end(), 0);
    EXPECT_EQ(sites, wanted);
}

TEST(PointSet, OddSetsAreOdd) {
    const std::vector<float> coincident = points_of<float>({Kind::coincident, 100});
    EXPECT_EQ(std::count(coincident.begin(), coincident.end(), coincident.front()), 300);
    const std::vector<float> outliers = points_of<float>({Kind::outliers, 1000});
    const auto far = std::count_if(outliers.begin(), outliers.end(), [](float x) { return std::abs(x) > 1; });
    EXPECT_GE(far, 25);
    EXPECT_LE(far, 30);
}

} // namespace
} // namespace bench
