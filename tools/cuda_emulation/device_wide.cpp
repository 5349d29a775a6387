// What src/cuda/device_wide.cu does with libraries of the device, done by the standard library; scratch of some size is
// taken, and spoiled, as there.
#include "cuda/device_wide.hpp"

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

namespace kith::detail::inline KITH_GPU {

namespace {

/// Puts the work on the stream. An observer learns the size of what CUB reads and writes, and the bits it sorts by.
template <class Body>
void with_scratch(DeviceWork& work, const char* name, std::int64_t count, int element_bytes, int key_bits,
                  const Body& body) {
    const std::int64_t bytes = count / 4 + 1;
    const DeviceBuffer<std::uint8_t> scratch = work.buffer<std::uint8_t>(bytes);
    if (!work.only_measures()) {
        emulation::enqueue(work.stream(), {name, {}, nullptr, {}, count, element_bytes, key_bits},
                           [spoiled = scratch.data(), bytes, body] {
                               std::fill_n(spoiled, bytes, 0xCD);
                               body();
                           });
    }
}

template <class Key>
void sort_arrays(DeviceWork& work, SortedArray<Key>& keys, SortedArray<std::int32_t>& values, std::int64_t count,
                 int bits) {
    with_scratch(work, "radix sort", count, sizeof(Key) + sizeof(std::int32_t), bits, [keys, values, count, bits] {
        std::vector<std::int64_t> order(static_cast<std::size_t>(count));
        std::iota(order.begin(), order.end(), 0);
        const int unused = 8 * static_cast<int>(sizeof(Key)) - bits;
        std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
            return bits > 0 && keys.elements[a] << unused < keys.elements[b] << unused;
        });
        for (std::size_t i = 0; i < order.size(); ++i) {
            keys.spare[i] = keys.elements[order[i]];
            values.spare[i] = values.elements[order[i]];
        }
    });
    if (!work.only_measures()) {
        std::swap(keys.elements, keys.spare);
        std::swap(values.elements, values.spare);
    }
}

template <class Key>
void sort_buffers(DeviceWork& work, DeviceBuffer<Key>& keys, DeviceBuffer<std::int32_t>& values, int bits) {
    const std::int64_t count = keys.size();
    DeviceBuffer<Key> other_keys = work.buffer<Key>(count); // as much memory as there
    DeviceBuffer<std::int32_t> other_values = work.buffer<std::int32_t>(count);
    SortedArray<Key> both_keys{keys.data(), other_keys.data()};
    SortedArray<std::int32_t> both_values{values.data(), other_values.data()};
    sort_arrays(work, both_keys, both_values, count, bits);
    std::swap(keys, other_keys);
    std::swap(values, other_values);
}

template <class Number>
void sum_inclusively(DeviceWork& work, const Number* values, std::int64_t count, Number* sums) {
    with_scratch(work, "sum", count, sizeof(Number), 0, [=] { std::inclusive_scan(values, values + count, sums); });
}

} // namespace

void sort_by_key(DeviceWork& work, SortedArray<std::uint64_t>& keys, SortedArray<std::int32_t>& values,
                 std::int64_t count, int bits) {
    sort_arrays(work, keys, values, count, bits);
}

void sort_by_key(DeviceWork& work, DeviceBuffer<std::uint64_t>& keys, DeviceBuffer<std::int32_t>& values, int bits) {
    sort_buffers(work, keys, values, bits);
}

void sort_by_key(DeviceWork& work, DeviceBuffer<std::uint32_t>& keys, DeviceBuffer<std::int32_t>& values, int bits) {
    sort_buffers(work, keys, values, bits);
}

void select_flagged(DeviceWork& work, const std::uint8_t* flags, std::int64_t count, std::int32_t* places,
                    std::int32_t* selected) {
    with_scratch(work, "select", count, sizeof(std::uint8_t), 0, [=] {
        *selected = 0;
        for (std::int64_t i = 0; i < count; ++i) {
            if (flags[i] != 0) {
                places[(*selected)++] = static_cast<std::int32_t>(i);
            }
        }
    });
}

void exclusive_sum(DeviceWork& work, const std::int32_t* values, std::int64_t count, std::int32_t* sums) {
    with_scratch(work, "sum", count, sizeof(std::int32_t), 0,
                 [=] { std::exclusive_scan(values, values + count, sums, 0); });
}

void inclusive_sum(DeviceWork& work, const std::int32_t* values, std::int64_t count, std::int32_t* sums) {
    sum_inclusively(work, values, count, sums);
}

void inclusive_sum(DeviceWork& work, const std::int64_t* values, std::int64_t count, std::int64_t* sums) {
    sum_inclusively(work, values, count, sums);
}

} // namespace kith::detail::inline KITH_GPU
