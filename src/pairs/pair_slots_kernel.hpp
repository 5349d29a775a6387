// Sums of pairs by slot in memory of a GPU, which all blocks add to.
//
// There are several copies of the slots, so that blocks seldom wait for each other. Sums of more than 64 bits are added
// word by word, each with the carry of the one before: whatever order the words of several blocks come in, no carry is
// lost.
#pragma once

#include "cuda/intrinsics.hpp"
#include "support/host_device.hpp"
#include "support/int128.hpp"
#include "support/int192.hpp"

#include <cstdint>

namespace kith::detail::inline KITH_GPU {

using DeviceWord = unsigned long long; ///< of 64 bits, as atomic operations name it

/// Sums by copy and slot: a count, with weights two more words, of 128 bits, and with separations three more.
struct PairSlots {
    DeviceWord* words = nullptr;
    std::int64_t slots = 0;
    std::int64_t copies = 0;
    bool weighted = false;
    bool separations = false;

    [[nodiscard]] KITH_HOST_DEVICE int first_of_separations() const { return weighted ? 3 : 1; }
    [[nodiscard]] KITH_HOST_DEVICE int words_of_slot() const { return first_of_separations() + (separations ? 3 : 0); }
    [[nodiscard]] __device__ DeviceWord* slot(std::int64_t copy, std::int64_t slot) const {
        return words + (copy * slots + slot) * words_of_slot();
    }
    __device__ void add(std::int64_t copy, std::int64_t at, DeviceWord count, UnsignedInt128 weight) const {
        DeviceWord* const sums = slot(copy, at);
        atomicAdd(sums, count);
        if (weighted) {
            const auto low = static_cast<DeviceWord>(weight);
            const DeviceWord before = atomicAdd(sums + 1, low);
            atomicAdd(sums + 2, static_cast<DeviceWord>(weight >> 64) + (before > ~low ? 1U : 0U)); // with the carry
        }
    }
    __device__ void add_separation(std::int64_t copy, std::int64_t at, const Int192& separation) const {
        DeviceWord* const sums = slot(copy, at) + first_of_separations();
        bool carry = false;
        for (int k = 0; k < 3; ++k) {
            const DeviceWord more = separation.word(k) + (carry ? 1U : 0U);
            const bool is_full = carry && more == 0; // both are one of the next word
            const DeviceWord before = atomicAdd(sums + k, more);
            carry = is_full || before > ~more;
        }
    }
    /// Of the words of a slot.
    [[nodiscard]] KITH_HOST_DEVICE Int192 separation(const DeviceWord* sums) const {
        const DeviceWord* const words_of_sum = sums + first_of_separations();
        return {words_of_sum[0], words_of_sum[1], words_of_sum[2]};
    }
};

/// Adds all copies of a slot to the first.
struct JoinPairSlots {
    PairSlots slots;

    __device__ void operator()(std::int64_t slot) const {
        DeviceWord count = 0;
        UnsignedInt128 weight = 0;
        Int192 separation;
        for (std::int64_t copy = 0; copy < slots.copies; ++copy) {
            const DeviceWord* const sums = slots.slot(copy, slot);
            count += sums[0];
            if (slots.weighted) {
                weight += UnsignedInt128{sums[2]} << 64 | sums[1];
            }
            if (slots.separations) {
                separation += slots.separation(sums);
            }
        }
        DeviceWord* const joined = slots.slot(0, slot);
        joined[0] = count;
        if (slots.weighted) {
            joined[1] = static_cast<DeviceWord>(weight);
            joined[2] = static_cast<DeviceWord>(weight >> 64);
        }
        for (int k = 0; slots.separations && k < 3; ++k) {
            joined[slots.first_of_separations() + k] = separation.word(k);
        }
    }
};

} // namespace kith::detail::inline KITH_GPU
