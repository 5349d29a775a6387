// Clusters that merges number, by union-find: a root stores the number of its cluster, the smaller tree goes below the
// larger one, and paths are halved. Two integers of type Index a point.
#pragma once

#include "support/context.hpp"
#include "support/parallel.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>

namespace kith::detail {

template <class Index>
class Clusters {
public:
    using Number = std::make_unsigned_t<Index>; ///< of a cluster: up to twice the number of points

    /// Each point a cluster of its number. Runs inside a stage.
    Clusters(Context& context, std::int64_t points) : members_(context.memory_tracker(), points) {
        parallel_each(points, 1 << 14, [&](std::int64_t i) { members_[i] = {-1, static_cast<Number>(i)}; });
    }

    struct Merged {
        Number left; ///< the smaller number
        Number right;
        Index count;
    };
    /// Joins the clusters of an edge's ends into one of that number.
    template <class Edge>
    [[nodiscard]] Merged merge(const Edge& edge, Number joint) {
        auto large = root_of(static_cast<Index>(edge.smaller));
        auto small = root_of(static_cast<Index>(edge.larger));
        if (members_[large].parent > members_[small].parent) {
            std::swap(large, small);
        }
        const auto [left, right] = std::minmax({members_[large].cluster, members_[small].cluster});
        members_[large].parent += members_[small].parent;
        members_[large].cluster = joint;
        members_[small].parent = large;
        return {left, right, static_cast<Index>(-members_[large].parent)};
    }

    /// Loads what a later merge will need: the ends of the edge, then what these point to.
    template <class Edge>
    void prefetch_ends(const Edge& edge) const {
        __builtin_prefetch(&members_[edge.smaller]);
        __builtin_prefetch(&members_[edge.larger]);
    }
    template <class Edge>
    void prefetch_parents(const Edge& edge) const {
        for (const auto end : {edge.smaller, edge.larger}) {
            __builtin_prefetch(&members_[std::max(members_[end].parent, Index{0})]);
        }
    }

private:
    struct Member {
        Index parent;   ///< of a root: minus the size of its cluster
        Number cluster; ///< of a root
    };

    [[nodiscard]] Index root_of(Index point) {
        while (members_[point].parent >= 0) {
            const Index parent = members_[point].parent;
            if (members_[parent].parent < 0) {
                return parent;
            }
            members_[point].parent = members_[parent].parent;
            point = members_[parent].parent;
        }
        return point;
    }

    Buffer<Member> members_;
};

/// Calls take(merged) for each of the edges from `begin` to before `end`, in order; `first` is the number of the
/// cluster that edge 0 makes. The waits for memory are what counts; they are hidden by asking for the ends of later
/// edges early.
template <class Index, class Edge, class Take>
void merge_edges(Clusters<Index>& clusters, std::span<const Edge> edges, std::int64_t begin, std::int64_t end,
                 std::int64_t first, const Take& take) {
    constexpr std::int64_t ahead = 32; // edges: those of the next microsecond or so
    const std::int64_t last = std::ssize(edges) - 1;
    for (std::int64_t i = begin; i < end; ++i) {
        clusters.prefetch_ends(edges[std::min(i + 2 * ahead, last)]);
        clusters.prefetch_parents(edges[std::min(i + ahead, last)]);
        take(clusters.merge(edges[i], static_cast<typename Clusters<Index>::Number>(first + i)));
    }
}

} // namespace kith::detail
