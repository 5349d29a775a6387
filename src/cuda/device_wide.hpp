// Sorts, sums and selections over whole arrays of a device: the only file that includes CUB.
//
// Counts are known on the host. Under emulation the standard library does the same
// (tools/cuda_emulation/device_wide.cpp).
#pragma once

#include "cuda/device_work.hpp"

#include <cstdint>

namespace kith::detail::inline KITH_GPU {

/// Two arrays of one size: what counts is in the first, the other is for what a sort moves.
template <class Element>
struct SortedArray {
    Element* elements;
    Element* spare;
};

/// Sorts so many values by the lowest `bits` bits of their keys; equal keys keep their order. Arrays may change places.
void sort_by_key(DeviceWork& work, SortedArray<std::uint64_t>& keys, SortedArray<std::int32_t>& values,
                 std::int64_t count, int bits);

/// Sorts values by the lowest `bits` bits of their keys; equal keys keep their order. Both arrays may be others
/// afterwards. Takes as much memory again.
void sort_by_key(DeviceWork& work, DeviceBuffer<std::uint64_t>& keys, DeviceBuffer<std::int32_t>& values, int bits);
void sort_by_key(DeviceWork& work, DeviceBuffer<std::uint32_t>& keys, DeviceBuffer<std::int32_t>& values, int bits);

/// Lists the places of the flags that are not 0, in order, and counts them in `*selected`, which is the device's.
void select_flagged(DeviceWork& work, const std::uint8_t* flags, std::int64_t count, std::int32_t* places,
                    std::int32_t* selected);

/// sums[i] is the sum of the first i values (exclusive) or of i + 1 of them (inclusive). In place if both are one.
void exclusive_sum(DeviceWork& work, const std::int32_t* values, std::int64_t count, std::int32_t* sums);
void inclusive_sum(DeviceWork& work, const std::int32_t* values, std::int64_t count, std::int32_t* sums);
void inclusive_sum(DeviceWork& work, const std::int64_t* values, std::int64_t count, std::int64_t* sums);

} // namespace kith::detail::inline KITH_GPU
