// Public functions on the emulated GPU where its memory is short, or where the points are elsewhere.
#include "emulation/async_memory.hpp"
#include "emulation/calls_on_device.hpp"

#include "calls/calls.hpp"
#include "cuda_emulation/cuda_runtime.hpp"

#include <kith/dbscan.hpp>
#include <kith/fof.hpp>
#include <kith/knn.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace kith::test {
namespace {

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
    const SearchSummary summary = detail::on_gpu().knn(view, separate, {k, options, &rows, nullptr}, Engine::tree);
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

TEST_F(CallsOnDevice, LeaveNoRowsInZOrderWhereTheyWorkInPieces) {
    const std::vector<float> points = uniform_points<float>(400, 3, 0, 1, 5);
    KnnResult found(400, 5, IndexType::int32, DType::float32);
    const NeighborRows rows = found.rows_view();
    Execution execution = cuda();
    execution.memory_budget = 28000;
    EXPECT_TRUE(is_refused(ErrorKind::out_of_memory, {"in one piece", "z_order"}, [&] {
        (void)detail::on_gpu().knn(PointsView(points, 3), nullptr,
                                   {5, {.z_order = true, .execution = execution}, &rows}, Engine::tree);
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
        (void)detail::on_gpu().knn(PointsView(points, 3), nullptr, {5, {.execution = execution}, &rows}, Engine::tree);
    }));
    EXPECT_EQ(emulation::held_on_device(), 0);
}

TEST_F(CallsOnDevice, RefuseWhatIsElsewhere) {
    const std::vector<float> points = clustered_points(10);
    const PointsView elsewhere(points.data(), DType::float32, 10, 3, 3, 1, Device{DeviceKind::cuda, 1});
    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"points", "GPU 1", "GPU 0"},
                           [&] { detail::check_points(elsewhere, {}, cuda(0), detail::Where::gpu); }));
}

/// knn_into() over ranks copies its rows into memory of the GPU, where that is what it was given.
TEST_F(CallsOnDevice, OverRanksMayHaveTheirRowsInMemoryOfTheGpu) {
    const Execution execution = cuda(1);
    detail::DeviceContext context(execution);
    const detail::DeviceBuffer<std::int64_t> there = context.buffer<std::int64_t>(3);
    const std::vector<std::int64_t> rows{4, -1, 7};
    EXPECT_TRUE(detail::on_gpu().has_memory(there.data(), execution));
    EXPECT_FALSE(detail::on_gpu().has_memory(rows.data(), execution));
    EXPECT_FALSE(detail::on_gpu().has_memory(nullptr, execution));
    detail::on_gpu().copy_to_memory(there.data(), rows.data(), 24, execution);
    EXPECT_EQ(context.to_host(there.data(), 3), rows);
}

/// Before anything is searched. Each rank asks for its own rows; an error of one is thrown by all.
TEST_F(CallsOnDevice, OverRanksRefuseRowsInMemoryOfAnotherGpu) {
    detail::DeviceContext context(cuda(1));
    const detail::DeviceBuffer<std::int64_t> there = context.buffer<std::int64_t>(3);
    const std::int64_t on_host = 0;
    const auto refuse = [&](const void* memory, int device) {
        detail::on_gpu().refuse_memory_of_others(memory, "the indices of the rows", cuda(device));
    };
    refuse(there.data(), 1);
    refuse(&on_host, 2);
    refuse(nullptr, 2);
    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument,
                           {"the indices of the rows are in the memory of GPU 1", "runs on GPU 2"},
                           [&] { refuse(there.data(), 2); }));
}

/// Whatever is missing when: an error that says so, nothing held afterwards, and the next call works.
TEST_F(CallsOnDevice, RunningOutOfMemoryAnywhereLeavesNothingBehind) {
    const std::vector<float> points = clustered_points(120);
    const PointsView view(points, 3);
    const FofResult expected = fof(view, LinkingLength::relative(0.3), {.execution = cpu(1)});
    const DbscanResult expected_clusters = dbscan(view, 0.03, 4, {.execution = cpu(1)});
    std::vector<std::int32_t> labels(expected.label_array.size());
    DbscanResult clusters;
    const auto run = [&] {
        FofSummary found; // by a tree
        detail::on_gpu().fof(view, LinkingLength::relative(0.3), {.execution = cuda()}, labels, found);
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
    EXPECT_EQ(labels, expected.label_array);
    EXPECT_EQ(clusters.label_array, expected_clusters.label_array);
}

TEST_F(CallsOnDevice, ReleaseMemory) {
    (void)detail::on_gpu().result_memory(100, cuda());
    emulation::fail_until_trimmed();
    detail::on_gpu().release_memory(cuda().device);
    EXPECT_FALSE(emulation::fails_until_trimmed());
    EXPECT_TRUE(is_refused(ErrorKind::device, {"GPU", "99"}, [] { detail::on_gpu().release_memory(cuda(99).device); }));
}

// Made where the points are, in the memory of the index before.
TEST_F(CallsOnDevice, FollowMovedPointsByAnotherIndex) {
    std::vector<float> points = uniform_points<float>(4000, 3, 0, 1, 31);
    const std::vector<float> queries = uniform_points<float>(30, 3, 0, 1, 32);
    const PointsView around(queries, 3);
    detail::DeviceContext context(cuda());
    const ThereOn<float> there(context, points);
    const std::int64_t without = emulation::held_on_device();
    const CloverOptions flat{.form = CloverForm::flat, .hubs = 60};
    for (const TreeOptions& options : {TreeOptions{.engine = Engine::kdtree},
                                       {.engine = Engine::clover},
                                       {.engine = Engine::clover, .clover = flat}}) {
        for (int step = 0; step < 2; ++step) {
            for (float& x : points) {
                x = 1 - 0.9F * x;
            }
            context.copy(there.data(), points.data(), there.bytes());
            context.wait();
            const std::int64_t before = emulation::requests().host_bytes;
            const Tree index = index_on_device(there.points(3), options);
            EXPECT_LT(emulation::requests().host_bytes - before, there.bytes() / 2);
            KnnResult found(around.count(), 5, IndexType::int32, DType::float32);
            const NeighborRows rows = found.rows_view();
            (void)detail::on_gpu().knn(index, &around, {5, {.execution = cuda()}, &rows}, options.engine);
            EXPECT_TRUE(same_rows(found, rows_of<float>(knn(PointsView(points, 3), around, 5, {.execution = cpu(1)}))));
        }
        EXPECT_EQ(emulation::held_on_device(), without);
    }
}

} // namespace
} // namespace kith::test
