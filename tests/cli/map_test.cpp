// What a map shows of the plane, and that circles continue across periodic edges.
#include "cli/map.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace {

using namespace kith;
using namespace kith::cli;

std::vector<float> cloud(int points) {
    std::mt19937 random(2);
    std::uniform_real_distribution<float> uniform(0, 1);
    std::vector<float> coordinates;
    for (int i = 0; i < 3 * points; ++i) {
        coordinates.push_back(uniform(random));
    }
    return coordinates;
}

int differing_pixels(const Canvas& a, const Canvas& b, int left, int right) {
    int count = 0;
    for (int y = 0; y < a.height(); ++y) {
        for (int x = left; x < right; ++x) {
            count += a.pixel(x, y).green != b.pixel(x, y).green ? 1 : 0;
        }
    }
    return count;
}

TEST(MapView, IsTheBoxWhereSpaceRepeats) {
    const auto points = cloud(100);
    const View view = choose_view(PointsView(points, 3), Box::periodic(1.5).with_origin(0, -0.5).with_origin(1, 0));
    EXPECT_EQ(view.lower[0], -0.5);
    EXPECT_EQ(view.lower[1], 0);
    EXPECT_EQ(view.span[0], 1.5);
    EXPECT_TRUE(view.repeats(0) && view.repeats(1));
}

TEST(MapView, HoldsOpenPointsButNotAFarStray) {
    auto points = cloud(3000);
    points[0] = 1e6F;
    const View view = choose_view(PointsView(points, 3), Box{});
    EXPECT_LT(view.lower[0], 0.01);
    EXPECT_GT(view.lower[0] + view.span[0], 0.99);
    EXPECT_LT(view.span[0], 2);
    EXPECT_FALSE(view.repeats(0));
}

TEST(MapView, LeavesRoomToTheManyNotToThinOutskirts) {
    auto points = cloud(10000); // in [0, 1], but one in a hundred a thousand times as far out
    for (std::size_t i = 0; i < points.size(); i += 300) {
        for (std::size_t axis = 0; axis < 3; ++axis) {
            points[i + axis] = 1000 * (points[i + axis] - 0.5F);
        }
    }
    const View view = choose_view(PointsView(points, 3), Box{});
    EXPECT_LT(view.lower[0], 0.01);
    EXPECT_GT(view.lower[0] + view.span[0], 0.99);
    EXPECT_LT(view.span[0], 2.5);
}

TEST(MapView, GoesToThePointsInABoxThatIsMostlyEmpty) {
    const auto points = cloud(1000); // in [0, 1] of boxes of 50; the first begins at -50, where 0.5 is -49.5
    const View view = choose_view(PointsView(points, 3), Box::periodic(50).with_origin(0, -50).with_origin(1, 0));
    EXPECT_NEAR(view.lower[0], -50.04, 0.01);
    EXPECT_NEAR(view.span[0], 1.08, 0.01);
    EXPECT_NEAR(view.lower[1], -0.04, 0.01);
    EXPECT_FALSE(view.repeats(0) || view.repeats(1));
    EXPECT_NEAR(view.position(0, 0.5), 0.5, 0.01);
}

TEST(MapView, IsNeverAThreadOrAPoint) {
    const std::vector<double> line{0, 5, 1, 5, 2, 5};
    const View thread = choose_view(PointsView(line, 2), Box{});
    EXPECT_GE(thread.span[1], thread.span[0] / 4);
    const std::vector<double> one{3, 4};
    const View point = choose_view(PointsView(one, 2), Box{});
    EXPECT_GT(point.span[0], 0);
    EXPECT_GT(point.span[1], 0);
    const View nothing = choose_view(PointsView(std::vector<double>{}, 2), Box{});
    EXPECT_GT(nothing.span[0], 0);
}

TEST(Map, CirclesContinueAcrossPeriodicEdges) {
    const auto points = cloud(1000);
    MapSubject subject;
    const MapDensity density =
        project_map(PointsView(points, 3), std::nullopt, Box::periodic(1).with_origin(0, 0).with_origin(1, 0));
    subject.points = &density;
    const Canvas plain = draw_map(subject);
    subject.circles = {{{0.01, 0.5}, 0.05}};
    const Canvas circled = draw_map(subject);
    EXPECT_GT(differing_pixels(plain, circled, 0, 200), 100);
    EXPECT_GT(differing_pixels(plain, circled, plain.width() - 200, plain.width()), 100);
    EXPECT_EQ(differing_pixels(plain, circled, 300, plain.width() - 300), 0);
    subject.unit = "Mpc/h"; // behind the number below the bar
    EXPECT_GT(differing_pixels(circled, draw_map(subject), 0, 600), 20);
}

// Ranks share out the points; one of three has none. All get the bits of one process.
TEST(Map, RanksAddUpTheSameDensity) {
    std::mt19937 random(7);
    std::uniform_real_distribution<double> uniform(0, 1);
    const int count = 2000003; // view and density are found from every second point, and from all
    std::vector<double> points;
    std::vector<float> masses;
    for (int i = 0; i < count; ++i) {
        const double spread = i % 3 == 0 ? 1 : 0.01;
        points.insert(points.end(), {spread * uniform(random), spread * uniform(random)});
        masses.push_back(static_cast<float>(std::pow(10.0, 6 * uniform(random))));
    }
    const PointsView all(points, 2);
    const auto masses_from = [&](std::int64_t first, std::int64_t rows) {
        return ScalarsView(std::span(masses).subspan(first, rows));
    };
    for (const Box& box : {Box{}, Box::periodic(1).with_origin(0, 0).with_origin(1, 0)}) {
        const MapDensity alone = project_map(all, masses_from(0, count), box);
        run_ranks(3, [&](Communicator& communicator) {
            RankTeam team(communicator);
            const std::int64_t first = team.rank() == 0 ? 0 : 777777;
            const std::int64_t rows = team.rank() == 0 ? 777777 : team.rank() == 1 ? 0 : count - 777777;
            const MapDensity joined = project_map(all.subview(first, rows), masses_from(first, rows), box, &team);
            EXPECT_EQ(joined.view.lower, alone.view.lower);
            EXPECT_EQ(joined.view.span, alone.view.span);
            EXPECT_EQ(joined.density.width, alone.density.width);
            EXPECT_EQ(joined.density.values, alone.density.values);
            EXPECT_EQ(joined.density.mean, alone.density.mean);
        });
    }
}

TEST(Map, ADenseMiddleIsNotAllWhite) {
    // A disc of surface density 1/r: most points are in a small part of the picture.
    std::mt19937 random(5);
    std::uniform_real_distribution<double> uniform(0, 1);
    std::vector<double> points;
    for (int i = 0; i < 100000; ++i) {
        const double radius = std::pow(10.0, 3 * uniform(random) - 3);
        const double angle = 6.283185307179586 * uniform(random);
        points.insert(points.end(), {radius * std::cos(angle), radius * std::sin(angle)});
    }
    MapSubject subject;
    const MapDensity density = project_map(PointsView(points, 2), std::nullopt, Box{});
    subject.points = &density;
    const Canvas map = draw_map(subject);
    int white = 0;
    for (int y = 0; y < map.height(); ++y) {
        for (int x = 0; x < map.width(); ++x) {
            white += map.pixel(x, y).green == color_at(1).green ? 1 : 0;
        }
    }
    EXPECT_LT(white, 200); // a two thousandth of the pixels are 590
}

TEST(Map, DegenerateSubjectsAreDrawn) {
    MapSubject subject;
    for (const std::vector<double>& points :
         {std::vector<double>{}, {1.5, 2.5}, {1.5, 2.5, 1.5, 2.5}, {0, 0, 1e300, 0}, {-1e-300, 1e-300, 1e-300, 0}}) {
        const MapDensity density = project_map(PointsView(points, 2), std::nullopt, Box{});
        subject.points = &density;
        const Canvas map = draw_map(subject);
        EXPECT_GE(map.width(), 800);
        EXPECT_LE(map.width(), 1200);
        for (int x = 0; x < map.width(); ++x) {
            ASSERT_TRUE(std::isfinite(map.pixel(x, map.height() / 2).green));
        }
    }
}

} // namespace
