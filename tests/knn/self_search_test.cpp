// Self-searches of every engine against the oracle, bit for bit: every type, built dimension, point set and box, every
// interesting k, with and without the point itself.
//
// The other options (largest distance, squared, index width, threads) are drawn afresh for each search from a fixed
// stream, so that over the suite they meet each other and everything else.
#include "support/cases.hpp"

#include <kith/kith.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <vector>

namespace kith::test {
namespace {

class SelfSearch : public testing::TestWithParam<Case> {};

std::vector<std::int64_t> interesting_k(std::int64_t count) {
    std::vector<std::int64_t> values{1, 7, 16, 33, 100, count, count + 3};
    std::erase(values, 0);
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
    return values;
}

// None, all neighbours, and lengths at which rows are cut in the middle; among them distances that occur exactly.
template <class T>
std::vector<double> interesting_distances(const oracle::Neighbors<T>& expected) {
    std::vector<double> values{0, std::numeric_limits<double>::infinity()};
    const oracle::Rows<T> some = expected.rows(8);
    for (const std::size_t i : {some.distances.size() / 3, some.distances.size() / 2}) {
        if (i < some.distances.size() && some.indices[i] >= 0) {
            values.push_back(static_cast<double>(some.distances[i]));
            values.push_back(static_cast<double>(some.distances[i]) * 1.1);
        }
    }
    return values;
}

TEST_P(SelfSearch, EqualsTheOracle) {
    with_type(GetParam().dtype, [&]<class T>(T) {
        const PointSet<T> set = point_set<T>(GetParam().set, GetParam().dimension);
        Random draw(1);
        for (const NamedBox& named : set.boxes) {
            const oracle::Neighbors<T> expected(oracle::working_copy<T>(set.coordinates, set.dimension, named.box));
            const std::vector<double> distances = interesting_distances(expected);
            const Tree tree(set.view(), named.box);
            for (const std::int64_t k : interesting_k(set.count())) {
                for (const Engine engine : {Engine::tree, Engine::brute_force, Engine::automatic}) {
                    KnnOptions options{.exclude_self = draw.integer(2) == 0,
                                       .squared = draw.integer(2) == 0,
                                       .engine = engine,
                                       .index_type = draw.integer(2) == 0 ? IndexType::int32 : IndexType::int64};
                    if (draw.integer(2) == 0) {
                        options.max_distance = distances[static_cast<std::size_t>(
                            draw.integer(static_cast<std::int64_t>(distances.size())))];
                    }
                    const Execution execution =
                        cpu(std::vector<int>{1, 2, 7}[static_cast<std::size_t>(draw.integer(3))]);
                    const KnnResult found = draw.integer(2) == 0 ? knn(tree, k, options, execution)
                                                                 : knn(set.view(), k, named.box, options, execution);
                    EXPECT_EQ(found.rows(), set.count());
                    EXPECT_EQ(found.k(), k);
                    EXPECT_TRUE(same_rows<T>(found, expected.rows(k, options)))
                        << "box " << named.name << ", k " << k << ", engine " << name_of(engine) << ", threads "
                        << execution.threads << ", exclude_self " << options.exclude_self << ", max_distance "
                        << options.max_distance << ", squared " << options.squared;
                    EXPECT_TRUE(engine == Engine::automatic || found.engine() == engine);
                }
            }
        }
    });
}

INSTANTIATE_TEST_SUITE_P(EveryCase, SelfSearch, testing::ValuesIn(every_case()), case_name);

} // namespace
} // namespace kith::test
