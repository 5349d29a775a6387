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
#include <utility>
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
    EXPECT_DEATH(*buffer.data() = 1, "memory of device 0 is touched by the host");
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
    EXPECT_TRUE(is_refused(ErrorKind::device, {"GPU 4", "there are 4"}, [] { DeviceContext context(cuda(4)); }));
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

// What is put on a stream is done when somebody waits for it.

/// Device memory of raw calls, without a context that waits.
struct Words {
    explicit Words(std::int32_t count) : bytes(static_cast<std::size_t>(count) * 4) {
        void* memory = nullptr;
        EXPECT_EQ(cudaMallocFromPoolAsync(&memory, bytes, nullptr, nullptr), cudaSuccess);
        words = static_cast<std::int32_t*>(memory);
    }
    Words(const Words&) = delete;
    Words& operator=(const Words&) = delete;
    ~Words() {
        if (words != nullptr) {
            (void)cudaDeviceSynchronize();
            (void)cudaFreeAsync(words, nullptr);
        }
    }
    void set(int byte, cudaStream_t stream = nullptr) const { (void)cudaMemsetAsync(words, byte, bytes, stream); }
    void copy_to(std::int32_t* host, cudaStream_t stream = nullptr) const {
        (void)cudaMemcpyAsync(host, words, bytes, cudaMemcpyDefault, stream);
    }
    /// Makes `to` twice these.
    void twice(const Words& to, cudaStream_t stream = nullptr) const {
        emulation::launch(stream, "twice", {}, twice_kernel, TwiceJob{1, words, to.words});
    }

    std::size_t bytes;
    std::int32_t* words = nullptr;
};

constexpr auto poisoned = static_cast<std::int32_t>(0xABABABAB);

/// A stream that is gone at the end.
struct MadeStream {
    explicit MadeStream(unsigned flags) { (void)cudaStreamCreateWithFlags(&stream, flags); }
    MadeStream(const MadeStream&) = delete;
    MadeStream& operator=(const MadeStream&) = delete;
    ~MadeStream() { (void)cudaStreamDestroy(stream); }
    cudaStream_t stream = nullptr;
};

TEST(Streams, GiveNoAnswerWithoutAWait) {
    const MadeStream made(cudaStreamNonBlocking);
    const Words memory(1);
    memory.set(1, made.stream);
    std::int32_t found = 0;
    memory.copy_to(&found, made.stream);
    EXPECT_EQ(found, poisoned);
    EXPECT_EQ(cudaStreamSynchronize(made.stream), cudaSuccess);
    EXPECT_EQ(found, 0x01010101);
    const Words other(1);
    other.set(2);
    EXPECT_EQ(cudaMemcpy(&found, other.words, 4, cudaMemcpyDefault), cudaSuccess); // waits itself
    EXPECT_EQ(found, 0x02020202);
}

TEST(Streams, ReadPageableMemoryAtOnceAndPinnedMemoryLater) {
    const MadeStream made(cudaStreamNonBlocking);
    const auto arrives = [&](std::int32_t* source) {
        const Words memory(1);
        *source = 5;
        (void)cudaMemcpyAsync(memory.words, source, 4, cudaMemcpyDefault, made.stream);
        *source = 6;
        std::int32_t found = 0;
        memory.copy_to(&found, made.stream);
        (void)cudaStreamSynchronize(made.stream);
        return found;
    };
    std::int32_t pageable = 0;
    EXPECT_EQ(arrives(&pageable), 5);
    void* pinned = nullptr;
    EXPECT_EQ(cudaMallocHost(&pinned, 4), cudaSuccess);
    cudaPointerAttributes attributes{};
    (void)cudaPointerGetAttributes(&attributes, pinned);
    EXPECT_EQ(attributes.type, cudaMemoryTypeHost);
    EXPECT_EQ(arrives(static_cast<std::int32_t*>(pinned)), 6);
    EXPECT_EQ(cudaFreeHost(pinned), cudaSuccess);
    EXPECT_EQ(cudaFreeHost(pinned), cudaErrorInvalidValue);
}

TEST(Streams, ShowPoisonInMemoryThatWasFreedBefore) {
    const auto found = [](bool is_freed_before) {
        Words from(1);
        const Words to(1);
        const auto free_it = [&] { (void)cudaFreeAsync(std::exchange(from.words, nullptr), nullptr); };
        const TwiceJob job{1, from.words, to.words};
        from.set(1);
        if (is_freed_before) {
            free_it();
        }
        emulation::launch(nullptr, "twice", {}, twice_kernel, job);
        if (!is_freed_before) {
            free_it();
        }
        std::int32_t result = 0;
        to.copy_to(&result);
        (void)cudaStreamSynchronize(nullptr);
        return result;
    };
    EXPECT_EQ(found(false), 0x02020202);
    EXPECT_EQ(found(true), static_cast<std::int32_t>(2U * 0xABABABABU));
}

// A copy on one stream of what a kernel makes on another one.
TEST(Streams, AreInOrderOnlyWhereSomethingOrdersThem) {
    enum class Ordered : std::uint8_t { by_nothing, by_event, by_legacy_stream };
    const auto is_right = [](Ordered ordered) {
        const MadeStream makes(ordered == Ordered::by_legacy_stream ? 0 : cudaStreamNonBlocking);
        const MadeStream copies(cudaStreamNonBlocking);
        const cudaStream_t copying = ordered == Ordered::by_legacy_stream ? nullptr : copies.stream;
        const Words from(1);
        const Words to(1);
        from.set(1, makes.stream);
        from.twice(to, makes.stream);
        cudaEvent_t made = nullptr;
        (void)cudaEventCreate(&made);
        (void)cudaEventRecord(made, makes.stream);
        float milliseconds = 0;
        EXPECT_EQ(cudaEventElapsedTime(&milliseconds, made, made), cudaErrorNotReady);
        (void)cudaGetLastError();
        if (ordered == Ordered::by_event) {
            (void)cudaStreamWaitEvent(copying, made);
        }
        std::int32_t found = 0;
        to.copy_to(&found, copying);
        (void)cudaStreamSynchronize(copying);
        (void)cudaEventSynchronize(made);
        EXPECT_EQ(cudaEventElapsedTime(&milliseconds, made, made), cudaSuccess);
        (void)cudaEventDestroy(made);
        return found == 0x02020202;
    };
    int right = 0;
    for (int trial = 0; trial < 20; ++trial) {
        EXPECT_TRUE(is_right(Ordered::by_event));
        EXPECT_TRUE(is_right(Ordered::by_legacy_stream));
        right += is_right(Ordered::by_nothing) ? 1 : 0;
    }
    EXPECT_LT(right, 20);
}

TEST(Streams, ThrowInTheWaitWhatAKernelDidWrong) {
    const Words memory(1);
    emulation::enqueue(nullptr, {"wrong", {}, nullptr, {}},
                       [] { emulation::run("wrong", {}, [] { emulation::fail("as it must"); }); });
    EXPECT_THROW((void)cudaStreamSynchronize(nullptr), emulation::KernelError);
    memory.set(3);
    std::int32_t found = 0;
    memory.copy_to(&found);
    EXPECT_EQ(cudaStreamSynchronize(nullptr), cudaSuccess);
    EXPECT_EQ(found, 0x03030303);
}

TEST(StreamsDeathTest, KnowWhoseMemoryAKernelMayTouch) {
    const Words here(1);
    (void)cudaSetDevice(1);
    const Words there(1);
    here.set(1, nullptr); // a copy or a fill may
    EXPECT_DEATH(
        {
            here.twice(there);
            (void)cudaStreamSynchronize(nullptr);
        },
        "memory of device 0 is touched by the host or by another device");
    std::int32_t found = 0;
    there.set(2);
    there.twice(there);
    there.copy_to(&found);
    (void)cudaStreamSynchronize(nullptr);
    EXPECT_EQ(found, 0x04040404);
    (void)cudaSetDevice(0);
}

} // namespace
} // namespace kith::test
