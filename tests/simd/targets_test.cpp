// Every instruction set that this machine has and the build contains gives the oracle's answers, bit for bit.
//
// Highway is told to choose one target after the other, the scalar fallback included; the library then dispatches to
// it. The definitions of this file are the library's, so that both mean the same targets.
#include "oracle/z_order.hpp"
#include "simd/only_target.hpp"
#include "support/cases.hpp"
#include "support/thinned.hpp"

#include <kith/kith.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace kith::test {
namespace {

TEST(Simd, EveryTargetIsReallyChosen) {
    std::set<std::size_t> places;
    for (const std::int64_t target : targets()) {
        const OnlyTarget only(target);
        EXPECT_TRUE(places.insert(OnlyTarget::chosen()).second) << hwy::TargetName(target);
    }
    EXPECT_EQ(places.size(), targets().size());
}

class SimdTargets : public testing::TestWithParam<Case> {};

TEST_P(SimdTargets, EqualTheOracle) {
    with_type(GetParam().dtype, [&]<class T>(T) {
        const PointSet<T> set = thinned(point_set<T>(GetParam().set, GetParam().dimension), 260); // rows are of 120
        for (const NamedBox& named : set.boxes) {
            const oracle::WorkingCopy<T> copy = oracle::working_copy<T>(set.coordinates, set.dimension, named.box);
            const std::vector<std::int32_t> order = oracle::z_order(copy);
            const oracle::Neighbors<T> neighbors(copy, 120);
            const oracle::Rows<T> expected = neighbors.rows(9);
            const oracle::Rows<T> expected_many = neighbors.rows(120);
            const double length = set.count() == 0 ? 0 : static_cast<double>(expected.distances[5]);
            const oracle::Groups expected_groups = oracle::groups(copy, length);
            for (const std::int64_t target : targets()) {
                const OnlyTarget only(target);
                const Tree tree(set.view(), {.box = named.box});
                EXPECT_TRUE(std::ranges::equal(tree.order(), order)) << named.name << ", " << hwy::TargetName(target);
                for (const Engine engine : knn_engines()) {
                    const std::string where = named.name + ", " + name_of(engine) + ", " + hwy::TargetName(target);
                    EXPECT_TRUE(same_rows<T>(knn(set.view(), 9, {.box = named.box, .engine = engine}), expected))
                        << where;
                    EXPECT_TRUE(same_rows<T>(knn(set.view(), 120, {.box = named.box, .engine = engine}), expected_many))
                        << where;
                }
                if (length >= 0 && std::isfinite(length)) {
                    for (const Engine engine : fof_engines()) {
                        EXPECT_TRUE(same_groups(
                            fof(set.view(), LinkingLength::absolute(length), {.box = named.box, .engine = engine}),
                            expected_groups))
                            << named.name << ", " << name_of(engine) << ", " << hwy::TargetName(target);
                    }
                }
            }
        }
    });
}

INSTANTIATE_TEST_SUITE_P(EveryCase, SimdTargets, testing::ValuesIn(every_case()), case_name);

} // namespace
} // namespace kith::test
