// Views of every layout give the same answer: row-major, structure of arrays, padded, reversed, repeated.
#include "support/cases.hpp"

#include <kith/kith.hpp>

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <span>
#include <vector>

namespace kith::test {
namespace {

constexpr std::int64_t count = 300;
constexpr std::int64_t k = 11;

class Views : public NeedsDimension<3> {
protected:
    std::vector<double> points = uniform_points<double>(count, 3, 0, 1, 161);
    Box box = Box::periodic({1.0, 0.0, 1.5});
    oracle::WorkingCopy<double> copy = oracle::working_copy<double>(points, 3, box);
    oracle::Rows<double> expected = oracle::Neighbors<double>(copy).rows(k);
    oracle::Groups expected_groups = oracle::groups(copy, 0.08);

    [[nodiscard]] double at(std::int64_t i, std::int64_t axis) const {
        return points[static_cast<std::size_t>(i * 3 + axis)];
    }

    // As sources, as queries and for groups.
    void expect_same_answers(const PointsView& view) {
        for (const Engine engine : {Engine::tree, Engine::brute_force}) {
            EXPECT_TRUE(same_rows<double>(knn(view, k, box, {.engine = engine}), expected)) << name_of(engine);
            EXPECT_TRUE(same_rows<double>(knn(PointsView(points, 3), view, k, box, {.engine = engine}), expected))
                << "as queries, " << name_of(engine);
            EXPECT_TRUE(same_groups(fof(view, LinkingLength::absolute(0.08), box, {.engine = engine}), expected_groups))
                << name_of(engine);
        }
    }
};

TEST_F(Views, RowMajor) {
    expect_same_answers(PointsView(points, 3));
    expect_same_answers(PointsView(points.data(), count, 3));
    expect_same_answers(PointsView(std::span<const double>(points), 3));
}

TEST_F(Views, ArraysOfCoordinates) {
    std::vector<std::array<double, 3>> rows;
    for (std::int64_t i = 0; i < count; ++i) {
        rows.push_back({at(i, 0), at(i, 1), at(i, 2)});
    }
    expect_same_answers(rows);
}

TEST_F(Views, StructureOfArrays) {
    std::vector<double> columns(3 * count);
    for (std::int64_t i = 0; i < count; ++i) {
        for (std::int64_t axis = 0; axis < 3; ++axis) {
            columns[static_cast<std::size_t>(axis * count + i)] = at(i, axis);
        }
    }
    expect_same_answers(PointsView(columns.data(), DType::float64, count, 3, 1, count));
}

TEST_F(Views, PaddedRecords) {
    // Seven numbers a record; what is not a coordinate is NaN and must not be looked at.
    std::vector<double> records(7 * count, std::numeric_limits<double>::quiet_NaN());
    for (std::int64_t i = 0; i < count; ++i) {
        for (std::int64_t axis = 0; axis < 3; ++axis) {
            records[static_cast<std::size_t>(7 * i + 1 + 2 * axis)] = at(i, axis);
        }
    }
    expect_same_answers(PointsView(records.data() + 1, DType::float64, count, 3, 7, 2));
}

TEST_F(Views, NegativeStrides) {
    std::vector<double> reversed(points.rbegin(), points.rend());
    expect_same_answers(PointsView(reversed.data() + 3 * count - 1, DType::float64, count, 3, -3, -1));
}

TEST_F(Views, RepeatedPoints) {
    const std::vector<double> one{0.5, 0.25, 0.125};
    const PointsView view(one.data(), DType::float64, 100, 3, 0, 1);
    for (const Engine engine : {Engine::tree, Engine::brute_force}) {
        const KnnResult found = knn(view, 4, {}, {.engine = engine});
        for (std::size_t i = 0; i < found.indices().size(); ++i) {
            EXPECT_EQ(found.indices()[i], static_cast<std::int32_t>(i % 4));
        }
        EXPECT_EQ(fof(view, LinkingLength::absolute(0), {}, {.engine = engine}).sizes, std::vector<std::int32_t>{100});
    }
}

TEST_F(Views, OfNoPoints) {
    for (const PointsView& view :
         {PointsView(std::vector<double>{}, 3), PointsView(static_cast<const double*>(nullptr), 0, 3)}) {
        for (const Engine engine : {Engine::tree, Engine::brute_force, Engine::automatic}) {
            EXPECT_EQ(knn(view, 4, {}, {.engine = engine}).rows(), 0);
            const KnnResult found = knn(view, PointsView(points, 3), 2, {}, {.engine = engine});
            EXPECT_EQ(found.rows(), count);
            EXPECT_EQ(found.indices()[0], -1);
            EXPECT_EQ(knn(PointsView(points, 3), view, 4, {}, {.engine = engine}).rows(), 0);
        }
        EXPECT_EQ(Tree(view).size(), 0);
        EXPECT_EQ(Tree(view).plane_count(), 0);
    }
}

} // namespace
} // namespace kith::test
