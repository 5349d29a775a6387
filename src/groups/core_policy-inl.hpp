// Core points as a policy of the receiver walk.
//
// Problem: mark every point that has at least min_samples points within eps, itself included; counting may stop there.
// A node of that many points whose diagonal is within eps is marked whole, and so is one that has enough points in
// source nodes that lie within eps of all of it. The points of a leaf are first counted among themselves; only those
// that are still short of neighbors are compared with points near the leaf, gathered once for all of them.

#include "groups/density.hpp"
#include "neighbors/gather-inl.hpp"
#include "walk/near_ranges-inl.hpp"
#include "walk/receiver_walk-inl.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

#if defined(KITH_CORE_POLICY_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef KITH_CORE_POLICY_INL_HPP
#undef KITH_CORE_POLICY_INL_HPP
#else
#define KITH_CORE_POLICY_INL_HPP
#endif

HWY_BEFORE_NAMESPACE();
namespace kith::detail::HWY_NAMESPACE {

/// Counts the points of a leaf, at first among themselves.
template <class T, int D, bool Periodic>
class CoreLeaf {
public:
    CoreLeaf(const CoreJob<T>& job, DensityScratch<T>& scratch)
        : job_(job), points_(job.receivers->points), scratch_(scratch) {
        std::copy_n(job.receivers->period.begin(), D, period_);
    }

    /// Counts each of [begin, end) among these points; it is a core point if it has `needed`. Returns how many are
    /// left.
    std::int64_t count_within(std::int64_t begin, std::int64_t end, std::int64_t needed) {
        needed_ = needed;
        open_ = 0;
        scratch_.open.reserve(end - begin);
        scratch_.counts.reserve(end - begin);
        for (std::int64_t i = begin; i < end; ++i) {
            const std::int64_t found = count(i, points_.axis(0) + begin, points_.stride, end - begin, needed);
            job_.is_core[i] = found >= needed ? 1 : 0;
            scratch_.open[open_] = static_cast<std::int32_t>(i);
            scratch_.counts[open_] = found;
            open_ += found >= needed ? 0 : 1;
        }
        return open_;
    }

    /// Of those that are left, at least one.
    [[nodiscard]] Receiver<T, D> box_of_open() const {
        return box_of_points<D>(points_.axis(0), points_.stride, scratch_.open.data(), open_, period_);
    }

    /// Goes on counting them, in ranges that hold every point within reach of their box beside the leaf's own points.
    void count_near(const Receiver<T, D>& box, const IndexRange* ranges, std::int64_t range_count) {
        const GatheredBlock block = gather_near<Periodic, D>(
            box, PointSource<T, std::int32_t>{points_.axis(0), points_.stride, points_.indices}, ranges, range_count,
            Candidate<T>{job_.squared_length}, scratch_.block, scratch_.block_numbers);
        for (std::int64_t i = 0; i < open_; ++i) {
            const std::int64_t missing = needed_ - scratch_.counts[i];
            const std::int64_t found =
                count(scratch_.open[i], scratch_.block.data(), block.stride, block.size, missing);
            job_.is_core[scratch_.open[i]] = found >= missing ? 1 : 0;
        }
    }

private:
    using Tag = hn::ScalableTag<T>;

    /// How many of some points are within reach of one; stops soon after `enough`.
    [[nodiscard]] HWY_INLINE std::int64_t count(std::int64_t point, const T* first, std::int64_t stride,
                                                std::int64_t size, std::int64_t enough) const {
        const Tag tag;
        const std::int64_t lanes = static_cast<std::int64_t>(hn::Lanes(tag));
        const auto limit = hn::Set(tag, job_.squared_length);
        T position[D];
        load_point<D>(points_.axis(0) + point, points_.stride, position);
        std::int64_t found = 0;
        for (std::int64_t i = 0; i < size && found < enough; i += lanes) {
            const Columns<Tag> others{tag, first + i, stride};
            const auto distance = point_distances<Periodic, D>(tag, position, period_, others, hn::Zero(tag));
            found += static_cast<std::int64_t>(
                hn::CountTrue(tag, hn::And(hn::Le(distance, limit), hn::FirstN(tag, size - i))));
        }
        return found;
    }

    const CoreJob<T>& job_;
    const PointSetView<T>& points_;
    DensityScratch<T>& scratch_;
    T period_[D];
    std::int64_t needed_ = 0;
    std::int64_t open_ = 0;
};

template <class T, int D, bool Periodic>
class CorePolicy : public PolicyDefaults {
public:
    struct Bound {
        std::int64_t counted; ///< in source nodes beside this one, all within reach of all of it
    };

    CorePolicy(const CoreJob<T>& job, DensityScratch<T>& scratch)
        : job_(job), leaf_(job, scratch), ranges_(*job.sources, scratch.walk) {}

    [[nodiscard]] Bound enter(const Bound* parent, int level, std::int64_t node) {
        const PlaneView<T>& plane = job_.receivers->planes[level];
        first_ = plane.first_point[node];
        last_ = plane.first_point[node + 1];
        Bound bound{parent != nullptr ? parent->counted : 0};
        if (!is_settled(bound) && bound.counted + last_ - first_ >= job_.min_samples &&
            greatest_distance_within<Periodic, D>(plane, job_.receivers->period, node) <= job_.squared_length) {
            bound.counted = job_.min_samples;
        }
        if (is_settled(bound)) {
            std::fill(job_.is_core + first_, job_.is_core + last_, std::uint8_t{1});
        }
        return bound;
    }
    [[nodiscard]] bool is_settled(const Bound& bound) const { return bound.counted >= job_.min_samples; }
    [[nodiscard]] T reach(const Bound& /*bound*/) const { return job_.squared_length; }

    /// The receiver's own points stay in the list: a leaf counts them by itself.
    [[nodiscard]] bool take(int level, std::int32_t source, T /*least*/, T /*greatest*/, Bound& bound) const {
        const PlaneView<T>& plane = job_.sources->planes[level];
        if (plane.first_point[source] <= first_ && first_ < plane.first_point[source + 1]) {
            return false;
        }
        bound.counted += plane.points_in(source);
        return true;
    }

    void begin_leaves(const InteractionList<T>& list, int level, const Receiver<T, D>& /*parent*/) {
        ranges_.start(list, level);
    }

    bool finish_early(std::int64_t /*leaf*/, std::int64_t /*siblings_left*/, const Receiver<T, D>& /*box*/,
                      const Bound& bound) {
        if (leaf_.count_within(first_, last_, job_.min_samples - bound.counted) > 0) {
            const Receiver<T, D> box = leaf_.box_of_open();
            (void)ranges_.list(box, job_.squared_length, std::numeric_limits<std::int64_t>::max());
            ranges_.cut_out(first_, last_);
            leaf_.count_near(box, ranges_.data(), ranges_.size());
        }
        return true;
    }

private:
    const CoreJob<T>& job_;
    CoreLeaf<T, D, Periodic> leaf_;
    NearRanges<T, D, Periodic> ranges_;
    std::int32_t first_ = 0; ///< points of the node at hand
    std::int32_t last_ = 0;
};

} // namespace kith::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
