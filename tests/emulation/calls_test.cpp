// What the public functions do on a GPU, on the emulated one, against what they do on the CPU: neighbors, groups and
// catalog, with everything in the host's memory; and what they refuse. The CPU's part runs on this thread alone: the
// kernels' shared memory is every thread's own here, and more than new threads have room for.
#include "calls/device_async_calls.hpp"
#include "calls/device_calls.hpp"

#include "calls/choose.hpp"
#include "cuda/device_context.hpp"
#include "cuda_emulation/cuda_runtime.hpp"
#include "support/cases.hpp"
#include "tree/plane_tree.hpp"

#include <kith/catalog_columns.hpp>
#include <kith/dbscan.hpp>
#include <kith/fof.hpp>
#include <kith/knn.hpp>
#include <kith/radius.hpp>
#include <kith/spanning_tree.hpp>
#include <kith/tree.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <sys/mman.h>

namespace kith::test {
namespace {

using CallsOnDevice = NeedsDimension<3>;

std::vector<float> clustered_points(std::int64_t count) {
    std::vector<float> points = point_set<float>("clustered", 3).coordinates;
    points.resize(
        static_cast<std::size_t>(std::min<std::int64_t>(count * 3, static_cast<std::int64_t>(points.size()))));
    return points;
}

/// A tree in memory of the emulated device. The library itself, which has no GPU here, could not build it.
Tree tree_on_device(const PointsView& view, const Box& box) {
    Tree tree(view, {.box = box, .execution = cpu(1)});
    StageReports stages;
    const_cast<detail::TreeData&>(tree.data()).on_device =
        detail::build_tree_on_device(view, {.box = box, .execution = cuda()}, stages);
    EXPECT_EQ(stages.back().name, "tree");
    return tree;
}

/// Pages of the system, of which some can be closed to every reader.
class Pages {
public:
    explicit Pages(std::size_t count)
        : size_(count * page),
          memory_(mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {}
    Pages(const Pages&) = delete;
    Pages& operator=(const Pages&) = delete;
    ~Pages() { (void)munmap(memory_, size_); }
    [[nodiscard]] float* at(std::size_t index) const { return static_cast<float*>(memory_) + index * page / 4; }
    void close(std::size_t index) const { ASSERT_EQ(mprotect(at(index), page, PROT_NONE), 0); }
    static constexpr std::size_t page = 4096;

private:
    std::size_t size_;
    void* memory_;
};

TEST_F(CallsOnDevice, ReadSeparateArraysAndNothingBetween) {
    constexpr std::int64_t count = Pages::page / 4;
    const std::vector<float> points = uniform_points<float>(count, 3, 0, 1, 71);
    const Pages pages(4);
    const std::array<float*, 3> axes{pages.at(0), pages.at(2), pages.at(3)};
    for (std::int64_t i = 0; i < count; ++i) {
        for (int axis = 0; axis < 3; ++axis) {
            axes[axis][i] = points[static_cast<std::size_t>(3 * i + axis)];
        }
    }
    pages.close(1);
    const PointsView view({axes[0], axes[1], axes[2]}, count);
    const auto search = [&](const PointsView& searched) {
        KnnResult found(count, 3, IndexType::int32, DType::float32);
        const NeighborRows rows = found.rows_view();
        detail::knn_on_device(searched, nullptr, {3, {.execution = cuda()}, &rows, nullptr}, Engine::tree);
        return found;
    };
    EXPECT_TRUE(same_rows(search(view), rows_of<float>(knn(PointsView(points, 3), 3, {.execution = cpu(1)}))));
    axes[1][5] = std::numeric_limits<float>::quiet_NaN(); // named from a copy that comes back from the device
    EXPECT_TRUE(is_refused(ErrorKind::invalid_points, {"point 5", "NaN", "coordinate 1"}, [&] { (void)search(view); }));
    const PointsView there = view.moved(0, {DeviceKind::cuda, 0}); // the emulated device reads the same memory
    EXPECT_TRUE(
        is_refused(ErrorKind::invalid_points, {"point 5", "NaN", "coordinate 1"}, [&] { (void)search(there); }));
}

TEST_F(CallsOnDevice, FindNeighborsByEitherEngine) {
    const std::vector<float> points = clustered_points(150);
    const PointsView view(points, 3);
    const Box box = Box::periodic(1);
    const KnnResult on_cpu = knn(view, 4, {.box = box, .execution = cpu(1)});
    const oracle::Rows<float> expected = rows_of<float>(on_cpu);
    for (const Engine wanted : {Engine::automatic, Engine::tree, Engine::brute_force, Engine::kdtree, Engine::clover}) {
        const Engine engine = detail::choose(detail::Task::neighbors, wanted,
                                             {view.count(), view.count(), false, 3, false, DeviceKind::cuda});
        EXPECT_EQ(engine, wanted == Engine::automatic ? Engine::brute_force : wanted); // so few points
        KnnResult found(view.count(), 4, IndexType::int32, DType::float32);
        const NeighborRows rows = found.rows_view();
        KnnOptions options{.box = box, .execution = cuda()};
        options.execution.threads = 1; // of the host
        const SearchSummary summary = detail::knn_on_device(view, nullptr, {4, options, &rows, nullptr}, engine);
        const StageReports& stages = summary.stages;
        EXPECT_EQ(summary.box, on_cpu.box);
        EXPECT_TRUE(same_rows(found, expected));
        EXPECT_EQ(stages.front().name, engine == Engine::clover ? "cells" : "upload");
        EXPECT_EQ(stages.back().name, "download");
    }
    KnnResult found(view.count(), 4, IndexType::int32, DType::float32);
    const NeighborRows rows = found.rows_view();
    (void)detail::knn_on_device(tree_on_device(view, box), nullptr, {4, {.execution = cuda()}, &rows, nullptr},
                                Engine::tree);
    EXPECT_TRUE(same_rows(found, expected));
    EXPECT_EQ(emulation::held_on_device(), 0);
}

// Blocks are those of a tree, also where no tree is kept; other engines answer calls that wait and fill rows.
TEST_F(CallsOnDevice, ShowVisitorsWhatTheTreeFinds) {
    const std::vector<float> points = clustered_points(100);
    const PointsView view(points, 3);
    const KnnResult expected = knn(view, 4, {.execution = cpu(1)});
    std::int64_t rows = 0;
    const NeighborVisitor visitor = [&](const NeighborBlock& block) {
        emulation::touch([&] {
            for (std::size_t i = 0; i < block.indices.size(); ++i) {
                const std::int64_t query = block.query_indices[i / 4];
                EXPECT_EQ(block.indices[i], expected.indices()[query * 4 + static_cast<std::int64_t>(i % 4)]);
            }
        });
        rows += static_cast<std::int64_t>(block.query_indices.size());
    };
    const detail::DeviceKnnCall call{4, {.execution = cuda()}, nullptr, &visitor};
    for (const Engine engine : {Engine::tree, Engine::brute_force}) {
        rows = 0;
        EXPECT_EQ(detail::knn_on_device(view, nullptr, call, engine).engine, Engine::tree);
        EXPECT_EQ(rows, view.count());
    }
    for (const Engine engine : {Engine::kdtree, Engine::clover}) {
        EXPECT_TRUE(is_refused(ErrorKind::unsupported, {name_of(engine), "visitors", "tree"},
                               [&] { (void)detail::knn_on_device(view, nullptr, call, engine); }));
        EXPECT_TRUE(is_refused(ErrorKind::unsupported, {name_of(engine), "asynchronous", "tree"}, [&] {
            (void)detail::knn_async_bytes_on_device({DType::float32, 3, 100, {}, 4, engine}, cuda());
        }));
    }
}

// Of a cell at one place only the points with the smallest indices are looked at.
TEST_F(CallsOnDevice, FindNeighborsInACrowdAmongCells) {
    std::vector<float> points(3 * 600, 0.25F);
    const std::vector<float> others = uniform_points<float>(200, 3, 0, 1, 5);
    points.insert(points.end(), others.begin(), others.end());
    const PointsView view(points, 3);
    for (const std::int64_t k : {3, 70}) {
        KnnResult found(view.count(), k, IndexType::int32, DType::float32);
        const NeighborRows rows = found.rows_view();
        KnnOptions options{.execution = cuda()};
        options.execution.threads = 1;
        (void)detail::knn_on_device(view, nullptr, {k, options, &rows, nullptr}, Engine::clover);
        EXPECT_TRUE(same_rows(found, rows_of<float>(knn(view, k, {.execution = cpu(1)}))));
    }
}

// The horizon of a cell may be less than the weights of its last edges, so it is asked about even if an edge is beyond
// the bound: here there are six times as many cells as a cell has edges, and one row differs if it is not.
TEST_F(CallsOnDevice, FindNeighborsInCellsWithoutAnEdge) {
    const std::vector<float> points = uniform_points<float>(6000, 3, 0, 1, 1);
    const PointsView view(points, 3);
    constexpr std::int64_t k = 30;
    KnnResult found(view.count(), k, IndexType::int32, DType::float32);
    const NeighborRows rows = found.rows_view();
    KnnOptions options{.execution = cuda()};
    options.execution.threads = 1;
    (void)detail::knn_on_device(view, nullptr, {k, options, &rows, nullptr}, Engine::clover);
    EXPECT_TRUE(same_rows(found, rows_of<float>(knn(view, k, {.execution = cpu(1)}))));
}

// The CPU's work on the cells is part of the call.
TEST_F(CallsOnDevice, TellProgressWhileTheCpuMakesCells) {
    const std::vector<float> points = uniform_points<float>(1000, 3, 0, 1, 1);
    const PointsView view(points, 3);
    KnnResult found(view.count(), 2, IndexType::int32, DType::float32);
    const NeighborRows rows = found.rows_view();
    KnnOptions options{.execution = cuda()};
    options.execution.threads = 1;
    std::vector<std::string> finished;
    options.execution.progress = [&](std::string_view stage, double fraction) {
        if (fraction == 1) {
            finished.emplace_back(stage);
        }
        return true;
    };
    (void)detail::knn_on_device(view, nullptr, {2, options, &rows, nullptr}, Engine::clover);
    EXPECT_EQ(finished, (std::vector<std::string>{"cells", "graph"}));
    options.execution.progress = [&](std::string_view stage, double /*fraction*/) { return stage != "graph"; };
    EXPECT_TRUE(is_refused(ErrorKind::canceled, {"'graph'"}, [&] {
        (void)detail::knn_on_device(view, nullptr, {2, options, &rows, nullptr}, Engine::clover);
    }));
    EXPECT_EQ(emulation::held_on_device(), 0);
}

/// What a call on the emulated device says, of one radius for all.
struct RadiusOnDevice {
    SearchSummary summary;
    std::vector<std::int64_t> counts;
    RadiusResult rows;

    RadiusOnDevice(const PointsOrTree& points, const PointsView* queries, double radius, RadiusOptions options) {
        options.execution.device = cuda().device;
        const Radii radii(radius);
        const std::int64_t smallest = radius > 0 ? 0 : -1;
        (void)detail::radius_on_device(points, queries, {radii, smallest, options, &counts});
        const RadiusResultAccess access(rows);
        access.index_type = options.index_type;
        access.dtype = points.dtype();
        summary = detail::radius_on_device(points, queries, {radii, smallest, options, nullptr, &access});
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
    for (const bool in_tree : {false, true}) {
        for (const PointsView* queries : {static_cast<const PointsView*>(nullptr), &view}) {
            const RadiusOnDevice found(in_tree ? PointsOrTree(tree) : view, queries, radius,
                                       {.box = in_tree ? Box{} : box});
            EXPECT_TRUE(std::ranges::equal(found.rows.offsets(), expected.offsets()));
            EXPECT_TRUE(std::ranges::equal(found.rows.indices(), expected.indices()));
            EXPECT_TRUE(std::ranges::equal(found.rows.distances<float>(), expected.distances<float>()));
            EXPECT_EQ(found.counts, radius_count(view, radius, {.box = box, .execution = cpu(1)}));
            EXPECT_EQ(found.summary.box, expected.box);
            EXPECT_EQ(found.summary.stages.back().name, "download");
        }
    }
}

TEST_F(CallsOnDevice, SearchWithinARadiusByTheTreeAlone) {
    for (const std::int64_t points : {1, 100, 1000000}) {
        EXPECT_EQ(detail::choose(detail::Task::radius, Engine::automatic,
                                 {points, points, false, 0, false, DeviceKind::cuda}),
                  Engine::tree);
    }
    for (const Engine engine : {Engine::brute_force, Engine::kdtree, Engine::clover}) {
        EXPECT_TRUE(is_refused(ErrorKind::unsupported, {name_of(engine), "radius search on a GPU", "auto, tree"}, [&] {
            (void)detail::choose(detail::Task::radius, engine, {100, 100, false, 0, false, DeviceKind::cuda});
        }));
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
    for (const RowOrder order : {RowOrder::distance, RowOrder::index}) {
        const RadiusOptions options{.order = order, .index_type = IndexType::int64, .execution = cpu(1)};
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
    const UnresolvedRows expected = radius_search(view, 1e30, {.execution = cpu(1)}).unresolved;
    EXPECT_EQ(expected.rows, 99);
    EXPECT_EQ(RadiusOnDevice(view, nullptr, 1e30, {}).summary.unresolved.warning(), expected.warning());
    EXPECT_EQ(emulation::held_on_device(), 0);
}

// A block whose rows are too many for the memory that is left is visited in parts.
TEST_F(CallsOnDevice, ShowVisitorsRowsInPartsWhereMemoryIsShort) {
    const std::vector<float> points = uniform_points<float>(300, 3, 0, 1, 5);
    const PointsView view(points, 3);
    const Radii radii(std::numeric_limits<double>::infinity());
    int blocks = 0;
    std::int64_t rows = 0;
    std::int64_t neighbors = 0;
    const RadiusVisitor visitor = [&](const RadiusBlock& block) {
        ++blocks;
        rows += static_cast<std::int64_t>(block.query_indices.size());
        neighbors += static_cast<std::int64_t>(block.indices.size());
    };
    RadiusOptions options{.execution = cuda()};
    options.execution.memory_budget = 300000;
    (void)detail::radius_on_device(view, nullptr, {radii, 0, options, nullptr, nullptr, &visitor});
    EXPECT_GT(blocks, 2);
    EXPECT_EQ(rows, 300);
    EXPECT_EQ(neighbors, 300 * 300);
    EXPECT_EQ(emulation::held_on_device(), 0);
}

TEST_F(CallsOnDevice, LabelGroupsByEitherEngine) {
    const std::vector<float> points = clustered_points(300);
    const PointsView view(points, 3);
    for (const Box& box : {Box{}, Box::periodic(1)}) {
        const auto length = LinkingLength::relative(0.3);
        const FofResult expected = fof(view, length, {.box = box, .execution = cpu(1)});
        const Tree tree = tree_on_device(view, box);
        for (const int how : {0, 1, 2}) {
            std::vector<std::int32_t> labels(expected.labels.size(), -7);
            FofSummary found;
            found.engine = how == 2 ? Engine::brute_force : Engine::tree;
            detail::fof_on_device(how == 0 ? PointsOrTree(tree) : view, length,
                                  {.box = how == 0 ? Box{} : box, .execution = cuda()}, labels, found);
            EXPECT_EQ(labels, expected.labels);
            EXPECT_EQ(found.groups, expected.groups);
            found.sizes.resize(expected.sizes.size(), 1); // those of single points come from who called
            EXPECT_EQ(found.sizes, expected.sizes);
            EXPECT_EQ(found.linking_length, expected.linking_length);
            EXPECT_EQ(found.volume, expected.volume);
            EXPECT_EQ(found.box, expected.box);
        }
    }
    EXPECT_EQ(emulation::held_on_device(), 0);
}

/// A call on the emulated device, by the points or their tree there.
DbscanResult clusters_on_device(const PointsOrTree& points, double eps, std::int64_t min_samples, DbscanOptions options,
                                bool wants_flags = true) {
    options.execution = cuda();
    DbscanResult found;
    found.labels.assign(static_cast<std::size_t>(points.count()), -7);
    found.is_core.assign(found.labels.size(), 7);
    detail::dbscan_on_device(points, options,
                             {eps, min_samples, options.star, found.labels,
                              wants_flags ? std::span(found.is_core) : std::span<std::uint8_t>()},
                             found);
    return found;
}

// A crowd in one place, which is taken whole, clumps, and single points.
TEST_F(CallsOnDevice, LabelClusters) {
    std::vector<float> points(3 * 150, 0.25F);
    const std::vector<float> others = clustered_points(250);
    points.insert(points.end(), others.begin(), others.end());
    const PointsView view(points, 3);
    for (const Box& box : {Box{}, Box::periodic(1)}) {
        const Tree tree = tree_on_device(view, box);
        for (const auto& [eps, min_samples, star] :
             {std::tuple(0.03, 4, false), std::tuple(0.03, 4, true), std::tuple(0.1, 160, false),
              std::tuple(0.0, 1, false), std::tuple(0.05, 401, false), std::tuple(9.0, 400, false)}) {
            const DbscanResult expected =
                dbscan(view, eps, min_samples, {.box = box, .star = star, .execution = cpu(1)});
            for (const bool in_tree : {false, true}) {
                const DbscanResult found = in_tree
                                               ? clusters_on_device(tree, eps, min_samples, {.star = star}, false)
                                               : clusters_on_device(view, eps, min_samples, {.box = box, .star = star});
                EXPECT_EQ(found.labels, expected.labels) << eps << ", " << min_samples;
                EXPECT_EQ(found.is_core, in_tree ? std::vector<std::uint8_t>(400, 7) : expected.is_core);
                EXPECT_EQ(found.sizes, expected.sizes);
                EXPECT_EQ(found.clusters, expected.clusters);
                EXPECT_EQ(found.core_points, expected.core_points);
                EXPECT_EQ(found.noise_points, expected.noise_points);
                EXPECT_EQ(found.eps, expected.eps);
                EXPECT_EQ(found.box, expected.box);
            }
        }
    }
    const std::vector<float> no_points;
    const DbscanResult none = clusters_on_device(PointsView(no_points, 3), 1, 1, {});
    EXPECT_EQ(none.clusters + none.core_points + none.noise_points, 0);
    EXPECT_EQ(emulation::held_on_device(), 0);
}

TEST_F(CallsOnDevice, RefuseClustersThatMeanNothing) {
    std::vector<float> points = uniform_points<float>(100, 3, 0, 1, 5);
    const PointsView view(points, 3);
    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"eps", "1e+300", "float32"},
                           [&] { (void)clusters_on_device(view, 1e300, 5, {}); }));
    points[3 * 60 + 2] = -1e37F;
    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"eps is 1000", "point 60", "-1e+37"},
                           [&] { (void)clusters_on_device(view, 1e3, 5, {}); }));
    for (const Engine engine : {Engine::brute_force, Engine::kdtree, Engine::clover}) {
        EXPECT_TRUE(is_refused(ErrorKind::unsupported, {name_of(engine), "DBSCAN on a GPU", "auto, tree"}, [&] {
            (void)detail::choose(detail::Task::clusters, engine, {100, 100, false, 0, false, DeviceKind::cuda});
        }));
    }
    EXPECT_EQ(emulation::held_on_device(), 0);
}

Execution on_one_thread() { // what the host does at the end
    Execution execution = cuda();
    execution.threads = 1;
    return execution;
}

SpanningTree tree_of(const PointsOrTree& points, const Box& box, const Execution& execution = on_one_thread()) {
    return detail::spanning_tree_on_device(points, {.box = box, .execution = execution}, Engine::tree);
}

TEST_F(CallsOnDevice, FindTheSpanningTree) {
    const std::vector<float> points = clustered_points(300);
    const PointsView view(points, 3);
    const Box box = Box::periodic(1);
    const SpanningTree expected = spanning_tree(view, {.box = box, .execution = cpu(1)});
    for (const SpanningTree& found : {tree_of(view, box), tree_of(tree_on_device(view, box), {})}) {
        EXPECT_TRUE(std::ranges::equal(found.edges(), expected.edges()));
        EXPECT_TRUE(std::ranges::equal(found.weights<float>(), expected.weights<float>()));
        EXPECT_TRUE(std::ranges::equal(found.heights<float>(), expected.heights<float>()));
        EXPECT_EQ(found.mean_separation(), expected.mean_separation());
        EXPECT_EQ(found.engine(), Engine::tree);
        EXPECT_EQ(found.stages.back().name, "edges");
        EXPECT_EQ(found.stages[found.stages.size() - 2].name, "download");
    }
    EXPECT_EQ(detail::choose(detail::Task::spanning_tree, Engine::automatic, {5, 5, false, 0, false, DeviceKind::cuda}),
              Engine::tree);
    EXPECT_TRUE(is_refused(ErrorKind::unsupported, {"brute", "the spanning tree on a GPU", "auto, tree"}, [&] {
        (void)detail::choose(detail::Task::spanning_tree, Engine::brute_force,
                             {5, 5, false, 0, false, DeviceKind::cuda});
    }));
    Execution canceled = on_one_thread();
    canceled.progress = [](std::string_view stage, double done) { return stage != "connect" || done == 0; };
    EXPECT_TRUE(is_refused(ErrorKind::canceled, {"connect"}, [&] { (void)tree_of(view, {}, canceled); }));
    EXPECT_EQ(emulation::held_on_device(), 0);
}

TEST_F(CallsOnDevice, CountUnresolvedEdgesAndRefuseWrongPoints) {
    std::vector<float> points = uniform_points<float>(100, 3, 0, 1, 5);
    points[3 * 60 + 2] = -1e37F;
    const PointsView view(points, 3);
    const std::string expected = spanning_tree(view, {.execution = cpu(1)}).unresolved.warning();
    EXPECT_FALSE(expected.empty());
    EXPECT_EQ(tree_of(view, {}).unresolved.warning(), expected);
    EXPECT_EQ(tree_of(tree_on_device(view, {}), {}).unresolved.warning(), expected);
    points[3 * 7] = std::numeric_limits<float>::quiet_NaN();
    EXPECT_TRUE(is_refused(ErrorKind::invalid_points, {"point 7", "NaN"}, [&] { (void)tree_of(view, {}); }));
    EXPECT_EQ(emulation::held_on_device(), 0);
}

TEST_F(CallsOnDevice, DescribeGroups) {
    const std::vector<float> points = clustered_points(300);
    const Box box = Box::periodic(1);
    Particles particles;
    particles.positions = PointsView(points, 3);
    std::vector<double> velocities(points.size());
    std::vector<float> masses(points.size() / 3);
    std::vector<std::uint8_t> types(points.size() / 3);
    Random draw(1);
    std::generate(velocities.begin(), velocities.end(), [&] { return draw.normal(); });
    std::generate(masses.begin(), masses.end(), [&] { return static_cast<float>(draw.uniform()); });
    std::generate(types.begin(), types.end(), [&] { return static_cast<std::uint8_t>(draw.integer(7)); });
    particles.velocities = PointsView(velocities, 3);
    particles.masses = ScalarsView(masses);
    particles.types = types;
    std::vector<std::int32_t> labels(masses.size());
    const FofSummary groups =
        fof_into(labels, particles.positions, LinkingLength::relative(0.3), {.box = box, .execution = cpu(1)});
    for (const std::int64_t min_members : {1, 2, 5}) {
        const Catalog expected = catalog(labels, groups, particles, {.min_members = min_members, .execution = cpu(1)});
        const Catalog found = detail::catalog_on_device({labels, groups.sizes}, particles, groups.box,
                                                        {.min_members = min_members, .execution = cuda()});
        EXPECT_EQ(found.groups, expected.groups);
        EXPECT_EQ(found.members, expected.members);
        for_each_field(found, [&]<class T>(const CatalogColumn& column, const std::vector<T>& values) {
            EXPECT_EQ(values, expected.*std::get<std::vector<T> Catalog::*>(column.values)) << column.field;
        });
    }
    EXPECT_EQ(emulation::held_on_device(), 0);
}

template <class T>
void expect_same_in_pieces(const std::vector<T>& points, const std::vector<T>& queries, const Box& box, std::int64_t k,
                           KnnOptions options, std::int64_t budget) {
    const PointsView view(points, 3);
    const PointsView queries_view(queries, 3);
    const PointsView* separate = queries.empty() ? nullptr : &queries_view;
    options.box = box;
    options.execution = cpu(1);
    const KnnResult expected = separate != nullptr ? knn(view, queries_view, k, options) : knn(view, k, options);
    KnnResult found(expected.rows(), k, options.index_type, dtype_of<T>);
    const NeighborRows rows = found.rows_view();
    options.execution = cuda();
    options.execution.memory_budget = budget;
    const SearchSummary summary = detail::knn_on_device(view, separate, {k, options, &rows, nullptr}, Engine::tree);
    EXPECT_TRUE(same_rows({rows_of<T>(found).indices, rows_of<T>(found).distances}, rows_of<T>(expected), k));
    EXPECT_TRUE(oracle::Unresolved(summary.unresolved) == oracle::Unresolved(expected.unresolved));
    EXPECT_EQ(summary.box, expected.box);
    ASSERT_EQ(summary.stages.size(), 1U);
    EXPECT_GT(summary.stages[0].pieces, 1);
    EXPECT_LE(summary.stages[0].peak_bytes, budget);
}

TEST_F(CallsOnDevice, WorkInPiecesWhereMemoryIsShort) {
    const std::vector<float> points = uniform_points<float>(400, 3, 0, 1, 5);
    expect_same_in_pieces<float>(points, {}, Box::periodic(1), 5, {}, 28000);
    KnnOptions options;
    options.exclude_self = true;
    options.index_type = IndexType::int64;
    options.squared = true;
    expect_same_in_pieces<float>(points, {}, Box{}, 40, options, 100000);

    std::vector<double> lattice; // ties everywhere, between pieces too; and more neighbors than near points
    for (int i = 0; i < 9 * 9 * 7; ++i) {
        lattice.insert(lattice.end(), {double(i % 9), double(i / 9 % 9), double(i / 81)});
    }
    std::vector<float> with_placeholder = points;
    with_placeholder[3 * 100] = 1e37F;
    expect_same_in_pieces<float>(with_placeholder, {}, Box{}, 5, {}, 28000);
    options = {};
    options.max_distance = 1.5;
    expect_same_in_pieces<double>(lattice, uniform_points<double>(300, 3, -1, 10, 6), Box{}, 20, options, 110000);
    EXPECT_EQ(emulation::held_on_device(), 0);
}

TEST_F(CallsOnDevice, UnresolvedRowsAreCountedWithoutIndicesToo) {
    std::vector<float> points = uniform_points<float>(100, 3, 0, 1, 5);
    points[3 * 60 + 2] = -1e37F;
    const PointsView view(points, 3);
    const UnresolvedRows expected = knn(view, 3, {.execution = cpu(1)}).unresolved;
    EXPECT_EQ(expected.rows, 99);
    std::vector<float> distances(3 * 100);
    const NeighborRows rows{std::span<std::int32_t>(), std::span(distances)};
    const KnnOptions options{.execution = cuda()};
    for (const Engine engine : {Engine::tree, Engine::brute_force}) {
        for (const PointsView* queries : {static_cast<const PointsView*>(nullptr), &view}) {
            const UnresolvedRows found = detail::knn_on_device(view, queries, {3, options, &rows}, engine).unresolved;
            EXPECT_EQ(found.warning(), expected.warning());
        }
    }
    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"1000", "point 60", "-1e+37"}, [&] {
        FofSummary summary;
        std::vector<std::int32_t> labels(100);
        detail::fof_on_device(view, LinkingLength::absolute(1e3), {.execution = cuda()}, labels, summary);
    }));
    EXPECT_EQ(emulation::held_on_device(), 0);
}

TEST_F(CallsOnDevice, SayWhatIsMissingWhereEvenPiecesDoNotFit) {
    const std::vector<float> points = uniform_points<float>(1000, 3, 0, 1, 5);
    KnnResult found(1000, 5, IndexType::int32, DType::float32);
    const NeighborRows rows = found.rows_view();
    Execution execution = cuda();
    execution.memory_budget = 3000;
    EXPECT_TRUE(is_refused(ErrorKind::out_of_memory, {"bytes", "the budget is 3000"}, [&] {
        (void)detail::knn_on_device(PointsView(points, 3), nullptr, {5, {.execution = execution}, &rows}, Engine::tree);
    }));
    EXPECT_EQ(emulation::held_on_device(), 0);
}

TEST_F(CallsOnDevice, RefuseWhatIsElsewhere) {
    const std::vector<float> points = clustered_points(10);
    const PointsView elsewhere(points.data(), DType::float32, 10, 3, 3, 1, Device{DeviceKind::cuda, 1});
    StageReports stages;
    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"points", "GPU 1", "GPU 0"},
                           [&] { (void)detail::build_tree_on_device(elsewhere, {.execution = cuda(0)}, stages); }));
}

/// Whatever is missing when: an error that says so, nothing held afterwards, and the next call works.
TEST_F(CallsOnDevice, RunningOutOfMemoryAnywhereLeavesNothingBehind) {
    const std::vector<float> points = clustered_points(120);
    const PointsView view(points, 3);
    const FofResult expected = fof(view, LinkingLength::relative(0.3), {.execution = cpu(1)});
    const DbscanResult expected_clusters = dbscan(view, 0.03, 4, {.execution = cpu(1)});
    std::vector<std::int32_t> labels(expected.labels.size());
    DbscanResult clusters;
    const auto run = [&] {
        FofSummary found; // by a tree
        detail::fof_on_device(view, LinkingLength::relative(0.3), {.execution = cuda()}, labels, found);
        clusters = clusters_on_device(view, 0.03, 4, {});
    };
    int takes = 0;
    for (bool fails = true; fails; ++takes) {
        emulation::fail_after(takes);
        try {
            run();
            fails = false;
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), ErrorKind::out_of_memory);
        }
        emulation::fail_after(-1);
        EXPECT_EQ(emulation::held_on_device(), 0);
    }
    EXPECT_GT(takes, 60);
    EXPECT_EQ(labels, expected.labels);
    EXPECT_EQ(clusters.labels, expected_clusters.labels);
}

TEST_F(CallsOnDevice, ReleaseMemory) {
    (void)detail::result_memory_on_device(100, cuda());
    emulation::fail_until_trimmed();
    detail::release_memory_on_device(cuda().device);
    EXPECT_FALSE(emulation::fails_until_trimmed());
    EXPECT_TRUE(
        is_refused(ErrorKind::device, {"GPU", "99"}, [] { detail::release_memory_on_device(cuda(99).device); }));
}

} // namespace
} // namespace kith::test
