// The density keeps the mass, finds where it is, and repeats where space does.
#include "cli/density.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

namespace {

using namespace kith;
using namespace kith::cli;

View unit_square(bool periodic) {
    const double period = periodic ? 1 : 0;
    return {{0, 0}, {1, 1}, {0, 0}, {period, period}};
}

double total(const Density& density) {
    return std::accumulate(density.values.begin(), density.values.end(), 0.0);
}

TEST(ProjectedDensity, KeepsTheMassOfAPeriodicPlane) {
    std::mt19937 random(1);
    std::uniform_real_distribution<float> uniform(0, 1);
    std::vector<float> points;
    for (int i = 0; i < 3000; ++i) {
        // a uniform background and a dense clump at a corner, so that all levels are used
        const float spread = i % 2 == 0 ? 1.0F : 0.002F;
        points.insert(points.end(), {spread * uniform(random), spread * uniform(random), uniform(random)});
    }
    const Density density = project(PointsView(points, 3), std::nullopt, unit_square(true), 192, 128);
    EXPECT_NEAR(total(density), 3000, 0.5);
    EXPECT_NEAR(density.mean, 3000.0 / (192 * 128), 1e-3);
}

TEST(ProjectedDensity, MassesWeigh) {
    const std::vector<double> points{0.25, 0.25, 0.75, 0.75};
    const std::vector<float> masses{1, 9};
    const Density density =
        project(PointsView(points, 2), ScalarsView(masses), unit_square(true), density_grain, density_grain);
    EXPECT_NEAR(total(density), 10, 0.01);
}

TEST(ProjectedDensity, DoesNotDependOnTheOrderOfThePoints) {
    std::mt19937 random(3);
    std::uniform_real_distribution<double> uniform(0, 1);
    for (const double scale : {1.0, 1e30, 1e-30}) {
        std::vector<double> points;
        std::vector<double> masses;
        for (int i = 0; i < 5000; ++i) {
            points.insert(points.end(), {uniform(random), i % 2 == 0 ? 0.5 : uniform(random)});
            masses.push_back(scale * (uniform(random) + (i == 17 ? 1e6 : 0)));
        }
        const Density forth = project(PointsView(points, 2), ScalarsView(masses), unit_square(true), 128, 128);
        for (int i = 0; i < 2500; ++i) {
            std::swap_ranges(&points[2 * i], &points[2 * i] + 2, &points[2 * (4999 - i)]);
            std::swap(masses[i], masses[4999 - i]);
        }
        const Density back = project(PointsView(points, 2), ScalarsView(masses), unit_square(true), 128, 128);
        EXPECT_EQ(forth.values, back.values);
    }
}

TEST(ProjectedDensity, PeaksWhereThePointsAre) {
    std::vector<float> points;
    for (int i = 0; i < 100; ++i) {
        points.insert(points.end(), {0.30F, 0.80F});
    }
    const Density density = project(PointsView(points, 2), std::nullopt, unit_square(true), 128, 128);
    const auto peak = std::max_element(density.values.begin(), density.values.end()) - density.values.begin();
    EXPECT_NEAR(static_cast<double>(peak % 128), 0.30 * 128, 1.5);
    EXPECT_NEAR(static_cast<double>(peak / 128), 0.80 * 128, 1.5);
}

TEST(ProjectedDensity, RepeatsOnlyAcrossPeriodicEdges) {
    const std::vector<float> points{0.001F, 0.5F};
    const Density around = project(PointsView(points, 2), std::nullopt, unit_square(true), 128, 128);
    EXPECT_GT(around.at(127, 64), 0);
    const std::vector<float> outside{1.5F, 0.5F};
    EXPECT_NEAR(total(project(PointsView(outside, 2), std::nullopt, unit_square(true), 128, 128)), 1, 1e-3);
    EXPECT_EQ(total(project(PointsView(outside, 2), std::nullopt, unit_square(false), 128, 128)), 0);
}

TEST(ProjectedDensity, NoPointsGiveAnEmptyPlane) {
    const Density density = project(PointsView(std::vector<float>{}, 2), std::nullopt, unit_square(false), 64, 64);
    EXPECT_EQ(total(density), 0);
}

} // namespace
