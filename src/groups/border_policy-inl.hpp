// Border points as a policy of the receiver walk.
//
// Problem: find for every point that is no core point the lowest-numbered cluster with a core point within eps. Sources
// are the core points alone. Source nodes that lie within eps of all of a receiving node are taken whole, with the
// lowest cluster in them; nodes without such points are left at once.

#include "groups/core_policy-inl.hpp"
#include "groups/density.hpp"
#include "neighbors/gather-inl.hpp"
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
template <class T, int D, bool Periodic>
class BorderLeaf {
public:
    BorderLeaf(const BorderJob<T>& job, DensityScratch<T>& scratch)
        : job_(job), points_(job.receivers->points), scratch_(scratch) {
        std::copy_n(job.receivers->period.begin(), D, period_);
    }

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
    [[nodiscard]] Receiver<T, D> box_of_listed() const {
        return box_of_points<D>(points_.axis(0), points_.stride, scratch_.open.data(), open_, period_);
    }

    /// Labels those listed, from ranges with every core point within reach of their box; `lowest` is a cluster within
    /// reach of all of them, or none.
    void label(const Receiver<T, D>& box, const IndexRange* ranges, std::int64_t range_count, std::int32_t lowest) {
        const PointSetView<T>& sources = job_.sources->points;
        const GatheredBlock block = gather_near<Periodic, D>(
            box, PointSource<T, std::int32_t>{sources.axis(0), sources.stride, job_.clusters}, ranges, range_count,
            Candidate<T>{job_.squared_length}, scratch_.block, scratch_.block_numbers);
        for (std::int64_t i = 0; i < open_; ++i) {
            const std::int32_t cluster = std::min(lowest, lowest_near(scratch_.open[i], block));
            if (cluster != no_cluster) {
                job_.labels[points_.indices[scratch_.open[i]]] = cluster;
                std::atomic_ref(job_.sizes[cluster]).fetch_add(1, std::memory_order_relaxed);
            }
        }
    }

private:
    using Tag = hn::ScalableTag<T>;

    /// The lowest cluster within reach of a point.
    [[nodiscard]] HWY_INLINE std::int32_t lowest_near(std::int64_t point, const GatheredBlock& block) const {
        using LaneIndex = typename DensityScratch<T>::LaneIndex;
        const Tag tag;
        const hn::Rebind<LaneIndex, Tag> number_tag;
        const std::int64_t lanes = static_cast<std::int64_t>(hn::Lanes(tag));
        const auto limit = hn::Set(tag, job_.squared_length);
        const auto none = hn::Set(number_tag, LaneIndex{no_cluster});
        T position[D];
        load_point<D>(points_.axis(0) + point, points_.stride, position);
        auto lowest = none;
        for (std::int64_t i = 0; i < block.size; i += lanes) { // behind the block is NaN
            const Columns<Tag> others{tag, scratch_.block.data() + i, block.stride};
            const auto distance = point_distances<Periodic, D>(tag, position, period_, others, hn::Zero(tag));
            const auto numbers = hn::LoadU(number_tag, scratch_.block_numbers.data() + i);
            const auto near = hn::RebindMask(number_tag, hn::Le(distance, limit));
            lowest = hn::Min(lowest, hn::IfThenElse(near, numbers, none));
        }
        LaneIndex by_lane[hn::MaxLanes(Tag())];
        hn::StoreU(lowest, number_tag, by_lane);
        return static_cast<std::int32_t>(*std::min_element(by_lane, by_lane + lanes));
    }

    const BorderJob<T>& job_;
    const PointSetView<T>& points_;
    DensityScratch<T>& scratch_;
    T period_[D];
    std::int64_t open_ = 0;
};

template <class T, int D, bool Periodic>
class BorderPolicy : public PolicyDefaults {
public:
    struct Bound {
        std::int32_t lowest; ///< cluster in source nodes that were taken whole
        bool is_settled;     ///< all are core points, or no core point is within reach
    };

    BorderPolicy(const BorderJob<T>& job, DensityScratch<T>& scratch)
        : job_(job), leaf_(job, scratch), ranges_(*job.sources, scratch.walk) {}

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

    void begin_leaves(const InteractionList<T>& list, int level, const Receiver<T, D>& /*parent*/) {
        ranges_.start(list, level);
    }

    bool finish_early(std::int64_t leaf, std::int64_t /*siblings_left*/, const Receiver<T, D>& /*box*/,
                      const Bound& bound) {
        const PlaneView<T>& leaves = job_.receivers->planes[0];
        (void)leaf_.list(leaves.first_point[leaf], leaves.first_point[leaf + 1]); // not all are core
        const Receiver<T, D> box = leaf_.box_of_listed();
        (void)ranges_.list(box, job_.squared_length, std::numeric_limits<std::int64_t>::max());
        if (ranges_.size() > 0 || bound.lowest != no_cluster) {
            leaf_.label(box, ranges_.data(), ranges_.size(), bound.lowest);
        }
        return true;
    }

private:
    const BorderJob<T>& job_;
    BorderLeaf<T, D, Periodic> leaf_;
    NearRanges<T, D, Periodic> ranges_;
};

} // namespace kith::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
