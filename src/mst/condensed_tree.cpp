#include "mst/condensed_tree.hpp"

#include <algorithm>
#include <utility>

namespace kith::detail {

namespace {

class Condenser {
public:
    Condenser(Context& context, std::span<const Merge> merges, std::int64_t min_size)
        : context_(context), merges_(merges), points_(std::ssize(merges) + 1), min_size_(min_size),
          states_(context.memory_tracker(), std::ssize(merges)) {
        result_.exits = Buffer<Condensed::Exit>(context.memory_tracker(), points_);
    }

    Condensed run() {
        result_.clusters.push_back({-1, static_cast<std::int32_t>(points_), Condensed::none, Condensed::none});
        hand(static_cast<std::uint32_t>(points_ + std::ssize(merges_) - 1), {0, Condensed::none});
        constexpr std::int64_t block_size = 1 << 16;
        context_.expect(std::ssize(merges_));
        for (std::int64_t end = std::ssize(merges_); end > 0; end -= block_size) {
            const std::int64_t begin = std::max<std::int64_t>(0, end - block_size);
            for (std::int64_t merge = end; merge-- > begin;) {
                undo(static_cast<std::int32_t>(merge));
            }
            context_.done(end - begin);
        }
        return std::move(result_);
    }

private:
    using State = Condensed::Exit; // of a part of the hierarchy; without a merge, it is still in the cluster

    void undo(std::int32_t merge) {
        const std::uint32_t left = merges_[merge].left;
        const std::uint32_t right = merges_[merge].right;
        State state = states_[merge];
        if (state.merge != Condensed::none) { // its points have left
            hand(left, state);
            hand(right, state);
            return;
        }
        result_.clusters[state.cluster].death = merge;
        const bool left_lasts = size_of(left) >= min_size_;
        const bool right_lasts = size_of(right) >= min_size_;
        if (!left_lasts || !right_lasts) {
            const State leaves{state.cluster, merge};
            hand(left, left_lasts ? state : leaves);
            hand(right, right_lasts ? state : leaves);
            return;
        }
        for (const std::uint32_t part : {left, right}) {
            hand(part, {static_cast<std::int32_t>(result_.clusters.size()), Condensed::none});
            result_.clusters.push_back(
                {state.cluster, static_cast<std::int32_t>(size_of(part)), merge, Condensed::none});
        }
    }

    void hand(std::uint32_t part, const State& state) {
        if (part < points_) {
            result_.exits[part] = state;
        } else {
            states_[part - points_] = state;
        }
    }

    [[nodiscard]] std::int64_t size_of(std::uint32_t part) const {
        return part < points_ ? 1 : merges_[part - points_].count;
    }

    Context& context_;
    std::span<const Merge> merges_;
    std::int64_t points_;
    std::int64_t min_size_;
    Buffer<State> states_;
    Condensed result_;
};

} // namespace

Condensed condense(Context& context, std::span<const Merge> merges, std::int64_t min_cluster_size) {
    return Condenser(context, merges, min_cluster_size).run();
}

} // namespace kith::detail
