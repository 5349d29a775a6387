// Runs of equal sizes, found by bisection.
#pragma once

#include <kith/group_sizes.hpp>

#include "support/allocation_errors.hpp"

#include <cstdint>
#include <vector>

namespace kith::detail {

/// The sizes of `groups` groups, size_of(i) by decreasing size, all of two members or more, and of `singles` single
/// points behind them. Cost: O(log groups) for each size that occurs.
template <class SizeOf>
GroupSizes sizes_of_groups(std::int64_t groups, const SizeOf& size_of, std::int64_t singles) {
    return with_allocation_errors("the sizes of the groups", [&] {
        std::vector<GroupsOfSize> runs;
        for (std::int64_t first = 0; first < groups;) {
            const std::int64_t size = size_of(first);
            std::int64_t end = groups; // by bisection: sizes at and behind it are smaller
            for (std::int64_t low = first + 1; low < end;) {
                const std::int64_t middle = low + (end - low) / 2;
                if (size_of(middle) < size) {
                    end = middle;
                } else {
                    low = middle + 1;
                }
            }
            runs.push_back({size, end - first});
            first = end;
        }
        if (singles > 0) {
            runs.push_back({1, singles});
        }
        return GroupSizes(runs);
    });
}

} // namespace kith::detail
