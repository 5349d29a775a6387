// Boxes: how origins are resolved, how coordinates outside are wrapped, and what lies exactly on an edge.
#include "support/cases.hpp"

#include <kith/kith.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace kith::test {
namespace {

double origin_for(const std::vector<double>& along_first_axis, const Box& box) {
    std::vector<double> points;
    for (const double x : along_first_axis) {
        points.insert(points.end(), {x, 0.0});
    }
    return Tree(PointsView(points, 2), {.box = box}).box().origin(0).value();
}

class Boxes : public NeedsDimension<2> {};

TEST_F(Boxes, DefaultOriginsFollowTheSources) {
    const Box box = Box::periodic({2.0, 0.0});
    EXPECT_EQ(origin_for({}, box), 0);
    EXPECT_EQ(origin_for({0, 2}, box), 0);
    EXPECT_EQ(origin_for({0.5, 1.5}, box), 0);
    EXPECT_EQ(origin_for({-1, 1}, box), -1);
    EXPECT_EQ(origin_for({-0.5, 0.25}, box), -1);
    EXPECT_EQ(origin_for({3.5, 5.5}, box), 3.5);
    EXPECT_EQ(origin_for({-1.5, 0.25}, box), -1.5);
    EXPECT_EQ(origin_for({-1.5, 1.0}, box), 0);
    EXPECT_EQ(origin_for({-1.5, 1.0}, box.with_origin(0, -7.25)), -7.25);
}

TEST_F(Boxes, AreReportedWithEveryOriginResolved) {
    const std::vector<float> points{5, -0.25F, 5.5F, 0.25F};
    const Tree periodic(PointsView(points, 2), {.box = Box::periodic(1)});
    EXPECT_EQ(periodic.box().axes(), 2);
    EXPECT_EQ(periodic.box().period(0), 1);
    EXPECT_EQ(periodic.box().origin(0), 5);
    EXPECT_EQ(periodic.box().origin(1), -0.5);
    const Tree mixed(PointsView(points, 2), {.box = Box::periodic({0.0, 1.0})});
    EXPECT_EQ(mixed.box().period(0), 0);
    EXPECT_EQ(mixed.box().period(1), 1);
    const std::array<float, 2> query{0, 0};
    for (const Engine engine : knn_engines()) {
        const KnnOptions options{.box = Box::periodic(1), .engine = engine};
        EXPECT_EQ(knn(PointsView(points, 2), 1, options).box, periodic.box());
        EXPECT_EQ(knn(PointsView(points, 2), query, 1, options).box, periodic.box());
    }
    EXPECT_EQ(knn(periodic, query, 1).box, periodic.box());
    EXPECT_EQ(knn_visit([](const NeighborBlock&) {}, periodic, 1).box, periodic.box());
    EXPECT_EQ(radius_search(periodic, 0.1).box, periodic.box());
    EXPECT_EQ(radius_visit([](const RadiusBlock&) {}, periodic, 0.1).box, periodic.box());
}

TEST_F(Boxes, OppositeEdgesCoincide) {
    const std::vector<double> points{0, 0, 1, 0, 0.5, 0};
    for (const Engine engine : knn_engines()) {
        const KnnResult found = knn(PointsView(points, 2), 2, {.box = Box::periodic({1.0, 0.0}), .engine = engine});
        EXPECT_EQ(found.indices()[0], 0);
        EXPECT_EQ(found.indices()[1], 1);
        EXPECT_EQ(found.distances<double>()[1], 0);
        EXPECT_EQ(found.indices()[2], 0); // for point 1 too the tie goes to the lower index
        EXPECT_EQ(found.indices()[3], 1);
    }
}

TEST_F(Boxes, ImagesOfAPointAreThatPoint) {
    const std::vector<double> points{0.25, 0.5, 0.75, 0.5};
    const std::vector<double> images{0.25, 0.5, 4.25, -7.5, -1048575.75, 0.5};
    for (const Engine engine : knn_engines()) {
        const KnnResult found =
            knn(PointsView(points, 2), PointsView(images, 2), 1, {.box = Box::periodic(1), .engine = engine});
        for (std::size_t i = 0; i < 3; ++i) {
            EXPECT_EQ(found.indices()[i], 0) << "image " << i;
            EXPECT_EQ(found.distances<double>()[i], 0) << "image " << i;
        }
    }
}

TEST_F(Boxes, OnlyTheNearestImageCounts) {
    const std::vector<float> points{0.25F, 0.25F};
    for (const Engine engine : knn_engines()) {
        const KnnResult found = knn(PointsView(points, 2), 3, {.box = Box::periodic(1), .engine = engine});
        EXPECT_EQ(std::vector<std::int32_t>(found.indices().begin(), found.indices().end()),
                  (std::vector<std::int32_t>{0, -1, -1}));
    }
}

TEST_F(Boxes, OpenAxesAreNotWrapped) {
    const std::vector<float> points{0.125F, 0.125F, 0.875F, 0.875F};
    const auto distance = [&](const Box& box) {
        return knn(PointsView(points, 2), 2, {.box = box, .squared = true}).distances<float>()[1];
    };
    EXPECT_EQ(distance(Box{}), 1.125F);
    EXPECT_EQ(distance(Box::periodic(0)), 1.125F);
    EXPECT_EQ(distance(Box::periodic({1.0, 0.0})), 0.625F);
    EXPECT_EQ(distance(Box::periodic(1)), 0.125F);
}

TEST(BoxesRefuse, AxesThatNoPointHas) {
    const Box box = Box::periodic(1);
    for (const int axis : {-1, max_dimension}) {
        const std::string named = "axis " + std::to_string(axis);
        EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {named, "0 to 7"}, [&] { (void)box.period(axis); }));
        EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {named, "0 to 7"}, [&] { (void)box.origin(axis); }));
        EXPECT_TRUE(
            is_refused(ErrorKind::invalid_argument, {named, "0 to 7"}, [&] { (void)box.with_origin(axis, 0.5); }));
    }
}

TEST(BoxesRefuse, NoPeriodsAndTooMany) {
    const std::vector<double> unread;
    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"0 periods", "no box for open space"},
                           [&] { (void)Box::periodic(unread); }));
    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"9 periods"},
                           [&] { (void)Box::periodic(std::vector<double>(9, 1)); }));
}

TEST(BoxesRefuse, OriginsOnOpenAxes) {
    const std::vector<std::string> parts{"origin 5", "axis 1", "open"};
    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, parts, [] { (void)Box().with_origin(1, 5); }));
    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, parts, [] { (void)Box::periodic(0).with_origin(1, 5); }));
    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, parts, [] {
        (void)Box::periodic({1.0, 0.0}).with_origin(1, 5);
    }));
    EXPECT_EQ(Box::periodic({1.0, 0.0}).with_origin(0, 5).origin(0), 5);
}

class BoxesOfPoints : public NeedsDimension<3> {};

TEST_F(BoxesOfPoints, RefuseOriginsOfAxesThatAreNotThere) {
    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"axis 2", "a box of 2 axes"}, [&] {
        (void)Box::periodic({1.0, 1.0}).with_origin(2, 0.5);
    }));
    const std::vector<float> points(9, 0.5F);
    const Box of_any_dimension = Box::periodic(1).with_origin(5, 0.5);
    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"origin 0.5 on axis 5", "axes 0 to 2"},
                           [&] { (void)knn(PointsView(points, 3), 1, {.box = of_any_dimension}); }));
    Box of_all_axes = Box::periodic(1);
    for (int axis = 0; axis < max_dimension; ++axis) {
        of_all_axes = of_all_axes.with_origin(axis, 0.25);
    }
    EXPECT_EQ(knn(PointsView(points, 3), 1, {.box = of_all_axes}).rows(), 3);
}

TEST_F(BoxesOfPoints, CountThePointsOutside) {
    // On the edges is inside. Two points are outside, one of them on two axes.
    const std::vector<double> points{0, 0, 0, 1, 1, 1, 1.25, -0.25, 0.5, 0.5, 0.5, 0.5, 0.25, 0.5, 1.5};
    const PointsView view(points, 3);
    const std::array<double, 3> query{7, 7, 7};
    for (const Box& box : {Box{}, Box::periodic(1), Box::periodic({1.0, 0.0, 0.0})}) {
        const std::int64_t expected = box.is_open() ? 0 : box.axes() == 0 ? 2 : 1;
        const Tree tree(view, {.box = box});
        EXPECT_EQ(tree.wrapped_points(), expected);
        EXPECT_EQ(knn(tree, 2).wrapped_points, expected);
        EXPECT_EQ(knn(tree, query, 2).wrapped_points, expected);
        EXPECT_EQ(radius_search(tree, 0.1).wrapped_points, expected);
        EXPECT_EQ(radius_search(tree, query, 0.1).wrapped_points, expected);
        EXPECT_EQ(radius_visit([](const RadiusBlock&) {}, tree, query, 0.1).wrapped_points, expected);
        EXPECT_EQ(spanning_tree(tree).facts().wrapped_points, expected);
        EXPECT_EQ(fof(spanning_tree(tree), LinkingLength::absolute(0.1)).wrapped_points, expected);
        for (const Engine engine : knn_engines()) {
            EXPECT_EQ(knn(view, 2, {.box = box, .engine = engine}).wrapped_points, expected);
        }
        for (const Engine engine : radius_engines()) {
            EXPECT_EQ(radius_search(view, 0.1, {.box = box, .engine = engine}).wrapped_points, expected);
            EXPECT_EQ(radius_visit([](const RadiusBlock&) {}, view, 0.1, {.box = box, .engine = engine}).wrapped_points,
                      expected);
        }
        for (const Engine engine : fof_engines()) {
            EXPECT_EQ(fof(view, LinkingLength::absolute(0.1), {.box = box, .engine = engine}).wrapped_points, expected);
        }
        EXPECT_EQ(dbscan(view, 0.1, 2, {.box = box}).wrapped_points, expected);
        EXPECT_EQ(radius_count(view, 0.1, {.box = box}).wrapped_points, expected);
        run_ranks(3, [&](Communicator& ranks) {
            const PointsView mine = view.subview(2 * ranks.rank(), ranks.rank() == 2 ? 1 : 2);
            EXPECT_EQ(knn(mine, 2, {.box = box, .execution = over(ranks)}).wrapped_points, expected);
            EXPECT_EQ(knn(mine, 2, {.box = box, .execution = over(ranks, cpu(), {.rebalance = true})}).wrapped_points,
                      expected);
            EXPECT_EQ(knn_visit([](const auto&) {}, mine, 2, {.box = box, .execution = over(ranks)}).wrapped_points,
                      expected);
            EXPECT_EQ(radius_search(mine, 0.1, {.box = box, .execution = over(ranks)}).wrapped_points, expected);
            EXPECT_EQ(radius_count(mine, 0.1, {.box = box, .execution = over(ranks)}).wrapped_points, expected);
            EXPECT_EQ(fof(mine, LinkingLength::absolute(0.1), {.box = box, .execution = over(ranks)}).wrapped_points,
                      expected);
        });
    }
}

} // namespace
} // namespace kith::test
