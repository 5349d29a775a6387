// The emulated grid itself: right kernels give the right answer in every order, wrong ones are told what is wrong.
#include "cuda_emulation/cuda_intrinsics.hpp"

#include "emulation/complaints.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
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

} // namespace
} // namespace kith::emulation
