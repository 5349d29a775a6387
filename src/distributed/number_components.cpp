#include "distributed/number_components.hpp"

#include "distributed/sorted_keys.hpp"
#include "support/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <functional>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

namespace kith::detail {

namespace {

constexpr std::int64_t grain = 1 << 14;
constexpr std::int64_t not_a_root = 0; ///< as a size: of a component that is part of another

/// Sizes of this rank's components, by their first row; of no meaning for other rows.
void count_members(std::span<const std::int32_t> component, std::span<std::int64_t> sizes) {
    std::ranges::fill(sizes, 0);
    parallel_for(0, std::ssize(component), grain, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t row = begin; row < end;) { // members lie together where the input is ordered
            const std::int64_t first = row;
            const std::int32_t of_run = component[first];
            while (row < end && component[row] == of_run) {
                ++row;
            }
            std::atomic_ref(sizes[of_run]).fetch_add(row - first, std::memory_order_relaxed);
        }
    });
}

/// The label of the next group of each size, of this rank.
using NextLabels = std::map<std::int64_t, std::int64_t, std::greater<>>;

/// Counts the groups of all ranks by size, into `sizes`. `counts` are this rank's.
NextLabels first_labels(Ranks& ranks, const NextLabels& counts, std::vector<GroupsOfSize>& sizes) {
    std::vector<GroupsOfSize> mine;
    ranks.agreed([&] {
        for (const auto& [size, groups] : counts) {
            mine.push_back({size, groups});
        }
    });
    const auto all = ranks.gather_lists<GroupsOfSize>(mine);
    NextLabels next;
    ranks.agreed([&] {
        NextLabels total;
        NextLabels on_lower_ranks;
        for (std::size_t i = 0; i < all.values.size(); ++i) {
            const GroupsOfSize& of_size = all.values[i];
            total[of_size.size] += of_size.groups;
            if (static_cast<std::int64_t>(i) < all.firsts[ranks.rank()]) {
                on_lower_ranks[of_size.size] += of_size.groups;
            }
        }
        std::int64_t larger = 0;
        for (const auto& [size, groups] : total) { // the largest first
            next[size] = larger + on_lower_ranks[size];
            sizes.push_back({size, groups});
            larger += groups;
        }
    });
    return next;
}

/// The groups of this rank in blocks of rows, so that threads number them side by side: counted first, by block and
/// size, from which follows the label that each block starts with.
class BlocksOfRoots {
public:
    BlocksOfRoots(Context& context, std::span<const std::int32_t> component, std::span<std::int64_t> labels)
        : context_(context), component_(component), labels_(labels),
          rows_of_block_(std::max(grain, (rows() + most_blocks - 1) / most_blocks)),
          of_blocks_(blocks_of(rows(), rows_of_block_)) {}

    /// Where labels hold sizes.
    NextLabels count() {
        for_each([](NextLabels& block, std::int64_t& size) { ++block[size]; });
        NextLabels counts;
        for (const NextLabels& block : of_blocks_) {
            for (const auto& [size, groups] : block) {
                counts[size] += groups;
            }
        }
        return counts;
    }
    /// Replaces the sizes of what has been counted by labels.
    void label(NextLabels& next) {
        for (NextLabels& block : of_blocks_) {
            for (auto& [size, groups] : block) {
                const std::int64_t first = next[size];
                next[size] += groups;
                groups = first;
            }
        }
        for_each([](NextLabels& block, std::int64_t& label) { label = block[label]++; });
    }

private:
    static constexpr std::int64_t most_blocks = 256;

    [[nodiscard]] std::int64_t rows() const { return std::ssize(component_); }

    /// Calls body with the block and the label of every root, in the order of rows within a block.
    template <class Body>
    void for_each(const Body& body) {
        context_.run([&] {
            parallel_blocks(rows(), rows_of_block_, [&](std::int64_t block, std::int64_t begin, std::int64_t end) {
                for (std::int64_t row = begin; row < end; ++row) {
                    if (component_[row] == row && labels_[row] != not_a_root) {
                        body(of_blocks_[block], labels_[row]);
                    }
                }
            });
        });
    }

    Context& context_;
    std::span<const std::int32_t> component_;
    std::span<std::int64_t> labels_;
    std::int64_t rows_of_block_;
    std::vector<NextLabels> of_blocks_;
};

} // namespace

/// Of a group, the first by size, then by its smallest id.
struct GroupKey {
    std::int64_t negative_size;
    std::int64_t smallest_id;

    // NOLINTNEXTLINE(modernize-use-nullptr): a false alarm at <=>
    friend auto operator<=>(const GroupKey&, const GroupKey&) = default;
    friend KeyNumber number_of(const GroupKey& key) {
        return number_of(ordered(key.negative_size), ordered(key.smallest_id));
    }
};

/// The labels of this rank's roots, where labels hold sizes, by an order of all ranks' groups.
void label_by_id(Ranks& ranks, const Ownership& ownership, const PointNumbers& numbers,
                 std::span<const std::int32_t> component, const ComponentForest& forest,
                 std::span<std::int64_t> labels) {
    const std::int64_t first = ownership.first();
    std::vector<ComponentEntry> parts; // smallest ids of components, by their roots
    ranks.agreed([&] {
        for (const auto& [name, root] : forest.roots()) {
            parts.push_back({root, numbers[name - first]});
        }
    });
    const std::vector<ComponentEntry> arrived = deliver(ranks, ownership, parts);
    std::vector<GroupKey> keys;
    std::vector<std::int64_t> roots;
    ranks.agreed([&] {
        std::unordered_map<std::int64_t, std::int64_t> smallest;
        for (const ComponentEntry& part : arrived) {
            std::int64_t& least = smallest.try_emplace(part.component, part.value).first->second;
            least = std::min(least, part.value);
        }
        for (std::int64_t row = 0; row < std::ssize(component); ++row) {
            if (component[row] == row && labels[row] != not_a_root) {
                const auto found = smallest.find(first + row);
                const std::int64_t own = numbers[row];
                keys.push_back({-labels[row], found == smallest.end() ? own : std::min(own, found->second)});
                roots.push_back(row);
            }
        }
    });
    const std::vector<std::int64_t> positions = SortedKeys<GroupKey>(ranks, keys).positions();
    for (std::size_t i = 0; i < roots.size(); ++i) {
        labels[roots[i]] = positions[i];
    }
}

GroupSizes number_components(Ranks& ranks, Context& context, const Ownership& ownership, const PointNumbers& numbers,
                             const LinkedPoints& linked, ComponentOrder order, std::span<std::int64_t> labels) {
    const std::int64_t first = ownership.first();
    const std::span<const std::int32_t> component = linked.component.span();
    const ComponentForest& forest = *linked.forest;
    const auto rows = std::ssize(component);
    std::vector<ComponentEntry> parts; // sizes of components, by their roots
    std::vector<std::int64_t> roots;
    ranks.agreed([&] {
        if (order == ComponentOrder::size) { // labels hold sizes at first
            context.run([&] { count_members(component, labels); });
        } else {
            std::ranges::fill(labels, 1);
        }
        for (const auto& [name, root] : forest.roots()) {
            parts.push_back({root, labels[name - first]});
            labels[name - first] = not_a_root;
            roots.push_back(root);
        }
    });
    const std::vector<ComponentEntry> arrived = deliver(ranks, ownership, parts);
    NextLabels counts;
    std::optional<BlocksOfRoots> blocks;
    ranks.agreed([&] {
        for (const ComponentEntry& part : arrived) {
            labels[part.component - first] += order == ComponentOrder::size ? part.value : 0;
        }
        counts = blocks.emplace(context, component, labels).count();
    });
    std::vector<GroupsOfSize> sizes;
    NextLabels next = first_labels(ranks, counts, sizes);
    if (numbers.are_given()) {
        label_by_id(ranks, ownership, numbers, component, forest, labels);
    } else {
        ranks.agreed([&] { blocks->label(next); });
    }
    const std::vector<ComponentEntry> labels_of_roots =
        ask_owners(ranks, ownership, std::move(roots), [&](std::int64_t root) { return labels[root - first]; });
    ranks.agreed([&] {
        for (const auto& [name, root] : forest.roots()) {
            labels[name - first] = value_of(labels_of_roots, root);
        }
        context.run([&] {
            parallel_each(rows, grain, [&](std::int64_t row) {
                if (component[row] != row) {
                    labels[row] = component[row] < 0 ? -1 : labels[component[row]];
                }
            });
        });
    });
    return GroupSizes(sizes);
}

} // namespace kith::detail
