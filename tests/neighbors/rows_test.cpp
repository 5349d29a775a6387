// Rows in the caller's memory: the same as owned ones, either half may be left out, wrong sizes are refused, and a
// result tells its own shape.
#include "support/cases.hpp"

#include <kith/kith.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace kith::test {
namespace {

constexpr std::int64_t k = 5;

class Rows : public NeedsDimension<3> {
protected:
    [[nodiscard]] Tree tree(Engine engine = Engine::tree) const {
        return Tree(PointsView(points, 3), {.engine = engine});
    }

    std::vector<float> points = uniform_points<float>(200, 3, 0, 1, 41);
    std::vector<float> queries = uniform_points<float>(50, 3, 0, 1, 42);
    oracle::WorkingCopy<float> copy = oracle::working_copy<float>(points, 3);
    oracle::Rows<float> expected = oracle::Neighbors<float>(copy).rows(k);
    oracle::Rows<float> expected_of_queries = oracle::Neighbors<float>(copy, queries).rows(k);
};

TEST_F(Rows, AreWrittenToTheCallersMemory) {
    for (const Engine engine : knn_engines()) {
        std::vector<std::int64_t> indices(200 * k, -7);
        std::vector<float> distances(200 * k, -7);
        knn_into({std::span(indices), std::span(distances)}, tree(engine), k, {.engine = engine});
        EXPECT_TRUE(same_rows<float>({indices, distances}, expected, k));

        std::vector<std::int32_t> narrow(50 * k, -7);
        std::vector<float> near(50 * k, -7);
        knn_into({std::span(narrow), std::span(near)}, tree(engine), PointsView(queries, 3), k, {.engine = engine});
        EXPECT_TRUE(same_rows<float>({{narrow.begin(), narrow.end()}, near}, expected_of_queries, k));
    }
}

TEST_F(Rows, AreWrittenToVectors) {
    const std::vector<float> line = uniform_points<float>(20, 3, 0, 1, 11);
    std::vector<std::int64_t> indices(40);
    std::vector<float> distances(40);
    knn_into({indices, distances}, PointsView(line, 3), 2);
    const KnnResult owned = knn(PointsView(line, 3), 2, {.index_type = IndexType::int64});
    EXPECT_TRUE(std::ranges::equal(indices, owned.indices64()));
    EXPECT_TRUE(std::ranges::equal(distances, owned.distances<float>()));
}

TEST_F(Rows, NeedNoTree) {
    for (const Engine engine : knn_engines()) {
        std::vector<std::int32_t> indices(200 * k, -7);
        std::vector<float> distances(200 * k, -7);
        const SearchSummary summary =
            knn_into({std::span(indices), std::span(distances)}, PointsView(points, 3), k, {.engine = engine});
        EXPECT_TRUE(same_rows<float>({{indices.begin(), indices.end()}, distances}, expected, k));
        EXPECT_EQ(summary.stages.back().name, "search");
        EXPECT_EQ(summary.engine, engine == Engine::automatic ? Engine::tree : engine);

        std::vector<std::int64_t> wide(50 * k, -7);
        std::vector<float> near(50 * k, -7);
        knn_into({std::span(wide), std::span(near)}, PointsView(points, 3), PointsView(queries, 3), k,
                 {.engine = engine});
        EXPECT_TRUE(same_rows<float>({wide, near}, expected_of_queries, k));
    }
    std::vector<std::int32_t> few(199 * k);
    std::vector<float> distances(200 * k);
    EXPECT_THROW(knn_into({std::span(few), std::span(distances)}, PointsView(points, 3), k), Error);
}

// More points than are sorted in one piece: what they are split into lies in the rows, if those are large enough.
class RowsAsWorkingMemory : public NeedsDimension<3>, public testing::WithParamInterface<std::int64_t> {
protected:
    template <class Index, class Search>
    static oracle::Rows<float> found_by(const Search& search) {
        // One element off, so that nothing is aligned by chance.
        std::vector<Index> indices(static_cast<std::size_t>(count * GetParam() + 1), Index{-7});
        std::vector<float> distances(static_cast<std::size_t>(count * GetParam() + 1), -7);
        search(NeighborRows(std::span(indices).subspan(1), std::span(distances).subspan(1)));
        EXPECT_EQ(indices.front(), -7);
        EXPECT_EQ(distances.front(), -7);
        return {{indices.begin() + 1, indices.end()}, {distances.begin() + 1, distances.end()}};
    }

    static constexpr std::int64_t count = 20000;
    std::vector<float> points = uniform_points<float>(count, 3, 0, 1, 43);
};

TEST_P(RowsAsWorkingMemory, OfAllPoints) {
    const Tree tree(PointsView(points, 3)); // had no rows to work in
    const KnnResult expected = knn(tree, GetParam());
    const auto search = [&](const NeighborRows& rows) { knn_into(rows, PointsView(points, 3), GetParam()); };
    EXPECT_TRUE(same_rows<float>(expected, found_by<std::int32_t>(search)));
    EXPECT_TRUE(same_rows<float>(expected, found_by<std::int64_t>(search)));
    EXPECT_TRUE(same_rows<float>(knn(PointsView(points, 3), GetParam()), found_by<std::int32_t>(search)));
}

TEST_P(RowsAsWorkingMemory, OfManyQueries) {
    const Tree tree(PointsView(points.data(), 500, 3));
    const KnnResult expected =
        knn(PointsView(points.data(), 500, 3), PointsView(points, 3), GetParam(), {.engine = Engine::brute_force});
    const auto search = [&](const NeighborRows& rows) { knn_into(rows, tree, PointsView(points, 3), GetParam()); };
    EXPECT_TRUE(same_rows<float>(expected, found_by<std::int32_t>(search)));
}

INSTANTIATE_TEST_SUITE_P(Neighbors, RowsAsWorkingMemory, testing::Values(1, 3, 9));

TEST_F(Rows, EitherHalfMayBeLeftOut) {
    for (const Engine engine : knn_engines()) {
        std::vector<std::int32_t> indices(200 * k, -7);
        knn_into({std::span(indices), std::span<float>()}, tree(engine), k, {.engine = engine});
        EXPECT_EQ(std::vector<std::int64_t>(indices.begin(), indices.end()), expected.indices);
        std::vector<float> distances(200 * k, -7);
        knn_into({std::span<std::int32_t>(), std::span(distances)}, tree(engine), k, {.engine = engine});
        EXPECT_EQ(distances, expected.distances);
    }
}

constexpr std::int64_t line = 64 / sizeof(float);

/// Rows of a self-search in memory that starts at a cache line, or some numbers past it.
oracle::Rows<float> rows_in_lines(const PointsView& points, std::int64_t length, const KnnOptions& options,
                                  std::size_t past) {
    const auto size = static_cast<std::size_t>(points.count() * length);
    std::vector<float> distances(size + 2 * line);
    std::vector<std::int32_t> indices(size + 2 * line);
    const auto rows_in = [&](auto& memory) {
        const std::uintptr_t start = reinterpret_cast<std::uintptr_t>(memory.data()) / sizeof(float);
        return std::span(memory).subspan(line - start % line + past, size);
    };
    const auto d = rows_in(distances);
    const auto i = rows_in(indices);
    knn_into({i, d}, points, length, options);
    return {{i.begin(), i.end()}, {d.begin(), d.end()}};
}

// Full rows are written past the cache, others not, nor rows whose distances are too small or too large for one factor.
TEST_F(Rows, AreTheSameHoweverTheyAreWritten) {
    std::vector<std::pair<std::int64_t, KnnOptions>> asked;
    for (const std::int64_t length : {line, 2 * line, 2 * line + 8}) {
        for (const bool exclude_self : {false, true}) {
            for (const bool squared : {false, true}) {
                asked.push_back({length, {.exclude_self = exclude_self, .squared = squared, .engine = Engine::tree}});
            }
        }
    }
    for (const float scale : {1.0F, 1e-19F, 1e-30F, 1e18F}) {
        for (const std::int64_t count : {200, 16, 10}) {
            std::vector<float> scaled(points.begin(), points.begin() + 3 * count);
            std::for_each(scaled.begin(), scaled.end(), [scale](float& x) { x *= scale; });
            const oracle::Neighbors<float> neighbors(oracle::working_copy<float>(scaled, 3));
            for (const auto& [length, options] : asked) {
                const oracle::Rows<float> at_line = rows_in_lines(PointsView(scaled, 3), length, options, 0);
                const oracle::Rows<float> past_it = rows_in_lines(PointsView(scaled, 3), length, options, 1);
                EXPECT_EQ(at_line.distances, past_it.distances);
                EXPECT_EQ(at_line.indices, past_it.indices);
                EXPECT_TRUE(same_rows<float>(at_line, neighbors.rows(length, options), length));
            }
        }
    }
    const KnnResult owned = knn(tree(), line, {.engine = Engine::tree});
    EXPECT_TRUE(same_rows<float>(owned, oracle::Neighbors<float>(copy).rows(line)));
}

TEST_F(Rows, OfTheWrongSizeAreRefused) {
    std::vector<std::int32_t> indices(200 * k);
    std::vector<std::int32_t> short_indices(200 * k - 1);
    std::vector<float> distances(200 * k);
    std::vector<float> short_distances(200 * k - 1);
    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"999", "200", "5"}, [&] {
        knn_into({std::span(short_indices), std::span(distances)}, tree(), k);
    }));
    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"999", "200", "5"}, [&] {
        knn_into({std::span(indices), std::span(short_distances)}, tree(), k);
    }));
    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"1000", "50", "5"}, [&] {
        knn_into({std::span(indices), std::span(distances)}, tree(), PointsView(queries, 3), k);
    }));
}

// As in a packed file that is mapped into memory. Vectors are stored whole, which wants their numbers aligned.
TEST_F(Rows, ThatAreNotAlignedAreRefused) {
    alignas(8) static std::byte memory[200 * k * 8 + 8];
    std::vector<std::int32_t> indices(200 * k);
    const std::span distances(reinterpret_cast<float*>(memory + 2), 200 * k);
    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"distances", "2 bytes", "4", "aligned"}, [&] {
        knn_into({std::span(indices), distances}, tree(), k);
    }));
    const std::span wide(reinterpret_cast<std::int64_t*>(memory + 4), 200 * k);
    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"indices", "4 bytes", "8", "aligned"}, [&] {
        knn_into({wide, std::span<float>()}, PointsView(points, 3), k);
    }));
}

TEST_F(Rows, OfAnotherTypeAreRefused) {
    std::vector<std::int32_t> indices(200 * k);
    std::vector<double> distances(200 * k);
    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"float32", "float64"}, [&] {
        knn_into({std::span(indices), std::span(distances)}, tree(), k);
    }));
}

TEST_F(Rows, TellTheirShapeAndType) {
    const KnnResult narrow = knn(tree(), k);
    EXPECT_EQ(narrow.rows(), 200);
    EXPECT_EQ(narrow.k(), k);
    EXPECT_EQ(narrow.dtype(), DType::float32);
    EXPECT_EQ(narrow.indices().size(), 200U * k);
    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"int32"}, [&] { (void)narrow.indices64(); }));
    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"float32"}, [&] { (void)narrow.distances<double>(); }));
    const KnnResult wide = knn(tree(), k, {.index_type = IndexType::int64});
    EXPECT_EQ(wide.indices64().size(), 200U * k);
    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"int64"}, [&] { (void)wide.indices(); }));
}

TEST_F(Rows, AreReadOneByOne) {
    for (const IndexType index_type : {IndexType::int32, IndexType::int64}) {
        const KnnResult found = knn(tree(), k, {.index_type = index_type});
        for (std::int64_t i = 0; i < found.rows(); ++i) {
            const NeighborRow row = found.row(i);
            ASSERT_EQ(row.size(), k);
            std::int64_t j = 0;
            for (const auto [index, distance] : row) {
                const auto at = static_cast<std::size_t>(i * k + j);
                EXPECT_EQ(index, expected.indices[at]);
                EXPECT_EQ(distance, static_cast<double>(expected.distances[at]));
                EXPECT_EQ(row[j].index, index);
                EXPECT_EQ(row[j].distance, distance);
                ++j;
            }
            EXPECT_EQ(j, k);
        }
    }
    const std::vector<double> two{0, 0, 0, 0, 3, 4};
    const KnnResult found = knn(PointsView(two, 3), 3);
    const auto last = [&] { return ++found.row(1).begin(); }(); // outlives its row
    EXPECT_EQ((*last).distance, 5);
    const auto missing = std::ranges::find_if(found.row(1), [](const Neighbor& each) { return each.index == -1; });
    EXPECT_EQ((*missing).distance, std::numeric_limits<double>::infinity());
    EXPECT_EQ(found.row(1)[0].index, 1);
    EXPECT_EQ(found.row(1)[1].distance, 5);
    EXPECT_EQ(found.row(1)[2].index, -1);
    EXPECT_EQ(found.row(1)[2].distance, std::numeric_limits<double>::infinity());
}

TEST_F(Rows, AreAMatrix) {
    const KnnResult found = knn(tree(), PointsView(queries, 3), k);
    const auto indices = found.index_rows();
    const auto distances = found.distance_rows<float>();
    EXPECT_EQ(indices.rows(), 50);
    EXPECT_EQ(indices.columns(), k);
    EXPECT_EQ(indices.data(), found.indices().data());
    EXPECT_EQ(distances.rows(), 50);
    EXPECT_EQ(distances.columns(), k);
    EXPECT_EQ(distances.data(), found.distances<float>().data());
    for (std::int64_t i = 0; i < 50; ++i) {
        ASSERT_EQ(indices[i].size(), static_cast<std::size_t>(k));
        for (std::int64_t j = 0; j < k; ++j) {
            const auto at = static_cast<std::size_t>(i * k + j);
            EXPECT_EQ(indices(i, j), expected_of_queries.indices[at]);
            EXPECT_EQ(indices[i][static_cast<std::size_t>(j)], indices(i, j));
            EXPECT_EQ(distances(i, j), expected_of_queries.distances[at]);
            EXPECT_EQ(distances[i][static_cast<std::size_t>(j)], distances(i, j));
        }
    }
    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"float32"}, [&] { (void)found.distance_rows<double>(); }));
    const KnnResult wide = knn(tree(), k, {.index_type = IndexType::int64});
    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"int64"}, [&] { (void)wide.index_rows(); }));
}

TEST_F(Rows, ThatDoNotExistAreRefused) {
    const KnnResult found = knn(tree(), k);
    for (const std::int64_t i : {-1, 200}) {
        EXPECT_TRUE(
            is_refused(ErrorKind::invalid_argument, {"row " + std::to_string(i), "200"}, [&] { (void)found.row(i); }));
    }
    const KnnResult none = knn(tree(), PointsView(std::vector<float>(), 3), k);
    EXPECT_EQ(none.index_rows().rows(), 0);
    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"row 0"}, [&] { (void)none.row(0); }));
}

TEST_F(Rows, ReportTheirStages) {
    const KnnResult owned = knn(PointsView(points, 3), k, {.engine = Engine::tree});
    ASSERT_FALSE(owned.stages.empty());
    for (const StageReport& stage : owned.stages) {
        EXPECT_FALSE(stage.name.empty());
        EXPECT_GE(stage.seconds, 0);
        EXPECT_GE(stage.peak_bytes, 0);
    }
    // Ordering holds at least the points and their indices; none of the bytes is the result's.
    EXPECT_EQ(owned.stages.front().name, "order");
    EXPECT_GE(owned.stages.front().peak_bytes, 200 * 16);
    EXPECT_EQ(owned.stages.back().name, "search");
    EXPECT_LT(owned.stages.back().peak_bytes, 200 * 48 + 8192);
}

// Rows also serve as working memory.
TEST_F(Rows, TakeAtMost24BytesAPointBesideThem) {
    constexpr std::int64_t count = 200'000;
    const std::vector<float> many = uniform_points<float>(count, 3, 0, 1, 9);
    const KnnResult found = knn(PointsView(many, 3), 16, {.engine = Engine::tree, .execution = cpu(2)});
    ASSERT_EQ(found.stages.size(), 3U);
    for (const StageReport& stage : found.stages) {
        EXPECT_GE(stage.peak_bytes, 16 * count) << stage.name; // the copy of the points, with their indices
        EXPECT_LE(stage.peak_bytes, 24 * count) << stage.name;
    }
}

} // namespace
} // namespace kith::test
