#include "distributed/tree_cut.hpp"

#include "distributed/number_components.hpp"
#include "groups/union_find.hpp"
#include "mst/edges.hpp"
#include "support/allocation_errors.hpp"
#include "support/message.hpp"
#include "support/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <limits>

namespace kith::detail {

namespace {

constexpr std::int64_t grain = 1 << 14;

/// A component of this rank in a listed group.
struct ListedComponent {
    std::int64_t label;
    std::int64_t row; ///< its first

    // NOLINTNEXTLINE(modernize-use-nullptr): a false alarm at <=>
    friend auto operator<=>(const ListedComponent&, const ListedComponent&) = default;
};

/// The first component of this rank in each listed group.
std::vector<ListedComponent> listed_components(std::span<const std::int32_t> components,
                                               std::span<const std::int64_t> labels, std::int64_t listed) {
    std::vector<ListedComponent> found;
    for (std::int64_t row = 0; row < std::ssize(labels); ++row) {
        if (components[row] == row && labels[row] < listed) {
            found.push_back({labels[row], row});
        }
    }
    std::ranges::sort(found);
    found.erase(std::unique(found.begin(), found.end(),
                            [](const ListedComponent& a, const ListedComponent& b) { return a.label == b.label; }),
                found.end());
    return found;
}

/// Collective. Which rank lists which groups.
Ownership division_of(Ranks& ranks, std::int64_t listed) {
    const auto first_of = [&](std::int64_t rank) {
        const std::int64_t longer = listed % ranks.size(); // the first ranks have one more
        return listed / ranks.size() * rank + std::min(rank, longer);
    };
    return {ranks, first_of(ranks.rank() + 1) - first_of(ranks.rank())};
}

} // namespace

TreeCut::TreeCut(Ranks& ranks, Context& context, const SpanningTree& tree, const IntegersView& ids)
    : ranks_(ranks), context_(context), tree_(tree), points_(ranks, tree, ids) {
    ranks.agreed([&] {
        linked_.component = Buffer<std::int32_t>(context.memory_tracker(), points_.count());
        context.run([&] {
            parallel_for(0, points_.count(), grain, [&](std::int64_t begin, std::int64_t end) {
                UnionFind(linked_.component.data())
                    .separate(static_cast<std::int32_t>(begin), static_cast<std::int32_t>(end));
            });
        });
    });
}

GroupSizes TreeCut::cut(std::int64_t end, std::span<std::int64_t> labels) {
    std::vector<ComponentEntry> links_here = links(end);
    linked_.forest.emplace(ranks_, points_.ownership, std::move(links_here));
    return number_components(ranks_, context_, points_.ownership, points_.numbers, linked_, ComponentOrder::size,
                             labels);
}

void TreeCut::join(std::int64_t end) {
    const std::span<const SpanningEdge64> edges = tree_.edges64();
    const UnionFind components(linked_.component.data());
    std::atomic<std::int64_t> remote = 0;
    context_.expect(end - joined_);
    parallel_for(joined_, end, 1 << 13, [&](std::int64_t first, std::int64_t last) {
        std::int64_t of_block = 0;
        for (std::int64_t i = first; i < last; ++i) {
            const std::int64_t smaller = points_.numbers.row_of(edges[i].smaller);
            const std::int64_t larger = points_.row_of(edges[i].larger);
            if (smaller < 0) {
                ++of_block;
            } else {
                components.unite(static_cast<std::int32_t>(smaller), static_cast<std::int32_t>(larger));
            }
        }
        remote += of_block;
        context_.done(last - first);
    });
    const auto& known = SpanningTreeAccess::part(tree_).remote;
    const auto before = [&](std::int64_t edge) {
        return std::ranges::lower_bound(known, edge, {}, &TreePart::RemoteEnd::edge) - known.begin();
    };
    if (remote != before(end) - before(joined_)) {
        throw Error(ErrorKind::invalid_argument, "ids: points have moved to another rank since the spanning tree was "
                                                 "found; pass its points and ids as they were then");
    }
    parallel_each(points_.count(), grain, [&](std::int64_t i) { components.shorten(static_cast<std::int32_t>(i)); });
    joined_ = end;
}

std::vector<ComponentEntry> TreeCut::links(std::int64_t end) {
    std::vector<RankMessage> messages;
    ranks_.agreed([&] {
        context_.stage("link", [&] { join(end); });
        const std::span<const SpanningEdge64> edges = tree_.edges64();
        std::vector<std::vector<ComponentEntry>> to(ranks_.size()); // a point there, and a component here
        for (const auto& [edge, rank] : SpanningTreeAccess::part(tree_).remote) {
            if (edge < end) {
                const std::int64_t row = points_.row_of(edges[edge].larger);
                to[rank].push_back({edges[edge].smaller, points_.ownership.first() + linked_.component[row]});
            }
        }
        messages =
            messages_to(to, [](MessageWriter& writer, std::span<const ComponentEntry> list) { writer.put(list); });
    });
    const std::vector<RankMessage> received = ranks_.exchange(std::move(messages));
    std::vector<ComponentEntry> links;
    ranks_.agreed([&] {
        for (const RankMessage& message : received) {
            for (const auto& [number, component] : values_of<ComponentEntry>(message)) {
                links.push_back({points_.ownership.first() + linked_.component[points_.row_of(number)], component});
            }
        }
        std::ranges::sort(links);
        links.erase(std::unique(links.begin(), links.end()), links.end());
    });
    return links;
}

void fof_of_tree_over_ranks(Ranks& ranks, Context& context, const SpanningTree& tree, const IntegersView& ids,
                            std::int64_t end, FofResult& result) {
    TreeCut cut(ranks, context, tree, ids);
    std::vector<std::int64_t>& labels = result.label_array.vector<std::int64_t>();
    ranks.agreed([&] { with_allocation_errors("the labels", [&] { labels.resize(cut.points().count()); }); });
    result.sizes = cut.cut(end, labels);
    result.groups = result.sizes.size();
    ranks.agreed([&] { cut.points().ids.restore(labels); });
}

void list_levels(Ranks& ranks, Context& context, const SpanningTree& tree, const IntegersView& ids,
                 std::span<const std::int64_t> ends, std::int64_t min_members, std::span<FofLevel64> levels) {
    TreeCut cut(ranks, context, tree, ids);
    std::vector<std::int64_t> labels;
    ranks.agreed([&] { with_allocation_errors("the labels", [&] { labels.resize(cut.points().count()); }); });
    std::vector<ListedComponent> before; // at the level before
    Ownership division;                  // of its groups
    for (std::size_t i = 0; i < levels.size(); ++i) {
        FofLevel64& level = levels[i];
        const GroupSizes sizes = cut.cut(ends[i], labels);
        std::vector<ComponentEntry> entries; // groups of the level before, and those that contain them
        ranks.agreed([&] {
            for (const auto& [label, row] : before) {
                entries.push_back({label, labels[row]});
            }
        });
        if (i > 0) {
            const std::vector<ComponentEntry> parents = deliver(ranks, division, entries);
            ranks.agreed([&] {
                levels[i - 1].parents.resize(levels[i - 1].sizes.size());
                for (const auto& [label, parent] : parents) {
                    levels[i - 1].parents[label - division.first()] = parent;
                }
            });
        }
        level.groups = sizes.size();
        level.listed = sizes.of_at_least(min_members);
        division = division_of(ranks, level.listed);
        level.first_group = division.first();
        ranks.agreed([&] {
            before = listed_components(cut.components(), labels, level.listed);
            entries.clear();
            for (const auto& [label, row] : before) {
                entries.push_back({label, cut.points().numbers[row]});
            }
        });
        const std::vector<ComponentEntry> members = deliver(ranks, division, entries);
        ranks.agreed([&] {
            const auto listed = static_cast<std::size_t>(division.end() - division.first());
            level.first_members.resize(listed, std::numeric_limits<std::int64_t>::max());
            for (const auto& [label, number] : members) {
                std::int64_t& first = level.first_members[label - division.first()];
                first = std::min(first, number);
            }
            for (std::size_t group = 0; group < listed; ++group) {
                level.sizes.push_back(sizes[division.first() + static_cast<std::int64_t>(group)]);
            }
        });
    }
}

} // namespace kith::detail
