// Pair counts on a GPU, from finished trees to sums by slot: what runs after what. The method is pair_kernel.hpp's.
//
// Scratch: up to 8 MiB of slots, or one copy of them; with weights 4 bytes a point and 8 a node of the tree. The host
// waits once, for the sums.
#pragma once

#include "cuda/launch.hpp"
#include "pairs/pair_kernel.hpp"
#include "pairs/pair_sums.hpp"
#include "tree/device_attributes.hpp"
#include "tree/device_planes.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace kith::detail::inline KITH_GPU {

/// The weights of a tree's points, and their sums by node.
class DevicePairWeights {
public:
    DevicePairWeights() = default;
    /// `by_index`: whole numbers of the host, which may go when this returns.
    template <Coordinate T>
    DevicePairWeights(DeviceContext& context, const std::vector<std::uint32_t>& by_index, const TreeView<T>& tree)
        : weights_(context.buffer<std::uint32_t>(tree.points.count)) {
        const std::int64_t count = tree.points.count;
        const DeviceBuffer<std::uint32_t> given = context.buffer<std::uint32_t>(count);
        context.copy(given.data(), by_index.data(), count * static_cast<std::int64_t>(sizeof(std::uint32_t)));
        for_each_index(context, "weights of points", count,
                       GatherWeights{tree.points.indices, given.data(), weights_.data()});
        sums_ = node_attributes<std::int64_t>(context, tree, WeightOfPoint{weights_.data()}, AddWeights{});
        context.wait(); // for the host's numbers
    }

    [[nodiscard]] const std::uint32_t* data() const { return weights_.data(); } ///< by position; null: there are none
    [[nodiscard]] const DeviceAttributes<std::int64_t>& sums() const { return sums_; }

private:
    DeviceBuffer<std::uint32_t> weights_;
    DeviceAttributes<std::int64_t> sums_;
};

/// A tree of one point or more and the weights of its points.
template <Coordinate T>
struct WeightedDeviceTree {
    const DevicePlaneTree<T>* tree;
    const DevicePairWeights* weights;
};

/// The number of copies of the slots: one for each block that runs at a time, if memory allows.
inline std::int64_t copies_of_slots(const DeviceWork& work, std::int64_t bytes_of_copy, std::int64_t blocks) {
    constexpr std::int64_t max_bytes = 8 << 20; // stay in the second cache
    constexpr std::int64_t blocks_at_a_time = 8;
    return std::clamp<std::int64_t>(std::min(max_bytes / bytes_of_copy, blocks_at_a_time * work.multiprocessors()), 1,
                                    blocks);
}

template <Coordinate T, int D, bool Separations>
auto count_pairs_kernel_of(bool periodic, bool is_along) {
    return is_along ? (periodic ? count_pairs_kernel<T, D, true, true, Separations>
                                : count_pairs_kernel<T, D, false, true, Separations>)
                    : (periodic ? count_pairs_kernel<T, D, true, false, Separations>
                                : count_pairs_kernel<T, D, false, false, Separations>);
}

/// Counts the pairs of one set, which both trees then are, or of two.
template <Coordinate T, int D>
PairSums count_pairs(DeviceContext& context, WeightedDeviceTree<T> first, WeightedDeviceTree<T> second, bool weighted,
                     const PairLimits<T>& limits) {
    const bool within = first.tree == second.tree;
    if (second.tree->planes[0].nodes > first.tree->planes[0].nodes) {
        std::swap(first, second); // a warp for each of many leaves
    }
    const auto bytes = [](std::int64_t numbers) { return numbers * static_cast<std::int64_t>(sizeof(T)); };
    const DeviceBuffer<T> of_axes = context.buffer<T>(limits.first_count + limits.second_count);
    context.copy(of_axes.data(), limits.first.data(), bytes(limits.first_count));
    context.copy(of_axes.data() + limits.first_count, limits.second.data(), bytes(limits.second_count));

    PairKernelJob<T> job;
    job.points = first.tree->points.view();
    job.leaves = first.tree->planes[0].view();
    job.weights = first.weights->data();
    job.others = second.tree->view();
    job.other_weights = second.weights->data();
    std::copy(second.weights->sums().planes.begin(), second.weights->sums().planes.end(), job.other_sums.begin());
    job.within = within;
    const int across = limits.binning == PairBinning::rp_pi ? D - 1 : D;
    const int line_of_sight = limits.axes[D - 1];
    job.limits = {of_axes.data(),
                  of_axes.data() + limits.first_count,
                  static_cast<std::int32_t>(limits.first_count),
                  static_cast<std::int32_t>(limits.second_count),
                  limits.binning == PairBinning::s_mu,
                  limits.axes,
                  across,
                  D - 1};
    if (limits.binning != PairBinning::rp_pi) { // all axes in their own order
        for (int axis = 0; axis < D; ++axis) {
            job.limits.axes[axis] = axis;
        }
        job.limits.along = line_of_sight;
    }
    job.slots.slots = limits.slots();
    job.slots.weighted = weighted;
    job.slots.separations = limits.separation_scale.has_value();
    job.separation_scale = limits.separation_scale.value_or(0);
    const std::int64_t words = job.slots.slots * job.slots.words_of_slot();
    const std::int64_t blocks = (job.leaves.nodes + std::int64_t{pair_warps} - 1) / pair_warps;
    job.slots.copies = copies_of_slots(context, 8 * words, blocks);
    const DeviceBuffer<DeviceWord> slots = context.buffer<DeviceWord>(job.slots.copies * words);
    job.slots.words = slots.data();
    context.fill(slots.data(), 0, 8 * slots.size());

    const bool periodic = first.tree->points.frame.periodic || second.tree->points.frame.periodic;
    const bool is_along = limits.binning != PairBinning::separation;
    launch(context, "counting pairs",
           job.slots.separations ? count_pairs_kernel_of<T, D, true>(periodic, is_along)
                                 : count_pairs_kernel_of<T, D, false>(periodic, is_along),
           blocks, pair_warps * warp_size, job);
    for_each_index(context, "joining counts of pairs", job.slots.slots, JoinPairSlots{job.slots});
    const std::vector<DeviceWord> found = context.to_host(slots.data(), words);

    PairSums sums(limits, weighted);
    for (std::int64_t slot = 0; slot < job.slots.slots; ++slot) {
        const DeviceWord* const of_slot = found.data() + slot * job.slots.words_of_slot();
        sums.counts[slot] = static_cast<std::int64_t>(of_slot[0]);
        if (weighted) {
            sums.weights[slot] = static_cast<Int128>(UnsignedInt128{of_slot[2]} << 64 | of_slot[1]);
        }
        if (job.slots.separations) {
            sums.separations[slot] = job.slots.separation(of_slot);
        }
    }
    return sums;
}

} // namespace kith::detail::inline KITH_GPU
