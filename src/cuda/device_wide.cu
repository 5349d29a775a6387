#include "cuda/device_wide.hpp"

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>
#include <thrust/iterator/counting_iterator.h>

#include <utility>

namespace kith::detail::inline KITH_GPU {

namespace {

/// Calls call(scratch, bytes) as these libraries want it: first without scratch, to learn how much it takes.
template <class Call>
void with_scratch(DeviceWork& work, const char* what, const Call& call) {
    std::size_t bytes = 0;
    check_cuda(call(nullptr, bytes), what);
    const DeviceBuffer<std::uint8_t> scratch = work.buffer<std::uint8_t>(static_cast<std::int64_t>(bytes) + 1);
    if (!work.only_measures()) {
        check_cuda(call(scratch.data(), bytes), what);
    }
}

template <class Key>
void sort_arrays(DeviceWork& work, SortedArray<Key>& keys, SortedArray<std::int32_t>& values, std::int64_t count,
                 int bits) {
    cub::DoubleBuffer<Key> both_keys(keys.elements, keys.spare);
    cub::DoubleBuffer<std::int32_t> both_values(values.elements, values.spare);
    with_scratch(work, "sorting by key", [&](void* scratch, std::size_t& bytes) {
        return cub::DeviceRadixSort::SortPairs(scratch, bytes, both_keys, both_values, count, 0, bits, work.stream());
    });
    keys = {both_keys.Current(), both_keys.Alternate()};
    values = {both_values.Current(), both_values.Alternate()};
}

template <class Key>
void sort_buffers(DeviceWork& work, DeviceBuffer<Key>& keys, DeviceBuffer<std::int32_t>& values, int bits) {
    const std::int64_t count = keys.size();
    if (count == 0) {
        return;
    }
    DeviceBuffer<Key> other_keys = work.buffer<Key>(count);
    DeviceBuffer<std::int32_t> other_values = work.buffer<std::int32_t>(count);
    SortedArray<Key> both_keys{keys.data(), other_keys.data()};
    SortedArray<std::int32_t> both_values{values.data(), other_values.data()};
    sort_arrays(work, both_keys, both_values, count, bits);
    if (both_keys.elements != keys.data()) {
        std::swap(keys, other_keys);
    }
    if (both_values.elements != values.data()) {
        std::swap(values, other_values);
    }
}

template <class Number>
void sum_inclusively(DeviceWork& work, const Number* values, std::int64_t count, Number* sums) {
    with_scratch(work, "summing", [&](void* scratch, std::size_t& bytes) {
        return cub::DeviceScan::InclusiveSum(scratch, bytes, values, sums, count, work.stream());
    });
}

} // namespace

void sort_by_key(DeviceWork& work, SortedArray<std::uint64_t>& keys, SortedArray<std::int32_t>& values,
                 std::int64_t count, int bits) {
    if (count > 0) {
        sort_arrays(work, keys, values, count, bits);
    }
}

void sort_by_key(DeviceWork& work, DeviceBuffer<std::uint64_t>& keys, DeviceBuffer<std::int32_t>& values, int bits) {
    sort_buffers(work, keys, values, bits);
}

void sort_by_key(DeviceWork& work, DeviceBuffer<std::uint32_t>& keys, DeviceBuffer<std::int32_t>& values, int bits) {
    sort_buffers(work, keys, values, bits);
}

void select_flagged(DeviceWork& work, const std::uint8_t* flags, std::int64_t count, std::int32_t* places,
                    std::int32_t* selected) {
    with_scratch(work, "selecting", [&](void* scratch, std::size_t& bytes) {
        return cub::DeviceSelect::Flagged(scratch, bytes, thrust::counting_iterator<std::int32_t>(0), flags, places,
                                          selected, count, work.stream());
    });
}

void exclusive_sum(DeviceWork& work, const std::int32_t* values, std::int64_t count, std::int32_t* sums) {
    with_scratch(work, "summing", [&](void* scratch, std::size_t& bytes) {
        return cub::DeviceScan::ExclusiveSum(scratch, bytes, values, sums, count, work.stream());
    });
}

void inclusive_sum(DeviceWork& work, const std::int32_t* values, std::int64_t count, std::int32_t* sums) {
    sum_inclusively(work, values, count, sums);
}

void inclusive_sum(DeviceWork& work, const std::int64_t* values, std::int64_t count, std::int64_t* sums) {
    sum_inclusively(work, values, count, sums);
}

} // namespace kith::detail::inline KITH_GPU
