// The emulated device, and what the library builds on it: memory within a budget, sorts, sums and selections.
#include "cuda/device_context.hpp"
#include "cuda/device_wide.hpp"
#include "cuda/launch.hpp"

#include "support/cases.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

namespace kith::test {
namespace {

using detail::DeviceBuffer;
using detail::DeviceContext;

template <class T>
DeviceBuffer<T> on_device(DeviceContext& context, const std::vector<T>& elements) {
    DeviceBuffer<T> buffer = context.buffer<T>(static_cast<std::int64_t>(elements.size()));
    context.copy(buffer.data(), elements.data(), buffer.size() * static_cast<std::int64_t>(sizeof(T)));
    return buffer;
}

struct TwiceJob {
    std::int64_t count;
    const std::int32_t* from;
    std::int32_t* to;
};

__global__ void twice_kernel(const __grid_constant__ TwiceJob job) {
    const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < job.count) {
        job.to[i] = 2 * job.from[i];
    }
}

TEST(EmulatedDevice, RunsKernelsOnItsMemory) {
    DeviceContext context(cuda(1));
    std::vector<std::int32_t> numbers(1000);
    std::iota(numbers.begin(), numbers.end(), -300);
    const DeviceBuffer<std::int32_t> from = on_device(context, numbers);
    const DeviceBuffer<std::int32_t> to = context.buffer<std::int32_t>(1000);
    context.stage("twice", [&] {
        detail::launch_threads(context, "twice", twice_kernel, 1000, {1000, from.data(), to.data()});
    });
    const std::vector<std::int32_t> doubled = context.to_host(to.data(), 1000);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        EXPECT_EQ(doubled[i], 2 * numbers[i]);
    }
    const StageReports stages = context.take_stages();
    ASSERT_EQ(stages.size(), 1U);
    EXPECT_EQ(stages[0].name, "twice");
    EXPECT_EQ(stages[0].peak_bytes, 8000);
}

TEST(EmulatedDeviceDeathTest, HostCodeCannotReachItsMemory) {
    DeviceContext context(cuda());
    const DeviceBuffer<std::int32_t> buffer = context.buffer<std::int32_t>(4);
    EXPECT_DEATH(*buffer.data() = 1, "");
}

TEST(EmulatedDeviceDeathTest, WritingBesideMemoryIsNoticed) {
    EXPECT_DEATH(
        {
            DeviceContext context(cuda());
            const DeviceBuffer<std::int32_t> buffer = context.buffer<std::int32_t>(4);
            context.fill(buffer.data(), 0, 17);
        },
        "beside");
}

TEST(DeviceMemory, KeepsToItsBudget) {
    Execution execution = cuda();
    execution.memory_budget = 1000;
    {
        DeviceContext context(execution);
        const DeviceBuffer<std::uint8_t> most = context.buffer<std::uint8_t>(900);
        EXPECT_TRUE(is_refused(ErrorKind::out_of_memory, {"101 bytes", "900", "1000"},
                               [&] { (void)context.buffer<std::uint8_t>(101); }));
        (void)context.buffer<std::uint8_t>(100);
        EXPECT_EQ(context.memory()->left(), 100);
    }
    EXPECT_EQ(emulation::held_on_device(), 0);
    execution.memory_budget = -1;
    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"budget", "-1"}, [&] { DeviceContext context(execution); }));
}

TEST(DeviceMemory, SaysWhenTheDeviceHasNoMore) {
    DeviceContext context(cuda());
    emulation::fail_after(0);
    EXPECT_TRUE(is_refused(ErrorKind::out_of_memory, {"12 bytes"}, [&] { (void)context.buffer<std::int32_t>(3); }));
    emulation::fail_after(-1);
    (void)context.buffer<std::int32_t>(3);
}

TEST(DeviceMemory, ReturnsWhatItKeepsBeforeItSaysThatThereIsNoMore) {
    DeviceContext context(cuda());
    emulation::fail_until_trimmed();
    const DeviceBuffer<std::int32_t> buffer = context.buffer<std::int32_t>(3);
    EXPECT_NE(buffer.data(), nullptr);
}

/// Counts what is taken and given back.
class Counting : public DeviceResource {
public:
    void* allocate(std::int64_t bytes, CudaStream /*stream*/) override {
        held += bytes;
        void* memory = nullptr;
        return cudaMallocFromPoolAsync(&memory, static_cast<std::size_t>(bytes), nullptr, nullptr) == cudaSuccess
                   ? memory
                   : nullptr;
    }
    void deallocate(void* memory, std::int64_t bytes, CudaStream /*stream*/) noexcept override {
        held -= bytes;
        (void)cudaFreeAsync(memory, nullptr);
    }
    std::int64_t held = 0;
};

TEST(DeviceMemory, ComesFromTheCallersResource) {
    Counting resource;
    Execution execution = cuda();
    execution.memory = &resource;
    {
        DeviceContext context(execution);
        const DeviceBuffer<double> buffer = context.buffer<double>(7);
        EXPECT_EQ(resource.held, 56);
    }
    EXPECT_EQ(resource.held, 0);
}

TEST(DeviceContext, RefusesDevicesThatAreNotThere) {
    EXPECT_TRUE(is_refused(ErrorKind::device, {"GPU 2", "there are 2"}, [] { DeviceContext context(cuda(2)); }));
    EXPECT_TRUE(is_refused(ErrorKind::device, {"GPU -1"}, [] { DeviceContext context(cuda(-1)); }));
}

TEST(DeviceContext, TellsAMissingGpuFromADriverThatIsTooOld) {
    const auto refused_with = [](cudaError_t error, const std::vector<std::string>& texts) {
        emulation::fail_to_count(error);
        const auto result = is_refused(ErrorKind::device, texts, [] { DeviceContext context(cuda()); });
        emulation::fail_to_count(cudaSuccess);
        return result;
    };
    EXPECT_TRUE(refused_with(cudaErrorNoDevice, {"there is no GPU", "on the CPU"}));
    EXPECT_TRUE(refused_with(cudaErrorInsufficientDriver, {"driver", "too old", "12.4"}));
    EXPECT_TRUE(refused_with(cudaErrorInvalidValue, {"counting the devices", "invalid argument"}));
}

TEST(DeviceWide, SortsSumsAndSelects) {
    DeviceContext context(cuda());
    DeviceBuffer<std::uint64_t> keys = on_device<std::uint64_t>(context, {5, 1, 8 + 5, 1, 0});
    DeviceBuffer<std::int32_t> values = on_device<std::int32_t>(context, {0, 1, 2, 3, 4});
    detail::sort_by_key(context, keys, values, 3);
    EXPECT_EQ(context.to_host(values.data(), 5), (std::vector<std::int32_t>{4, 1, 3, 0, 2}));
    EXPECT_EQ(context.to_host(keys.data(), 5), (std::vector<std::uint64_t>{0, 1, 1, 5, 13}));

    detail::exclusive_sum(context, values.data(), 5, values.data());
    EXPECT_EQ(context.to_host(values.data(), 5), (std::vector<std::int32_t>{0, 4, 5, 8, 8}));
    detail::inclusive_sum(context, values.data(), 5, values.data());
    EXPECT_EQ(context.to_host(values.data(), 5), (std::vector<std::int32_t>{0, 4, 9, 17, 25}));

    const DeviceBuffer<std::uint8_t> flags = on_device<std::uint8_t>(context, {0, 1, 1, 0, 7});
    const DeviceBuffer<std::int32_t> selected = context.buffer<std::int32_t>(1);
    detail::select_flagged(context, flags.data(), 5, values.data(), selected.data());
    EXPECT_EQ(context.to_host(selected.data()), 3);
    EXPECT_EQ(context.to_host(values.data(), 3), (std::vector<std::int32_t>{1, 2, 4}));
}

} // namespace
} // namespace kith::test
