// Searches within a radius on the emulated GPU, by public functions, against the CPU; and what they refuse.
#include "emulation/calls_on_device.hpp"

#include "calls/choose.hpp"
#include "cuda_emulation/cuda_runtime.hpp"

#include <kith/radius.hpp>
#include <kith/tree.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace kith::test {
namespace {

/// What a call on the emulated device says, of one radius for all.
struct RadiusOnDevice {
    SearchSummary summary;
    std::vector<std::int64_t> counts;
    RadiusResult rows;

    RadiusOnDevice(const PointsOrTree& points, const PointsView* queries, double radius, RadiusOptions options) {
        options.execution.device = cuda().device;
        const Radii radii(radius);
        const std::int64_t smallest = radius > 0 ? 0 : -1;
        const Engine engine = options.engine == Engine::automatic ? Engine::tree : options.engine;
        (void)detail::on_gpu().radius(points, queries, {radii, smallest, options, &counts}, engine);
        const RadiusResultAccess access(rows);
        access.index_type = options.index_type;
        access.dtype = points.dtype();
        summary = detail::on_gpu().radius(points, queries, {radii, smallest, options, nullptr, &access}, engine);
    }
};

TEST_F(CallsOnDevice, FindNeighborsWithinARadius) {
    const std::vector<float> points = clustered_points(150);
    const PointsView view(points, 3);
    const Box box = Box::periodic(1);
    const Tree tree = tree_on_device(view, box);
    constexpr double radius = 0.3;
    const RadiusResult expected = radius_search(view, radius, {.box = box, .execution = cpu(1)});
    EXPECT_GT(expected.size(), view.count());
    for (const auto& [in_tree, engine] :
         {std::pair(false, Engine::tree), std::pair(true, Engine::tree), std::pair(false, Engine::kdtree)}) {
        for (const PointsView* queries : {static_cast<const PointsView*>(nullptr), &view}) {
            const RadiusOnDevice found(in_tree ? PointsOrTree(tree) : view, queries, radius,
                                       {.box = in_tree ? Box{} : box, .engine = engine});
            EXPECT_EQ(found.summary.engine, engine);
            EXPECT_TRUE(std::ranges::equal(found.rows.offsets(), expected.offsets()));
            EXPECT_TRUE(std::ranges::equal(found.rows.indices(), expected.indices()));
            EXPECT_TRUE(std::ranges::equal(found.rows.distances<float>(), expected.distances<float>()));
            EXPECT_EQ(found.counts, radius_count(view, radius, {.box = box, .execution = cpu(1)}).counts);
            EXPECT_EQ(found.summary.box, expected.box);
            EXPECT_EQ(found.summary.stages.back().name, "download");
        }
    }
}

TEST_F(CallsOnDevice, SearchWithinARadiusByTreesAlone) {
    for (const std::int64_t points : {1, 100, 1000000}) {
        EXPECT_EQ(detail::choose(detail::Task::radius, Engine::automatic,
                                 {points, points, false, 0, Engine::automatic, detail::Where::gpu}),
                  Engine::tree);
    }
    for (const Engine engine : {Engine::brute_force, Engine::clover}) {
        EXPECT_TRUE(is_refused(ErrorKind::unsupported,
                               {name_of(engine), "radius search on a GPU", "auto, tree, kdtree"},
                               [&] { detail::check_engine(engine, detail::Task::radius, detail::Where::gpu); }));
    }
}

// A clump whose rows are longer than a warp sorts, counted as a whole by each of its leaves, and other points.
TEST_F(CallsOnDevice, FindACrowdWithinARadius) {
    std::vector<float> points(3 * 1100, 0.25F);
    const std::vector<float> others = uniform_points<float>(100, 3, 0, 1, 5);
    points.insert(points.end(), others.begin(), others.end());
    const PointsView view(points, 3);
    const std::vector<float> some(points.begin() + 3 * 1097, points.begin() + 3 * 1110);
    const PointsView queries(some, 3);
    for (const auto& [order, engine] :
         {std::pair(RowOrder::distance, Engine::tree), std::pair(RowOrder::index, Engine::tree),
          std::pair(RowOrder::distance, Engine::kdtree)}) {
        const RadiusOptions options{
            .order = order, .engine = engine, .index_type = IndexType::int64, .execution = cpu(1)};
        const RadiusResult expected = radius_search(view, queries, 0.7, options);
        const RadiusOnDevice found(view, &queries, 0.7, options);
        EXPECT_TRUE(std::ranges::equal(found.rows.offsets(), expected.offsets()));
        EXPECT_TRUE(std::ranges::equal(found.rows.indices64(), expected.indices64()));
        EXPECT_TRUE(std::ranges::equal(found.rows.distances<float>(), expected.distances<float>()));
    }
}

TEST_F(CallsOnDevice, RefuseRadiiAndRowsThatDoNotFit) {
    std::vector<float> points = uniform_points<float>(100, 3, 0, 1, 5);
    const PointsView view(points, 3);
    constexpr double infinity = std::numeric_limits<double>::infinity();
    EXPECT_TRUE(is_refused(ErrorKind::out_of_memory, {"10000 neighbors", "80000 bytes", "max_result_bytes is 1000"},
                           [&] { (void)RadiusOnDevice(view, nullptr, infinity, {.max_result_bytes = 1000}); }));
    EXPECT_TRUE(is_refused(ErrorKind::out_of_memory, {"bytes", "the budget is 50000"}, [&] {
        RadiusOptions options;
        options.execution.memory_budget = 50000;
        (void)RadiusOnDevice(view, nullptr, infinity, options);
    }));
    points[3 * 60 + 2] = -1e37F;
    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"1000", "point 60", "-1e+37"},
                           [&] { (void)RadiusOnDevice(view, nullptr, 1e3, {}); }));
    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"1000", "point 60", "-1e+37"},
                           [&] { (void)RadiusOnDevice(view, nullptr, 1e3, {.engine = Engine::kdtree}); }));
    const UnresolvedRows expected = radius_search(view, 1e30, {.execution = cpu(1)}).unresolved;
    EXPECT_EQ(expected.rows, 99);
    for (const Engine engine : {Engine::tree, Engine::kdtree}) {
        EXPECT_EQ(RadiusOnDevice(view, nullptr, 1e30, {.engine = engine}).summary.unresolved.warning(),
                  expected.warning());
    }
    EXPECT_EQ(emulation::held_on_device(), 0);
}

// A block whose rows are too many for the memory that is left is visited in parts.
TEST_F(CallsOnDevice, ShowVisitorsRowsInPartsWhereMemoryIsShort) {
    const std::vector<float> points = uniform_points<float>(300, 3, 0, 1, 5);
    const PointsView view(points, 3);
    const Radii radii(std::numeric_limits<double>::infinity());
    std::int64_t blocks = 0;
    std::int64_t rows = 0;
    std::int64_t neighbors = 0;
    const RadiusVisitor visitor = [&](const RadiusBlock& block) {
        ++blocks;
        rows += static_cast<std::int64_t>(block.query_indices.size());
        neighbors += static_cast<std::int64_t>(block.indices().size());
    };
    RadiusOptions options{.execution = cuda()};
    options.execution.memory_budget = 300000;
    for (const Engine engine : {Engine::tree, Engine::kdtree}) {
        blocks = rows = neighbors = 0;
        (void)detail::on_gpu().radius(view, nullptr, {radii, 0, options, nullptr, nullptr, &visitor}, engine);
        EXPECT_GT(blocks, 2);
        EXPECT_EQ(rows, 300);
        EXPECT_EQ(neighbors, 300 * 300);
    }
    EXPECT_EQ(emulation::held_on_device(), 0);
}

} // namespace
} // namespace kith::test
