#include "cuda/device_wide.hpp"

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>
#include <thrust/iterator/counting_iterator.h>

#include <utility>

namespace kith::detail::inline KITH_GPU {

namespace {

/// Calls work(scratch, bytes) as these libraries want it: first without scratch, to learn how much it takes.
template <class Work>
void with_scratch(DeviceContext& context, const char* what, const Work& work) {
    std::size_t bytes = 0;
    check_cuda(work(nullptr, bytes), what);
    const DeviceBuffer<std::uint8_t> scratch = context.buffer<std::uint8_t>(static_cast<std::int64_t>(bytes) + 1);
    check_cuda(work(scratch.data(), bytes), what);
}

template <class Key>
void sort_any(DeviceContext& context, DeviceBuffer<Key>& keys, DeviceBuffer<std::int32_t>& values, int bits) {
    const std::int64_t count = keys.size();
    if (count == 0) {
        return;
    }
    DeviceBuffer<Key> other_keys = context.buffer<Key>(count);
    DeviceBuffer<std::int32_t> other_values = context.buffer<std::int32_t>(count);
    cub::DoubleBuffer<Key> both_keys(keys.data(), other_keys.data());
    cub::DoubleBuffer<std::int32_t> both_values(values.data(), other_values.data());
    with_scratch(context, "sorting by key", [&](void* scratch, std::size_t& bytes) {
        return cub::DeviceRadixSort::SortPairs(scratch, bytes, both_keys, both_values, count, 0, bits,
                                               context.stream());
    });
    if (both_keys.Current() != keys.data()) {
        std::swap(keys, other_keys);
    }
    if (both_values.Current() != values.data()) {
        std::swap(values, other_values);
    }
}

} // namespace

void sort_by_key(DeviceContext& context, DeviceBuffer<std::uint64_t>& keys, DeviceBuffer<std::int32_t>& values,
                 int bits) {
    sort_any(context, keys, values, bits);
}

void sort_by_key(DeviceContext& context, DeviceBuffer<std::uint32_t>& keys, DeviceBuffer<std::int32_t>& values,
                 int bits) {
    sort_any(context, keys, values, bits);
}

void select_flagged(DeviceContext& context, const std::uint8_t* flags, std::int64_t count, std::int32_t* places,
                    std::int32_t* selected) {
    with_scratch(context, "selecting", [&](void* scratch, std::size_t& bytes) {
        return cub::DeviceSelect::Flagged(scratch, bytes, thrust::counting_iterator<std::int32_t>(0), flags, places,
                                          selected, count, context.stream());
    });
}

void exclusive_sum(DeviceContext& context, const std::int32_t* values, std::int64_t count, std::int32_t* sums) {
    with_scratch(context, "summing", [&](void* scratch, std::size_t& bytes) {
        return cub::DeviceScan::ExclusiveSum(scratch, bytes, values, sums, count, context.stream());
    });
}

void inclusive_sum(DeviceContext& context, const std::int32_t* values, std::int64_t count, std::int32_t* sums) {
    with_scratch(context, "summing", [&](void* scratch, std::size_t& bytes) {
        return cub::DeviceScan::InclusiveSum(scratch, bytes, values, sums, count, context.stream());
    });
}

} // namespace kith::detail::inline KITH_GPU
