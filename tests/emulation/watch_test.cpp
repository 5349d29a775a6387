// The watch over global memory: what a kernel must not do is told, and nothing else is. This file is compiled as watched
// kernels are.
#include "cuda/device_context.hpp"
#include "cuda/intrinsics.hpp"
#include "cuda/launch.hpp"

#include "cuda_emulation/device_arena.hpp"
#include "emulation/complaints.hpp"

#include <kith/device/kdtree_build.cuh>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace kith::emulation {
namespace {

// The compiler knows nothing of these, so that no access is optimized away.
template <class T>
[[gnu::noipa]] T load(const T* from) {
    return *from;
}
template <class T>
[[gnu::noipa]] void store(T* to, T value) {
    *to = value;
}

int thread() {
    return static_cast<int>(threadIdx.x);
}
int block() {
    return static_cast<int>(blockIdx.x);
}

struct Pair {
    std::int32_t first;
    std::int32_t second;
};

constexpr std::int32_t count = 128; // words: one for each thread of the grid that complaints.hpp runs

class Watch : public testing::Test {
protected:
    detail::DeviceContext context{cuda()};
    std::optional<detail::DeviceBuffer<std::int32_t>> memory{context.buffer<std::int32_t>(count)};
    std::int32_t* const words = memory->data();
    const Open open{0};

    /// Those of the running block.
    [[nodiscard]] std::int32_t* own() const { return words + 64 * block(); }
    void write_all() const { std::fill_n(words, count, 7); }
};

enum class Barrier : std::uint8_t { none, of_warp, of_block };

void pass(Barrier barrier) {
    if (barrier == Barrier::of_block) {
        __syncthreads();
    } else if (barrier == Barrier::of_warp) {
        __syncwarp();
    }
}

TEST_F(Watch, TellsAReadOfWhatAnotherThreadWrites) {
    const auto read_word_of = [&](Barrier barrier, int lanes_away) {
        store(own() + thread(), thread());
        pass(barrier);
        EXPECT_EQ(load(own() + (thread() ^ lanes_away)), thread() ^ lanes_away);
    };
    EXPECT_TRUE(is_fine([&] { read_word_of(Barrier::none, 0); }));
    EXPECT_TRUE(is_fine([&] { read_word_of(Barrier::of_block, 1); }));
    EXPECT_TRUE(is_fine([&] { read_word_of(Barrier::of_block, 32); }));
    EXPECT_TRUE(is_fine([&] { read_word_of(Barrier::of_warp, 1); }));
    write_all();
    const auto read_any = [&](Barrier barrier, int lanes_away) {
        store(own() + thread(), thread());
        pass(barrier);
        (void)load(own() + (thread() ^ lanes_away));
    };
    EXPECT_TRUE(is_told("no barrier orders the two", [&] { read_any(Barrier::none, 1); }));
    EXPECT_TRUE(is_told("no barrier orders the two", [&] { read_any(Barrier::of_warp, 32); }));
}

TEST_F(Watch, TellsAWriteOfWhatAnotherThreadReads) {
    write_all();
    const auto pass_on = [&](Barrier barrier, int lanes_away) {
        const std::int32_t other = load(own() + (thread() ^ lanes_away));
        pass(barrier);
        store(own() + thread(), other);
    };
    EXPECT_TRUE(is_fine([&] { pass_on(Barrier::of_block, 32); }));
    EXPECT_TRUE(is_fine([&] { pass_on(Barrier::of_warp, 1); }));
    EXPECT_TRUE(is_told("is written", [&] { pass_on(Barrier::of_warp, 32); }));
    EXPECT_TRUE(is_told("is written", [&] { // all of the other warp have read it
        (void)load(own());
        if (thread() >= 32) {
            __syncwarp();
        }
        if (thread() == 63) {
            store(own(), 1);
        }
    }));
}

// Even if the writer is the last reader itself.
TEST_F(Watch, RemembersAllReaders) {
    write_all();
    int arrived = 0;
    const auto read_and_write_as_the_last = [&](std::int32_t* word, int& readers) {
        (void)load(word);
        if (++readers == 2) {
            store(word, 1);
        }
    };
    EXPECT_TRUE(is_told("another block", [&] {
        if (thread() == 0) {
            read_and_write_as_the_last(words, arrived);
        }
    }));
    std::vector<int> arrived_in(2);
    EXPECT_TRUE(is_told("while thread", [&] {
        if (thread() < 2) {
            read_and_write_as_the_last(own(), arrived_in[static_cast<std::size_t>(block())]);
        }
    }));
}

TEST_F(Watch, ForgetsReadersThatABarrierOrders) {
    write_all();
    EXPECT_TRUE(is_fine([&] {
        for (int turn = 0; turn < 3; ++turn) {
            if (thread() == turn) {
                EXPECT_EQ(load(own()), turn == 0 ? 7 : turn);
                store(own(), turn + 1);
            }
            __syncwarp();
            if (thread() == turn || thread() == turn + 1) {
                (void)load(own());
            }
            __syncwarp();
        }
        __syncthreads();
        if (thread() == 0) {
            store(own(), 7);
        }
    }));
    EXPECT_TRUE(is_fine([&] {
        if (thread() == 0) {
            (void)load(own());
        }
        __syncwarp();
        if (thread() == 1) {
            (void)load(own());
            store(own(), 7);
        }
    }));
}

TEST_F(Watch, TellsTwoWritesOfThreadsOfABlock) {
    EXPECT_TRUE(is_told("is written", [&] { store(own(), 1); })); // the same value
    EXPECT_TRUE(is_fine([&] {
        for (int turn = 0; turn < 64; ++turn) {
            if (turn == thread()) {
                store(own(), thread());
            }
            __syncthreads();
        }
    }));
}

// Nothing orders blocks, not even the end of one before the start of another.
TEST_F(Watch, TellsRacesBetweenBlocks) {
    write_all();
    const auto is_first = [] { return thread() == 0; };
    EXPECT_TRUE(is_told("while another block writes it", [&] {
        if (is_first()) {
            store(words, 1);
        }
    }));
    EXPECT_TRUE(is_told("another block", [&] { // one of them reads
        if (is_first() && block() == 0) {
            store(words, 1);
        } else if (is_first()) {
            (void)load(words);
        }
    }));
    EXPECT_TRUE(is_told("another block", [&] { // with barriers on both sides
        __syncthreads();
        if (is_first()) {
            (void)load(words + block());
        }
        __syncthreads();
        if (is_first() && block() == 0) {
            store(words + 1, 1);
        }
        __syncthreads();
    }));
    EXPECT_TRUE(is_fine([&] { store(own() + thread(), load(words + 64 * block() + thread()) + 1); }));
}

TEST_F(Watch, LetsAllRead) {
    write_all();
    EXPECT_TRUE(is_fine([&] {
        for (int i = 0; i < 5; ++i) {
            EXPECT_EQ(load(words + (thread() + i) % count), 7);
        }
    }));
}

TEST_F(Watch, LetsTheNextKernelSeeAll) {
    for (int round = 0; round < 2; ++round) {
        EXPECT_TRUE(is_fine([&] { store(own() + thread(), round + block()); }));
        EXPECT_TRUE(is_fine([&] { EXPECT_EQ(load(words + 64 * (1 - block()) + thread()), round + 1 - block()); }));
    }
}

TEST_F(Watch, LetsAllUseAtomicFunctions) {
    write_all();
    EXPECT_TRUE(is_fine([&] {
        atomicAdd(words, 1);
        atomicMax(words, block());
        (void)load_relaxed(words);
        (void)load_relaxed_through_cache(words);
        store_relaxed(words, thread());
        (void)compare_exchange_relaxed(words, 3, 4);
    }));
    EXPECT_TRUE(is_fine([&] { // a barrier between both ways
        store(own() + thread(), 0);
        __syncthreads();
        atomicAdd(own(), 1);
        __syncthreads();
        EXPECT_EQ(load(own()), 64);
    }));
}

TEST_F(Watch, TellsAnAtomicFunctionBesideAPlainAccess) {
    write_all();
    const std::vector<std::function<void()>> changes{[&] { atomicAdd(words, 1); }, [&] { store_relaxed(words, 1); },
                                                     [&] { (void)compare_exchange_relaxed(words, 7, 7); }};
    for (const auto& change : changes) {
        write_all();
        EXPECT_TRUE(is_told("an atomic function", [&] {
            if (block() == 0) {
                change();
            } else {
                (void)load(words);
            }
        }));
    }
    EXPECT_TRUE(is_told("an atomic function", [&] { // all change it, one looks
        atomicAdd(words, 1);
        if (block() == 1 && thread() == 5) {
            (void)load(words);
        }
    }));
    EXPECT_TRUE(is_told("an atomic function", [&] {
        if (block() == 0) {
            (void)load_relaxed(words);
        } else if (thread() == 0) {
            store(words, 1);
        }
    }));
    EXPECT_TRUE(is_fine([&] { // which only looks
        (void)load_relaxed(words);
        (void)load(words);
    }));
}

TEST_F(Watch, TellsAReadOfWhatNobodyWrote) {
    EXPECT_TRUE(is_told("is read that nobody wrote", [&] { (void)load(own() + thread()); }));
    EXPECT_TRUE(is_told("is read that nobody wrote", [&] { (void)load_relaxed(own() + thread()); }));
    EXPECT_TRUE(is_told("is read that nobody wrote", [&] { atomicAdd(own() + thread(), 1); }));
    EXPECT_TRUE(is_fine([&] { store_relaxed(own() + thread(), 1); }));
    EXPECT_TRUE(is_fine([&] { (void)load(own() + thread()); }));
}

TEST_F(Watch, KnowsPoisonThatAKernelWroteItself) {
    const auto poisoned = static_cast<std::int32_t>(0xABABABAB);
    EXPECT_TRUE(is_fine([&] { store(own() + thread(), poisoned); }));
    EXPECT_TRUE(is_fine([&] { EXPECT_EQ(load(own() + thread()), poisoned); }));
    memory.reset();
    memory = context.buffer<std::int32_t>(count); // the same memory again, and new
    ASSERT_EQ(memory->data(), words);
    EXPECT_TRUE(is_told("is read that nobody wrote", [&] { (void)load(own() + thread()); }));
}

TEST_F(Watch, TakesMemoryOfACallerForNew) {
    detail::ScratchArena arena(std::as_writable_bytes(std::span(words, count)));
    const detail::DeviceWork work(cuda(), arena);
    const auto store_and_load = [&](bool stores) {
        const detail::DeviceBuffer<std::int32_t> buffer = work.buffer<std::int32_t>(64);
        context.wait();
        EXPECT_EQ(buffer.data(), words);
        return complaint([&] {
            if (block() == 0 && stores) {
                store(words + thread(), 1);
            }
            if (block() == 0) {
                (void)load(words + thread());
            }
        });
    };
    EXPECT_EQ(store_and_load(true), "");
    EXPECT_NE(store_and_load(false).find("is read that nobody wrote"), std::string::npos);
}

TEST_F(Watch, TellsAccessesBesideWhatIsHeld) {
    write_all();
    const auto is_last = [] { return block() == 1 && thread() == 63; };
    EXPECT_TRUE(is_told("not held", [&] {
        if (is_last()) {
            (void)load(words + count);
        }
    }));
    EXPECT_TRUE(is_told("not held", [&] { store(own() + thread() - 1, 1); }));
    EXPECT_TRUE(is_told("not held", [&] {
        if (is_last()) {
            atomicAdd(words + count, 1);
        }
    }));
    EXPECT_TRUE(is_told("not held", [&] { // one half is held
        if (is_last()) {
            (void)load(reinterpret_cast<const Pair*>(words + count - 1));
        }
    }));
}

TEST_F(Watch, TellsAccessesToFreedMemory) {
    write_all();
    memory.reset();
    EXPECT_TRUE(is_told("not held", [&] { store(own() + thread(), 1); }));
    EXPECT_TRUE(is_told("not held", [&] { (void)load(own() + thread()); }));
}

TEST_F(Watch, KnowsBytesOfAWord) {
    auto* const bytes = reinterpret_cast<std::uint8_t*>(words);
    EXPECT_TRUE(is_fine([&] {
        std::uint8_t* const byte = bytes + 64 * block() + thread();
        store(byte, std::uint8_t{1});
        (void)load(byte);
    }));
    EXPECT_TRUE(is_told("is written", [&] { store(bytes + 64 * block() + thread() / 2, std::uint8_t{1}); }));
}

/// What a kernel of a user's is given: numbers, and where it puts the sum of two of them.
struct Sums {
    const std::int32_t* numbers;
    std::int32_t* sums;
};
__global__ void sum_kernel(const __grid_constant__ Sums job) {
    __shared__ SharedArray<std::int32_t, 64> shared;
    shared[thread()] = load(job.numbers + thread());
    __syncthreads();
    constexpr std::array<std::int32_t, 4> table{1, 2, 3, 4};
    const std::int32_t other = shared[thread() ^ 32];
    store(job.sums + thread(),
          __shfl_sync(~0U, other, thread() & 31) + load(&table[static_cast<std::size_t>(thread()) % 4]));
}

// As a GPU does, which finds an illegal address.
TEST_F(Watch, TellsMemoryOfTheHostInAJob) {
    write_all();
    const auto told_of = [&](const Sums& job) -> std::string {
        try {
            detail::launch(context, "sums", sum_kernel, 1, 64, job);
            context.wait();
        } catch (const KernelError& error) {
            return error.what();
        }
        return "";
    };
    EXPECT_EQ(told_of({words, words + 64}), "");
    std::vector<std::int32_t> on_heap(64, 1);
    std::array<std::int32_t, 64> on_stack{};
    const auto has = [](const std::string& text, const char* part) { return text.find(part) != std::string::npos; };
    EXPECT_PRED2(has, told_of({on_heap.data(), words}), "memory of the host is read");
    EXPECT_PRED2(has, told_of({on_stack.data(), words}), "memory of the host is read");
    EXPECT_PRED2(has, told_of({words, on_heap.data()}), "memory of the host is written");
    EXPECT_PRED2(has, told_of({nullptr, words}), "memory of the host is read");
    EXPECT_EQ(told_of({words, words + 64}), "");
}

__global__ void count_kernel(const __grid_constant__ Sums job) {
    atomicAdd(job.sums, 1);
}
TEST_F(Watch, TellsAnAtomicFunctionOnMemoryOfTheHostInAJob) {
    std::vector<std::int32_t> on_heap(1);
    detail::launch(context, "counts", count_kernel, 1, 64, {nullptr, on_heap.data()});
    EXPECT_THROW(context.wait(), KernelError);
}

// A user's kernel, of the public headers, with the points where they were made.
TEST_F(Watch, TellsPointsOfTheHostInAKernelOfAUsers) {
    const std::vector<std::array<float, 2>> points(300);
    const auto bounds = context.buffer<kdtree::Bounds<float, 2>>(1);
    detail::launch(context, "boxes",
                   kdtree::detail::measure_boxes<std::array<float, 2>, kdtree::PointTraits<std::array<float, 2>>>, 1,
                   static_cast<int>(kdtree::detail::threads_of_build),
                   {{300, const_cast<std::array<float, 2>*>(points.data()), nullptr, nullptr, nullptr, bounds.data()},
                    kdtree::detail::all_points});
    try {
        context.wait();
        FAIL() << "nothing was told";
    } catch (const KernelError& error) {
        EXPECT_NE(std::string(error.what()).find("memory of the host is read"), std::string::npos) << error.what();
    }
}

// Other threads go on before some of the accesses.
TEST_F(Watch, InterruptsThreads) {
    bool is_interrupted = false;
    for (std::uint64_t seed = 1; seed <= 8; ++seed) {
        std::vector<int> order;
        run(
            "kernel", {{2, 1, 1}, {64, 1, 1}},
            [&] {
                for (int i = 0; i < 4; ++i) {
                    store(own() + thread(), i);
                    order.push_back(64 * block() + thread());
                }
            },
            seed);
        order.erase(std::unique(order.begin(), order.end()), order.end());
        is_interrupted = is_interrupted || order.size() > std::set<int>(order.begin(), order.end()).size();
    }
    EXPECT_TRUE(is_interrupted);
}

} // namespace
} // namespace kith::emulation
