// Copying rows of any width into the order of a list on a GPU, and the list of those that are in no group.
#pragma once

#include "cuda/intrinsics.hpp"

#include <cstdint>

namespace kith::detail::inline KITH_GPU {

/// A thread copies one word of a row, or several of a wide one: neighboring threads write neighboring words.
/// A row has a power of two threads, so that no thread divides.
template <class Word>
struct GatherRows {
    const std::int32_t* indices;
    const Word* rows;
    Word* out;
    std::int64_t words; ///< of a row
    int thread_bits;    ///< 2^thread_bits threads for each row
    std::int32_t* negative;

    __device__ void operator()(std::int64_t thread) const {
        const std::int64_t to = thread >> thread_bits;
        const std::int64_t from = indices[to];
        if (from < 0) {
            *negative = 1; // by any thread
            return;
        }
        const std::int64_t threads = std::int64_t{1} << thread_bits;
        for (std::int64_t word = thread & (threads - 1); word < words; word += threads) {
            out[to * words + word] = rows[from * words + word];
        }
    }
};

struct InvertFlags {
    std::uint8_t* flags;

    __device__ void operator()(std::int64_t row) const { flags[row] = flags[row] == 0 ? 1 : 0; }
};

} // namespace kith::detail::inline KITH_GPU
