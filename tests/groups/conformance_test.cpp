// Groups of every backend against the oracle: every type, built dimension, point set and box, linking lengths from none
// to more than the box, and relative ones.
#include "groups/conformance.hpp"
#include "support/linking_lengths.hpp"
#include "support/thinned.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace kith::test {
namespace {

testing::AssertionResult same_groups(const FofAnswer& found, const oracle::Groups& expected) {
    if (found.count != static_cast<std::int64_t>(expected.sizes.size())) {
        return testing::AssertionFailure() << found.count << " groups, not " << expected.sizes.size();
    }
    oracle::Groups all = found.groups;
    all.sizes.resize(expected.sizes.size(), 1);
    if (all.sizes != expected.sizes) {
        return testing::AssertionFailure() << "found sizes " << testing::PrintToString(all.sizes) << ", not "
                                           << testing::PrintToString(expected.sizes);
    }
    const auto [label, other] =
        std::mismatch(all.labels.begin(), all.labels.end(), expected.labels.begin(), expected.labels.end());
    return label == all.labels.end() && other == expected.labels.end()
               ? testing::AssertionSuccess()
               : testing::AssertionFailure() << "labels differ from point " << label - all.labels.begin() << " on";
}

class FofConformance : public testing::TestWithParam<Case> {
protected:
    void SetUp() override {
        if (fof_backends().empty()) {
            GTEST_SKIP() << "there is no device to find groups on";
        }
    }

    // Other lengths and backends for other sets and types.
    Random draw{
        std::accumulate(GetParam().set.begin(), GetParam().set.end(),
                        static_cast<std::uint64_t>(GetParam().dimension + 100 * static_cast<int>(GetParam().dtype)))};
};

// Where there is no time for every length, every set meets all of them in one box or another.
TEST_P(FofConformance, GroupsEqualTheOracle) {
    with_type(GetParam().dtype, [&]<class T>(T) {
        const PointSet<T> set = thinned(point_set<T>(GetParam().set, GetParam().dimension), fof_effort().points);
        auto next = static_cast<std::size_t>(draw.integer(10));
        for (const NamedBox& named : set.boxes) {
            const oracle::WorkingCopy<T> copy = oracle::working_copy<T>(set.coordinates, set.dimension, named.box);
            const std::vector<double> lengths = interesting_lengths(set, named.box);
            const auto all = static_cast<std::int64_t>(lengths.size());
            for (std::int64_t i = 0; i < std::min(all, fof_effort().lengths); ++i, ++next) {
                const double length = lengths[next % lengths.size()];
                if (oracle::is_refused(copy, length)) { // as tests of what is refused say
                    continue;
                }
                const oracle::Groups expected = oracle::groups(copy, length);
                for (const FofBackend& backend : fof_backends()) {
                    if (draw.integer(backend.one_in) != 0) {
                        continue;
                    }
                    SCOPED_TRACE(backend.name + ", box " + named.name + ", linking length " + std::to_string(length));
                    const FofAnswer found =
                        backend.find({set.view(), named.box, LinkingLength::absolute(length)}, draw);
                    EXPECT_TRUE(same_groups(found, expected));
                    EXPECT_EQ(found.linking_length, static_cast<double>(static_cast<T>(length)));
                    EXPECT_EQ(found.volume, 0);
                    EXPECT_EQ(found.volume_kind, VolumeKind::none);
                }
            }
        }
    });
}

// All backends resolve a relative length to the same bits, those of the CPU's tree; the groups are those of that
// length.
TEST_P(FofConformance, RelativeLengthsAreTheSame) {
    with_type(GetParam().dtype, [&]<class T>(T) {
        const PointSet<T> set = thinned(point_set<T>(GetParam().set, GetParam().dimension), fof_effort().points);
        for (const NamedBox& named : set.boxes) {
            const oracle::Volume volume = oracle::volume<T>(set.coordinates, set.dimension, named.box);
            if (!(volume.value > 0) || !std::isfinite(volume.value)) {
                continue;
            }
            const auto length = LinkingLength::relative(draw.uniform(0.1, 0.9));
            const FofResult expected =
                fof(set.view(), length, {.box = named.box, .engine = Engine::tree, .execution = cpu(1)});
            const oracle::Groups groups = oracle::groups(
                oracle::working_copy<T>(set.coordinates, set.dimension, named.box), expected.linking_length);
            for (const FofBackend& backend : fof_backends()) {
                if (draw.integer(backend.one_in) != 0) {
                    continue;
                }
                SCOPED_TRACE(backend.name + ", box " + named.name + ", b " + std::to_string(length.value()));
                const FofAnswer found = backend.find({set.view(), named.box, length}, draw);
                EXPECT_TRUE(same_groups(found, groups));
                EXPECT_EQ(found.linking_length, expected.linking_length);
                EXPECT_EQ(found.volume, expected.volume);
                EXPECT_EQ(found.volume_kind, volume.kind);
            }
        }
    });
}

INSTANTIATE_TEST_SUITE_P(EveryCase, FofConformance, testing::ValuesIn(every_case()), case_name);

} // namespace
} // namespace kith::test
