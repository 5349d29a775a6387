// Shared memory under emulation: what barriers order passes, what they do not is an error.
#include "cuda_emulation/cuda_intrinsics.hpp"

#include "emulation/complaints.hpp"

#include <gtest/gtest.h>

#include <string>

namespace kith::emulation {
namespace {

int thread() {
    return static_cast<int>(threadIdx.x);
}

TEST(SharedArray, ABarrierOrdersWritingAndReading) {
    EXPECT_TRUE(is_fine([] {
        __shared__ SharedArray<int, 64> array;
        for (int round = 0; round < 3; ++round) {
            array[thread()] = thread() + round;
            __syncthreads();
            EXPECT_EQ(static_cast<int>(array[63 - thread()]), 63 - thread() + round);
            EXPECT_EQ(static_cast<int>(array[5]), 5 + round);
            __syncthreads();
        }
    }));
}

TEST(SharedArray, ABarrierOfTheWarpOrdersWithinTheWarp) {
    EXPECT_TRUE(is_fine([] {
        __shared__ SharedArray<int, 64> array;
        const int first = thread() / 32 * 32;
        for (int round = 0; round < 3; ++round) {
            array[thread()] = round;
            __syncwarp();
            EXPECT_EQ(static_cast<int>(array[first + (thread() + 1) % 32]), round);
            EXPECT_EQ(static_cast<int>(array[first]), round);
            __syncwarp();
        }
    }));
    EXPECT_TRUE(is_told("of shared memory is read", [] {
        __shared__ SharedArray<int, 64> array;
        array[thread()] = 1;
        __syncwarp();
        (void)static_cast<int>(array[63 - thread()]); // of the other warp
    }));
}

TEST(SharedArray, WhatNobodyWroteMustNotBeRead) {
    EXPECT_TRUE(is_told("element 64 of shared memory is read, but no thread of this block wrote it", [] {
        __shared__ SharedArray<int, 65> array;
        array[thread()] = 1;
        __syncthreads();
        (void)static_cast<int>(array[thread() + 1]);
    }));
}

TEST(SharedArray, WhatAnotherBlockWroteIsNotThere) {
    EXPECT_TRUE(is_told("element 0 of shared memory is read, but no thread of this block wrote it", [] {
        __shared__ SharedArray<int, 1> array;
        static int runs = 0;
        if (thread() == 0 && runs++ % 2 == 0) {
            array[0] = 1;
        }
        __syncthreads();
        (void)static_cast<int>(array[0]);
    }));
}

TEST(SharedArray, ReadingWhileAnotherWritesIsAnError) {
    EXPECT_TRUE(is_told("of shared memory is read", [] {
        __shared__ SharedArray<int, 64> array;
        array[thread()] = 1;
        (void)static_cast<int>(array[(thread() + 1) % 64]);
    }));
}

TEST(SharedArray, WritingWhileAnotherReadsIsAnError) {
    EXPECT_TRUE(is_told("no barrier orders the two", [] {
        __shared__ SharedArray<int, 64> array;
        array[thread()] = 1;
        __syncthreads();
        const int neighbor = array[(thread() + 1) % 64];
        array[thread()] = neighbor; // the barrier between is forgotten
    }));
}

TEST(SharedArray, TwoMustNotWriteOneElement) {
    EXPECT_TRUE(is_told("of shared memory is written while thread", [] {
        __shared__ SharedArray<int, 1> array;
        array[0] = 1;
    }));
}

TEST(SharedArray, SeveralMayChangeAnElementAtomically) {
    EXPECT_TRUE(is_fine([] {
        __shared__ SharedArray<int, 2> array;
        if (thread() < 2) {
            array[thread()] = 0;
        }
        __syncthreads();
        array.atomic_add(0, 2);
        array.atomic_max(1, thread());
        __syncthreads();
        EXPECT_EQ(static_cast<int>(array[0]), 128);
        EXPECT_EQ(static_cast<int>(array[1]), 63);
    }));
    EXPECT_TRUE(is_told("element 0 of shared memory is ", [] {
        __shared__ SharedArray<int, 1> array;
        if (thread() == 0) {
            array[0] = 0;
        }
        array.atomic_add(0, 1);
    }));
}

TEST(SharedArray, PlacesOutsideAreRefused) {
    EXPECT_TRUE(is_told("shared memory of 64 elements is used at 64", [] {
        __shared__ SharedArray<int, 64> array;
        array[thread() + 1] = 1;
    }));
}

} // namespace
} // namespace kith::emulation
