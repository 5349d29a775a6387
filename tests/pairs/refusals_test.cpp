// What pair counts refuse.
#include "pairs/conformance.hpp"
#include "support/special_numbers.hpp"

#include <kith/distributed.hpp>
#include <kith/tree.hpp>

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace kith::test {
namespace {

class PairRefusals : public NeedsDimension<3> {
protected:
    using Edges = std::vector<double>;
    static testing::AssertionResult refuses(const std::vector<std::string>& parts, const Edges& edges,
                                            const PairCountOptions& options = {},
                                            ErrorKind kind = ErrorKind::invalid_argument) {
        const std::vector<float> points{0, 0, 0, 1, 0, 0, 1, 1e-3F, 0};
        return is_refused(kind, parts, [&] { (void)pair_counts(PointsView(points, 3), edges, options); });
    }
};

TEST_F(PairRefusals, OfEdges) {
    EXPECT_TRUE(refuses({"edges holds 1 number", "two edges"}, {1}));
    EXPECT_TRUE(refuses({"edges[1] is 1, less than the one before, 2"}, {2, 1}));
    EXPECT_TRUE(refuses({"edges[0] is -1", "0 or more, or infinity"}, {-1, 1}));
    EXPECT_TRUE(refuses({"edges[1] is nan"}, {0, nan}));
    EXPECT_TRUE(refuses({"edges[1] is 1e-40", "coordinate 0 of point 1"}, {0, 1e-40, 1}));
    EXPECT_EQ(pair_counts(PointsView(std::vector<float>{0, 0, 0, 1, 0, 0}, 3), Edges{0, infinity}).counts,
              std::vector<std::int64_t>{1});
}

TEST_F(PairRefusals, OfSecondEdges) {
    const Edges mu{0, 1.5};
    const Edges pi{0, 1e-40, 1};
    EXPECT_TRUE(refuses({"second_edges", "binned by r"}, {0, 1}, {.second_edges = mu}));
    EXPECT_TRUE(refuses({"pi_edges holds 0 numbers"}, {0, 1}, {.binning = PairBinning::rp_pi}));
    EXPECT_TRUE(
        refuses({"mu_edges[1] is 1.5", "1 at most"}, {0, 1}, {.binning = PairBinning::s_mu, .second_edges = mu}));
    EXPECT_TRUE(refuses({"pi_edges[1] is 1e-40"}, {0, 1}, {.binning = PairBinning::rp_pi, .second_edges = pi}));
    EXPECT_TRUE(refuses({"line_of_sight is 3", "0 to 2"}, {0, 1},
                        {.binning = PairBinning::rp_pi, .second_edges = mu, .line_of_sight = 3}));
    EXPECT_TRUE(refuses({"line_of_sight", "leave it out"}, {0, 1}, {.line_of_sight = 0}));
}

TEST_F(PairRefusals, OfWeights) {
    const Edges two{1, 1};
    const Edges negative{1, -2, 1};
    const Edges infinite{1, 1, infinity};
    const Edges three{1, 1, 1};
    EXPECT_TRUE(refuses({"weights holds 2 numbers for 3 points"}, {0, 1}, {.weights = two}));
    EXPECT_TRUE(refuses({"point 1 in weights is -2"}, {0, 1}, {.weights = negative}));
    EXPECT_TRUE(refuses({"point 2 in weights is inf"}, {0, 1}, {.weights = infinite}));
    EXPECT_TRUE(refuses({"other_weights", "without another set"}, {0, 1}, {.other_weights = three}));
}

TEST_F(PairRefusals, OfSeparationsWithoutALastEdge) {
    EXPECT_TRUE(refuses({"edges[2] is inf", "finite last edge"}, {0, 1, infinity}, {.separations = true}));
    EXPECT_TRUE(refuses({"edges[1] is 1e+39, infinite in float32"}, {0, 1e39}, {.separations = true}));
    const std::vector<double> points{0, 0, 0, 3, 0, 0};
    EXPECT_EQ(pair_counts(PointsView(points, 3), Edges{0, 1e39}, {.separations = true}).counts,
              std::vector<std::int64_t>{1});
}

TEST_F(PairRefusals, OfAnotherSet) {
    const std::vector<float> points{0, 0, 0};
    const std::vector<double> doubles{0, 0, 0};
    const std::vector<float> far{1e30F, 0, 0};
    const Edges edges{0, 1};
    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"the other points are float64 of 3 dimensions", "float32"},
                           [&] { (void)pair_counts(PointsView(points, 3), PointsView(doubles, 3), edges); }));
    EXPECT_TRUE(is_refused(ErrorKind::invalid_points, {"other: point 0 has 1", "far"}, [&] {
        (void)pair_counts(PointsView(std::vector<float>{1, 0, 0}, 3), PointsView(far, 3), edges);
    }));
    const std::vector<float> broken{0, 0, 0, 1, std::numeric_limits<float>::quiet_NaN(), 0};
    EXPECT_TRUE(is_refused(ErrorKind::invalid_points, {"other: point 1 has NaN"},
                           [&] { (void)pair_counts(PointsView(points, 3), PointsView(broken, 3), edges); }));
}

TEST_F(PairRefusals, OfWhereTheyRun) {
    EXPECT_TRUE(
        refuses({"brute", "use one of: auto, tree"}, {0, 1}, {.engine = Engine::brute_force}, ErrorKind::unsupported));
}

} // namespace
} // namespace kith::test
