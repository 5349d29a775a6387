// What a neighbor search refuses, each with the value, the place and the kind of error.
#include "support/cases.hpp"
#include "support/special_numbers.hpp"

#include <kith/kith.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include <unistd.h>

namespace kith::test {
namespace {

class KnnRefuses : public NeedsDimension<3> {
protected:
    [[nodiscard]] Tree tree(Engine engine = Engine::tree) const {
        return Tree(PointsView(points, 3), {.engine = engine});
    }

    std::vector<float> points = uniform_points<float>(30, 3, 0, 1, 81);
    std::vector<float> queries = uniform_points<float>(20, 3, 0, 1, 82);

    // The message must be the same through a kept tree and without one.
    void expect_refused(ErrorKind kind, const std::vector<std::string>& parts, std::int64_t k,
                        const KnnOptions& options = {}) {
        for (const Engine engine : knn_engines()) {
            KnnOptions chosen = options;
            chosen.engine = engine;
            EXPECT_TRUE(is_refused(kind, parts, [&] { (void)knn(tree(engine), k, chosen); })) << name_of(engine);
            EXPECT_TRUE(is_refused(kind, parts, [&] { (void)knn(PointsView(points, 3), k, chosen); }))
                << name_of(engine);
        }
    }
};

TEST_F(KnnRefuses, RowsShorterThanOne) {
    expect_refused(ErrorKind::invalid_argument, {"k is 0"}, 0);
    expect_refused(ErrorKind::invalid_argument, {"k is -3"}, -3);
}

TEST_F(KnnRefuses, DistancesThatAreNone) {
    expect_refused(ErrorKind::invalid_argument, {"max_distance", "-1"}, 4, {.max_distance = -1});
    expect_refused(ErrorKind::invalid_argument, {"max_distance", "nan"}, 4, {.max_distance = nan});
    expect_refused(ErrorKind::invalid_argument, {"max_distance", "-inf"}, 4, {.max_distance = -infinity});
}

TEST_F(KnnRefuses, ExcludeSelfWithSeparateQueries) {
    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"exclude_self", "queries"},
                           [&] { (void)knn(tree(), PointsView(queries, 3), 4, {.exclude_self = true}); }));
    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"exclude_self", "queries"}, [&] {
        (void)knn(PointsView(points, 3), PointsView(queries, 3), 4, {.exclude_self = true});
    }));
}

TEST_F(KnnRefuses, BoxesBesideATree) {
    const KnnOptions options{.box = Box::periodic(1)};
    std::vector<std::int32_t> indices(120);
    std::vector<float> distances(120);
    const NeighborRows rows{std::span(indices), std::span(distances)};
    const NeighborVisitor never = [](const NeighborBlock&) { FAIL() << "the visitor was called"; };
    const PointsView some(queries, 3);
    const auto refuses = [](const auto& call) {
        return is_refused(ErrorKind::invalid_argument, {"box", "a tree has its own"}, call);
    };
    EXPECT_TRUE(refuses([&] { (void)knn(tree(), 4, options); }));
    EXPECT_TRUE(refuses([&] { (void)knn(tree(), some, 4, options); }));
    EXPECT_TRUE(refuses([&] { knn_into(rows, tree(), 4, options); }));
    EXPECT_TRUE(refuses([&] { knn_visit(never, tree(), 4, options); }));
    EXPECT_TRUE(refuses([&] { knn_visit(never, tree(), some, 4, options); }));
    EXPECT_EQ(knn(tree(), 4, {.box = Box::periodic(0)}).rows(), 30); // open, as none at all
}

TEST_F(KnnRefuses, ResultsTooLargeForMemory) {
    // 30 rows of 2^47 indices and distances of four bytes each.
    const std::int64_t k = std::int64_t{1} << 47;
    const std::string bytes = std::to_string(30 * k * 8);
    expect_refused(ErrorKind::out_of_memory, {bytes}, k);
}

TEST_F(KnnRefuses, ResultsOfWhichOnlyHalfFits) {
    // Indices and distances take seven tenths of the machine's memory each; nothing is written to them here.
    const std::int64_t machine = static_cast<std::int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGE_SIZE);
    const std::int64_t k = machine / 40 * 7;
    EXPECT_TRUE(is_refused(ErrorKind::out_of_memory, {std::to_string(k * 8)},
                           [&] { const KnnResult result(1, k, IndexType::int32, DType::float32); }));
}

TEST_F(KnnRefuses, ResultsWhoseSizeOverflows) {
    const std::int64_t k = std::numeric_limits<std::int64_t>::max() / 2;
    expect_refused(ErrorKind::out_of_memory, {std::to_string(k)}, k);
}

TEST_F(KnnRefuses, QueriesThatAreNotLikeThePoints) {
    const std::vector<double> doubles(12, 0.5);
    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"queries", "float64", "float32"},
                           [&] { (void)knn(tree(), PointsView(doubles, 3), 4); }));
    const std::vector<float> flat(12, 0.5F);
    EXPECT_TRUE(!is_built(2) || is_refused(ErrorKind::invalid_argument, {"queries", "2", "3"},
                                           [&] { (void)knn(tree(), PointsView(flat, 2), 4); }));
    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"12 numbers", "5 coordinates"},
                           [&] { (void)knn(tree(), PointsView(flat, 5), 4); }));
    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"queries", "4 points", "null"},
                           [&] { (void)knn(tree(), PointsView(static_cast<const float*>(nullptr), 4, 3), 4); }));
}

TEST_F(KnnRefuses, QueriesThatAreNotFinite) {
    queries[3 * 17 + 1] = std::numeric_limits<float>::quiet_NaN();
    queries[3 * 18] = std::numeric_limits<float>::infinity();
    EXPECT_TRUE(is_refused(ErrorKind::invalid_points, {"queries", "point 17", "NaN", "1"},
                           [&] { (void)knn(tree(), PointsView(queries, 3), 4); }));
    queries[3 * 17 + 1] = 0;
    EXPECT_TRUE(is_refused(ErrorKind::invalid_points, {"queries", "point 18", "inf"},
                           [&] { (void)knn(tree(), PointsView(queries, 3), 4); }));
}

TEST_F(KnnRefuses, QueriesSoFarThatDistancesOverflow) {
    const std::vector<float> unit{0, 0, 0, 1, 1, 1};
    const Tree scaled_by_2_47{PointsView(unit, 3)};
    std::vector<float> far{0, 0, 0, 0, -0x1p15F, 0};
    EXPECT_TRUE(is_refused(ErrorKind::invalid_points, {"queries", "point 1", "-32768"},
                           [&] { (void)knn(scaled_by_2_47, PointsView(far, 3), 1); }));
    far[4] = -0x1.fffffep14F;
    EXPECT_EQ(knn(scaled_by_2_47, PointsView(far, 3), 1).indices()[1], 0);

    const std::vector<double> doubles{0, 0, 0, 1, 1, 1};
    const Tree double_tree{PointsView(doubles, 3)};
    std::vector<double> far_double{std::ldexp(1.0, 510 - 31), 0, 0};
    EXPECT_TRUE(is_refused(ErrorKind::invalid_points, {"queries", "point 0"},
                           [&] { (void)knn(double_tree, PointsView(far_double, 3), 1); }));
    far_double[0] = std::ldexp(1.0, 509 - 31);
    EXPECT_EQ(knn(double_tree, PointsView(far_double, 3), 1).indices()[0], 0); // both sources round to one distance
    // On a periodic axis no query is too far: it is wrapped.
    const Tree periodic{PointsView(doubles, 3), {.box = Box::periodic(2)}};
    far_double[0] = 1e300;
    EXPECT_EQ(knn(periodic, PointsView(far_double, 3), 1).rows(), 1);
}

TEST_F(KnnRefuses, ThreadsAndDevicesThatDoNotExist) {
    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"threads", "-2"},
                           [&] { (void)knn(tree(), 4, {.execution = cpu(-2)}); }));
    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"threads is 1000000000", "from 1 to 65536"},
                           [&] { (void)knn(tree(), 4, {.execution = cpu(1'000'000'000)}); }));
    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"the CPU", "GPU 1000"},
                           [&] { (void)knn(tree(), 4, {.execution = on_no_gpu}); }));
    EXPECT_TRUE(lacks_its_gpu([&] { (void)knn(PointsView(queries, 3), 4, {.execution = on_no_gpu}); }));
    EXPECT_TRUE(lacks_its_gpu([&] { (void)knn_async_bytes({.points = 20}, on_no_gpu); }));
    const PointsView there(queries.data(), DType::float32, 20, 3, 3, 1, on_no_gpu.device);
    EXPECT_TRUE(lacks_its_gpu([&] { knn_async({}, there, 4, {.execution = on_no_gpu}, {}, nullptr); }));
    EXPECT_TRUE(lacks_its_gpu([&] { knn_async({}, there, there, 4, {.execution = on_no_gpu}, {}, nullptr); }));
    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"queries", "GPU 0", "CPU"}, [&] {
        (void)knn(tree(), PointsView(queries.data(), DType::float32, 20, 3, 3, 1, Device{DeviceKind::cuda, 0}), 4);
    }));
}

TEST_F(KnnRefuses, ThroughEveryDoor) {
    std::vector<std::int32_t> indices(30);
    std::vector<float> distances(30);
    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"k is 0"}, [&] {
        knn_into({std::span(indices), std::span(distances)}, tree(), 0);
    }));
    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"max_distance"}, [&] {
        knn_into({std::span(indices), std::span(distances)}, tree(), 1, {.max_distance = -1});
    }));
    const NeighborVisitor never = [](const NeighborBlock&) { FAIL() << "the visitor was called"; };
    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"k is 0"}, [&] { knn_visit(never, tree(), 0); }));
    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"exclude_self"},
                           [&] { knn_visit(never, tree(), PointsView(queries, 3), 1, {.exclude_self = true}); }));
}

} // namespace
} // namespace kith::test
