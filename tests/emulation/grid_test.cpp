// The emulated grid itself: right kernels give the right answer in every order, wrong ones are told what is wrong.
#include "cuda_emulation/cuda_intrinsics.hpp"

#include "emulation/complaints.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

namespace kith::emulation {
namespace {

TEST(Grid, EveryThreadOfEveryBlockRunsOnce) {
    std::vector<int> visits(6 * 5 * 64);
    run("count", {{6, 5, 1}, {32, 2, 1}}, [&] {
        const unsigned block = blockIdx.x + gridDim.x * blockIdx.y;
        ++visits[block * 64 + threadIdx.x + blockDim.x * threadIdx.y];
    });
    EXPECT_EQ(visits, std::vector<int>(visits.size(), 1));
}

TEST(Grid, ReadyThreadsRunInAnOrderThatTheSeedDecides) {
    const auto order = [](std::uint64_t seed) {
        std::vector<unsigned> seen;
        run(
            "order", {{3, 1, 1}, {64, 1, 1}}, [&] { seen.push_back(blockIdx.x * 64 + threadIdx.x); }, seed);
        return seen;
    };
    EXPECT_EQ(order(1), order(1));
    EXPECT_NE(order(1), order(2));
    std::vector<unsigned> sorted = order(3);
    std::sort(sorted.begin(), sorted.end());
    std::vector<unsigned> all(192);
    std::iota(all.begin(), all.end(), 0U);
    EXPECT_EQ(sorted, all);
}

__global__ void sum_of_block(const int* numbers, int* sum) {
    __shared__ SharedArray<int, 8> of_warp;
    int mine = numbers[threadIdx.x];
    for (int lanes = 16; lanes > 0; lanes /= 2) {
        mine += __shfl_down_sync(~0U, mine, static_cast<unsigned>(lanes));
    }
    if (threadIdx.x % 32 == 0) {
        of_warp[static_cast<int>(threadIdx.x) / 32] = mine;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        int all = 0;
        for (int warp = 0; warp < static_cast<int>(blockDim.x) / 32; ++warp) {
            all += of_warp[warp];
        }
        *sum = all;
    }
}

TEST(Grid, ASumOverABlockIsRightInEveryOrder) {
    std::vector<int> numbers(256);
    std::iota(numbers.begin(), numbers.end(), 1);
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        int sum = 0;
        run(
            "sum_of_block", {{1, 1, 1}, {256, 1, 1}}, [&] { sum_of_block(numbers.data(), &sum); }, seed);
        EXPECT_EQ(sum, 256 * 257 / 2);
    }
}

TEST(Grid, WarpOperationsSeeTheirOwnWarpAndMask) {
    EXPECT_TRUE(is_fine([] {
        const int lane = static_cast<int>(threadIdx.x % 32);
        const int warp = static_cast<int>(threadIdx.x / 32);
        EXPECT_EQ(__ballot_sync(~0U, lane % 3 == warp), warp == 0 ? 0x49249249U : 0x92492492U);
        EXPECT_EQ(__shfl_sync(~0U, lane * 10 + warp, 7), 70 + warp);
        EXPECT_EQ(__shfl_sync(~0U, lane, 1, 8), lane / 8 * 8 + 1);
        EXPECT_EQ(__shfl_xor_sync(~0U, lane, 5), lane ^ 5);
        EXPECT_EQ(__shfl_up_sync(~0U, lane, 3U), lane < 3 ? lane : lane - 3);
        EXPECT_EQ(__shfl_down_sync(~0U, lane, 4U, 8), lane % 8 < 4 ? lane + 4 : lane);
        EXPECT_EQ(__any_sync(~0U, lane == 31), 1);
        EXPECT_EQ(__all_sync(~0U, lane < 31), 0);
        EXPECT_EQ(__reduce_add_sync(~0U, lane), 496);
        EXPECT_EQ(__reduce_min_sync(~0U, 5 - lane), -26);
        EXPECT_EQ(__reduce_max_sync(~0U, 2.5F * static_cast<float>(lane)), 77.5F);
        EXPECT_EQ(__match_any_sync(~0U, lane / 8), 0xFFU << (lane / 8 * 8));
        if (lane < 16) { // a part of the warp alone
            EXPECT_EQ(__reduce_add_sync(0xFFFFU, 1), 16);
            EXPECT_EQ(__shfl_sync(0xFFFFU, lane, 15), 15);
        }
    }));
}

TEST(Grid, WhatTheKernelThrowsReachesTheCaller) {
    EXPECT_THROW(run("throws", {{2, 1, 1}, {64, 1, 1}},
                     [] {
                         if (threadIdx.x == 40) {
                             throw std::out_of_range("40");
                         }
                         __syncthreads();
                     }),
                 std::out_of_range);
}

TEST(Grid, WhatThreadsHoldIsReleasedWhenABlockIsGivenUp) {
    const auto held = std::make_shared<int>(1);
    EXPECT_TRUE(is_told("no thread can go on", [&] {
        const auto mine = held; // NOLINT(performance-unnecessary-copy-initialization): counted below
        if (threadIdx.x < 32) {
            __syncthreads();
        }
    }));
    EXPECT_EQ(held.use_count(), 1);
}

__global__ void two_barriers() {
    if (threadIdx.x < 32) {
        __syncthreads();
    } else {
        __syncthreads();
    }
}

TEST(Grid, ABarrierThatSomeDoNotReachIsAnError) {
    EXPECT_TRUE(is_told("threads 0 to 31 at __syncthreads at ", [] {
        if (threadIdx.x < 32) {
            __syncthreads();
        }
    }));
    EXPECT_TRUE(is_told("no thread can go on", two_barriers));
}

TEST(Grid, ALaneThatTheMaskNamesMustCome) {
    EXPECT_TRUE(is_told("thread 3 ended", [] {
        if (threadIdx.x % 32 != 3) {
            __syncwarp();
        }
    }));
    EXPECT_TRUE(is_told("threads 16 to 31 at __ballot_sync of lanes 0xffffffff", [] {
        if (threadIdx.x % 32 < 16) {
            __syncwarp();
        } else {
            __ballot_sync(~0U, 1);
        }
    }));
}

TEST(Grid, ALaneThatComesMustBeInItsMask) {
    EXPECT_TRUE(is_told("not in its own mask calls __ballot_sync", [] { __ballot_sync(0x7FFFFFFFU, 1); }));
}

TEST(Grid, AShuffleMustNotReadALaneThatIsNotThere) {
    EXPECT_TRUE(is_told("reads lane 20, which is not in its mask", [] {
        if (threadIdx.x % 32 < 16) {
            __shfl_sync(0xFFFFU, 1, 20);
        }
    }));
}

TEST(Grid, BlocksAreWholeWarps) {
    EXPECT_THROW(run("kernel", {{1, 1, 1}, {48, 1, 1}}, [] {}), KernelError);
    EXPECT_THROW(run("kernel", {{1, 1, 1}, {2048, 1, 1}}, [] {}), KernelError);
    EXPECT_THROW(run("kernel", {{1, 1, 1}, {0, 1, 1}}, [] {}), KernelError);
}

TEST(Grid, WordsOfKernelsNeedAKernel) {
    EXPECT_THROW(__syncthreads(), KernelError);
    EXPECT_TRUE(is_told("launched from within a kernel", [] { run("inner", {}, [] {}); }));
}

// Blocks in flight, and the words through which they talk.

/// Whether some order of a kernel's blocks ends with a KernelError of these words.
bool is_caught(const std::string& words, unsigned blocks, const std::function<void()>& prepare,
               const std::function<void()>& kernel) {
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        prepare();
        try {
            run("kernel", {{blocks, 1, 1}, {32, 1, 1}}, kernel, seed);
        } catch (const KernelError& error) {
            return std::string(error.what()).find(words) != std::string::npos;
        }
    }
    return false;
}

void wait_for(const std::int32_t* word, std::int32_t value) {
    while (load_relaxed(word) != value) {
    }
}

TEST(BlocksInFlight, MayWaitForEachOther) {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        std::int32_t turn = 0;
        run(
            "ping-pong", {{2, 1, 1}, {32, 1, 1}},
            [&] {
                const auto mine = static_cast<std::int32_t>(blockIdx.x);
                for (std::int32_t round = 0; threadIdx.x == 0 && round < 20; round += 2) {
                    wait_for(&turn, round + mine);
                    store_relaxed(&turn, round + mine + 1);
                }
            },
            seed);
        EXPECT_EQ(turn, 20);
    }
}

// Blocks that wait for the one before them are right only if blocks start in their order.
TEST(BlocksInFlight, MustNotWaitForOneThatHasNotStarted) {
    std::vector<std::int32_t> done(12);
    std::int32_t tickets = 0;
    const auto prepare = [&] {
        done.assign(done.size(), 0);
        tickets = 0;
    };
    const auto follow = [&](std::int32_t number) {
        if (number > 0) {
            wait_for(&done[static_cast<std::size_t>(number) - 1], 1);
        }
        store_relaxed(&done[static_cast<std::size_t>(number)], 1);
    };
    EXPECT_TRUE(is_caught("waits for what no thread of the blocks in flight does", 12, prepare, [&] {
        if (threadIdx.x == 0) {
            follow(static_cast<std::int32_t>(blockIdx.x));
        }
    }));
    EXPECT_FALSE(is_caught("", 12, prepare, [&] { // numbered as they start
        if (threadIdx.x == 0) {
            follow(atomicAdd(&tickets, 1));
        }
    }));
}

TEST(BlocksInFlight, LoseWhatIsNotAddedAtomically) {
    int lost = 0;
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        std::int32_t loaded_and_stored = 0;
        std::int32_t added = 0;
        run(
            "add", {{8, 1, 1}, {32, 1, 1}},
            [&] {
                if (threadIdx.x == 0) {
                    store_relaxed(&loaded_and_stored, load_relaxed(&loaded_and_stored) + 1);
                    atomicAdd(&added, 1);
                }
            },
            seed);
        EXPECT_EQ(added, 8);
        lost += 8 - loaded_and_stored;
    }
    EXPECT_GT(lost, 0);
}

TEST(BlocksInFlight, HaveSharedMemoryOfTheirOwn) {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        run(
            "shared", {{8, 1, 1}, {64, 1, 1}},
            [] {
                __shared__ SharedArray<int, 1> block;
                for (int round = 0; round < 5; ++round) {
                    if (threadIdx.x == 0) {
                        block[0] = static_cast<int>(blockIdx.x);
                    }
                    yield();
                    __syncthreads();
                    EXPECT_EQ(static_cast<int>(block[0]), static_cast<int>(blockIdx.x));
                    __syncthreads();
                }
            },
            seed);
    }
}

// Nothing orders a word after another one, so a flag does not say that other words have arrived.
TEST(RelaxedWords, ArriveInAnyOrder) {
    std::int32_t data = 0;
    std::int32_t flag = 0;
    const auto prepare = [&] { data = flag = 0; };
    const auto send = [&](std::int32_t* with) {
        store_relaxed(&data, 7);
        store_relaxed(with, 7);
    };
    EXPECT_TRUE(is_caught("is late", 2, prepare, [&] {
        if (threadIdx.x == 0 && blockIdx.x == 0) {
            send(&flag);
        } else if (threadIdx.x == 0) {
            wait_for(&flag, 7);
            if (load_relaxed(&data) != 7) {
                fail("the data is late");
            }
        }
    }));
    EXPECT_FALSE(is_caught("", 2, prepare, [&] { // the flag is the data
        if (threadIdx.x == 0 && blockIdx.x == 0) {
            send(&flag);
        } else if (threadIdx.x == 0) {
            wait_for(&flag, 7);
            wait_for(&data, 7);
        }
    }));
}

TEST(RelaxedWords, NeverGoBackForAThreadExceptInItsCache) {
    std::int32_t word = 0;
    const auto prepare = [&] { word = 0; };
    const auto count_and_watch = [&](auto load) {
        std::int32_t last = 0;
        for (std::int32_t i = 1; threadIdx.x == 0 && i <= 20; ++i) {
            if (blockIdx.x == 0) {
                store_relaxed(&word, i);
            } else {
                const std::int32_t found = load(&word);
                if (found < last) {
                    fail("the word went back");
                }
                last = found;
            }
        }
    };
    EXPECT_FALSE(is_caught("", 2, prepare, [&] { count_and_watch(load_relaxed); }));
    EXPECT_TRUE(is_caught("the word went back", 2, prepare, [&] { count_and_watch(load_relaxed_through_cache); }));
}

TEST(RelaxedWords, AreKnownToTheBlockBehindABarrier) {
    std::int32_t word = 0;
    const auto prepare = [&] { word = 0; };
    enum class Barrier : std::uint8_t { none, of_block, of_warp };
    const auto pass_on = [&](Barrier barrier, auto load) {
        if (threadIdx.x == 0) {
            store_relaxed(&word, 1);
        }
        if (barrier == Barrier::of_block) {
            __syncthreads();
        } else if (barrier == Barrier::of_warp) {
            __syncwarp();
        }
        if (load(&word) != 1) {
            fail("the word is late");
        }
    };
    for (const auto load : {load_relaxed, load_relaxed_through_cache}) {
        EXPECT_FALSE(is_caught("", 1, prepare, [&] { pass_on(Barrier::of_block, load); }));
        EXPECT_FALSE(is_caught("", 1, prepare, [&] { pass_on(Barrier::of_warp, load); }));
        EXPECT_TRUE(is_caught("the word is late", 1, prepare, [&] { pass_on(Barrier::none, load); }));
    }
}

} // namespace
} // namespace kith::emulation
