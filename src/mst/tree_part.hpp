// One rank's part of a spanning tree over ranks, besides its edges: what its cuts and the order of all edges need.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace kith::detail {

struct TreePart {
    /// An edge whose smaller end is a point of another rank.
    struct RemoteEnd {
        std::int64_t edge;
        std::int32_t rank;
    };

    std::int64_t points = 0;            ///< of this rank
    bool has_ids = false;               ///< whether the points had ids
    bool is_in_order = false;           ///< consecutive edges of the whole tree, wherever their ends are
    std::vector<RemoteEnd> remote = {}; ///< ascending by edge
    /// The squared length of each edge in working units, of the points' type: weights round it, so edges of different
    /// parts that are equally long in weight are ordered by it. Null over one rank.
    std::shared_ptr<void> squared = {};
};

} // namespace kith::detail
