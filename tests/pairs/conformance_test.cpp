// Pair counts of every backend against the oracle: every type, built dimension, point set and box; bins of each kind,
// with edges that distances hit; with and without weights and separations, of one set and of two.
#include "pairs/conformance.hpp"
#include "support/linking_lengths.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

namespace kith::test {
namespace {

class PairConformance : public testing::TestWithParam<Case> {
protected:
    void SetUp() override {
        if (pair_backends().empty()) {
            GTEST_SKIP() << "there is no device to count on";
        }
    }
};

TEST_P(PairConformance, CountsEqualTheOracle) {
    with_type(GetParam().dtype, [&]<class T>(T) {
        const PointSet<T> set = thinned(point_set<T>(GetParam().set, GetParam().dimension), pair_effort().points);
        Random draw(
            std::accumulate(GetParam().set.begin(), GetParam().set.end(), static_cast<std::uint64_t>(set.dimension)));
        for (const NamedBox& named : set.boxes) {
            const oracle::WorkingCopy<T> copy = oracle::working_copy<T>(set.coordinates, set.dimension, named.box);
            const std::vector<double> lengths = interesting_lengths(set, named.box);
            for (const PairBinning binning : {PairBinning::separation, PairBinning::rp_pi, PairBinning::s_mu}) {
                if (draw.integer(pair_effort().one_in) != 0) {
                    continue;
                }
                oracle::PairBins bins{binning, edges_among(lengths, draw)};
                if (binning != PairBinning::separation) {
                    bins.second_edges = binning == PairBinning::rp_pi
                                            ? edges_among(lengths, draw)
                                            : edges_among({0, 0.1, 0.25, 0.5, std::sqrt(0.5), 0.99, 1}, draw);
                    bins.line_of_sight = static_cast<int>(draw.integer(set.dimension));
                }
                const bool is_separate = draw.integer(3) == 0;
                bool is_refused = false; // as tests of what is refused say
                for (const double edge : bins.edges) {
                    is_refused = is_refused || oracle::is_refused(copy, edge, is_separate);
                }
                for (const double edge : bins.second_edges) {
                    is_refused =
                        is_refused || (binning == PairBinning::rp_pi && oracle::is_refused(copy, edge, is_separate));
                }
                if (is_refused) {
                    continue;
                }
                const std::vector<T> others =
                    is_separate ? queries_for(set, named.box, 60 + draw.integer(100)) : std::vector<T>{};
                oracle::Weights weights;
                if (draw.integer(2) == 0) {
                    weights.first = some_weights(set.count(), draw);
                }
                if (is_separate && draw.integer(2) == 0) {
                    weights.second = some_weights(std::ssize(others) / set.dimension, draw);
                }
                const oracle::PairTable expected =
                    is_separate ? oracle::pair_counts(copy, oracle::normalized_queries<T>(copy, others), bins, weights)
                                : oracle::pair_counts(copy, bins, weights);
                const auto what = [&] {
                    return "box " + named.name + ", " +
                           std::string(pair_binning_names[static_cast<std::size_t>(binning)]) +
                           (is_separate ? ", two sets" : "") + ", edges " + testing::PrintToString(bins.edges) +
                           " and " + testing::PrintToString(bins.second_edges) + ", axis " +
                           std::to_string(bins.line_of_sight);
                };
                PairRequest request{set.view(), {}, named.box, bins, weights, wants_separations<T>(bins, draw)};
                if (is_separate) {
                    request.others = PointsView(others, set.dimension);
                }
                for (const PairBackend& backend : pair_backends()) {
                    EXPECT_TRUE(same_pairs(backend.count(request, draw), expected, request.separations))
                        << backend.name << ", " << what();
                }
            }
        }
    });
}

INSTANTIATE_TEST_SUITE_P(EveryCase, PairConformance, testing::ValuesIn(every_case()), case_name);

} // namespace
} // namespace kith::test
