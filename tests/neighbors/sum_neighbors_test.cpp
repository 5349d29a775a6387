// Sums over neighbors against the oracle, bit for bit: types, built dimensions, point sets and boxes, by k neighbors
// and within radii, around points and separate queries, by every engine and kernel.
#include "oracle/neighbor_sums.hpp"
#include "support/cases.hpp"

#include <kith/kith.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

namespace kith::test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr std::size_t kernels = smoothing_kernel_names.size();

/// The first number that differs, or nothing. All NaN are alike.
std::string difference(const char* what, const std::vector<double>& found, const std::vector<double>& expected) {
    if (found.size() != expected.size()) {
        return std::string(what) + ": " + std::to_string(found.size()) + " numbers, not " +
               std::to_string(expected.size());
    }
    for (std::size_t i = 0; i < found.size(); ++i) {
        const bool same = std::bit_cast<std::uint64_t>(found[i]) == std::bit_cast<std::uint64_t>(expected[i]);
        if (!same && !(std::isnan(found[i]) && std::isnan(expected[i]))) {
            char text[120];
            (void)std::snprintf(text, sizeof text, "%s: number %zu is %a, not %a", what, i, found[i], expected[i]);
            return text;
        }
    }
    return "";
}

void expect_same(const NeighborSums& found, const oracle::Totals& expected, bool self_search, bool has_slope,
                 const std::string& which) {
    EXPECT_EQ(difference("density", found.density, expected.density), "") << which;
    EXPECT_EQ(difference("gradient", found.density_gradient, has_slope ? expected.gradient : std::vector<double>()), "")
        << which;
    ASSERT_EQ(found.fields.size(), expected.fields.size());
    for (std::size_t f = 0; f < found.fields.size(); ++f) {
        const FieldSums& field = found.fields[f];
        const oracle::FieldTotals& truth = expected.fields[f];
        const std::string of = which + ", field " + std::to_string(f);
        EXPECT_EQ(difference("sum", field.sum, truth.sum), "") << of;
        EXPECT_EQ(difference("mean", field.mean, truth.mean), "") << of;
        EXPECT_EQ(difference("variance", field.variance, truth.variance), "") << of;
        EXPECT_EQ(difference("least", field.least, truth.least), "") << of;
        EXPECT_EQ(difference("greatest", field.greatest, truth.greatest), "") << of;
        EXPECT_EQ(
            difference("gradient", field.gradient, has_slope && self_search ? truth.gradient : std::vector<double>()),
            "")
            << of;
    }
}

/// Columns of some points: masses, some of them 0, of very different sizes; fields of both signs, and a constant one.
struct SomeColumns {
    std::vector<double> masses;
    std::vector<float> first;
    std::vector<double> second;
    std::vector<double> zeros; ///< of both signs

    SomeColumns(std::int64_t count, Random& draw) {
        for (std::int64_t i = 0; i < count; ++i) {
            masses.push_back(draw.integer(9) == 0 ? 0 : std::ldexp(draw.uniform(), static_cast<int>(draw.integer(20))));
            first.push_back(static_cast<float>(draw.normal()));
            second.push_back(0.1);
            zeros.push_back(draw.integer(2) == 0 ? 0.0 : -0.0);
        }
    }
    [[nodiscard]] std::vector<std::vector<double>> fields() const {
        return {{first.begin(), first.end()}, second, zeros};
    }
};

template <class T>
oracle::RaggedRows<T> without_missing(const oracle::Rows<T>& rows, std::int64_t k) {
    oracle::RaggedRows<T> ragged;
    for (std::size_t i = 0; i < rows.indices.size(); ++i) {
        if (rows.indices[i] >= 0) {
            ragged.indices.push_back(rows.indices[i]);
            ragged.distances.push_back(rows.distances[i]);
        }
        if ((i + 1) % static_cast<std::size_t>(k) == 0) {
            ragged.offsets.push_back(static_cast<std::int64_t>(ragged.indices.size()));
        }
    }
    return ragged;
}

template <class T>
class Comparison {
public:
    Comparison(const PointSet<T>& set, const NamedBox& named, const std::vector<T>* queries, Random& draw)
        : set_(set), box_(named.box), queries_(queries), draw_(draw), name_(named.name),
          copy_(oracle::working_copy<T>(set.coordinates, set.dimension, box_)),
          ranking_(queries != nullptr ? oracle::Neighbors<T>(copy_, std::span<const T>(*queries))
                                      : oracle::Neighbors<T>(copy_)),
          columns_(set.count(), draw) {
        if (queries != nullptr) {
            normalized_ = oracle::normalized_queries<T>(copy_, *queries);
        }
    }

    void of_nearest(std::int64_t k) {
        const SumOptions options = drawn_options(knn_engines());
        const oracle::RaggedRows<T> rows = without_missing(ranking_.rows(k, {.exclude_self = options.exclude_self}), k);
        std::vector<double> reach;
        for (std::size_t i = 0; i + 1 < rows.offsets.size(); ++i) {
            reach.push_back(rows.offsets[i + 1] > rows.offsets[i]
                                ? rows.distances[static_cast<std::size_t>(rows.offsets[i + 1] - 1)]
                                : infinity);
        }
        const NeighborSums found = call(Nearest{k}, options);
        EXPECT_EQ(difference("reach", found.reach, reach), "") << name_;
        compare(found, rows, reach, options, oracle::Adding::in_lanes, "k = " + std::to_string(k));
    }

    void within_radii() {
        const SumOptions options = drawn_options(radius_engines());
        const bool one_each = draw_.integer(3) == 0;
        const std::vector<T> distances = ranking_.rows(9).distances;
        std::vector<double> radii(static_cast<std::size_t>(ranking_.row_count()), drawn_radius(distances));
        if (one_each) {
            std::generate(radii.begin(), radii.end(), [&] { return drawn_radius(distances); });
        }
        const oracle::RaggedRows<T> rows = ranking_.within(radii, options.exclude_self, false, RowOrder::index);
        const Within within{one_each || radii.empty() ? Radii(radii) : Radii(radii.front())};
        const NeighborSums found = call(within, options);
        std::vector<std::int64_t> counts;
        std::vector<double> reach;
        for (std::size_t i = 0; i < radii.size(); ++i) {
            counts.push_back(rows.offsets[i + 1] - rows.offsets[i]);
            reach.push_back(static_cast<double>(static_cast<T>(radii[i])));
        }
        EXPECT_EQ(found.counts, counts) << name_;
        compare(found, rows, reach, options, oracle::Adding::without_order, "radius");
    }

private:
    SumOptions drawn_options(const std::vector<Engine>& engines) {
        SumOptions options;
        options.box = box_;
        options.kernel = static_cast<SmoothingKernel>(draw_.integer(std::int64_t{kernels}));
        options.exclude_self = queries_ == nullptr && draw_.integer(2) == 0;
        if (draw_.integer(3) > 0) {
            options.masses = columns_.masses;
        }
        options.fields = {columns_.first, columns_.second, columns_.zeros};
        const bool has_slope = options.kernel != SmoothingKernel::top_hat;
        options.statistics = {true, true, true, true, true, has_slope && queries_ == nullptr};
        options.density_gradient = has_slope;
        options.engine = engines[static_cast<std::size_t>(draw_.integer(std::ssize(engines)))];
        options.execution = cpu(static_cast<int>(1 + draw_.integer(3)));
        return options;
    }

    /// A distance that occurs, or its multiple.
    double drawn_radius(const std::vector<T>& distances) {
        const std::int64_t at = draw_.integer(std::max<std::int64_t>(std::ssize(distances), 1));
        double radius = distances.empty() ? 0.5 : static_cast<double>(distances[static_cast<std::size_t>(at)]);
        radius *= draw_.integer(2) == 0 ? 1 : 2.2;
        const bool is_good =
            std::isfinite(static_cast<T>(radius)) && !oracle::is_refused(copy_, radius, queries_ != nullptr);
        return is_good ? radius : 0;
    }

    NeighborSums call(const Neighborhood& neighborhood, const SumOptions& options) const {
        return queries_ != nullptr
                   ? sum_neighbors(set_.view(), PointsView(*queries_, set_.dimension), neighborhood, options)
                   : sum_neighbors(set_.view(), neighborhood, options);
    }

    void compare(const NeighborSums& found, const oracle::RaggedRows<T>& rows, const std::vector<double>& reach,
                 const SumOptions& options, oracle::Adding adding, const std::string& what) const {
        const std::vector<double> masses =
            options.masses ? columns_.masses : std::vector<double>(columns_.masses.size(), 1.0);
        const oracle::Totals expected =
            oracle::neighbor_sums<T>(copy_, queries_ != nullptr ? &normalized_ : nullptr, rows, reach, options.kernel,
                                     adding, masses, columns_.fields());
        expect_same(found, expected, queries_ == nullptr, options.density_gradient,
                    name_ + ", " + what + ", " +
                        std::string(smoothing_kernel_names[static_cast<std::size_t>(options.kernel)]) + ", " +
                        name_of(options.engine) + (options.exclude_self ? ", without itself" : ""));
    }

    const PointSet<T>& set_;
    Box box_;
    const std::vector<T>* queries_;
    Random& draw_;
    std::string name_;
    oracle::WorkingCopy<T> copy_;
    oracle::Neighbors<T> ranking_;
    SomeColumns columns_;
    std::vector<T> normalized_;
};

class NeighborSumsOf : public testing::TestWithParam<Case> {};

TEST_P(NeighborSumsOf, EqualTheOracle) {
    with_type(GetParam().dtype, [&]<class T>(T) {
        const PointSet<T> set = point_set<T>(GetParam().set, GetParam().dimension);
        Random draw(static_cast<std::uint64_t>(set.count()) + GetParam().set.size());
        for (const NamedBox& named : set.boxes) {
            Comparison<T> around_points(set, named, nullptr, draw);
            around_points.of_nearest(1 + draw.integer(40));
            around_points.within_radii();
            const std::vector<T> queries = queries_for(set, named.box, 60);
            Comparison<T> around_queries(set, named, &queries, draw);
            around_queries.of_nearest(1 + draw.integer(40));
            around_queries.within_radii();
        }
    });
}

INSTANTIATE_TEST_SUITE_P(SomeSets, NeighborSumsOf,
                         testing::ValuesIn(cases_of({"empty", "one", "two", "uniform", "clustered", "lattice",
                                                     "coincident", "far_outlier", "subnormal", "vanishing", "box_edges",
                                                     "slightly_outside"})),
                         case_name);

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
    refused({"sums over k nearest neighbors are found on the CPU only"}, Nearest{4}, {.execution = on_no_gpu},
            ErrorKind::unsupported);
    column[7] = 1;
    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"gradients of fields", "separate queries"}, [&] {
        (void)sum_neighbors(view, view, Nearest{4}, {.fields = {column}, .statistics = {.gradient = true}});
    }));
    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"exclude_self"},
                           [&] { (void)sum_neighbors(view, view, Within{0.1}, {.exclude_self = true}); }));
}

} // namespace
} // namespace kith::test
