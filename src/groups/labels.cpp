#include "groups/labels.hpp"

#include "groups/sizes.hpp"
#include "support/parallel.hpp"
#include "support/parallel_sort.hpp"
#include "support/prefix_sums.hpp"

#include <algorithm>
#include <atomic>
#include <limits>

namespace kith::detail {

namespace {

/// What is known of a group.
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

/// A group in the order of the labels.
struct Ranked {
    std::uint64_t key; ///< sizes by decreasing order, then first members
    std::int32_t slot;

    Ranked() = default;
    Ranked(const Group& group, std::int32_t slot_)
        : key(std::uint64_t{~static_cast<std::uint32_t>(group.size)} << 32 |
              static_cast<std::uint32_t>(group.first_member)),
          slot(slot_) {}
    [[nodiscard]] std::int32_t size() const {
        return static_cast<std::int32_t>(~static_cast<std::uint32_t>(key >> 32));
    }
    friend bool operator<(const Ranked& a, const Ranked& b) { return a.key < b.key; }
};

constexpr std::int64_t grain = 1 << 14;

/// Counts the members of the groups of two and more. These get slots in a list, in any order; the parent of a group's
/// root becomes the complement of its slot, every other member's parent its root.
class ComponentSizes {
public:
    ComponentSizes(Context& context, const UnionFind& groups, std::span<const std::int32_t> original)
        : parents_(groups.parents()), original_(original),
          groups_(context.memory_tracker(), max_slots(std::ssize(original))) {
        parallel_for(0, std::ssize(original), grain, [&](std::int64_t begin, std::int64_t end) {
            count(static_cast<std::int32_t>(begin), static_cast<std::int32_t>(end));
        });
    }

    /// Slots that were given away; some may have stayed empty, with no members.
    [[nodiscard]] std::int32_t slots() const { return slots_.load(std::memory_order_relaxed); }
    [[nodiscard]] Group& operator[](std::int32_t slot) { return groups_[slot]; }
    /// The group of a point, null if that is all of it.
    [[nodiscard]] const Group* group_of(std::int32_t point) const {
        const std::int32_t parent = parents_[point];
        const std::int32_t of_root = parents_[parent < 0 ? point : parent];
        return of_root < 0 ? &groups_[~of_root] : nullptr;
    }

private:
    /// A group has two members or more, and each range that is counted may leave one slot empty.
    static std::int64_t max_slots(std::int64_t points) { return points / 2 + 2 * (points / grain + 1); }

    /// Members of a group lie together along the curve: they are counted in runs, and each run is added once.
    void count(std::int32_t begin, std::int32_t end) {
        std::int32_t spare = none;
        std::int32_t run_root = none;
        std::int32_t run_slot = none;
        Group run = Group::none();
        for (std::int32_t i = begin; i < end; ++i) {
            const std::int32_t parent = load(i);
            if (parent == i || parent < 0) {
                continue; // a root is counted when its group gets a slot
            }
            const std::int32_t root = root_from(parent);
            if (root != parent) {
                std::atomic_ref(parents_[i]).store(root, std::memory_order_relaxed);
            }
            if (root != run_root) {
                if (run_root != none) {
                    groups_[run_slot].add(run);
                }
                run = Group::none();
                run_root = root;
                run_slot = slot_of(root, spare);
            }
            ++run.size;
            run.first_member = std::min(run.first_member, original_[i]);
        }
        if (run_root != none) {
            groups_[run_slot].add(run);
        }
        if (spare != none) {
            groups_[spare] = Group::none();
        }
    }

    /// The root that a point leads to.
    [[nodiscard]] std::int32_t root_from(std::int32_t point) const {
        for (std::int32_t parent = load(point); parent >= 0 && parent != point; parent = load(point)) {
            point = parent;
        }
        return point;
    }

    /// The slot of a root's group. A new one is the spare one, if there is one; one that others took first becomes it.
    [[nodiscard]] std::int32_t slot_of(std::int32_t root, std::int32_t& spare) {
        const std::atomic_ref parent(parents_[root]);
        std::int32_t seen = parent.load(std::memory_order_acquire);
        if (seen < 0) {
            return ~seen;
        }
        const std::int32_t slot = spare != none ? spare : slots_.fetch_add(1, std::memory_order_relaxed);
        groups_[slot] = {1, original_[root]};
        spare = none;
        if (parent.compare_exchange_strong(seen, ~slot, std::memory_order_acq_rel)) {
            return slot;
        }
        spare = slot;
        return ~seen;
    }

    [[nodiscard]] std::int32_t load(std::int32_t point) const {
        return std::atomic_ref(parents_[point]).load(std::memory_order_relaxed);
    }

    static constexpr std::int32_t none = -1;

    std::int32_t* parents_;
    std::span<const std::int32_t> original_;
    Buffer<Group> groups_;
    std::atomic<std::int32_t> slots_ = 0;
};

} // namespace

// Only groups of two or more are sorted; single points, usually most of the groups, are numbered behind them in input
// order.
void number_groups(Context& context, const UnionFind& groups, std::span<const std::int32_t> original,
                   std::span<std::int32_t> labels, FofSummary& result) {
    const auto count = std::ssize(original);
    ComponentSizes component_sizes(context, groups, original);
    Buffer<Ranked> ranked(context.memory_tracker(), component_sizes.slots());
    struct Sums {
        std::int64_t groups = 0; ///< of two and more
        std::int64_t members = 0;
    };
    const Sums sums = parallel_reduce(
        0, ranked.size(), grain, Sums{},
        [&](std::int64_t begin, std::int64_t end, Sums sum) {
            for (auto slot = static_cast<std::int32_t>(begin); slot < end; ++slot) {
                const Group& group = component_sizes[slot];
                ranked[slot] = Ranked(group, slot);
                sum.groups += group.size > 0 ? 1 : 0;
                sum.members += group.size;
            }
            return sum;
        },
        [](const Sums& left, const Sums& right) {
            return Sums{left.groups + right.groups, left.members + right.members};
        });
    result.groups = sums.groups + count - sums.members;
    parallel_sort(context, ranked); // empty slots come last
    parallel_each(sums.groups, grain / 8, [&](std::int64_t label) {
        component_sizes[ranked[label].slot].first_member = static_cast<std::int32_t>(label); // from here on
    });
    parallel_each(count, grain, [&](std::int64_t i) {
        const Group* group = component_sizes.group_of(static_cast<std::int32_t>(i));
        labels[original[i]] = group != nullptr ? group->first_member : -1;
    });
    prefix_sums<std::int32_t>( // single points come at random: no branch
        std::ssize(labels), [all = labels.data()](std::int64_t i) { return all[i] < 0 ? 1 : 0; },
        [all = labels.data(), first = static_cast<std::int32_t>(sums.groups)](std::int64_t i, std::int32_t before) {
            all[i] = all[i] < 0 ? first + before : all[i];
        });
    result.sizes = sizes_of_groups(
        sums.groups, [&](std::int64_t label) { return ranked[label].size(); }, count - sums.members);
}

} // namespace kith::detail
