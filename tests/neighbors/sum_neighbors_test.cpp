// Kernels of sums over neighbors, properties of sums that need no oracle, and what is refused.
#include "oracle/neighbor_sums.hpp"
#include "support/cases.hpp"
#include "support/special_numbers.hpp"

#include <kith/kith.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace kith::test {
namespace {

constexpr std::size_t kernels = smoothing_kernel_names.size();

double simpson(double from, double to, const auto& f) {
    constexpr int steps = 4000;
    double sum = f(from) + f(to);
    for (int i = 1; i < steps; ++i) {
        sum += (i % 2 == 1 ? 4 : 2) * f(from + (to - from) * i / steps);
    }
    return sum * (to - from) / steps / 3;
}

TEST(SmoothingKernels, IntegrateToOneInEveryDimension) {
    const double pi = std::acos(-1.0);
    for (std::size_t kernel = 0; kernel < kernels; ++kernel) {
        const auto shape = static_cast<SmoothingKernel>(kernel);
        for (int d = 2; d <= 8; ++d) {
            const auto shell = [&](double u) { return oracle::kernel_value(shape, u) * std::pow(u, d - 1); };
            double integral = 0;
            for (int part = 0; part < 6; ++part) { // no knot is inside one
                integral += simpson(part / 6.0, (part + 1) / 6.0, shell);
            }
            const double sphere = 2 * std::pow(pi, d / 2.0) / std::tgamma(d / 2.0);
            EXPECT_NEAR(oracle::kernel_factor(shape, d) * sphere * integral, 1, 2e-13)
                << smoothing_kernel_names[kernel] << " in " << d;
        }
    }
}

TEST(SmoothingKernels, SlopesAreDerivatives) {
    for (std::size_t kernel = 0; kernel < kernels; ++kernel) {
        const auto shape = static_cast<SmoothingKernel>(kernel);
        for (const double u : {0.05, 0.2, 0.3, 0.4, 0.55, 0.7, 0.9, 0.99}) {
            constexpr double step = 1e-5;
            const double slope =
                (oracle::kernel_value(shape, u + step) - oracle::kernel_value(shape, u - step)) / (2 * step);
            EXPECT_NEAR(oracle::kernel_slope(shape, u) * u, slope, 1e-7 * oracle::kernel_value(shape, 0))
                << smoothing_kernel_names[kernel] << " at " << u;
        }
    }
}

TEST(SmoothingKernels, TheExponentialIsOne) {
    for (int i = 0; i <= 10000; ++i) {
        const double u = i / 10000.0;
        const double truth = std::exp(-4.5 * u * u);
        EXPECT_NEAR(oracle::kernel_value(SmoothingKernel::gaussian, u), truth, 3e-15 * truth);
    }
}

class SumsOfNeighbors : public NeedsDimension<3> {};

TEST_F(SumsOfNeighbors, OfATreeAreThoseOfItsPoints) {
    const std::vector<float> points = uniform_points<float>(3000, 3, 0, 1, 3);
    const PointsView view(points, 3);
    const Tree tree(view, {.box = Box::periodic(1)});
    const NeighborSums expected = sum_neighbors(view, Nearest{32}, {.box = Box::periodic(1), .density_gradient = true});
    const NeighborSums found = sum_neighbors(tree, Nearest{32}, {.density_gradient = true, .execution = cpu(2)});
    EXPECT_EQ(found.density, expected.density);
    EXPECT_EQ(found.density_gradient, expected.density_gradient);
    EXPECT_EQ(found.box, expected.box);
    EXPECT_EQ(found.engine, Engine::tree);
}

TEST_F(SumsOfNeighbors, OfAUniformLatticeAreItsDensity) {
    std::vector<double> points;
    for (int i = 0; i < 1000; ++i) {
        points.insert(points.end(), {i % 10 + 0.5, i / 10 % 10 + 0.5, i / 100 + 0.5});
    }
    for (const SmoothingKernel kernel :
         {SmoothingKernel::cubic_spline, SmoothingKernel::quintic_spline, SmoothingKernel::wendland_c2,
          SmoothingKernel::wendland_c4, SmoothingKernel::gaussian}) {
        const NeighborSums sums =
            sum_neighbors(PointsView(points, 3), Within{3.2}, {.box = Box::periodic(10), .kernel = kernel});
        EXPECT_EQ(sums.density, std::vector<double>(1000, sums.density[0])); // no order: the same bits
        EXPECT_NEAR(sums.density[0], 1, 0.02);
    }
}

TEST_F(SumsOfNeighbors, MeansOfMassesWhoseSumIsInfinite) {
    const std::vector<float> points = uniform_points<float>(400, 3, 0, 1, 5);
    const PointsView view(points, 3);
    const std::vector<double> small = uniform_points<double>(400, 1, 0, 1, 6);
    const std::vector<double> field = uniform_points<double>(400, 1, -5, 7, 7);
    std::vector<double> huge(400); // up to the largest number
    std::transform(small.begin(), small.end(), huge.begin(), [](double mass) { return std::ldexp(mass, 1023); });
    std::vector<double> large(400);
    std::transform(field.begin(), field.end(), large.begin(), [](double x) { return std::ldexp(x, 1020); });
    for (const Neighborhood& neighborhood : {Neighborhood(Nearest{40}), Neighborhood(Within{0.3})}) {
        for (const SmoothingKernel kernel : {SmoothingKernel::quintic_spline, SmoothingKernel::top_hat}) {
            const auto sums = [&](const std::vector<double>& masses, const std::vector<double>& values) {
                return sum_neighbors(view, neighborhood, {.kernel = kernel, .masses = masses, .fields = {values}});
            };
            const NeighborSums plain = sums(small, field);
            const std::vector<double>& expected = plain.fields[0].mean;
            EXPECT_EQ(sums(huge, field).fields[0].mean, expected);
            const NeighborSums found = sums(huge, large);
            for (std::size_t i = 0; i < 400; ++i) {
                EXPECT_EQ(found.fields[0].mean[i], std::ldexp(expected[i], 1020));
                EXPECT_EQ(found.density[i], std::ldexp(plain.density[i], 1023)) << i;
            }
        }
    }
}

TEST_F(SumsOfNeighbors, CountUnresolvedRows) {
    std::vector<float> points = uniform_points<float>(500, 3, 0, 1, 9);
    points[0] = 1e37F;
    const PointsView view(points, 3);
    const KnnResult rows = knn(view, 8);
    EXPECT_GT(rows.unresolved.rows, 0);
    EXPECT_EQ(sum_neighbors(view, Nearest{8}).unresolved.rows, rows.unresolved.rows);
    EXPECT_EQ(sum_neighbors(view, Within{0.0}).unresolved.rows, radius_search(view, 0.0).unresolved.rows);
}

TEST_F(SumsOfNeighbors, NonsenseIsRefused) {
    const std::vector<float> points = uniform_points<float>(100, 3, 0, 1, 4);
    const PointsView view(points, 3);
    const auto refused = [&](const std::vector<std::string>& parts, const Neighborhood& neighborhood,
                             const SumOptions& options, ErrorKind kind = ErrorKind::invalid_argument) {
        EXPECT_TRUE(is_refused(kind, parts, [&] { (void)sum_neighbors(view, neighborhood, options); }));
    };
    std::vector<double> column(100, 1);
    refused({"k is 0"}, Nearest{0}, {});
    refused({"the radius is -1"}, Within{-1.0}, {});
    refused({"the radius is inf", "finite"}, Within{infinity}, {});
    refused({"the radius is 1e+39", "float32"}, Within{1e39}, {});
    const std::vector<double> radii(99, 0.1);
    refused({"99 radii for 100"}, Within{radii}, {});
    const std::vector<double> few(99, 1);
    refused({"masses: 99 rows for 100 points"}, Nearest{4}, {.masses = few});
    refused({"fields[1]: 99 rows for 100 points"}, Nearest{4}, {.fields = {column, few}});
    column[7] = -2;
    refused({"masses: row 7 is -2"}, Nearest{4}, {.masses = column});
    column[7] = infinity;
    refused({"masses: row 7 is inf"}, Within{0.1}, {.masses = column});
    refused({"fields[0]: row 7 is inf"}, Nearest{4}, {.fields = {column}});
    refused({"a top hat has no gradient"}, Nearest{4}, {.kernel = SmoothingKernel::top_hat, .density_gradient = true});
    const auto* const bytes = reinterpret_cast<const char*>(column.data());
    refused({"masses: the address"}, Nearest{4}, {.masses = ScalarsView(bytes + 1, DType::float64, 100, 8)});
    refused({"masses", "address is null"}, Nearest{4}, {.masses = ScalarsView(nullptr, DType::float64, 100, 8)});
    refused({"sums within a radius", "'clover'"}, Within{0.1}, {.engine = Engine::clover}, ErrorKind::unsupported);
    column[7] = 1;
    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"gradients of fields", "separate queries"}, [&] {
        (void)sum_neighbors(view, view, Nearest{4}, {.fields = {column}, .statistics = {.gradient = true}});
    }));
    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"exclude_self"},
                           [&] { (void)sum_neighbors(view, view, Within{0.1}, {.exclude_self = true}); }));
}

} // namespace
} // namespace kith::test
