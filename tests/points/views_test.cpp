// Views of every layout give the same answer: row-major, one array per axis, padded, reversed, repeated; arrays and
// structs, by the names of their members and by pointers to them.
#include "support/cases.hpp"
#include "support/special_numbers.hpp"

#include <kith/kith.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <limits>
#include <span>
#include <vector>

namespace kith::test {
namespace {

constexpr std::int64_t count = 300;
constexpr std::int64_t k = 11;

// What is no coordinate is NaN, or of another type, and must not be looked at.

/// Known by the names of its members.
struct Particle {
    std::int32_t type = 7;
    double x;
    double mass = nan;
    double z;
    double y;
};
struct Pixel {
    float y;
    float brightness = std::numeric_limits<float>::quiet_NaN();
    float x;
};
/// Known by pointers to them.
struct Star {
    double up;
    double magnitude = nan;
    double east;
    char name[3] = "me";
    double north;
};
template <class Position>
struct Body {
    float mass = std::numeric_limits<float>::quiet_NaN();
    Position position;
    char flag = 0;
};

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

    // The points as structs or arrays, each made by make(x, y, z).
    template <class Make>
    [[nodiscard]] auto made_by(const Make& make) const {
        std::vector<decltype(make(0.0, 0.0, 0.0))> made;
        for (std::int64_t i = 0; i < count; ++i) {
            made.push_back(make(at(i, 0), at(i, 1), at(i, 2)));
        }
        return made;
    }
    [[nodiscard]] std::vector<double> axis(std::int64_t axis) const {
        std::vector<double> numbers;
        for (std::int64_t i = 0; i < count; ++i) {
            numbers.push_back(at(i, axis));
        }
        return numbers;
    }

    // As sources, as queries and for groups.
    void expect_same_answers(const PointsView& view) {
        for (const Engine engine : {Engine::tree, Engine::brute_force}) {
            EXPECT_TRUE(same_rows<double>(knn(view, k, {.box = box, .engine = engine}), expected)) << name_of(engine);
            EXPECT_TRUE(
                same_rows<double>(knn(PointsView(points, 3), view, k, {.box = box, .engine = engine}), expected))
                << "as queries, " << name_of(engine);
            EXPECT_TRUE(
                same_groups(fof(view, LinkingLength::absolute(0.08), {.box = box, .engine = engine}), expected_groups))
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
    const auto rows = made_by([](double x, double y, double z) { return std::array{x, y, z}; });
    expect_same_answers(rows);
    expect_same_answers(std::span(rows));

    double of_c[count][3];
    std::copy(points.begin(), points.end(), &of_c[0][0]);
    expect_same_answers(of_c);
    expect_same_answers(std::span<const double[3]>(of_c));
}

TEST_F(Views, OneArrayPerAxis) {
    std::vector<double> columns;
    for (const int i : {0, 1, 2}) {
        const std::vector<double> numbers = axis(i);
        columns.insert(columns.end(), numbers.begin(), numbers.end());
    }
    expect_same_answers(PointsView(columns.data(), DType::float64, count, 3, 1, count));

    const std::vector<double> x = axis(0);
    const std::deque<std::vector<double>> elsewhere{axis(1), axis(2)};
    expect_same_answers(PointsView(x, std::span(elsewhere[0]), elsewhere[1]));
    expect_same_answers(PointsView({x.data(), elsewhere[0].data(), elsewhere[1].data()}, count));
}

TEST_F(Views, AddressesOfTheFirstCoordinates) {
    const double* const first = points.data();
    expect_same_answers(PointsView({first, first + 1, first + 2}, count, {}, 3 * sizeof(double)));
    const std::vector<double> reversed(points.rbegin(), points.rend());
    const double* const last = reversed.data() + 3 * count - 1;
    expect_same_answers(PointsView({last, last - 1, last - 2}, count, {}, -3 * std::int64_t{sizeof(double)}));
}

TEST_F(Views, StructsByTheNamesOfTheirMembers) {
    const auto particles = made_by([](double x, double y, double z) { return Particle{.x = x, .z = z, .y = y}; });
    expect_same_answers(particles);
    expect_same_answers(std::span(particles));
}

TEST_F(Views, StructsByPointersToTheirMembers) {
    const auto stars = made_by([](double x, double y, double z) { return Star{.up = z, .east = x, .north = y}; });
    expect_same_answers(PointsView(stars, &Star::east, &Star::north, &Star::up));
}

TEST_F(Views, MembersThatAreArrays) {
    const auto bodies = made_by([](double x, double y, double z) {
        return Body<std::array<double, 3>>{.position = {x, y, z}};
    });
    expect_same_answers(PointsView(bodies, &Body<std::array<double, 3>>::position));
    const auto of_c = made_by([](double x, double y, double z) { return Body<double[3]>{.position = {x, y, z}}; });
    expect_same_answers(PointsView(of_c, &Body<double[3]>::position));
}

TEST_F(Views, OneArrayIsOneQuery) {
    const std::vector<double> place{0.75, -1.5, 0.5};
    const oracle::Rows<double> near = oracle::Neighbors<double>(copy, place).rows(k);
    for (const Engine engine : {Engine::tree, Engine::brute_force}) {
        EXPECT_TRUE(same_rows<double>(
            knn(PointsView(points, 3), std::array{0.75, -1.5, 0.5}, k, {.box = box, .engine = engine}), near));
    }
}

TEST_F(Views, OneStructIsOneQuery) {
    struct Massive {
        double mass, x, y, z;
    };
    const std::vector<Massive> stars{{1, 0, 0, 0}, {2, 1, 0, 0}, {3, 0, 2, 0}};
    const Tree tree(stars);
    const Massive query{0, 0.75, 0, 0};
    EXPECT_EQ(knn(tree, query, 1).indices()[0], 1);
    EXPECT_EQ(radius_count(tree, query, 0.5).counts, std::vector<std::int64_t>{1});
}

TEST_F(Views, PartsOfAView) {
    const auto particles = made_by([](double x, double y, double z) { return Particle{.x = x, .z = z, .y = y}; });
    const PointsView part = PointsView(particles).subview(100, 50);
    EXPECT_EQ(part.count(), 50);
    EXPECT_EQ(part.stride(), static_cast<std::int64_t>(sizeof(Particle)));
    EXPECT_EQ(part.axis(2), &particles[100].z);
    EXPECT_TRUE(same_rows<double>(knn(part, 4), rows_of<double>(knn(PointsView(points.data() + 300, 50, 3), 4))));
}

class FlatViews : public NeedsDimension<2> {};

TEST_F(FlatViews, HaveTwoAxes) {
    const std::vector<float> points = uniform_points<float>(count, 2, 0, 1, 162);
    std::vector<Pixel> pixels;
    std::vector<float> x;
    std::vector<float> y;
    for (std::size_t i = 0; i < points.size(); i += 2) {
        pixels.push_back({.y = points[i + 1], .x = points[i]});
        x.push_back(points[i]);
        y.push_back(points[i + 1]);
    }
    const oracle::Rows<float> expected = oracle::Neighbors<float>(oracle::working_copy<float>(points, 2)).rows(k);
    for (const PointsView& view :
         {PointsView(pixels), PointsView(pixels, &Pixel::x, &Pixel::y), PointsView(x, y), PointsView(points, 2)}) {
        EXPECT_EQ(view.dimension(), 2);
        for (const Engine engine : {Engine::tree, Engine::brute_force}) {
            EXPECT_TRUE(same_rows<float>(knn(view, k, {.engine = engine}), expected)) << name_of(engine);
        }
    }
}

TEST(ViewsRefuse, AxesOfDifferentLengths) {
    const std::vector<double> three{1, 2, 3};
    const std::vector<double> four{1, 2, 3, 4};
    EXPECT_TRUE(
        is_refused(ErrorKind::invalid_argument, {"3, 3, 4 elements"}, [&] { (void)PointsView(three, three, four); }));
    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"4, 3 elements"}, [&] { (void)PointsView(four, three); }));
}

TEST_F(Views, PaddedRecords) {
    // Seven numbers a record.
    std::vector<double> records(7 * count, nan);
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
        const KnnResult found = knn(view, 4, {.engine = engine});
        for (std::size_t i = 0; i < found.indices().size(); ++i) {
            EXPECT_EQ(found.indices()[i], static_cast<std::int32_t>(i % 4));
        }
        EXPECT_EQ(fof(view, LinkingLength::absolute(0), {.engine = engine}).sizes, GroupSizes(std::vector{100}));
    }
}

struct OtherZ {
    double x, y;
    float z;
};
static_assert(!PointRange<std::vector<OtherZ>>, "a point is never searched without one of its coordinates");

TEST_F(Views, OfNoPoints) {
    const std::vector<double> none;
    const std::vector<Particle> particles;
    const std::vector<Star> stars;
    const std::vector<Body<std::array<double, 3>>> bodies;
    for (const PointsView& view :
         {PointsView(none, 3), PointsView(static_cast<const double*>(nullptr), 0, 3), PointsView(none, none, none),
          PointsView({none.data(), none.data(), none.data()}, 0), PointsView(std::vector<std::array<double, 3>>()),
          PointsView(std::span<const double[3]>()), PointsView(particles),
          PointsView(stars, &Star::east, &Star::north, &Star::up),
          PointsView(bodies, &Body<std::array<double, 3>>::position)}) {
        EXPECT_EQ(view.count(), 0);
        EXPECT_EQ(view.dimension(), 3);
        for (const Engine engine : {Engine::tree, Engine::brute_force, Engine::automatic}) {
            EXPECT_EQ(knn(view, 4, {.engine = engine}).rows(), 0);
            const KnnResult found = knn(view, PointsView(points, 3), 2, {.engine = engine});
            EXPECT_EQ(found.rows(), count);
            EXPECT_EQ(found.indices()[0], -1);
            EXPECT_EQ(knn(PointsView(points, 3), view, 4, {.engine = engine}).rows(), 0);
        }
        EXPECT_EQ(Tree(view).size(), 0);
        EXPECT_EQ(Tree(view).plane_count(), 0);
    }
}

} // namespace
} // namespace kith::test
