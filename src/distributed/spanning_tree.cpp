// The minimum spanning tree over ranks.
//
// Each rank finds the tree of its own points, whose edges alone can be edges of the whole tree between them (the cycle
// property). It joins all components whose least edge is nearer than any other rank (contraction.hpp): what is left has
// at least one point each near another rank. Then rounds: each rank finds edges out of its components to points of
// other ranks (outgoing_edges.hpp), and rank 0, which has all open edges, joins components by the same rule and sends
// their new names. A round finds the least edge of each component, but of those that wait for a smaller one
// (open_forest.hpp) and those with too many requests, which become eight times as many from round to round: so there are
// few rounds. Source: Boruvka (1926). Traffic is proportional
// to the surface between ranks, as is the memory that rank 0 needs for the open edges of all of them.
//
// Of points that coincide on a rank, only the first, by number, takes part. Each of the others is joined, at a square
// of zero, to the point of the smallest number that the first one has at such a square: their least edges, in which
// nothing else can come before (docs/semantics.md, "Minimum spanning tree").
//
// Rebalanced points make the tree on the ranks that they move to, and edges return to the ranks that passed the points.
#include "distributed/spanning_tree.hpp"

#include "distributed/contraction.hpp"
#include "distributed/differences.hpp"
#include "distributed/given_ids.hpp"
#include "distributed/linking_length.hpp"
#include "distributed/open_forest.hpp"
#include "distributed/outgoing_edges.hpp"
#include "distributed/part_edges.hpp"
#include "distributed/phase_space.hpp"
#include "distributed/returned_edges.hpp"
#include "mst/boruvka.hpp"
#include "mst/edges.hpp"
#include "support/parallel_sort.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace kith::detail {

namespace {

constexpr std::int64_t grain = 1 << 14;

template <Coordinate T>
class DistributedTree {
public:
    DistributedTree(Ranks& ranks, Context& context, const SharedPoints<T>& shared)
        : ranks_(ranks), context_(context), shared_(shared), edges_(ranks, context, shared) {}

    void run(SpanningTree& result, bool counts_unresolved) {
        PlaneTree<T> tree;
        ranks_.agreed([&] {
            if (shared_.points.view.count() > 0) {
                tree = build_plane_tree<T>(context_, shared_.points, {});
                edges_.own = tree_of_own_points(tree);
            }
        });
        std::optional<OutgoingEdges<T>> outgoing(std::in_place, ranks_, context_, shared_, tree);
        OwnComponents<T> components;
        std::vector<OpenEdge<T>> open;
        ranks_.agreed([&] {
            context_.stage("join", [&] {
                mark_coincident(tree);
                join_own(outgoing->bounds(), components, open);
            });
        });
        join_all(*outgoing, components, std::move(open));
        outgoing.reset();
        tree = PlaneTree<T>();
        edges_.finish(result);
        if (counts_unresolved && shared_.points.frame.has_tiny) {
            edges_.count_unresolved(result);
        }
    }

private:
    /// Ascending.
    Buffer<RowEdge<T>> tree_of_own_points(const PlaneTree<T>& tree) {
        const std::int64_t count = tree.points.count - 1;
        Buffer<SpanningEdge> ends(context_.memory_tracker(), count);
        Buffer<T> squared(context_.memory_tracker(), count);
        {
            Buffer<T> spare(context_.memory_tracker(), count + 1);
            span_tree(context_, tree, EdgeMemory<T>{ends.data(), squared.data(), spare.data(), count});
        }
        Buffer<RowEdge<T>> edges(context_.memory_tracker(), count);
        context_.stage("edges", [&] {
            parallel_each(count, grain, [&](std::int64_t i) { edges[i] = {squared[i], ends[i]}; });
            parallel_sort(context_, edges);
        });
        return edges;
    }

    /// Points that coincide follow each other in the tree, by ascending row.
    void mark_coincident(const PlaneTree<T>& tree) {
        const PointSet<T>& points = tree.points;
        std::int32_t first = 0;
        for (std::int32_t i = 1; i < points.count; ++i) {
            bool is_equal = true;
            for (int axis = 0; is_equal && axis < points.dimension(); ++axis) {
                is_equal = points.axis(axis)[i] == points.axis(axis)[first];
            }
            if (is_equal) {
                edges_.coincident.emplace_back(points.indices[first], points.indices[i]);
            } else {
                first = i;
            }
        }
    }

    /// Joins components through edges that no edge to another rank can come before.
    void join_own(const Buffer<T>& bounds, OwnComponents<T>& components, std::vector<OpenEdge<T>>& open) {
        Buffer<RowEdge<T>>& edges = edges_.own;
        const std::int64_t count = shared_.points.view.count();
        std::vector<bool> is_left_out(static_cast<std::size_t>(count));
        for (const auto& [first, other] : edges_.coincident) {
            is_left_out[other] = true;
        }
        Contraction<T> joined;
        joined.reserve(count);
        for (std::int64_t row = 0; row < count; ++row) {
            joined.add(bounds[row]);
        }
        std::vector<RowEdge<T>> not_joined;
        for (std::int64_t i = 0; i < edges.size(); ++i) {
            const RowEdge<T>& edge = edges[i];
            const auto [smaller, larger] = edge.ends;
            if (edge.squared == 0 && is_left_out[larger]) { // the only edge of that point
                continue;
            }
            if (joined.offer(edge.squared, smaller, larger) == EdgeState::joined) {
                edges[edges_.joined_own++] = edge;
            } else {
                not_joined.push_back(edge);
            }
        }
        components.of_row = Buffer<std::int32_t>(context_.memory_tracker(), count);
        for (std::int32_t row = 0; row < count; ++row) {
            const std::int32_t root = joined.root_of(row); // the smallest row
            if (is_left_out[row]) {
                components.of_row[row] = OwnComponents<T>::none;
            } else if (root == row) {
                components.of_row[row] = static_cast<std::int32_t>(components.names.size());
                components.names.push_back(shared_.ownership.first() + root);
                components.nearest.push_back(joined.nearest(root));
            } else {
                components.of_row[row] = components.of_row[root];
            }
        }
        const auto name_of = [&](std::int32_t row) { return components.names[components.of_row[row]]; };
        for (const auto& [squared, ends] : not_joined) {
            open.push_back(
                {{squared, shared_.numbers[ends.smaller], shared_.numbers[ends.larger], ranks_.rank(), ranks_.rank()},
                 {name_of(ends.smaller), name_of(ends.larger)}});
        }
    }

    /// Rounds until one component is left.
    void join_all(OutgoingEdges<T>& outgoing, OwnComponents<T>& components, std::vector<OpenEdge<T>> open) {
        OpenForest<T> forest; // on rank 0
        for (bool is_first = true;; is_first = false) {
            std::vector<OpenEdge<T>> found = outgoing.find(components, is_first);
            std::vector<RankMessage> messages;
            Contraction<T> joined; // of the components of this rank
            ranks_.agreed([&] {
                open.insert(open.end(), found.begin(), found.end());
                context_.stage("join", [&] {
                    joined = limited(components, outgoing.bounds());
                    if (is_first) { // later, rank 0 alone knows all open edges
                        join_again(components, joined, open);
                    }
                });
                messages = report_of(components, joined, std::exchange(open, {}), is_first);
            });
            const std::vector<RankMessage> reports = ranks_.exchange(std::move(messages));
            std::vector<RankMessage> answers;
            ranks_.agreed([&] { context_.stage("join", [&] { answers = answers_to(reports, forest); }); });
            const std::vector<RankMessage> received = ranks_.exchange(std::move(answers));
            ranks_.agreed([&] {
                for (const RankMessage& message : received) {
                    rename(message, joined, components);
                }
            });
            if (ranks_.max(forest.components()) <= 1) {
                return;
            }
        }
    }

    /// The components of this rank, with the least bounds of its points.
    static Contraction<T> limited(const OwnComponents<T>& components, const Buffer<T>& bounds) {
        std::vector<T> limits(components.names.size(), std::numeric_limits<T>::infinity());
        for (std::int64_t row = 0; row < bounds.size(); ++row) {
            if (const std::int32_t component = components.of_row[row]; component >= 0) {
                limits[component] = std::min(limits[component], bounds[row]);
            }
        }
        Contraction<T> joined;
        for (const T limit : limits) {
            joined.add(limit);
        }
        return joined;
    }

    /// In the first round, when all points of a component are on one rank: joins those of this rank through edges
    /// between its points that have become certain, which leave `open`.
    void join_again(const OwnComponents<T>& components, Contraction<T>& joined, std::vector<OpenEdge<T>>& open) {
        std::unordered_map<std::int64_t, std::int32_t> numbers; // by name
        for (std::int32_t i = 0; i < joined.members(); ++i) {
            numbers.emplace(components.names[i], i);
        }
        std::ranges::sort(open, [](const OpenEdge<T>& a, const OpenEdge<T>& b) { return a.edge < b.edge; });
        std::erase_if(open, [&](const OpenEdge<T>& edge) {
            const T squared = edge.edge.squared;
            const auto first = numbers.find(edge.components[0]);
            const auto second = numbers.find(edge.components[1]);
            if (first == numbers.end() || second == numbers.end()) {
                joined.leave_open(squared, (first == numbers.end() ? second : first)->second);
                return false;
            }
            const EdgeState state = joined.offer(squared, first->second, second->second);
            if (state == EdgeState::joined) {
                edges_.joined.push_back(edge.edge);
            }
            return state != EdgeState::open;
        });
        // Of the edges that are left, one that closes a cycle of shorter ones is none of the tree.
        Contraction<T> cycles;
        std::unordered_map<std::int64_t, std::int32_t> members;
        std::erase_if(open, [&](OpenEdge<T>& edge) {
            std::array<std::int32_t, 2> ends{};
            for (std::size_t i = 0; i < ends.size(); ++i) {
                std::int64_t& name = edge.components[i];
                if (const auto found = numbers.find(name); found != numbers.end()) {
                    name = components.names[joined.root_of(found->second)];
                }
                const auto [entry, is_new] = members.try_emplace(name, cycles.members());
                ends[i] = is_new ? cycles.add(0) : entry->second;
            }
            return !cycles.join(ends[0], ends[1]);
        });
    }

    /// To rank 0: what this rank's components have been joined to, the limits of those that are left, in the first round
    /// which ones are large, and edges.
    std::vector<RankMessage> report_of(const OwnComponents<T>& components, Contraction<T>& joined,
                                       std::vector<OpenEdge<T>> edges, bool is_first) {
        std::vector<RankMessage> messages;
        if (components.names.empty()) {
            return messages;
        }
        MessageWriter writer(messages.emplace_back(RankMessage{0, {}}).bytes);
        put_differences(writer, components.names, std::identity());
        DifferenceWriter roots(writer);
        for (std::int32_t i = 0; i < joined.members(); ++i) {
            roots.put(joined.root_of(i));
        }
        for (std::int32_t i = 0; i < joined.members(); ++i) {
            if (joined.root_of(i) == i) {
                writer.put_value(joined.limit(i));
            }
        }
        put_sizes(writer, components, is_first);
        put_edges(writer, std::move(edges));
        return messages;
    }

    /// On rank 0: joins components; the new name of each, and the least edge out of it, for the rank that reported it.
    std::vector<RankMessage> answers_to(const std::vector<RankMessage>& reports, OpenForest<T>& forest) {
        std::vector<RankMessage> answers;
        if (reports.empty()) {
            return answers;
        }
        forest.reopen();
        std::vector<std::vector<std::int64_t>> names;
        for (const RankMessage& message : reports) {
            MessageReader reader(message.bytes);
            const std::vector<std::int64_t> before = taken_differences(reader);
            std::vector<std::int64_t> roots;
            take_differences(reader, std::ssize(before), 0, roots);
            std::vector<std::int64_t>& of_rank = names.emplace_back();
            for (std::size_t i = 0; i < before.size(); ++i) { // roots are the first of their components
                forest.join(before[i], before[static_cast<std::size_t>(roots[i])]);
                if (static_cast<std::size_t>(roots[i]) == i) {
                    of_rank.push_back(before[i]);
                    forest.report(before[i], reader.take<T>());
                }
            }
            for (const std::int64_t number : taken_differences(reader)) {
                forest.count(before[static_cast<std::size_t>(number)], take_number(reader));
            }
            for (const OpenEdge<T>& edge : taken_edges<T>(reader)) {
                forest.add(edge);
            }
        }
        const std::vector<RankEdge<T>> joined = forest.join();
        edges_.joined.insert(edges_.joined.end(), joined.begin(), joined.end());
        for (std::size_t i = 0; i < reports.size(); ++i) {
            MessageWriter writer(answers.emplace_back(RankMessage{reports[i].rank, {}}).bytes);
            put_differences(writer, names[i], [&](std::int64_t name) { return forest.now(name).first; });
            for (const std::int64_t name : names[i]) {
                writer.put_value(forest.now(name).second);
            }
        }
        return answers;
    }

    /// `joined` are this rank's components, whose roots rank 0 answers.
    void rename(const RankMessage& message, Contraction<T>& joined, OwnComponents<T>& components) {
        MessageReader reader(message.bytes);
        std::unordered_map<std::int64_t, std::int32_t> numbers;       // by new name
        std::vector<std::int32_t> number_of(components.names.size()); // by old number
        const std::vector<std::int64_t> names = taken_differences(reader);
        OwnComponents<T> now;
        std::size_t root = 0;
        for (std::int32_t i = 0; i < joined.members(); ++i) { // roots are the first of their components
            if (joined.root_of(i) != i) {
                number_of[i] = number_of[joined.root_of(i)];
                continue;
            }
            const auto nearest = reader.take<T>();
            const auto [entry, is_new] = numbers.try_emplace(names[root], static_cast<std::int32_t>(now.names.size()));
            if (is_new) {
                now.names.push_back(names[root]);
                now.nearest.push_back(nearest);
            }
            number_of[i] = entry->second;
            ++root;
        }
        components.names = std::move(now.names);
        components.nearest = std::move(now.nearest);
        for (std::int64_t row = 0; row < components.of_row.size(); ++row) {
            std::int32_t& component = components.of_row[row];
            component = component >= 0 ? number_of[component] : component;
        }
    }

    Ranks& ranks_;
    Context& context_;
    const SharedPoints<T>& shared_;
    PartEdges<T> edges_;
};

} // namespace

template <Coordinate T>
SpanningTree spanning_tree_over_ranks(Ranks& ranks, Context& context, const SpanningTreeOverRanks& call) {
    const SpanningTreeOptions& options = call.options;
    const GivenIds ids(ranks, call.of_ranks.ids, call.points.count());
    SharedPoints<T> shared = share_frame<T>(ranks, context, call.points, options.box);
    ids.number(shared);
    SpanningTree result = SpanningTreeAccess::part_of(shared.ownership.total(), dtype_of<T>);
    SpanningTreeAccess::describe(shared.points.frame, result);
    SharedPhaseSpace<T> in_phase_space;
    if (options.phase_space) {
        ResolvedLengths lengths;
        resolve_length(ranks, shared, options.phase_space->linking_length, lengths);
        in_phase_space =
            share_phase_space(ranks, context, shared, options.box, options.phase_space->phase_space, lengths);
        SpanningTreeAccess::describe_phase_space(in_phase_space.points.points.frame, lengths, result);
    }
    SharedPoints<T>& spanned = options.phase_space ? in_phase_space.points : shared;
    if (call.of_ranks.rebalance && ranks.size() > 1) {
        Rebalanced<T> here(ranks, context, spanned, ids.given(), call.of_ranks);
        ranks.agreed([&] { here.ids->sort(here.points); });
        DistributedTree<T>(ranks, context, here.points).run(result, !options.phase_space);
        result.stages = context.take_stages();
        result.distribution.emplace().work = here.moved.work(seconds_of(result.stages));
        return_edges(ranks, context, here, spanned.given.count(), ids.are_given(), result);
        return result;
    }
    ranks.agreed([&] { ids.sort(spanned); });
    DistributedTree<T>(ranks, context, spanned).run(result, !options.phase_space);
    result.stages = context.take_stages();
    return result;
}

template SpanningTree spanning_tree_over_ranks<float>(Ranks&, Context&, const SpanningTreeOverRanks&);
template SpanningTree spanning_tree_over_ranks<double>(Ranks&, Context&, const SpanningTreeOverRanks&);

} // namespace kith::detail
