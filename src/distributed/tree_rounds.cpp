#include "distributed/tree_rounds.hpp"

#include "distributed/contraction.hpp"
#include "distributed/differences.hpp"
#include "distributed/open_forest.hpp"
#include "distributed/outgoing_edges.hpp"
#include "support/parallel_sort.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace kith::detail {

namespace {

template <class Metric>
class TreeRounds {
public:
    using T = typename Metric::Scalar;
    using Length = typename Metric::Length;
    using Components = OwnComponents<Length>;

    TreeRounds(Ranks& ranks, Context& context, const SharedPoints<T>& shared, const Metric& metric)
        : ranks_(ranks), context_(context), shared_(shared), metric_(metric) {}

    FoundEdges<Length> run() {
        PlaneTree<T> tree;
        ranks_.agreed([&] {
            if (shared_.points.view.count() > 0) {
                tree = build_plane_tree<T>(context_, shared_.points, {});
                found_.own = metric_.span(context_, tree, [&](std::int32_t row) { return metric_.core(row); });
                context_.stage("edges", [&] { parallel_sort(context_, found_.own); });
            }
        });
        std::optional<OutgoingEdges<Metric>> outgoing(std::in_place, ranks_, context_, shared_, metric_, tree);
        Components components;
        std::vector<OpenEdge<Length>> open;
        ranks_.agreed([&] {
            context_.stage("join", [&] {
                mark_coincident(tree);
                join_own(*outgoing, components, open);
            });
        });
        join_all(*outgoing, components, std::move(open));
        outgoing.reset();
        tree = PlaneTree<T>();
        deliver_joined();
        ranks_.agreed([&] { context_.stage("edges", [&] { join_coincident(); }); });
        return std::move(found_);
    }

private:
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
                coincident_.emplace_back(points.indices[first], points.indices[i]);
            } else {
                first = i;
            }
        }
    }

    /// Joins components through edges that no edge to another rank can come before.
    void join_own(const OutgoingEdges<Metric>& outgoing, Components& components, std::vector<OpenEdge<Length>>& open) {
        Buffer<RowEdge<Length>>& edges = found_.own;
        const std::int64_t count = shared_.points.view.count();
        std::vector<bool> is_left_out(static_cast<std::size_t>(count));
        for (const auto& [first, other] : coincident_) {
            is_left_out[other] = true;
        }
        Contraction<Length> joined;
        joined.reserve(count);
        for (std::int64_t row = 0; row < count; ++row) {
            joined.add(outgoing.limit_of(row));
        }
        std::vector<RowEdge<Length>> not_joined;
        for (std::int64_t i = 0; i < edges.size(); ++i) {
            const RowEdge<Length>& edge = edges[i];
            const auto [smaller, larger] = edge.ends;
            if (metric_.squared_of(edge.length) == 0 && is_left_out[larger]) { // the only edge of that point
                continue;
            }
            if (joined.offer(edge.length, smaller, larger) == EdgeState::joined) {
                edges[found_.joined_own++] = edge;
            } else {
                not_joined.push_back(edge);
            }
        }
        components.of_row = Buffer<std::int32_t>(context_.memory_tracker(), count);
        for (std::int32_t row = 0; row < count; ++row) {
            const std::int32_t root = joined.root_of(row); // the smallest row
            if (is_left_out[row]) {
                components.of_row[row] = Components::none;
            } else if (root == row) {
                components.of_row[row] = static_cast<std::int32_t>(components.names.size());
                components.names.push_back(shared_.ownership.first() + root);
                components.nearest.push_back(joined.nearest(root));
            } else {
                components.of_row[row] = components.of_row[root];
            }
        }
        const auto name_of = [&](std::int32_t row) { return components.names[components.of_row[row]]; };
        for (const auto& [length, ends] : not_joined) {
            open.push_back(
                {{length, shared_.numbers[ends.smaller], shared_.numbers[ends.larger], ranks_.rank(), ranks_.rank()},
                 {name_of(ends.smaller), name_of(ends.larger)}});
        }
    }

    /// Rounds until one component is left.
    void join_all(OutgoingEdges<Metric>& outgoing, Components& components, std::vector<OpenEdge<Length>> open) {
        OpenForest<Length> forest; // on rank 0
        for (bool is_first = true;; is_first = false) {
            std::vector<OpenEdge<Length>> found = outgoing.find(components, is_first);
            std::vector<RankMessage> messages;
            Contraction<Length> joined; // of the components of this rank
            ranks_.agreed([&] {
                open.insert(open.end(), found.begin(), found.end());
                context_.stage("join", [&] {
                    joined = limited(components, outgoing);
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
    static Contraction<Length> limited(const Components& components, const OutgoingEdges<Metric>& outgoing) {
        std::vector<Length> limits(components.names.size(), after_all_edges<Length>);
        for (std::int64_t row = 0; row < components.of_row.size(); ++row) {
            if (const std::int32_t component = components.of_row[row]; component >= 0) {
                limits[component] = std::min(limits[component], outgoing.limit_of(row));
            }
        }
        Contraction<Length> joined;
        for (const Length& limit : limits) {
            joined.add(limit);
        }
        return joined;
    }

    /// In the first round, when all points of a component are on one rank: joins those of this rank through edges
    /// between its points that have become certain, which leave `open`.
    void join_again(const Components& components, Contraction<Length>& joined, std::vector<OpenEdge<Length>>& open) {
        std::unordered_map<std::int64_t, std::int32_t> numbers; // by name
        for (std::int32_t i = 0; i < joined.members(); ++i) {
            numbers.emplace(components.names[i], i);
        }
        std::ranges::sort(open, [](const OpenEdge<Length>& a, const OpenEdge<Length>& b) { return a.edge < b.edge; });
        std::erase_if(open, [&](const OpenEdge<Length>& edge) {
            const Length& length = edge.edge.length;
            const auto first = numbers.find(edge.components[0]);
            const auto second = numbers.find(edge.components[1]);
            if (first == numbers.end() || second == numbers.end()) {
                joined.leave_open(length, (first == numbers.end() ? second : first)->second);
                return false;
            }
            const EdgeState state = joined.offer(length, first->second, second->second);
            if (state == EdgeState::joined) {
                found_.joined.push_back(edge.edge);
            }
            return state != EdgeState::open;
        });
        // Of the edges that are left, one that closes a cycle of shorter ones is none of the tree.
        Contraction<Length> cycles;
        std::unordered_map<std::int64_t, std::int32_t> members;
        std::erase_if(open, [&](OpenEdge<Length>& edge) {
            std::array<std::int32_t, 2> ends{};
            for (std::size_t i = 0; i < ends.size(); ++i) {
                std::int64_t& name = edge.components[i];
                if (const auto found = numbers.find(name); found != numbers.end()) {
                    name = components.names[joined.root_of(found->second)];
                }
                const auto [entry, is_new] = members.try_emplace(name, cycles.members());
                ends[i] = is_new ? cycles.add({}) : entry->second;
            }
            return !cycles.join(ends[0], ends[1]);
        });
    }

    /// To rank 0: what this rank's components have been joined to, the limits of those that are left, in the first
    /// round which ones are large, and edges.
    std::vector<RankMessage> report_of(const Components& components, Contraction<Length>& joined,
                                       std::vector<OpenEdge<Length>> edges, bool is_first) {
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
    std::vector<RankMessage> answers_to(const std::vector<RankMessage>& reports, OpenForest<Length>& forest) {
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
                    forest.report(before[i], reader.template take<Length>());
                }
            }
            for (const std::int64_t number : taken_differences(reader)) {
                forest.count(before[static_cast<std::size_t>(number)], take_number(reader));
            }
            for (const OpenEdge<Length>& edge : taken_edges<Length>(reader)) {
                forest.add(edge);
            }
        }
        const std::vector<RankEdge<Length>> joined = forest.join();
        found_.joined.insert(found_.joined.end(), joined.begin(), joined.end());
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
    void rename(const RankMessage& message, Contraction<Length>& joined, Components& components) {
        MessageReader reader(message.bytes);
        std::unordered_map<std::int64_t, std::int32_t> numbers;       // by new name
        std::vector<std::int32_t> number_of(components.names.size()); // by old number
        const std::vector<std::int64_t> names = taken_differences(reader);
        Components now;
        std::size_t root = 0;
        for (std::int32_t i = 0; i < joined.members(); ++i) { // roots are the first of their components
            if (joined.root_of(i) != i) {
                number_of[i] = number_of[joined.root_of(i)];
                continue;
            }
            const auto nearest = reader.template take<Length>();
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

    /// Brings edges to the ranks of their larger ends.
    void deliver_joined() {
        std::vector<RankMessage> messages;
        ranks_.agreed([&] {
            std::vector<std::vector<OpenEdge<Length>>> to(ranks_.size());
            for (const RankEdge<Length>& edge : std::exchange(found_.joined, {})) {
                if (edge.larger_rank == ranks_.rank()) {
                    found_.joined.push_back(edge);
                } else {
                    to[edge.larger_rank].push_back({edge, {0, 0}});
                }
            }
            messages = messages_to(to, [](MessageWriter& writer, const std::vector<OpenEdge<Length>>& edges) {
                put_edges(writer, edges);
            });
        });
        const std::vector<RankMessage> received = ranks_.exchange(std::move(messages));
        ranks_.agreed([&] {
            for (const RankMessage& message : received) {
                MessageReader reader(message.bytes);
                for (const OpenEdge<Length>& edge : taken_edges<Length>(reader)) {
                    found_.joined.push_back(edge.edge);
                }
            }
        });
    }

    /// The least edges of points that coincide with one before, which all have one length.
    void join_coincident() {
        struct Joint {
            Length length;
            std::int64_t number;
            std::int32_t rank;
        };
        std::unordered_map<std::int64_t, Joint> joints; // of coincident points, by the number of the first
        for (const auto& [first, other] : coincident_) {
            const Length length = metric_.between(metric_.core(first), metric_.core(other), 0);
            joints.try_emplace(shared_.numbers[first], Joint{length, shared_.numbers[first], ranks_.rank()});
        }
        if (joints.empty()) {
            return;
        }
        const auto offer = [&](const RankEdge<Length>& edge) {
            if (const auto found = joints.find(edge.larger);
                found != joints.end() && edge.length == found->second.length && edge.smaller < found->second.number) {
                found->second = {edge.length, edge.smaller, edge.smaller_rank};
            }
        };
        for (std::int64_t i = 0; i < found_.joined_own; ++i) {
            const auto& [length, ends] = found_.own[i];
            if (metric_.squared_of(length) == 0) {
                offer({length, shared_.numbers[ends.smaller], shared_.numbers[ends.larger], ranks_.rank(),
                       ranks_.rank()});
            }
        }
        std::ranges::for_each(found_.joined, offer);
        for (const auto& [first, other] : coincident_) {
            const auto& [length, number, rank] = joints.at(shared_.numbers[first]);
            found_.joined.push_back({length, number, shared_.numbers[other], rank, ranks_.rank()});
        }
    }

    Ranks& ranks_;
    Context& context_;
    const SharedPoints<T>& shared_;
    const Metric& metric_;
    FoundEdges<Length> found_;
    std::vector<std::pair<std::int32_t, std::int32_t>> coincident_; ///< rows: the first, and one that was left out
};

} // namespace

template <class Metric>
FoundEdges<typename Metric::Length> tree_edges_over_ranks(Ranks& ranks, Context& context,
                                                          const SharedPoints<typename Metric::Scalar>& shared,
                                                          const Metric& metric) {
    return TreeRounds<Metric>(ranks, context, shared, metric).run();
}

template FoundEdges<float> tree_edges_over_ranks(Ranks&, Context&, const SharedPoints<float>&,
                                                 const PlainDistance<float>&);
template FoundEdges<double> tree_edges_over_ranks(Ranks&, Context&, const SharedPoints<double>&,
                                                  const PlainDistance<double>&);
template FoundEdges<ReachLength<float>> tree_edges_over_ranks(Ranks&, Context&, const SharedPoints<float>&,
                                                              const MutualReachability<float>&);
template FoundEdges<ReachLength<double>> tree_edges_over_ranks(Ranks&, Context&, const SharedPoints<double>&,
                                                               const MutualReachability<double>&);

} // namespace kith::detail
