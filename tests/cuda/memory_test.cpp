// The caller's stream, memory and budget on a GPU.
#include "cuda/gpu.hpp"

#include <kith/knn.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace kith::test {
namespace {

using CudaMemory = NeedsDimension<3>;

/// Counts what is taken.
class Counting : public DeviceResource {
public:
    void* allocate(std::int64_t bytes, CudaStream stream) override {
        void* memory = nullptr;
        if (cudaMallocAsync(&memory, static_cast<std::size_t>(bytes), stream) != cudaSuccess) {
            return nullptr;
        }
        held += bytes;
        peak = std::max(peak, held);
        return memory;
    }
    void deallocate(void* memory, std::int64_t bytes, CudaStream stream) noexcept override {
        held -= bytes;
        (void)cudaFreeAsync(memory, stream);
    }
    std::int64_t held = 0;
    std::int64_t peak = 0;
};

TEST_F(CudaMemory, RunsOnTheCallersStreamWithTheCallersMemory) {
    KITH_NEEDS_GPU();
    const std::vector<float> points = uniform_points<float>(100000, 3, 0, 1, 1);
    const OnGpu<float> there(points);
    const OnGpu<std::int32_t> indices(points.size() / 3 * 16);
    const OnGpu<float> distances(points.size() / 3 * 16);
    cudaStream_t stream = nullptr;
    expect_ok(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    Counting resource;
    Execution execution = cuda(0, stream);
    execution.memory = &resource;
    const StageReports stages = knn_into({indices.span(), distances.span()}, there.points(3), 16,
                                         {.engine = Engine::tree, .execution = execution})
                                    .stages;
    EXPECT_EQ(resource.held, 0);
    EXPECT_GT(resource.peak, 0);
    EXPECT_LT(resource.peak, 60 * 100000); // bytes a point
    EXPECT_EQ(std::count_if(stages.begin(), stages.end(),
                            [](const StageReport& stage) { return stage.name == "search" && stage.seconds > 0; }),
              1);
    const oracle::Rows<float> expected = rows_of<float>(knn(PointsView(points, 3), 16));
    const std::vector<std::int32_t> found = indices.on_host();
    EXPECT_TRUE(same_rows<float>({{found.begin(), found.end()}, distances.on_host()}, expected, 16));
    expect_ok(cudaStreamDestroy(stream));
}

// Half of what it would like: pieces, and the same answer.
TEST_F(CudaMemory, WorksInPiecesWithinABudget) {
    KITH_NEEDS_GPU();
    const std::vector<float> points = uniform_points<float>(100000, 3, 0, 1, 1);
    const OnGpu<float> there(points);
    Execution execution = cuda();
    execution.memory_budget = 2'000'000;
    const OnGpu<std::int32_t> indices(points.size() / 3 * 8);
    const OnGpu<float> distances(points.size() / 3 * 8);
    const StageReports stages = knn_into({indices.span(), distances.span()}, there.points(3), 8,
                                         {.engine = Engine::tree, .execution = execution})
                                    .stages;
    ASSERT_EQ(stages.size(), 1U);
    EXPECT_GT(stages[0].pieces, 1);
    EXPECT_LE(stages[0].peak_bytes, execution.memory_budget);
    const std::vector<std::int32_t> found = indices.on_host();
    EXPECT_TRUE(same_rows<float>({{found.begin(), found.end()}, distances.on_host()},
                                 rows_of<float>(knn(PointsView(points, 3), 8)), 8));
}

TEST_F(CudaMemory, SaysWhatIsMissingAndStaysUsable) {
    KITH_NEEDS_GPU();
    const std::vector<float> points = uniform_points<float>(1000, 3, 0, 1, 1);
    std::size_t free = 0;
    std::size_t total = 0;
    expect_ok(cudaMemGetInfo(&free, &total));
    const OnGpu<float> there(points);
    const auto k = static_cast<std::int64_t>(total / 1000);
    EXPECT_TRUE(is_refused(ErrorKind::out_of_memory, {"bytes", "budget"},
                           [&] { (void)knn(there.points(3), k, {.execution = cuda()}); }));
    EXPECT_TRUE(
        same_rows(knn(PointsView(points, 3), 5, {.execution = cuda()}), rows_of<float>(knn(PointsView(points, 3), 5))));
}

TEST(CudaDevice, IsRefusedIfItIsNotThere) {
    const std::vector<float> points = uniform_points<float>(10, 3, 0, 1, 1);
    EXPECT_TRUE(
        is_refused(ErrorKind::device, {"GPU"}, [&] { (void)knn(PointsView(points, 3), 5, {.execution = cuda(99)}); }));
}

TEST_F(CudaMemory, IsReturnedToTheDriver) {
    KITH_NEEDS_GPU();
    const std::vector<float> points = uniform_points<float>(100'000, 3, 0, 1, 1);
    (void)knn(PointsView(points, 3), 5, {.execution = cuda()});
    std::size_t kept = 0;
    std::size_t free = 0;
    std::size_t total = 0;
    expect_ok(cudaMemGetInfo(&kept, &total));
    release_memory(cuda().device);
    expect_ok(cudaMemGetInfo(&free, &total));
    EXPECT_GT(free, kept);
    EXPECT_TRUE(is_refused(ErrorKind::device, {"GPU", "99"}, [] { release_memory(cuda(99).device); }));
}

TEST(HasCuda, IsWhetherThereIsAGpu) {
    EXPECT_EQ(has_cuda(), no_gpu().empty());
}

} // namespace
} // namespace kith::test
