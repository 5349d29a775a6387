// Prefix sums by all threads, and what is made with them: lists joined, elements selected, in order.
//
// The sums of blocks are taken side by side and added up one after the other; then every block knows its start, and all
// are gone through again side by side. One thread goes through once. Sums of integers: where the blocks end does not
// matter.
#pragma once

#include "support/context.hpp"
#include "support/parallel.hpp"

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <numeric>
#include <vector>

namespace kith::detail {

/// Calls write(i, sum of value(0) to value(i - 1)) for every i in [0, count), which may overwrite value(i), and returns
/// the sum of all.
template <std::integral Sum, class Value, class Write>
Sum prefix_sums(std::int64_t count, const Value& value, const Write& write) {
    constexpr std::int64_t block_size = 1 << 14;
    const auto add_up = [&](std::int64_t begin, std::int64_t end, Sum sum) {
        for (std::int64_t i = begin; i < end; ++i) {
            const Sum next = sum + value(i);
            write(i, sum);
            sum = next;
        }
        return sum;
    };
    if (count <= block_size || loop_threads() == 1) {
        return add_up(0, count, 0);
    }
    std::vector<Sum> starts(blocks_of(count, block_size) + 1);
    parallel_blocks(count, block_size, [&](std::int64_t block, std::int64_t begin, std::int64_t end) {
        Sum sum = 0;
        for (std::int64_t i = begin; i < end; ++i) {
            sum += value(i);
        }
        starts[block + 1] = sum;
    });
    std::partial_sum(starts.begin(), starts.end(), starts.begin());
    parallel_blocks(count, block_size, [&](std::int64_t block, std::int64_t begin, std::int64_t end) {
        add_up(begin, end, starts[block]);
    });
    return starts.back();
}

/// The elements of some lists, one list after the other.
template <class T>
Buffer<T> joined(Context& context, const std::vector<std::vector<T>>& lists) {
    std::vector<std::int64_t> starts(lists.size());
    const auto size = prefix_sums<std::int64_t>(
        std::ssize(lists), [&](std::int64_t i) { return std::ssize(lists[i]); },
        [&](std::int64_t i, std::int64_t start) { starts[i] = start; });
    Buffer<T> all(context.memory_tracker(), size);
    parallel_each(std::ssize(lists), 1,
                  [&](std::int64_t i) { std::copy(lists[i].begin(), lists[i].end(), all.data() + starts[i]); });
    return all;
}

/// The elements that are wanted, in order.
template <class T, class IsWanted>
Buffer<T> selected(Context& context, const Buffer<T>& from, const IsWanted& is_wanted) {
    constexpr std::int64_t block_size = 1 << 12;
    std::vector<std::int64_t> starts(blocks_of(from.size(), block_size));
    parallel_blocks(from.size(), block_size, [&](std::int64_t block, std::int64_t begin, std::int64_t end) {
        starts[block] = std::count_if(from.data() + begin, from.data() + end, is_wanted);
    });
    const auto size = prefix_sums<std::int64_t>(
        std::ssize(starts), [&](std::int64_t block) { return starts[block]; },
        [&](std::int64_t block, std::int64_t start) { starts[block] = start; });
    Buffer<T> all(context.memory_tracker(), size);
    parallel_blocks(from.size(), block_size, [&](std::int64_t block, std::int64_t begin, std::int64_t end) {
        std::copy_if(from.data() + begin, from.data() + end, all.data() + starts[block], is_wanted);
    });
    return all;
}

} // namespace kith::detail
