// Sums over neighbors of every backend against the oracle, bit for bit: types, built dimensions, point sets and boxes, by
// k neighbors and within radii, around points and separate queries, by every kernel.
#include "neighbors/sum_conformance.hpp"
#include "oracle/neighbor_sums.hpp"
#include "support/special_numbers.hpp"
#include "support/thinned.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

namespace kith::test {
namespace {

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

/// Columns of some points: masses, some of them 0, of very different sizes, now and then so large that their sums are
/// infinite; fields of both signs, and a constant one.
struct SomeColumns {
    std::vector<double> masses;
    std::vector<float> first;
    std::vector<double> second;
    std::vector<double> zeros; ///< of both signs

    SomeColumns(std::int64_t count, Random& draw) {
        const int up = draw.integer(4) == 0 ? 1004 : 0;
        for (std::int64_t i = 0; i < count; ++i) {
            masses.push_back(
                draw.integer(9) == 0 ? 0 : std::ldexp(draw.uniform(), up + static_cast<int>(draw.integer(20))));
            first.push_back(static_cast<float>(draw.normal()));
            second.push_back(std::ldexp(0.1, up));
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
        const SumOptions options = drawn_options();
        const oracle::RaggedRows<T> rows = without_missing(ranking_.rows(k, {.exclude_self = options.exclude_self}), k);
        std::vector<double> reach;
        for (std::size_t i = 0; i + 1 < rows.offsets.size(); ++i) {
            reach.push_back(rows.offsets[i + 1] > rows.offsets[i]
                                ? rows.distances[static_cast<std::size_t>(rows.offsets[i + 1] - 1)]
                                : infinity);
        }
        call(Nearest{k}, options, [&](const NeighborSums& found) {
            EXPECT_EQ(difference("reach", found.reach, reach), "") << name_;
            compare(found, rows, reach, options, oracle::Adding::in_lanes, "k = " + std::to_string(k));
        });
    }

    void within_radii() {
        const SumOptions options = drawn_options();
        const bool one_each = draw_.integer(3) == 0;
        const std::vector<T> distances = ranking_.rows(9).distances;
        std::vector<double> radii(static_cast<std::size_t>(ranking_.row_count()), drawn_radius(distances));
        if (one_each) {
            std::generate(radii.begin(), radii.end(), [&] { return drawn_radius(distances); });
        }
        const oracle::RaggedRows<T> rows = ranking_.within(radii, options.exclude_self, false, RowOrder::index);
        const Within within{one_each || radii.empty() ? Radii(radii) : Radii(radii.front())};
        std::vector<std::int64_t> counts;
        std::vector<double> reach;
        for (std::size_t i = 0; i < radii.size(); ++i) {
            counts.push_back(rows.offsets[i + 1] - rows.offsets[i]);
            reach.push_back(static_cast<double>(static_cast<T>(radii[i])));
        }
        call(within, options, [&](const NeighborSums& found) {
            EXPECT_EQ(found.counts, counts) << name_;
            compare(found, rows, reach, options, oracle::Adding::without_order, "radius");
        });
    }

private:
    SumOptions drawn_options() {
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

    /// Calls check(what was found) for every backend.
    template <class Check>
    void call(const Neighborhood& neighborhood, const SumOptions& options, const Check& check) {
        std::optional<PointsView> queries;
        if (queries_ != nullptr) {
            queries.emplace(*queries_, set_.dimension);
        }
        for (const SumBackend& backend : sum_backends()) {
            SCOPED_TRACE(backend.name);
            check(backend.sum({set_.view(), queries, neighborhood, options}, draw_));
        }
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
                        name_of(found.engine) + (options.exclude_self ? ", without itself" : ""));
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

class NeighborSumsOf : public testing::TestWithParam<Case> {
protected:
    void SetUp() override {
        if (sum_backends().empty()) {
            GTEST_SKIP() << "there is no device to sum on";
        }
    }
};

TEST_P(NeighborSumsOf, EqualTheOracle) {
    with_type(GetParam().dtype, [&]<class T>(T) {
        const PointSet<T> set = thinned(point_set<T>(GetParam().set, GetParam().dimension), sum_effort().points);
        Random draw(static_cast<std::uint64_t>(set.count()) + GetParam().set.size());
        for (const NamedBox& named : set.boxes) {
            if (draw.integer(sum_effort().one_in) != 0) {
                continue;
            }
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

} // namespace
} // namespace kith::test
