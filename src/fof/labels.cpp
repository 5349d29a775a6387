#include "fof/labels.hpp"

#include "support/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <limits>
#include <numeric>
#include <vector>

namespace kith::detail {

namespace {

/// What is known of a group, kept at its root.
struct Group {
    std::int32_t size;
    std::int32_t first_member; ///< smallest original index

    static constexpr Group none() { return {0, std::numeric_limits<std::int32_t>::max()}; }
    /// Adds members found elsewhere; others may do so at the same time.
    void add(const Group& members) {
        std::atomic_ref(size).fetch_add(members.size, std::memory_order_relaxed);
        const std::atomic_ref first(first_member);
        std::int32_t seen = first.load(std::memory_order_relaxed);
        while (members.first_member < seen &&
               !first.compare_exchange_weak(seen, members.first_member, std::memory_order_relaxed)) {
        }
    }
};

struct Ranked {
    Group group;
    std::int32_t root;
    friend bool operator<(const Ranked& a, const Ranked& b) {
        return a.group.size != b.group.size ? a.group.size > b.group.size : a.group.first_member < b.group.first_member;
    }
};

constexpr std::int64_t grain = 1 << 14;

/// Members of a group lie together along the curve: they are counted in runs, and each run is added once.
void count_members(const UnionFind& groups, std::span<const std::int32_t> original, Buffer<Group>& by_root) {
    parallel_for(0, static_cast<std::int64_t>(original.size()), grain, [&](std::int64_t begin, std::int64_t end) {
        Group run = Group::none();
        std::int32_t root = groups.find(static_cast<std::int32_t>(begin));
        for (std::int64_t i = begin; i < end; ++i) {
            const std::int32_t own = groups.find(static_cast<std::int32_t>(i));
            if (own != root) {
                by_root[root].add(run);
                run = Group::none();
                root = own;
            }
            ++run.size;
            run.first_member = std::min(run.first_member, original[i]);
        }
        by_root[root].add(run);
    });
}

/// Labels of -1 become consecutive numbers, in order, from `next` on.
void number_singles(std::vector<std::int32_t>& labels, std::int32_t next) {
    const auto count = static_cast<std::int64_t>(labels.size());
    const std::int64_t blocks = (count + grain - 1) / grain;
    std::vector<std::int32_t> starts(static_cast<std::size_t>(blocks));
    const auto each_block = [&](auto&& body) {
        parallel_for(0, blocks, 1, [&](std::int64_t first, std::int64_t last) {
            for (std::int64_t block = first; block < last; ++block) {
                body(block, labels.begin() + block * grain, labels.begin() + std::min(count, (block + 1) * grain));
            }
        });
    };
    each_block([&](std::int64_t block, auto begin, auto end) {
        starts[block] = static_cast<std::int32_t>(std::count(begin, end, -1));
    });
    std::exclusive_scan(starts.begin(), starts.end(), starts.begin(), next);
    each_block([&](std::int64_t block, auto begin, auto end) {
        std::int32_t number = starts[block];
        for (auto label = begin; label != end; ++label) {
            if (*label < 0) {
                *label = number++;
            }
        }
    });
}

} // namespace

// Only groups of two or more are sorted; single points, usually most of the groups, are numbered behind them in input
// order.
void number_groups(Context& context, const UnionFind& groups, std::span<const std::int32_t> original,
                   FofResult& result) {
    const auto count = static_cast<std::int64_t>(original.size());
    Buffer<Group> by_root(context.ledger(), count);
    parallel_for(0, count, grain, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
            by_root[i] = Group::none();
            (void)groups.find(static_cast<std::int32_t>(i)); // shortens the paths for the passes below
        }
    });
    count_members(groups, original, by_root);

    std::vector<Ranked> ranked;
    std::int64_t singles = 0;
    for (std::int64_t i = 0; i < count; ++i) {
        if (by_root[i].size > 1) {
            ranked.push_back({by_root[i], static_cast<std::int32_t>(i)});
        }
        singles += by_root[i].size == 1 ? 1 : 0;
    }
    std::sort(ranked.begin(), ranked.end());

    result.sizes.assign(ranked.size() + static_cast<std::size_t>(singles), 1);
    for (std::size_t label = 0; label < ranked.size(); ++label) {
        result.sizes[label] = ranked[label].group.size;
        by_root[ranked[label].root].first_member = static_cast<std::int32_t>(label); // from here on, the label
    }
    result.labels.resize(static_cast<std::size_t>(count));
    parallel_for(0, count, grain, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
            const Group& group = by_root[groups.find(static_cast<std::int32_t>(i))];
            result.labels[original[i]] = group.size > 1 ? group.first_member : -1;
        }
    });
    number_singles(result.labels, static_cast<std::int32_t>(ranked.size()));
}

} // namespace kith::detail
