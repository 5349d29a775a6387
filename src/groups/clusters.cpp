// The memory of the labels serves as scratch: a cluster's smallest core index is an input row, and the clusters before
// it in that order are counted there. Cost: O(N), without a sort.
#include "groups/clusters.hpp"

#include "support/allocation_errors.hpp"
#include "support/fill_vector.hpp"
#include "support/parallel.hpp"
#include "support/prefix_sums.hpp"

#include <algorithm>
#include <atomic>

namespace kith::detail {

namespace {

constexpr std::int64_t grain = 1 << 14;

void lower_to(std::int32_t& value, std::int32_t candidate) {
    const std::atomic_ref shared(value);
    std::int32_t seen = shared.load(std::memory_order_relaxed);
    while (candidate < seen && !shared.compare_exchange_weak(seen, candidate, std::memory_order_relaxed)) {
    }
}

/// The root that a point leads to. Nothing but that root is written to a path meanwhile.
std::int32_t root_of(std::int32_t* parents, std::int32_t point) {
    while (true) {
        const std::int32_t parent = std::atomic_ref(parents[point]).load(std::memory_order_relaxed);
        if (parent == point) {
            return point;
        }
        point = parent;
    }
}

/// Members of a component lie together along the curve: body(key, begin, end) for runs of positions with equal keys.
template <class Key, class Body>
void for_each_run(std::int64_t count, const Key& key, const Body& body) {
    parallel_for(0, count, grain, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end;) {
            const std::int32_t of_run = key(static_cast<std::int32_t>(i));
            const std::int64_t first = i;
            while (++i < end && key(static_cast<std::int32_t>(i)) == of_run) {
            }
            body(of_run, first, i);
        }
    });
}

} // namespace

void number_clusters(Context& context, const UnionFind& components, std::span<const std::int32_t> original,
                     std::span<std::int32_t> labels, DbscanSummary& result) {
    const auto count = std::ssize(original);
    const auto rows = std::ssize(labels);
    std::int32_t* const parents = components.parents();
    // By root: the smallest index of the component, then the number of the cluster.
    Buffer<std::int32_t> of_root(context.memory_tracker(), count);
    parallel_each(count, grain, [&](std::int64_t i) { of_root[i] = original[i]; });
    parallel_each(rows, grain, [&](std::int64_t row) { labels[row] = 0; });
    for_each_run(
        count, [&](std::int32_t i) { return root_of(parents, i); },
        [&](std::int32_t root, std::int64_t begin, std::int64_t end) {
            lower_to(of_root[root], *std::min_element(original.data() + begin, original.data() + end));
            for (std::int64_t i = begin; i < end; ++i) {
                std::atomic_ref(parents[i]).store(root, std::memory_order_relaxed);
            }
        });
    parallel_each(count, grain, [&](std::int64_t i) {
        if (parents[i] == i) {
            labels[of_root[i]] = 1;
        }
    });
    result.clusters = prefix_sums<std::int32_t>(
        rows, [&](std::int64_t row) { return labels[row]; },
        [&](std::int64_t row, std::int32_t before) { labels[row] = before; });
    parallel_each(count, grain, [&](std::int64_t i) {
        if (parents[i] == i) {
            of_root[i] = labels[of_root[i]];
        }
    });
    parallel_each(rows, grain, [&](std::int64_t row) { labels[row] = -1; });
    with_allocation_errors("the sizes of the clusters", [&] { fill_vector(result.sizes, result.clusters); });
    for_each_run(
        count, [&](std::int32_t i) { return of_root[parents[i]]; },
        [&](std::int32_t cluster, std::int64_t begin, std::int64_t end) {
            std::atomic_ref(result.sizes[cluster]).fetch_add(end - begin);
            for (std::int64_t i = begin; i < end; ++i) {
                parents[i] = cluster;
                labels[original[i]] = cluster;
            }
        });
}

} // namespace kith::detail
