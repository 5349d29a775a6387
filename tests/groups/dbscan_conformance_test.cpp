// Clusters and noise of every backend against the oracle: every type, built dimension, point set and box, from none to
// all points within eps, and from one sample to more than there are points.
#include "groups/dbscan_conformance.hpp"
#include "support/linking_lengths.hpp"

#include <kith/tree.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <iterator>
#include <numeric>
#include <vector>

namespace kith::test {
namespace {

class DbscanConformance : public testing::TestWithParam<Case> {
protected:
    void SetUp() override {
        if (dbscan_backends().empty()) {
            GTEST_SKIP() << "there is no device to find clusters on";
        }
    }
};

TEST_P(DbscanConformance, ClustersEqualTheOracle) {
    with_type(GetParam().dtype, [&]<class T>(T) {
        const PointSet<T> set = point_set<T>(GetParam().set, GetParam().dimension);
        Random draw(
            std::accumulate(GetParam().set.begin(), GetParam().set.end(), static_cast<std::uint64_t>(set.dimension)));
        const auto one_of = [&](const auto& values) {
            return values[static_cast<std::size_t>(draw.integer(std::ssize(values)))];
        };
        for (const NamedBox& named : set.boxes) {
            const oracle::WorkingCopy<T> copy = oracle::working_copy<T>(set.coordinates, set.dimension, named.box);
            const Box resolved = Tree(set.view(), {.box = named.box, .execution = cpu(1)}).box();
            const std::vector<double> lengths = interesting_lengths(set, named.box);
            for (int search = 0; search < 2; ++search) {
                const double eps = one_of(lengths);
                if (oracle::is_refused(copy, eps)) { // as tests of what is refused say
                    continue;
                }
                const auto min_samples =
                    one_of(std::vector<std::int64_t>{1, 2, 3, 4, 5, 9, 40, set.count() / 2 + 1, set.count() + 1});
                const DbscanOptions options{.box = named.box, .star = draw.integer(3) == 0};
                const oracle::Clusters expected = oracle::dbscan(copy, eps, min_samples, options.star);
                for (const DbscanBackend& backend : dbscan_backends()) {
                    if (draw.integer(backend.one_in) != 0) {
                        continue;
                    }
                    const DbscanResult found = backend.find({set.view(), eps, min_samples, options}, draw);
                    EXPECT_TRUE(same_clusters(found, expected))
                        << backend.name << ", box " << named.name << ", eps " << eps << ", min_samples " << min_samples
                        << (options.star ? ", DBSCAN*" : "");
                    EXPECT_EQ(found.eps, static_cast<double>(static_cast<T>(eps)));
                    EXPECT_EQ(found.box, resolved);
                }
            }
        }
    });
}

INSTANTIATE_TEST_SUITE_P(EveryCase, DbscanConformance, testing::ValuesIn(every_case()), case_name);

} // namespace
} // namespace kith::test
