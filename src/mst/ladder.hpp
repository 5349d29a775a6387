// Groups at ascending linking lengths, from the edges of a spanning tree.
//
// From level to level the edges between the two lengths are united. A group's root is its smallest member, so that its
// place in the order of groups follows from root and size; sizes are brought up to date by the roots that are roots no
// longer, each of which passes its size on once. Cost: O(n) a level in plain scans, and close to O(n) in all for the
// edges.
#pragma once

#include <kith/hierarchy.hpp>

#include "support/context.hpp"

#include <cstdint>
#include <span>

namespace kith::detail {

class Ladder {
public:
    /// Every point a group of its own. All members run inside a stage.
    Ladder(Context& context, std::int64_t points, std::int64_t min_members);

    /// Adds edges.
    void join(std::span<const SpanningEdge> edges);
    /// Lists the groups of now: their number, sizes and first members.
    void list(FofLevel& level);
    /// The groups listed last that contain those of a level before.
    void find_parents(FofLevel& level);

private:
    void update_sizes();
    /// The groups of two and more that are listed, in the order of their labels.
    [[nodiscard]] Buffer<std::uint64_t> ranked_groups();

    Context& context_;
    std::int64_t min_members_;
    std::int64_t groups_;
    Buffer<std::int32_t> parents_;
    Buffer<std::int32_t> sizes_;  ///< of a root: members of its group; else 0
    Buffer<std::int32_t> labels_; ///< of a root whose group is listed
};

} // namespace kith::detail
