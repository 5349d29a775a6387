// Points of all ranks that are linked if within a length of each other: for friends of friends, and for the core points
// of DBSCAN.
//
// One rank of each two requests the points of the other within the length of its leaves (ghost_points.hpp). Each rank
// links its own points while requests travel. Ghost points carry the names of their components. A node that is one
// component already, and within reach of a leaf as a whole, sends one point. The points of the requesting leaves and
// the ghost points are linked by the same walk in a tree of their own. Where one of its groups joins several
// components, these are linked across ranks (component_forest.hpp).
#pragma once

#include "distributed/component_forest.hpp"
#include "distributed/shared_frame.hpp"
#include "groups/part_linker.hpp"
#include "support/context.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace kith::detail {

struct LinkedPoints {
    /// The smallest and the largest name of a component in a node.
    struct Names {
        std::int32_t least;
        std::int32_t greatest;
    };

    Buffer<std::int32_t> component;   ///< by row: the smallest row of its component on this rank; -1: not linked
    std::vector<Buffer<Names>> names; ///< by plane and node; over several ranks
    std::optional<ComponentForest> forest;

    /// Whether all points of a node are in one component of this rank.
    [[nodiscard]] bool is_one_component(int level, std::int32_t node) const {
        const Names& of_node = names[level][node];
        return of_node.least == of_node.greatest;
    }
};

/// Collective. Links the points of a part, which are all of this rank's or some of them, on the host or on a GPU. The
/// length is in working units.
template <Coordinate T>
LinkedPoints link_points(Ranks& ranks, Context& context, const SharedPoints<T>& shared, PartLinker<T>& linker,
                         T squared_length);

} // namespace kith::detail
