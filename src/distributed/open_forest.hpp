// The edges of a spanning tree over ranks that are still open, as they travel, and what rank 0 joins by them.
//
// A rank tells rank 0 its open edges, the components that it has joined and the limits of those that are left. Rank 0
// numbers the components of all ranks and joins them by the rule of contraction.hpp. Memory: that of the open
// components and edges of all ranks.
#pragma once

#include <kith/error.hpp>

#include "distributed/contraction.hpp"
#include "distributed/differences.hpp"
#include "distributed/open_edges.hpp"
#include "distributed/ranks.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <unordered_map>
#include <utility>
#include <vector>

namespace kith::detail {

/// Numbers as differences, behind how many they are.
template <class Items, class NumberOf>
void put_differences(MessageWriter& writer, const Items& items, const NumberOf& number_of) {
    writer.put_value(std::ssize(items));
    DifferenceWriter differences(writer);
    for (const auto& item : items) {
        differences.put(number_of(item));
    }
}
inline std::vector<std::int64_t> taken_differences(MessageReader& reader) {
    std::vector<std::int64_t> numbers;
    take_differences(reader, reader.take<std::int64_t>(), 0, numbers);
    return numbers;
}

/// Open edges in a message, member after member, so that most numbers take few bytes.
template <class Length>
void put_edges(MessageWriter& writer, std::vector<OpenEdge<Length>> edges) {
    std::ranges::sort(edges, {}, [](const OpenEdge<Length>& edge) { return edge.edge.smaller; });
    put_differences(writer, edges, [](const OpenEdge<Length>& edge) { return edge.edge.smaller; });
    put_differences(writer, edges, [](const OpenEdge<Length>& edge) { return edge.edge.larger; });
    put_differences(writer, edges, [](const OpenEdge<Length>& edge) { return edge.components[0]; });
    put_differences(writer, edges, [](const OpenEdge<Length>& edge) { return edge.components[1]; });
    put_differences(writer, edges, [](const OpenEdge<Length>& edge) { return edge.edge.smaller_rank; });
    put_differences(writer, edges, [](const OpenEdge<Length>& edge) { return edge.edge.larger_rank; });
    for (const OpenEdge<Length>& edge : edges) {
        writer.put_value(edge.edge.length);
    }
}
template <class Length>
std::vector<OpenEdge<Length>> taken_edges(MessageReader& reader) {
    std::array<std::vector<std::int64_t>, 6> members;
    for (std::vector<std::int64_t>& numbers : members) {
        numbers = taken_differences(reader);
    }
    const auto& [smaller, larger, of_smaller, of_larger, smaller_rank, larger_rank] = members;
    std::vector<OpenEdge<Length>> edges;
    for (std::size_t i = 0; i < smaller.size(); ++i) {
        edges.push_back({{reader.take<Length>(), smaller[i], larger[i], static_cast<std::int32_t>(smaller_rank[i]),
                          static_cast<std::int32_t>(larger_rank[i])},
                         {of_smaller[i], of_larger[i]}});
    }
    return edges;
}

/// The least number of points of a component whose number rank 0 knows.
inline constexpr std::int64_t large = 64;

/// The large components of a rank, by their numbers, and their numbers of points; or none.
template <class Length>
void put_sizes(MessageWriter& writer, const OwnComponents<Length>& components, bool are_wanted) {
    std::vector<std::int64_t> points(components.names.size());
    std::vector<std::int64_t> numbers;
    for (std::int64_t row = 0; are_wanted && row < components.of_row.size(); ++row) {
        const std::int32_t component = components.of_row[row];
        if (component >= 0 && ++points[component] == large) {
            numbers.push_back(component);
        }
    }
    std::ranges::sort(numbers);
    put_differences(writer, numbers, std::identity());
    for (const std::int64_t number : numbers) {
        put_number(writer, points[number]);
    }
}

/// What rank 0 knows of all components.
template <class Length>
class OpenForest {
public:
    void reopen() { components_.reopen(); }
    /// A component that its rank has joined to another one.
    void join(std::int64_t name, std::int64_t root) {
        if (name != root && components_.join(member_of(name), member_of(root))) {
            --count_;
        }
    }
    /// Once, of components with `large` points or more.
    void count(std::int64_t name, std::int64_t points) { points_[member_of(name)] = points; }
    void report(std::int64_t name, const Length& limit) { components_.lower_limit(member_of(name), limit); }
    void add(const OpenEdge<Length>& edge) {
        edges_.push_back({edge.edge, {member_of(edge.components[0]), member_of(edge.components[1])}});
    }
    /// Returns the edges that join components.
    std::vector<RankEdge<Length>> join() {
        std::vector<RankEdge<Length>> joined;
        std::sort(edges_.begin(), edges_.end(), [](const Edge& a, const Edge& b) { return a.edge < b.edge; });
        std::erase_if(edges_, [&](const Edge& edge) {
            const EdgeState state = components_.offer(edge.edge.length, edge.members[0], edge.members[1]);
            if (state == EdgeState::joined) {
                joined.push_back(edge.edge);
                --count_;
            }
            return state != EdgeState::open;
        });
        find_waiting();
        return joined;
    }
    [[nodiscard]] std::int64_t components() const { return count_; }
    /// The new name of a component, and the least length of an edge out of it, or what comes before all if it may wait.
    [[nodiscard]] std::pair<std::int64_t, Length> now(std::int64_t name) {
        const std::int32_t root = components_.root_of(members_.at(name));
        return {names_[root], may_wait_[root] ? before_all_edges<Length> : components_.nearest(root)};
    }

private:
    struct Edge {
        RankEdge<Length> edge;
        std::int32_t members[2];
    };

    /// An edge joins as soon as it is known to be the least of one of its components. So a large one may wait for a
    /// smaller one that its least known edge leads to, unless that waits, too.
    void find_waiting() {
        std::vector<std::int64_t> points(names_.size());
        std::vector<std::int32_t> roots;
        for (std::int32_t member = 0; member < components_.members(); ++member) {
            points[components_.root_of(member)] += points_[member];
            if (components_.root_of(member) == member) {
                roots.push_back(member);
            }
        }
        std::vector<std::int32_t> others(names_.size(), -1); // that the least edges lead to
        for (const Edge& edge : edges_) {                    // in the order of edges
            const std::int32_t a = components_.root_of(edge.members[0]);
            const std::int32_t b = components_.root_of(edge.members[1]);
            others[a] = others[a] < 0 ? b : others[a];
            others[b] = others[b] < 0 ? a : others[b];
        }
        may_wait_.assign(names_.size(), false);
        const auto size_of = [&](std::int32_t root) { return std::pair(points[root], root); };
        std::ranges::sort(roots, {}, size_of);
        for (const std::int32_t root : roots) {
            const std::int32_t other = others[root];
            may_wait_[root] = points[root] > 0 && other >= 0 && size_of(other) < size_of(root) && !may_wait_[other];
        }
    }

    std::int32_t member_of(std::int64_t name) {
        if (std::ssize(names_) == std::numeric_limits<std::int32_t>::max()) {
            throw Error(ErrorKind::too_large, "rank 0 would have to join more than 2147483647 components of all ranks; "
                                              "distribute the points so that those of a rank are near each other");
        }
        const auto [entry, is_new] = members_.try_emplace(name, components_.members());
        if (is_new) {
            components_.add(after_all_edges<Length>);
            names_.push_back(name);
            points_.push_back(0);
            ++count_;
        }
        return entry->second;
    }

    Contraction<Length> components_;
    std::unordered_map<std::int64_t, std::int32_t> members_;
    std::vector<std::int64_t> names_;  ///< by member
    std::vector<std::int64_t> points_; ///< by member, of large ones
    std::vector<bool> may_wait_;       ///< by root
    std::vector<Edge> edges_;
    std::int64_t count_ = 0;
};

} // namespace kith::detail
