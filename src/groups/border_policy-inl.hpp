// Border points as a policy of the receiver walk.
//
// Problem: find for every point that is no core point the lowest-numbered cluster with a core point within eps. Sources
// are the core points alone. Source nodes that lie within eps of all of a receiving node are taken whole, with the
// lowest cluster in them; nodes without such points are left at once.

#include "groups/core_policy-inl.hpp"
#include "groups/density.hpp"
#include "neighbors/block_kernels-inl.hpp"
#include "walk/near_ranges-inl.hpp"
#include "walk/receiver_walk-inl.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>

#if defined(KITH_BORDER_POLICY_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef KITH_BORDER_POLICY_INL_HPP
#undef KITH_BORDER_POLICY_INL_HPP
#else
#define KITH_BORDER_POLICY_INL_HPP
#endif

HWY_BEFORE_NAMESPACE();
namespace kith::detail::HWY_NAMESPACE {

/// Some receivers against ranges of core points.
template <class T>
class BorderLeaf {
public:
    BorderLeaf(const BorderJob<T>& job, DensityScratch<T>& scratch)
        : job_(job), points_(job.receivers->points), kernels_(block_kernels<T>(job.dimension, job.periodic)),
          scratch_(scratch) {}

    /// Lists those of [begin, end) that are no core points. Returns how many they are.
    std::int64_t list(std::int64_t begin, std::int64_t end) {
        scratch_.open.reserve(end - begin);
        open_ = 0;
        for (std::int64_t i = begin; i < end; ++i) {
            scratch_.open[open_] = static_cast<std::int32_t>(i);
            open_ += job_.is_core[i] != 0 ? 0 : 1;
        }
        return open_;
    }

    /// Of those listed, at least one.
    [[nodiscard]] AnyReceiver<T> box_of_listed() const {
        return box_of_points(job_.dimension, points_.axis(0), points_.stride, scratch_.open.data(), open_,
                             job_.receivers->period.data());
    }

    /// Labels those listed, from ranges with every core point within reach of their box; `lowest` is a cluster within
    /// reach of all of them, or none.
    void label(const AnyReceiver<T>& box, const IndexRange* ranges, std::int64_t range_count, std::int32_t lowest) {
        const PointSetView<T>& sources = job_.sources->points;
        const GatheredBlock block =
            kernels_.gather(box, {sources.axis(0), sources.stride, job_.clusters}, ranges, range_count,
                            Candidate<T>{job_.squared_length}, scratch_.block, scratch_.block_numbers);
        scratch_.lowest.reserve(open_);
        kernels_.lowest_near({points_.axis(0), points_.stride, scratch_.open.data(), open_,
                              job_.receivers->period.data(), job_.squared_length},
                             scratch_.block.data(), block.stride, block.size, scratch_.block_numbers.data(), no_cluster,
                             scratch_.lowest.data());
        for (std::int64_t i = 0; i < open_; ++i) {
            const std::int32_t cluster = std::min(lowest, scratch_.lowest[i]);
            if (cluster != no_cluster) {
                job_.labels[points_.indices[scratch_.open[i]]] = cluster;
                std::atomic_ref(job_.sizes[cluster]).fetch_add(1, std::memory_order_relaxed);
            }
        }
    }

private:
    const BorderJob<T>& job_;
    const PointSetView<T>& points_;
    const BlockKernels<T>& kernels_;
    DensityScratch<T>& scratch_;
    std::int64_t open_ = 0;
};

template <class T>
class BorderPolicy : public PolicyDefaults {
public:
    struct Bound {
        std::int32_t lowest; ///< cluster in source nodes that were taken whole
        bool is_settled;     ///< all are core points, or no core point is within reach
    };

    BorderPolicy(const BorderJob<T>& job, DensityScratch<T>& scratch)
        : job_(job), leaf_(job, scratch),
          ranges_(*job.sources, job.dimension, walk_kernels<T>(job.dimension, job.periodic), scratch.walk) {}

    [[nodiscard]] Bound enter(const Bound* parent, int level, std::int64_t node) const {
        const bool all_are_core = job_.all_are_core[level][node] != 0;
        return parent != nullptr ? Bound{parent->lowest, parent->is_settled || all_are_core}
                                 : Bound{no_cluster, all_are_core};
    }
    [[nodiscard]] bool is_settled(const Bound& bound) const { return bound.is_settled; }
    [[nodiscard]] T reach(const Bound& /*bound*/) const { return job_.squared_length; }
    [[nodiscard]] bool take(int level, std::int32_t source, T /*least*/, T /*greatest*/, Bound& bound) const {
        bound.lowest = std::min(bound.lowest, job_.lowest[level][source]);
        return true;
    }
    void drop_more(const InteractionList<T>& list, int /*level*/, Bound& bound) const {
        bound.is_settled = list.size == 0 && bound.lowest == no_cluster;
    }

    void begin_leaves(const InteractionList<T>& list, int level, const AnyReceiver<T>& /*parent*/) {
        ranges_.start(list, level);
    }

    bool finish_early(std::int64_t leaf, std::int64_t /*siblings_left*/, const AnyReceiver<T>& /*box*/,
                      const Bound& bound) {
        const PlaneView<T>& leaves = job_.receivers->planes[0];
        (void)leaf_.list(leaves.first_point[leaf], leaves.first_point[leaf + 1]); // not all are core
        const AnyReceiver<T> box = leaf_.box_of_listed();
        (void)ranges_.list(box, job_.squared_length, std::numeric_limits<std::int64_t>::max());
        if (ranges_.size() > 0 || bound.lowest != no_cluster) {
            leaf_.label(box, ranges_.data(), ranges_.size(), bound.lowest);
        }
        return true;
    }

private:
    const BorderJob<T>& job_;
    BorderLeaf<T> leaf_;
    NearRanges<T> ranges_;
};

} // namespace kith::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
