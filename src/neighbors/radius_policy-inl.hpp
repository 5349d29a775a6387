// Neighbors within a radius as a policy of the receiver walk.
//
// The reach is the largest radius of a node's points. For counts, source nodes that lie within the smallest one are
// taken whole: their points are counted once for all receivers below. What is left when the receivers are leaves is
// listed from the parent's list (walk/near_ranges-inl.hpp), gathered once per leaf and measured from each of its
// points, a vector at a time.

#include "neighbors/block_kernels-inl.hpp"
#include "neighbors/radius.hpp"
#include "neighbors/row_order-inl.hpp"
#include "neighbors/rows-inl.hpp"
#include "walk/near_ranges-inl.hpp"
#include "walk/receiver_walk-inl.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>

#if defined(KITH_RADIUS_POLICY_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef KITH_RADIUS_POLICY_INL_HPP
#undef KITH_RADIUS_POLICY_INL_HPP
#else
#define KITH_RADIUS_POLICY_INL_HPP
#endif

HWY_BEFORE_NAMESPACE();
namespace kith::detail::HWY_NAMESPACE {

/// Some receivers against ranges of sources.
template <class T>
class RadiusLeaf {
public:
    RadiusLeaf(const RadiusJob<T>& job, RadiusScratch<T>& scratch)
        : job_(job), receivers_(job.receivers->points), sources_(job.sources->points),
          kernels_(block_kernels<T>(job.dimension, job.periodic)), scratch_(scratch) {}

    /// The answers of the receivers [begin, end), which lie in the box and whose squared radii are within the reach.
    /// `counted` more sources have been found within the radius of each of them; only counts are asked for then.
    void search(std::int64_t begin, std::int64_t end, const AnyReceiver<T>& box, T reach, const IndexRange* ranges,
                std::int64_t range_count, std::int64_t counted) {
        block_ = kernels_.gather(box, {sources_.axis(0), sources_.stride, sources_.indices}, ranges, range_count,
                                 Candidate<T>{reach}, scratch_.block, scratch_.block_indices);
        if (job_.sink.counts != nullptr) {
            count(begin, end, counted - (job_.exclude_self ? 1 : 0));
            return;
        }
        reserve_survivors(scratch_, block_.size, 1);
        if (job_.sink.visitor != nullptr) {
            visit(begin, end);
            return;
        }
        for (std::int64_t i = begin; i < end; ++i) {
            write(i);
        }
    }

private:
    using LaneIndex = typename RadiusScratch<T>::LaneIndex;

    /// Neighbors of one receiver in the order that is asked for.
    struct Found {
        const T* distances; ///< squared
        const LaneIndex* indices;
        std::int64_t size;
    };

    [[nodiscard]] T squared_radius(std::int64_t receiver) const {
        return job_.squared_radii != nullptr ? job_.squared_radii[receiver] : job_.uniform.largest;
    }

    /// Adds the points of the block within the radii of some receivers, and a number, to their counts.
    void count(std::int64_t begin, std::int64_t end, std::int64_t from) {
        const std::int64_t rows = end - begin;
        scratch_.rows.reserve(rows);
        scratch_.counts.reserve(rows);
        std::iota(scratch_.rows.data(), scratch_.rows.data() + rows, static_cast<std::int32_t>(begin));
        std::fill_n(scratch_.counts.data(), rows, from);
        kernels_.count_near({receivers_.axis(0), receivers_.stride, scratch_.rows.data(), rows,
                             job_.sources->period.data(), job_.uniform.largest, job_.squared_radii},
                            scratch_.block.data(), block_.stride, block_.size, std::numeric_limits<std::int64_t>::max(),
                            scratch_.counts.data());
        for (std::int64_t row = 0; row < rows; ++row) {
            job_.sink.counts[receivers_.indices[begin + row]] += scratch_.counts[row];
        }
    }

    /// Those of a receiver, without itself if that is left out.
    HWY_NOINLINE Found find(std::int64_t receiver) {
        Measured<T> measured[1] = {{scratch_.distances[0].data(), scratch_.positions[0].data(), 0}};
        kernels_.measure_one(receivers_.axis(0), receivers_.stride, &receiver, job_.sources->period.data(),
                             scratch_.block.data(), block_.stride, block_.size, squared_radius(receiver), measured);
        RowSort<T>(measured[0], block_.size, scratch_.block_indices.data(), scratch_).sort(job_.order, sources_.count);
        std::int64_t size = measured[0].found;
        T* distances = scratch_.sorted_distances.data();
        LaneIndex* indices = scratch_.sorted_indices.data();
        if (job_.exclude_self) {
            LaneIndex* const own = std::find(indices, indices + size, LaneIndex{receivers_.indices[receiver]});
            const std::int64_t at = own - indices;
            std::copy(own + 1, indices + size, own);
            std::copy(distances + at + 1, distances + size, distances + at);
            --size;
        }
        return {distances, indices, size};
    }

    void write(std::int64_t receiver) {
        const Found found = find(receiver);
        const std::int64_t at = job_.sink.offsets[receivers_.indices[receiver]];
        report_distances(found.distances, found.size, job_.report, job_.sink.distances + at);
        if (job_.sink.indices != nullptr) {
            std::copy_n(found.indices, found.size, job_.sink.indices + at);
        } else {
            std::copy_n(found.indices, found.size, job_.sink.wide_indices + at);
        }
    }

    void visit(std::int64_t begin, std::int64_t end) {
        const std::int64_t rows = end - begin;
        scratch_.row_offsets.reserve(rows + 1);
        std::int64_t size = 0;
        for (std::int64_t row = 0; row < rows; ++row) {
            const Found found = find(begin + row);
            scratch_.row_offsets[row] = size;
            scratch_.row_indices.reserve(size + found.size, size);
            scratch_.row_distances.reserve(size + found.size, size);
            report_distances(found.distances, found.size, job_.report, scratch_.row_distances.data() + size);
            std::copy_n(found.indices, found.size, scratch_.row_indices.data() + size);
            size += found.size;
        }
        scratch_.row_offsets[rows] = size;
        visit_block(job_, begin, rows, scratch_);
    }

    const RadiusJob<T>& job_;
    const PointSetView<T>& receivers_;
    const PointSetView<T>& sources_;
    const BlockKernels<T>& kernels_;
    RadiusScratch<T>& scratch_;
    GatheredBlock block_;
};

template <class T>
class RadiusPolicy : public PolicyDefaults {
public:
    struct Bound {
        RadiusRange<T> squared;
        std::int64_t counted; ///< sources that were taken whole
    };

    RadiusPolicy(const RadiusJob<T>& job, RadiusScratch<T>& scratch)
        : job_(job), leaf_(job, scratch),
          ranges_(*job.sources, job.dimension, walk_kernels<T>(job.dimension, job.periodic), scratch.walk) {}

    [[nodiscard]] Bound enter(const Bound* parent, int level, std::int64_t node) const {
        return {job_.squared_radii != nullptr ? job_.of_nodes[level][node] : job_.uniform,
                parent != nullptr ? parent->counted : 0};
    }
    [[nodiscard]] T reach(const Bound& bound) const { return bound.squared.largest; }

    /// Rows list every source: only counts take nodes whole.
    [[nodiscard]] bool take(int level, std::int32_t source, T /*least*/, T greatest, Bound& bound) const {
        if (job_.sink.counts == nullptr || greatest > bound.squared.smallest) {
            return false;
        }
        bound.counted += job_.sources->planes[level].points_in(source);
        return true;
    }

    void begin_leaves(const InteractionList<T>& list, int level, const AnyReceiver<T>& /*parent*/) {
        ranges_.start(list, level);
    }

    bool finish_early(std::int64_t leaf, std::int64_t /*siblings_left*/, const AnyReceiver<T>& box,
                      const Bound& bound) {
        const PlaneView<T>& leaves = job_.receivers->planes[0];
        (void)ranges_.list(box, bound.squared.largest, std::numeric_limits<std::int64_t>::max());
        leaf_.search(leaves.first_point[leaf], leaves.first_point[leaf + 1], box, bound.squared.largest, ranges_.data(),
                     ranges_.size(), bound.counted);
        return true;
    }

private:
    const RadiusJob<T>& job_;
    RadiusLeaf<T> leaf_;
    NearRanges<T> ranges_;
};

} // namespace kith::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
