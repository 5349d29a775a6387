#include "distributed/reachability_tree.hpp"

#include "distributed/reachability_requests.hpp"
#include "mst/reachability.hpp"
#include "support/parallel.hpp"
#include "support/parallel_sort.hpp"
#include "tree/plane_tree.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace kith::detail {

namespace {

constexpr std::int64_t grain = 1 << 14;

template <Coordinate T>
using Edge = ReachabilityEdge<T>;

/// What rank 0 knows of the components of all ranks. Memory: that of these and of the open edges.
template <Coordinate T>
class ComponentsOfAll {
public:
    void reopen() { components_.reopen(); }
    void limit(std::int64_t name, const Edge<T>& limit) { components_.lower_limit(member_of(name), limit); }
    void add(const NamedEdge<T>& open) {
        open_.push_back({open.edge, member_of(open.names[0]), member_of(open.names[1])});
    }
    /// Appends the edges that join components to those.
    void join(std::vector<Edge<T>>& joined) {
        std::ranges::sort(open_, [](const Open& a, const Open& b) { return a.edge < b.edge; });
        std::erase_if(open_, [&](const Open& open) {
            const EdgeState state = components_.offer(open.edge, open.first, open.second);
            if (state == EdgeState::joined) {
                joined.push_back(open.edge);
                --count_;
            }
            return state != EdgeState::open;
        });
    }
    [[nodiscard]] std::int64_t count() const { return count_; }
    /// The new name of a component, and the least known edge out of it.
    [[nodiscard]] std::pair<std::int64_t, Edge<T>> now(std::int64_t name) {
        const std::int32_t root = components_.root_of(members_.at(name));
        return {names_[root], components_.nearest(root)};
    }

private:
    struct Open {
        Edge<T> edge;
        std::int32_t first;
        std::int32_t second;
    };

    std::int32_t member_of(std::int64_t name) {
        const auto [entry, is_new] = members_.try_emplace(name, components_.members());
        if (is_new) {
            components_.add(after_all_edges<Edge<T>>);
            names_.push_back(name);
            ++count_;
        }
        return entry->second;
    }

    Contraction<Edge<T>> components_;
    std::unordered_map<std::int64_t, std::int32_t> members_;
    std::vector<std::int64_t> names_; ///< by member
    std::vector<Open> open_;
    std::int64_t count_ = 0;
};

template <Coordinate T>
class ReachabilityTree {
public:
    ReachabilityTree(Ranks& ranks, Context& context, const ReachablePoints<T>& points)
        : ranks_(ranks), context_(context), points_(points), tree_(tree_of_points()),
          requests_(ranks, context, points, tree_.view()) {}

    std::vector<Edge<T>> run() {
        NamedComponents<T> components;
        std::vector<NamedEdge<T>> open;
        ranks_.agreed([&] {
            const Buffer<Edge<T>> own = tree_of_own_points();
            context_.stage("join", [&] { join_own(own, components, open); });
        });
        ComponentsOfAll<T> all; // on rank 0
        do {
            requests_.ask(components, open);
            join_all(components, std::exchange(open, {}), all);
        } while (ranks_.max(all.count()) > 1);
        return std::move(joined_);
    }

private:
    [[nodiscard]] std::int64_t count() const { return std::ssize(points_.core); }

    PlaneTree<T> tree_of_points() {
        PlaneTree<T> tree;
        ranks_.agreed([&] {
            if (count() > 0) {
                tree = build_plane_tree<T>(context_, points_.shared.points, {});
            }
        });
        return tree;
    }

    /// Ascending. Runs stages.
    Buffer<Edge<T>> tree_of_own_points() {
        const std::int64_t edges = std::max<std::int64_t>(0, count() - 1);
        Buffer<WeighedEdge<T>> found(context_.memory_tracker(), edges);
        Buffer<T> spare(context_.memory_tracker(), count());
        if (edges > 0) {
            span_by_reachability(context_, tree_, requests_.core().data(),
                                 WeighedEdges<T>{found.data(), spare.data(), edges});
        }
        Buffer<Edge<T>> sorted(context_.memory_tracker(), edges);
        context_.stage("edges", [&] {
            parallel_each(edges, grain, [&](std::int64_t i) {
                const auto [weight, squared, ends] = found[i];
                sorted[i] = {weight, squared, ends.smaller, ends.larger};
            });
            parallel_sort(context_, sorted);
        });
        return sorted;
    }

    /// Joins components through edges, of rows, that no edge to another rank can come before.
    void join_own(const Buffer<Edge<T>>& own, NamedComponents<T>& components, std::vector<NamedEdge<T>>& open) {
        Contraction<Edge<T>> joined;
        joined.reserve(count());
        for (std::int64_t row = 0; row < count(); ++row) {
            joined.add(requests_.limits()[row]);
        }
        std::vector<std::int64_t> not_joined;
        const auto in_places = [&](const Edge<T>& edge) {
            return Edge<T>{edge.weight, edge.squared, points_.places[edge.smaller], points_.places[edge.larger]};
        };
        for (std::int64_t i = 0; i < own.size(); ++i) {
            // Rows ascend with places, so edges of rows and limits in places compare alike where lengths are equal: no
            // limit has places yet.
            const EdgeState state = joined.offer(own[i], static_cast<std::int32_t>(own[i].smaller),
                                                 static_cast<std::int32_t>(own[i].larger));
            if (state == EdgeState::joined) {
                joined_.push_back(in_places(own[i]));
            } else {
                not_joined.push_back(i);
            }
        }
        components.of_row.resize(count());
        for (std::int32_t row = 0; row < count(); ++row) {
            const std::int32_t root = joined.root_of(row); // the smallest row
            if (root == row) {
                components.of_row[row] = static_cast<std::int32_t>(components.names.size());
                components.names.push_back(points_.places[row]);
                const Edge<T> nearest = joined.nearest(root);
                components.nearest.push_back(nearest == after_all_edges<Edge<T>> ? nearest : in_places(nearest));
            } else {
                components.of_row[row] = components.of_row[root];
            }
        }
        for (const std::int64_t i : not_joined) {
            open.push_back(
                {in_places(own[i]), {components.name_of(own[i].smaller), components.name_of(own[i].larger)}});
        }
    }

    /// Collective. Rank 0 joins what it can, and all learn the new names of their components.
    void join_all(NamedComponents<T>& components, const std::vector<NamedEdge<T>>& open, ComponentsOfAll<T>& all) {
        std::vector<RankMessage> messages;
        ranks_.agreed([&] {
            std::vector<Edge<T>> limits(components.names.size(), after_all_edges<Edge<T>>);
            for (std::int64_t row = 0; row < count(); ++row) {
                Edge<T>& limit = limits[components.of_row[row]];
                limit = std::min(limit, requests_.limits()[row]);
            }
            if (count() > 0) {
                MessageWriter writer(messages.emplace_back(RankMessage{0, {}}).bytes);
                writer.put_value(std::ssize(components.names));
                writer.put(std::span<const std::int64_t>(components.names));
                writer.put(std::span<const Edge<T>>(limits));
                writer.put_value(std::ssize(open));
                writer.put(std::span<const NamedEdge<T>>(open));
            }
        });
        const std::vector<RankMessage> reports = ranks_.exchange(std::move(messages));
        std::vector<RankMessage> answers;
        ranks_.agreed([&] { context_.stage("join", [&] { answers = join_reported(reports, all); }); });
        const std::vector<RankMessage> answered = ranks_.exchange(std::move(answers));
        ranks_.agreed([&] {
            for (const RankMessage& message : answered) {
                rename(message, components);
            }
        });
    }

    /// On rank 0.
    std::vector<RankMessage> join_reported(const std::vector<RankMessage>& reports, ComponentsOfAll<T>& all) {
        std::vector<RankMessage> answers;
        all.reopen();
        std::vector<std::vector<std::int64_t>> names(reports.size());
        for (std::size_t r = 0; r < reports.size(); ++r) {
            MessageReader reader(reports[r].bytes);
            std::vector<Edge<T>> limits;
            std::vector<NamedEdge<T>> open;
            const auto components = reader.template take<std::int64_t>();
            reader.take(components, names[r]);
            reader.take(components, limits);
            for (std::int64_t i = 0; i < components; ++i) {
                all.limit(names[r][i], limits[i]);
            }
            reader.take(reader.template take<std::int64_t>(), open);
            std::ranges::for_each(open, [&](const NamedEdge<T>& edge) { all.add(edge); });
        }
        all.join(joined_);
        for (std::size_t r = 0; r < reports.size(); ++r) {
            MessageWriter writer(answers.emplace_back(RankMessage{reports[r].rank, {}}).bytes);
            for (const std::int64_t name : names[r]) {
                const auto [now, nearest] = all.now(name);
                writer.put_value(now);
                writer.put_value(nearest);
            }
        }
        return answers;
    }

    void rename(const RankMessage& message, NamedComponents<T>& components) const {
        MessageReader reader(message.bytes);
        std::unordered_map<std::int64_t, std::int32_t> numbers; // by new name
        std::vector<std::int32_t> number_of;                    // by old number
        NamedComponents<T> now;
        for (std::size_t i = 0; i < components.names.size(); ++i) {
            const auto name = reader.template take<std::int64_t>();
            const auto nearest = reader.template take<Edge<T>>();
            const auto [entry, is_new] = numbers.try_emplace(name, static_cast<std::int32_t>(now.names.size()));
            if (is_new) {
                now.names.push_back(name);
                now.nearest.push_back(nearest);
            }
            number_of.push_back(entry->second);
        }
        components.names = std::move(now.names);
        components.nearest = std::move(now.nearest);
        std::ranges::for_each(components.of_row, [&](std::int32_t& component) { component = number_of[component]; });
    }

    Ranks& ranks_;
    Context& context_;
    const ReachablePoints<T>& points_;
    const PlaneTree<T> tree_;
    ReachabilityRequests<T> requests_;
    std::vector<Edge<T>> joined_;
};

} // namespace

template <Coordinate T>
std::vector<ReachabilityEdge<T>> reachability_tree_over_ranks(Ranks& ranks, Context& context,
                                                              const ReachablePoints<T>& points) {
    return ReachabilityTree<T>(ranks, context, points).run();
}

template std::vector<ReachabilityEdge<float>> reachability_tree_over_ranks(Ranks&, Context&,
                                                                           const ReachablePoints<float>&);
template std::vector<ReachabilityEdge<double>> reachability_tree_over_ranks(Ranks&, Context&,
                                                                            const ReachablePoints<double>&);

} // namespace kith::detail
