// What src/cuda/device_wide.cu does with libraries of the device, done by the standard library.
#include "cuda/device_wide.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace kith::detail::inline KITH_GPU {

namespace {

template <class Key>
void sort_any(DeviceContext& context, DeviceBuffer<Key>& keys, DeviceBuffer<std::int32_t>& values, int bits) {
    const std::int64_t count = keys.size();
    const std::vector<Key> old_keys = context.to_host(keys.data(), count);
    const std::vector<std::int32_t> old_values = context.to_host(values.data(), count);
    std::vector<std::int64_t> order(old_keys.size());
    std::iota(order.begin(), order.end(), 0);
    const int unused = 8 * static_cast<int>(sizeof(Key)) - bits;
    std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
        return bits > 0 && old_keys[a] << unused < old_keys[b] << unused;
    });
    std::vector<Key> new_keys(old_keys.size());
    std::vector<std::int32_t> new_values(old_keys.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
        new_keys[i] = old_keys[order[i]];
        new_values[i] = old_values[order[i]];
    }
    DeviceBuffer<Key> other_keys = context.buffer<Key>(count); // as much memory as there
    DeviceBuffer<std::int32_t> other_values = context.buffer<std::int32_t>(count);
    context.copy(other_keys.data(), new_keys.data(), count * static_cast<std::int64_t>(sizeof(Key)));
    context.copy(other_values.data(), new_values.data(), count * 4);
    std::swap(keys, other_keys);
    std::swap(values, other_values);
}

template <class Sum>
void sum_any(DeviceContext& context, const std::int32_t* values, std::int64_t count, std::int32_t* sums,
             const Sum& sum) {
    std::vector<std::int32_t> numbers = context.to_host(values, count);
    sum(numbers);
    context.copy(sums, numbers.data(), count * 4);
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
    const std::vector<std::uint8_t> all = context.to_host(flags, count);
    std::vector<std::int32_t> found;
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (all[i] != 0) {
            found.push_back(static_cast<std::int32_t>(i));
        }
    }
    const auto size = static_cast<std::int32_t>(found.size());
    context.copy(places, found.data(), std::int64_t{size} * 4);
    context.copy(selected, &size, sizeof size);
}

void exclusive_sum(DeviceContext& context, const std::int32_t* values, std::int64_t count, std::int32_t* sums) {
    sum_any(context, values, count, sums, [](std::vector<std::int32_t>& numbers) {
        std::exclusive_scan(numbers.begin(), numbers.end(), numbers.begin(), 0);
    });
}

void inclusive_sum(DeviceContext& context, const std::int32_t* values, std::int64_t count, std::int32_t* sums) {
    sum_any(context, values, count, sums, [](std::vector<std::int32_t>& numbers) {
        std::inclusive_scan(numbers.begin(), numbers.end(), numbers.begin());
    });
}

} // namespace kith::detail::inline KITH_GPU
