#include "fof/labels.hpp"

#include "support/parallel.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

namespace kith::detail {

// Only groups of two or more are sorted; single points, usually most of the groups, are numbered behind them in one
// pass in input order.
void number_groups(Context& context, const UnionFind& groups, std::span<const std::int32_t> original,
                   FofResult& result) {
    const auto count = static_cast<std::int64_t>(original.size());
    struct Group {
        std::int32_t size;
        std::int32_t first_member; ///< smallest original index
    };
    Buffer<Group> by_root(context.ledger(), count);
    parallel_for(0, count, 1 << 14, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
            by_root[i] = {0, std::numeric_limits<std::int32_t>::max()};
            (void)groups.find(static_cast<std::int32_t>(i)); // shortens the paths for the pass below
        }
    });
    for (std::int64_t i = 0; i < count; ++i) {
        Group& group = by_root[groups.find(static_cast<std::int32_t>(i))];
        ++group.size;
        group.first_member = std::min(group.first_member, original[i]);
    }

    struct Ranked {
        Group group;
        std::int32_t root;
    };
    std::vector<Ranked> ranked;
    std::int64_t singles = 0;
    for (std::int64_t i = 0; i < count; ++i) {
        if (by_root[i].size > 1) {
            ranked.push_back({by_root[i], static_cast<std::int32_t>(i)});
        }
        singles += by_root[i].size == 1 ? 1 : 0;
    }
    std::sort(ranked.begin(), ranked.end(), [](const Ranked& a, const Ranked& b) {
        return a.group.size != b.group.size ? a.group.size > b.group.size : a.group.first_member < b.group.first_member;
    });

    result.sizes.assign(ranked.size() + static_cast<std::size_t>(singles), 1);
    for (std::size_t label = 0; label < ranked.size(); ++label) {
        result.sizes[label] = ranked[label].group.size;
        by_root[ranked[label].root].first_member = static_cast<std::int32_t>(label); // from here on, the label
    }
    result.labels.resize(static_cast<std::size_t>(count));
    parallel_for(0, count, 1 << 14, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
            const Group& group = by_root[groups.find(static_cast<std::int32_t>(i))];
            result.labels[original[i]] = group.size > 1 ? group.first_member : -1;
        }
    });
    auto next = static_cast<std::int32_t>(ranked.size());
    for (std::int32_t& label : result.labels) {
        if (label < 0) {
            label = next++;
        }
    }
}

} // namespace kith::detail
