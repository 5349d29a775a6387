// A million positions on Earth, to a millionth of a degree: too large for every build, so make nightly runs these.
#include "engines/kdtree/built_by_threads.hpp"
#include "engines/kdtree/plain_build.hpp"
#include "engines/positions_on_earth.hpp"
#include "support/cases.hpp"

#include <kith/knn.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <vector>

namespace kith::test {
namespace {

constexpr std::int64_t count = 1'000'000;

class LargePositionsOnEarth : public NeedsDimension<2> {
protected:
    void SetUp() override {
        if (std::getenv("KITH_LARGE_TESTS") == nullptr) {
            GTEST_SKIP() << "KITH_LARGE_TESTS is not set";
        }
        NeedsDimension<2>::SetUp();
    }
};

template <class T>
void expect_equal_builders() {
    const std::vector<std::array<T, 2>> points = arrays_of<T, 2>(positions_on_earth<T>(count, 1));
    for (const kdtree::Split split : {kdtree::Split::cyclic, kdtree::Split::widest}) {
        const PlainTree expected = PlainBuild<T, 2>::tree(points, split);
        const BuiltTree<std::array<T, 2>> tree(points, split);
        EXPECT_TRUE(tree.indices == expected.indices) << "split " << static_cast<int>(split);
        EXPECT_TRUE(tree.split_axes == expected.split_axes);
        for (const int threads : {1, 2, 3}) {
            EXPECT_TRUE((agree<T, 2>(points, tree, split, threads)));
        }
    }
}

TEST_F(LargePositionsOnEarth, AreBuiltIntoOneTree) {
    expect_equal_builders<float>();
    expect_equal_builders<double>();
}

template <class T>
void expect_the_rows_of_brute_force(Engine engine) {
    constexpr std::int64_t step = 1009;
    constexpr std::int64_t k = 10;
    const std::vector<T> positions = positions_on_earth<T>(count, 2);
    const PointsView view(positions, 2);
    std::vector<T> sample;
    for (std::int64_t i = 0; i < count; i += step) {
        sample.insert(sample.end(), {positions[2 * i], positions[2 * i + 1]});
    }
    const PointsView queries(sample, 2);
    const KnnResult expected = knn(view, queries, k, {.engine = Engine::brute_force});
    ASSERT_EQ(expected.engine, Engine::brute_force);
    EXPECT_TRUE(same_rows(knn(view, queries, k, {.engine = engine}), rows_of<T>(expected)));
    const oracle::Rows<T> all = rows_of<T>(knn(view, k, {.engine = engine}));
    oracle::Rows<T> some;
    for (std::int64_t i = 0; i < count; i += step) {
        some.indices.insert(some.indices.end(), all.indices.begin() + i * k, all.indices.begin() + (i + 1) * k);
        some.distances.insert(some.distances.end(), all.distances.begin() + i * k, all.distances.begin() + (i + 1) * k);
    }
    EXPECT_TRUE(same_rows(some, rows_of<T>(expected), k));
}

TEST_F(LargePositionsOnEarth, HaveTheNeighborsOfBruteForce) {
    for (const Engine engine : {Engine::tree, Engine::kdtree, Engine::clover}) {
        SCOPED_TRACE(name_of(engine));
        expect_the_rows_of_brute_force<float>(engine);
        expect_the_rows_of_brute_force<double>(engine);
    }
}

} // namespace
} // namespace kith::test
