// Core points as a policy of the receiver walk.
//
// Problem: mark every point that has at least min_samples points within eps, itself included; counting may stop there.
// A node of that many points whose diagonal is within eps is marked whole, and so is one that has enough points in
// source nodes that lie within eps of all of it. The points of a leaf are first counted among themselves; only those
// that are still short of neighbors are compared with points near the leaf, gathered once for all of them.

#include "groups/density.hpp"
#include "neighbors/block_kernels-inl.hpp"
#include "walk/near_ranges-inl.hpp"
#include "walk/receiver_walk-inl.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>

#if defined(KITH_CORE_POLICY_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef KITH_CORE_POLICY_INL_HPP
#undef KITH_CORE_POLICY_INL_HPP
#else
#define KITH_CORE_POLICY_INL_HPP
#endif

HWY_BEFORE_NAMESPACE();
namespace kith::detail::HWY_NAMESPACE {

/// Counts the points of a leaf, at first among themselves.
template <class T>
class CoreLeaf {
public:
    CoreLeaf(const CoreJob<T>& job, DensityScratch<T>& scratch)
        : job_(job), points_(job.receivers->points), kernels_(block_kernels<T>(job.dimension, job.periodic)),
          scratch_(scratch) {}

    /// Counts each of [begin, end) among these points; it is a core point if it has `needed`. Returns how many are
    /// left.
    std::int64_t count_within(std::int64_t begin, std::int64_t end, std::int64_t needed) {
        needed_ = needed;
        open_ = end - begin;
        scratch_.open.reserve(open_);
        scratch_.counts.reserve(open_);
        std::iota(scratch_.open.data(), scratch_.open.data() + open_, static_cast<std::int32_t>(begin));
        std::fill_n(scratch_.counts.data(), open_, 0);
        count(points_.axis(0) + begin, points_.stride, end - begin);
        open_ = 0;
        for (std::int64_t row = 0; row < end - begin; ++row) {
            const std::int64_t found = scratch_.counts[row];
            job_.is_core[begin + row] = found >= needed ? 1 : 0;
            scratch_.open[open_] = static_cast<std::int32_t>(begin + row);
            scratch_.counts[open_] = found;
            open_ += found >= needed ? 0 : 1;
        }
        return open_;
    }

    /// Of those that are left, at least one.
    [[nodiscard]] AnyReceiver<T> box_of_open() const {
        return box_of_points(job_.dimension, points_.axis(0), points_.stride, scratch_.open.data(), open_,
                             job_.receivers->period.data());
    }

    /// Goes on counting them, in ranges that hold every point within reach of their box beside the leaf's own points.
    void count_near(const AnyReceiver<T>& box, const IndexRange* ranges, std::int64_t range_count) {
        const GatheredBlock block =
            kernels_.gather(box, {points_.axis(0), points_.stride, points_.indices}, ranges, range_count,
                            Candidate<T>{job_.squared_length}, scratch_.block, scratch_.block_numbers);
        count(scratch_.block.data(), block.stride, block.size);
        for (std::int64_t i = 0; i < open_; ++i) {
            job_.is_core[scratch_.open[i]] = scratch_.counts[i] >= needed_ ? 1 : 0;
        }
    }

private:
    /// Adds to the counts of those that are left what of some points is within reach of them.
    void count(const T* first, std::int64_t stride, std::int64_t size) {
        kernels_.count_near({points_.axis(0), points_.stride, scratch_.open.data(), open_,
                             job_.receivers->period.data(), job_.squared_length},
                            first, stride, size, needed_, scratch_.counts.data());
    }

    const CoreJob<T>& job_;
    const PointSetView<T>& points_;
    const BlockKernels<T>& kernels_;
    DensityScratch<T>& scratch_;
    std::int64_t needed_ = 0;
    std::int64_t open_ = 0;
};

template <class T>
class CorePolicy : public PolicyDefaults {
public:
    struct Bound {
        std::int64_t counted; ///< in source nodes beside this one, all within reach of all of it
    };

    CorePolicy(const CoreJob<T>& job, DensityScratch<T>& scratch)
        : job_(job), leaf_(job, scratch),
          ranges_(*job.sources, job.dimension, walk_kernels<T>(job.dimension, job.periodic), scratch.walk) {}

    [[nodiscard]] Bound enter(const Bound* parent, int level, std::int64_t node) {
        const PlaneView<T>& plane = job_.receivers->planes[level];
        first_ = plane.first_point[node];
        last_ = plane.first_point[node + 1];
        Bound bound{parent != nullptr ? parent->counted : 0};
        if (!is_settled(bound) && bound.counted + last_ - first_ >= job_.min_samples &&
            greatest_distance_within(plane, node) <= job_.squared_length) {
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

    void begin_leaves(const InteractionList<T>& list, int level, const AnyReceiver<T>& /*parent*/) {
        ranges_.start(list, level);
    }

    bool finish_early(std::int64_t /*leaf*/, std::int64_t /*siblings_left*/, const AnyReceiver<T>& /*box*/,
                      const Bound& bound) {
        if (leaf_.count_within(first_, last_, job_.min_samples - bound.counted) > 0) {
            const AnyReceiver<T> box = leaf_.box_of_open();
            (void)ranges_.list(box, job_.squared_length, std::numeric_limits<std::int64_t>::max());
            ranges_.cut_out(first_, last_);
            leaf_.count_near(box, ranges_.data(), ranges_.size());
        }
        return true;
    }

private:
    /// The greatest squared distance that two points of a node can have.
    [[nodiscard]] T greatest_distance_within(const PlaneView<T>& plane, std::int64_t node) const {
        const AnyReceiver<T> box = box_of_node(plane, job_.receivers->period, node, job_.dimension);
        return box_distances(job_.dimension, box, plane.lower(0) + node, plane.upper(0) + node, plane.stride).greatest;
    }

    const CoreJob<T>& job_;
    CoreLeaf<T> leaf_;
    NearRanges<T> ranges_;
    std::int32_t first_ = 0; ///< points of the node at hand
    std::int32_t last_ = 0;
};

} // namespace kith::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
