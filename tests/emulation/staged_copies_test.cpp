// Copies of large arrays of the host through pinned buffers, which are small here.
#include "emulation/calls_on_device.hpp"

#include "cuda/device_context.hpp"
#include "cuda_emulation/cuda_runtime.hpp"

#include <kith/fof.hpp>
#include <kith/knn.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

namespace kith::test {
namespace {

using detail::DeviceContext;

constexpr std::int64_t buffer_bytes = 1000;

/// Of the host, since the buffers became small.
int copies() {
    static const int before = emulation::requests().host_copies;
    return emulation::requests().host_copies - before;
}

class StagedCopies : public NeedsDimension<3> {
protected:
    StagedCopies() {
        { // so that the page for small copies, which is kept, is there
            DeviceContext context(cuda());
            const auto there = context.buffer<std::uint8_t>(1);
            context.fill(there.data(), 1, 1);
            (void)context.to_host(there.data());
        }
        detail::on_gpu().release_memory(cuda().device);
        pinned_before_ = emulation::pinned_on_host();
        emulation::set_staging_bytes(buffer_bytes);
    }
    ~StagedCopies() override {
        emulation::set_staging_bytes(0);
        detail::on_gpu().release_memory(cuda().device);
        EXPECT_EQ(emulation::pinned_on_host(), pinned_before_);
    }
    /// That the library has for copies.
    [[nodiscard]] std::int64_t pinned() const { return emulation::pinned_on_host() - pinned_before_; }

private:
    std::int64_t pinned_before_ = 0;
};

std::vector<std::uint8_t> bytes_from(int first, std::int64_t count) {
    std::vector<std::uint8_t> bytes(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        bytes[i] = static_cast<std::uint8_t>(first + static_cast<int>(i * i % 251));
    }
    return bytes;
}

// The caller's memory may be used at once: what is sent was read, and what is fetched has been written.
TEST_F(StagedCopies, CopyManyBuffersFull) {
    for (const std::int64_t count : {1001, 2000, 2001, 10007}) {
        SCOPED_TRACE(count);
        DeviceContext context(cuda());
        const auto first = context.buffer<std::uint8_t>(count);
        const auto second = context.buffer<std::uint8_t>(count);
        const std::int64_t pieces = (count + buffer_bytes - 1) / buffer_bytes;
        const int before = copies();
        std::vector<std::uint8_t> given = bytes_from(1, count);
        context.copy(first.data(), given.data(), count);
        given = bytes_from(2, count);
        context.copy(second.data(), given.data(), count);
        std::fill(given.begin(), given.end(), std::uint8_t{0});
        context.copy(given.data(), first.data(), count);
        EXPECT_EQ(given, bytes_from(1, count));
        context.copy(first.data(), second.data(), count); // within the device
        context.copy(given.data(), first.data(), count);
        EXPECT_EQ(given, bytes_from(2, count));
        EXPECT_EQ(copies() - before, 4 * pieces);
        EXPECT_EQ(pinned(), 2 * buffer_bytes);
    }
}

TEST_F(StagedCopies, AreNotForWhatFitsIntoOneOrIsPinned) {
    void* memory = nullptr;
    constexpr std::int64_t count = 3000;
    ASSERT_EQ(cudaMallocHost(&memory, count), cudaSuccess);
    auto* const given = static_cast<std::uint8_t*>(memory);
    std::iota(given, given + count, std::uint8_t{5});
    {
        DeviceContext context(cuda());
        const auto there = context.buffer<std::uint8_t>(count);
        const int before = copies();
        context.copy(there.data(), given, count);
        std::vector<std::uint8_t> found(buffer_bytes);
        context.copy(found.data(), there.data(), buffer_bytes);
        context.wait();
        EXPECT_TRUE(std::equal(found.begin(), found.end(), given));
        EXPECT_EQ(copies() - before, 2);
    }
    EXPECT_EQ(cudaFreeHost(memory), cudaSuccess);
    EXPECT_EQ(pinned(), 0);
}

TEST_F(StagedCopies, AreOfEachCallOnItsOwn) {
    DeviceContext one(cuda());
    DeviceContext other(cuda());
    const auto there = one.buffer<std::uint8_t>(5000);
    const auto there_too = other.buffer<std::uint8_t>(5000);
    one.copy(there.data(), bytes_from(1, 5000).data(), 5000);
    other.copy(there_too.data(), bytes_from(2, 5000).data(), 5000);
    std::vector<std::uint8_t> found(5000);
    one.copy(found.data(), there.data(), 5000);
    EXPECT_EQ(found, bytes_from(1, 5000));
    other.copy(found.data(), there_too.data(), 5000);
    EXPECT_EQ(found, bytes_from(2, 5000));
    EXPECT_EQ(pinned(), 4 * buffer_bytes);
}

// In every call's uploads and downloads, and from call to call.
TEST_F(StagedCopies, ChangeNoAnswer) {
    const std::vector<float> points = clustered_points(450);
    const PointsView view(points, 3);
    const std::int64_t count = view.count();
    const KnnResult expected = knn(view, 9, {.execution = cpu(1)});
    const FofResult groups = fof(view, LinkingLength::relative(0.2), {.execution = cpu(1)});
    const DbscanResult clusters = dbscan(view, 0.03, 4, {.execution = cpu(1)});
    for (int round = 0; round < 2; ++round) {
        const int before = copies();
        KnnResult found(count, 9, IndexType::int32, DType::float32);
        const NeighborRows rows = found.rows_view();
        (void)detail::on_gpu().knn(view, nullptr, {9, {.execution = cuda()}, &rows, nullptr}, Engine::tree);
        EXPECT_TRUE(
            same_rows({rows_of<float>(found).indices, rows_of<float>(found).distances}, rows_of<float>(expected), 9));
        EXPECT_GT(copies() - before, 2 * 9 * count * 4 / buffer_bytes);
        std::vector<std::int32_t> labels(static_cast<std::size_t>(count), -7);
        FofSummary summary;
        detail::on_gpu().fof(view, LinkingLength::relative(0.2), {.execution = cuda()}, labels, summary);
        EXPECT_EQ(labels, groups.label_array);
        EXPECT_EQ(summary.sizes, groups.sizes);
        const DbscanResult found_clusters = clusters_on_device(view, 0.03, 4, {});
        EXPECT_EQ(found_clusters.label_array, clusters.label_array);
        EXPECT_EQ(found_clusters.is_core, clusters.is_core);
        EXPECT_EQ(pinned(), 2 * buffer_bytes);
    }
}

} // namespace
} // namespace kith::test
