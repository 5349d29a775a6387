#include "mst/ladder.hpp"

#include "mst/components.hpp"
#include "support/allocation_errors.hpp"
#include "support/parallel.hpp"
#include "support/parallel_sort.hpp"
#include "support/prefix_sums.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>

namespace kith::detail {

namespace {

constexpr std::int64_t grain = 1 << 14;

/// Ascending by decreasing size, then root.
std::uint64_t rank_key(std::int32_t size, std::int32_t root) {
    return std::uint64_t{~static_cast<std::uint32_t>(size)} << 32 | static_cast<std::uint32_t>(root);
}
std::int32_t size_in(std::uint64_t key) {
    return static_cast<std::int32_t>(~static_cast<std::uint32_t>(key >> 32));
}
std::int32_t root_in(std::uint64_t key) {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(key));
}

} // namespace

Ladder::Ladder(Context& context, std::int64_t points, std::int64_t min_members)
    : context_(context), min_members_(min_members), groups_(points), parents_(context.memory_tracker(), points),
      sizes_(context.memory_tracker(), points), labels_(context.memory_tracker(), points) {
    parallel_for(0, points, grain, [&](std::int64_t begin, std::int64_t end) {
        UnionFind(parents_.data()).separate(static_cast<std::int32_t>(begin), static_cast<std::int32_t>(end));
        std::fill(sizes_.data() + begin, sizes_.data() + end, 1);
    });
}

void Ladder::join(std::span<const SpanningEdge> edges) {
    detail::join(context_, UnionFind(parents_.data()), edges);
    groups_ -= std::ssize(edges);
    update_sizes();
}

void Ladder::update_sizes() {
    const UnionFind united(parents_.data());
    parallel_each(sizes_.size(), grain, [&](std::int64_t i) {
        const std::atomic_ref size(sizes_[i]);
        if (size.load(std::memory_order_relaxed) == 0) {
            return;
        }
        const std::int32_t root = united.find(static_cast<std::int32_t>(i));
        if (root != i) { // nobody adds to a group that is a root no longer
            const std::int32_t members = size.exchange(0, std::memory_order_relaxed);
            std::atomic_ref(sizes_[root]).fetch_add(members, std::memory_order_relaxed);
        }
    });
}

Buffer<std::uint64_t> Ladder::ranked_groups() {
    const std::int64_t least = std::max<std::int64_t>(min_members_, 2);
    const auto is_listed = [&](std::int64_t i) { return sizes_[i] >= least ? 1 : 0; };
    const auto count = prefix_sums<std::int64_t>(sizes_.size(), is_listed, [](std::int64_t, std::int64_t) {});
    Buffer<std::uint64_t> keys(context_.memory_tracker(), count);
    prefix_sums<std::int64_t>(sizes_.size(), is_listed, [&](std::int64_t i, std::int64_t place) {
        if (is_listed(i) != 0) {
            keys[place] = rank_key(sizes_[i], static_cast<std::int32_t>(i));
        }
    });
    parallel_sort(context_, keys);
    return keys;
}

void Ladder::list(FofLevel& level) {
    const Buffer<std::uint64_t> ranked = ranked_groups();
    const auto is_single = [&](std::int64_t i) { return sizes_[i] == 1 ? 1 : 0; };
    const std::int64_t singles =
        min_members_ > 1 ? 0 : prefix_sums<std::int64_t>(sizes_.size(), is_single, [](std::int64_t, std::int64_t) {});
    level.groups = groups_;
    with_allocation_errors("the groups of a level", [&] {
        level.sizes.resize(ranked.size() + singles, 1);
        level.first_members.resize(level.sizes.size());
    });
    parallel_each(ranked.size(), grain, [&](std::int64_t label) {
        const std::int32_t root = root_in(ranked[label]);
        level.sizes[label] = size_in(ranked[label]);
        level.first_members[label] = root;
        labels_[root] = static_cast<std::int32_t>(label);
    });
    if (singles == 0) {
        return;
    }
    prefix_sums<std::int64_t>(sizes_.size(), is_single, [&](std::int64_t i, std::int64_t before) {
        if (is_single(i) != 0) {
            const std::int64_t label = ranked.size() + before;
            level.first_members[label] = static_cast<std::int32_t>(i);
            labels_[i] = static_cast<std::int32_t>(label);
        }
    });
}

void Ladder::find_parents(FofLevel& level) {
    const UnionFind united(parents_.data());
    with_allocation_errors("the groups of a level", [&] { level.parents.resize(level.sizes.size()); });
    parallel_each(std::ssize(level.parents), grain,
                  [&](std::int64_t group) { level.parents[group] = labels_[united.find(level.first_members[group])]; });
}

} // namespace kith::detail
