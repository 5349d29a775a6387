// Searches for neighbors on the emulated GPU, by public functions, against the CPU.
#include "emulation/calls_on_device.hpp"

#include "calls/calls.hpp"
#include "calls/choose.hpp"
#include "cuda_emulation/cuda_runtime.hpp"
#include "support/engines.hpp"

#include <kith/fof.hpp>
#include <kith/knn.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <sys/mman.h>

namespace kith::test {
namespace {

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

/// The stages of a search by the tree, whose rows are those of the CPU.
std::vector<std::string> stages_of_search(const std::vector<float>& points, std::int64_t k) {
    const PointsView view(points, 3);
    KnnResult found(view.count(), k, IndexType::int32, DType::float32);
    const NeighborRows rows = found.rows_view();
    const SearchSummary summary =
        detail::on_gpu().knn(view, nullptr, {k, {.execution = cuda()}, &rows, nullptr}, Engine::tree);
    EXPECT_TRUE(same_rows(found, rows_of<float>(knn(view, k, {.execution = cpu(1)}))));
    std::vector<std::string> names;
    for (const StageReport& stage : summary.stages) {
        names.push_back(stage.name);
    }
    return names;
}

// Few points are searched without the stage that settles equal keys, unless many keys are equal, or lists are long.
TEST_F(CallsOnDevice, SearchFewPointsWithFewWaits) {
    const std::vector<std::string> few{"upload", "tree", "search", "download"};
    const std::vector<std::string> many{"upload", "order", "tree", "search", "download"};
    std::vector<float> points = uniform_points<float>(400, 3, 0, 1, 72);
    EXPECT_EQ(stages_of_search(points, 8), few);
    EXPECT_EQ(stages_of_search(points, 65), many);
    for (std::size_t i = 0; i < 10; ++i) {
        points[120 * i] = 1e9F;
    }
    const std::vector<std::string> both = stages_of_search(points, 8);
    EXPECT_EQ(std::count(both.begin(), both.end(), "order"), 1);
    EXPECT_EQ(std::count(both.begin(), both.end(), "tree"), 2);
}

// As on a GPU; elsewhere in these tests, every piece of memory has fences of its own.
TEST_F(CallsOnDevice, TakeSmallPiecesOfMemoryTogether) {
    const std::vector<float> points = uniform_points<float>(400, 3, 0, 1, 73);
    const auto takes_of = [&](bool share) {
        emulation::share_pieces(share);
        const int before = emulation::requests().takes;
        (void)stages_of_search(points, 8);
        emulation::share_pieces(false);
        return emulation::requests().takes - before;
    };
    EXPECT_GT(takes_of(false), 20);
    EXPECT_EQ(takes_of(true), 1);
    EXPECT_EQ(emulation::held_on_device(), 0);
}

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
        detail::on_gpu().knn(searched, nullptr, {3, {.execution = cuda()}, &rows, nullptr}, Engine::tree);
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
    for (const Engine wanted : engines_of(detail::Task::neighbors, detail::Where::gpu)) {
        const Engine engine =
            detail::choose(detail::Task::neighbors, wanted,
                           {view.count(), view.count(), false, 3, Engine::automatic, detail::Where::gpu});
        EXPECT_EQ(engine, wanted == Engine::automatic ? Engine::brute_force : wanted); // so few points
        KnnResult found(view.count(), 4, IndexType::int32, DType::float32);
        const NeighborRows rows = found.rows_view();
        KnnOptions options{.box = box, .execution = cuda()};
        options.execution.threads = 1; // of the host
        const SearchSummary summary = detail::on_gpu().knn(view, nullptr, {4, options, &rows, nullptr}, engine);
        const StageReports& stages = summary.stages;
        EXPECT_EQ(summary.box, on_cpu.box);
        EXPECT_TRUE(same_rows(found, expected));
        EXPECT_EQ(stages.front().name, "upload");
        EXPECT_EQ(stages.back().name, "download");
    }
    KnnResult found(view.count(), 4, IndexType::int32, DType::float32);
    const NeighborRows rows = found.rows_view();
    (void)detail::on_gpu().knn(tree_on_device(view, box), nullptr, {4, {.execution = cuda()}, &rows, nullptr},
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
            for (std::size_t i = 0; i < block.indices().size(); ++i) {
                const std::int64_t query = block.query_indices[i / 4];
                EXPECT_EQ(block.indices()[i], expected.indices()[query * 4 + static_cast<std::int64_t>(i % 4)]);
            }
        });
        rows += static_cast<std::int64_t>(block.query_indices.size());
    };
    const detail::DeviceKnnCall call{4, {.execution = cuda()}, nullptr, &visitor};
    for (const Engine engine : named_engines_of(detail::Task::neighbor_visits, detail::Where::gpu)) {
        rows = 0;
        EXPECT_EQ(detail::on_gpu().knn(view, nullptr, call, engine).engine, Engine::tree);
        EXPECT_EQ(rows, view.count());
    }
    for (const Engine engine : {Engine::kdtree, Engine::clover}) {
        const KnnOptions options{.engine = engine, .execution = cuda()};
        EXPECT_TRUE(is_refused(ErrorKind::unsupported, {name_of(engine), "visitors", "on a GPU", "auto, tree"}, [&] {
            detail::check(detail::KnnCall{view, nullptr, 4, options, nullptr, &visitor}, detail::Where::gpu);
        }));
        EXPECT_TRUE(is_refused(ErrorKind::unsupported, {name_of(engine), "asynchronous", "tree"}, [&] {
            (void)detail::knn_async_bytes_on_device(AsyncTreeSize{DType::float32, 3, 100}, {}, 4, engine, cuda());
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
        (void)detail::on_gpu().knn(view, nullptr, {k, options, &rows, nullptr}, Engine::clover);
        EXPECT_TRUE(same_rows(found, rows_of<float>(knn(view, k, {.execution = cpu(1)}))));
    }
}

// The horizon of a cell may be less than the weights of its last edges, so it is asked about even if an edge is beyond
// the bound: here there are six times as many cells as a cell has edges, and four rows differ if it is not.
TEST_F(CallsOnDevice, FindNeighborsInCellsWithoutAnEdge) {
    const std::vector<float> points = uniform_points<float>(6000, 3, 0, 1, 2);
    const PointsView view(points, 3);
    constexpr std::int64_t k = 60;
    KnnResult found(view.count(), k, IndexType::int32, DType::float32);
    const NeighborRows rows = found.rows_view();
    KnnOptions options{.execution = cuda()};
    options.execution.threads = 1;
    (void)detail::on_gpu().knn(view, nullptr, {k, options, &rows, nullptr}, Engine::clover);
    EXPECT_TRUE(same_rows(found, rows_of<float>(knn(view, k, {.execution = cpu(1)}))));
}

// Cells are made a level at a time.
TEST_F(CallsOnDevice, TellProgressWhileCellsAreMade) {
    const std::vector<float> points = uniform_points<float>(1000, 3, 0, 1, 1);
    const PointsView view(points, 3);
    KnnResult found(view.count(), 2, IndexType::int32, DType::float32);
    const NeighborRows rows = found.rows_view();
    KnnOptions options{.execution = cuda()};
    std::vector<double> told;
    options.execution.progress = [&](std::string_view stage, double fraction) {
        if (stage == "cells") {
            told.push_back(fraction);
        }
        return true;
    };
    (void)detail::on_gpu().knn(view, nullptr, {2, options, &rows, nullptr}, Engine::clover);
    EXPECT_GT(told.size(), 2U);
    EXPECT_TRUE(std::is_sorted(told.begin(), told.end()));
    EXPECT_GT(told.back(), 0);
    options.execution.progress = [&](std::string_view stage, double fraction) {
        return stage != "cells" || fraction == 0;
    };
    EXPECT_TRUE(is_refused(ErrorKind::canceled, {"'cells'"}, [&] {
        (void)detail::on_gpu().knn(view, nullptr, {2, options, &rows, nullptr}, Engine::clover);
    }));
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
            const UnresolvedRows found = detail::on_gpu().knn(view, queries, {3, options, &rows}, engine).unresolved;
            EXPECT_EQ(found.warning(), expected.warning());
        }
    }
    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"1000", "point 60", "-1e+37"}, [&] {
        FofSummary summary;
        std::vector<std::int32_t> labels(100);
        detail::on_gpu().fof(view, LinkingLength::absolute(1e3), {.execution = cuda()}, labels, summary);
    }));
    EXPECT_EQ(emulation::held_on_device(), 0);
}

} // namespace
} // namespace kith::test
