// The condensed tree of HDBSCAN*: the hierarchy of clusters without those of fewer than min_cluster_size points.
//
// Problem: which points leave which cluster at which merge, as merges are undone from the last to the first
// (docs/semantics.md, "HDBSCAN*"). Method: one pass over the merges, each of which hands what it knows to its two
// parts: the cluster that it is in, or the merge at which its points have left. Source: Campello, Moulavi and Sander,
// PAKDD
// 2013. Cost: O(n), 8 bytes a merge.
#pragma once

#include <kith/hierarchy.hpp>

#include "support/context.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace kith::detail {

/// What the merges say of clusters. Merges are numbers of edges; `none` is that of the root's birth, and of what leaves
/// without a merge.
struct Condensed {
    static constexpr std::int32_t none = -1;

    struct Cluster {
        std::int32_t parent; ///< -1: the root
        std::int32_t size;   ///< number of points
        std::int32_t birth;  ///< the merge at which its parent split
        std::int32_t death;  ///< of those at which a point leaves it, the first in the order of edges
    };
    /// Where a point leaves all clusters.
    struct Exit {
        std::int32_t cluster;
        std::int32_t merge;
    };

    std::vector<Cluster> clusters; ///< parents first
    Buffer<Exit> exits;            ///< of each point
};

/// Of one point or more. Runs inside a stage.
Condensed condense(Context& context, std::span<const Merge> merges, std::int64_t min_cluster_size);

} // namespace kith::detail
