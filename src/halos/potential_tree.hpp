// The tree of one group, and the moments of its nodes.
//
// Bodies are sorted by 64-bit words: positions in units of a power of two of the longest side, axes interleaved, x
// first, above the body's place in the group. So bodies in one cell are ordered by index, and no two words are equal. A
// node holds the bodies whose words share their leading bits; one of more than `potential_leaf_size` bodies has two
// children, by the first bit that differs. Nothing is regularized or coarsened. Nodes are in depth-first order: the
// first child follows its node, and `next` is the node after all below.
//
// What decides whether a node counts as a whole for a receiving leaf is in docs/semantics.md, "Bound halos".
#pragma once

#include "halos/potential_bodies.hpp"
#include "halos/potential_node.hpp"
#include "support/context.hpp"
#include "support/scratch_array.hpp"

#include <cstdint>

namespace kith::detail::halos {

class PotentialTree {
public:
    /// Of two bodies or more. All threads share the work if the group is that large.
    void build(Context& context, GroupBodies& group, SofteningKernel kernel);

    [[nodiscard]] std::int32_t nodes() const noexcept { return static_cast<std::int32_t>(node_count_); }
    [[nodiscard]] const PotentialNode* node_data() const noexcept { return nodes_.data(); }
    [[nodiscard]] const SecondMoments* moment_data() const noexcept { return moments_.data(); }
    [[nodiscard]] BodyView bodies() const noexcept { return ordered_.view(); }
    /// The place in the group of a body in the order of the tree.
    [[nodiscard]] std::int64_t place(std::int64_t body) const noexcept {
        return static_cast<std::int64_t>(words_[body] & place_mask_);
    }
    /// The mean square distance from the center of mass.
    [[nodiscard]] double squared_size() const noexcept { return squared_size_; }

private:
    ScratchArray<std::uint64_t> words_;
    ScratchArray<std::uint64_t> spare_;
    std::uint64_t place_mask_ = 0;
    BodyArrays ordered_;
    ScratchArray<PotentialNode> nodes_;
    ScratchArray<SecondMoments> moments_;
    std::int64_t node_count_ = 0;
    double squared_size_ = 0;
};

} // namespace kith::detail::halos
