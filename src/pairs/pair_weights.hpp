// The weights of a tree's points as whole numbers, and their sums by node.
#pragma once

#include "pairs/pair_job.hpp"
#include "pairs/weight_unit.hpp"
#include "support/context.hpp"
#include "support/parallel.hpp"
#include "tree/node_attributes.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace kith::detail {

/// The weights of one set.
class PairWeights {
public:
    PairWeights() = default;
    /// Of points of a tree; `weights` are in their original order.
    template <Coordinate T>
    PairWeights(Context& context, std::span<const double> weights, const WeightUnit& unit, const TreeView<T>& tree)
        : PairWeights(context, tree, [&](std::int32_t point) { return unit.whole(weights[point]); }) {
        vanished_ = unit.vanished(weights);
    }
    /// Whole numbers, whole_of(point).
    template <Coordinate T, class WholeOf>
    PairWeights(Context& context, const TreeView<T>& tree, const WholeOf& whole_of)
        : whole_(context.memory_tracker(), tree.points.count) {
        parallel_each(whole_.size(), 1 << 14,
                      [&](std::int64_t position) { whole_[position] = whole_of(tree.points.indices[position]); });
        sums_ = node_attributes<std::int64_t>(
            context, tree, [&](std::int32_t position) { return std::int64_t{whole_[position]}; },
            [](std::int64_t left, std::int64_t right) { return left + right; });
    }

    /// Enters them in a job, which must not outlive this.
    template <Coordinate T>
    void enter(WeightedTree<T>& tree) const {
        tree.weights = whole_.data();
        for (std::size_t level = 0; level < sums_.size(); ++level) {
            tree.sums[level] = sums_[level].data();
        }
    }
    [[nodiscard]] std::int64_t vanished() const noexcept { return vanished_; } ///< above 0, but 0 as whole numbers

private:
    Buffer<std::uint32_t> whole_; ///< by position
    std::vector<Buffer<std::int64_t>> sums_;
    std::int64_t vanished_ = 0;
};

} // namespace kith::detail
