// The search of one leaf: many queries that lie together, against the source leaves near them.
//
// The source points that can matter to the leaf are gathered once into a small block. Each query makes one pass over
// the block with a threshold guessed from queries before it and verified by the count, reduces too many survivors,
// and sorts what is left. Rows that find too few stay pending, for a larger block.

#include "neighbors/block_kernels-inl.hpp"
#include "neighbors/rows-inl.hpp"
#include "neighbors/survivors-inl.hpp"

#include "neighbors/search.hpp"
#include "support/scratch_array.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>

#include <hwy/cache_control.h>

#if defined(KITH_LEAF_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef KITH_LEAF_INL_HPP
#undef KITH_LEAF_INL_HPP
#else
#define KITH_LEAF_INL_HPP
#endif

HWY_BEFORE_NAMESPACE();
namespace kith::detail::HWY_NAMESPACE {

template <class T>
class LeafSearch {
public:
    using Tag = hn::ScalableTag<T>;

    LeafSearch(const SearchJob<T>& job, SearchScratch<T>& scratch)
        : receivers_(*job.receivers), sources_(*job.sources), request_(*job.request), sink_(*job.sink),
          dimension_(job.dimension), kernels_(block_kernels<T>(job.dimension, job.periodic)), scratch_(scratch),
          direct_(sink_.direct()), needed_(request_.needed()) {}

    /// Starts on a leaf of the receivers: all its rows are pending.
    HWY_INLINE void begin(std::int64_t leaf) {
        const PlaneView<T>& leaves = receivers_.planes[0];
        begin(leaves.first_point[leaf], leaves.points_in(leaf));
    }

    /// The same with some points of a leaf.
    HWY_INLINE void begin(std::int64_t first, std::int64_t rows) {
        first_ = first;
        rows_ = rows;
        if (!direct_) {
            scratch_.row_indices.reserve(rows_ * request_.k);
            scratch_.row_distances.reserve(rows_ * request_.k);
        }
        scratch_.pending.reserve(rows_);
        for (std::int64_t row = 0; row < rows_; ++row) {
            scratch_.pending[row] = static_cast<std::int32_t>(row);
        }
        pending_ = rows_;
        farthest_ = 0;
    }

    /// The box of the pending rows.
    [[nodiscard]] AnyReceiver<T> pending_box(const T* period) const {
        return box_of_points(dimension_, receivers_.points.axis(0) + first_, receivers_.points.stride,
                             scratch_.pending.data(), pending_, period);
    }

    /// Gathers the points of some ranges that lie within a squared radius of a box, for the leaves in that box.
    void gather_shared(const AnyReceiver<T>& box, const IndexRange* ranges, std::int64_t count, T radius) {
        shared_ = kernels_.gather(box, source_points(), ranges, count, Candidate<T>{radius}, scratch_.shared,
                                  scratch_.shared_indices);
    }

    /// Searches ranges of source points for the pending rows, all of which lie in the box; nothing beyond the bound is
    /// looked at. Rows that find enough are finished; if the bound is known to hold all answers, the others are as
    /// well. Returns whether all rows are.
    bool search(const AnyReceiver<T>& box, const IndexRange* ranges, std::int64_t count, const Candidate<T>& bound,
                bool holds_all) {
        block_ = kernels_.gather(box, source_points(), ranges, count, bound, scratch_.block, scratch_.block_indices);
        return search_block(box, bound, holds_all);
    }

    /// The same, where the shared block is known to hold all points within the bound.
    bool search_shared(const AnyReceiver<T>& box, const Candidate<T>& bound, bool holds_all) {
        const IndexRange all{0, static_cast<std::int32_t>(shared_.size)};
        const PointSource<T, LaneIndex> origin{scratch_.shared.data(), shared_.stride, scratch_.shared_indices.data()};
        block_ = kernels_.gather_again(box, origin, &all, 1, bound, scratch_.block, scratch_.block_indices);
        return search_block(box, bound, holds_all);
    }

    [[nodiscard]] std::int64_t pending_rows() const { return pending_; }
    /// Points of the last block, each of which was measured from every row that was pending.
    [[nodiscard]] std::int64_t block_size() const { return block_.size; }

    /// The factor from the squared radius of the last search to one that should do for the pending rows: from twice to
    /// sixteen times the volume, as the least that one of them found suggests.
    [[nodiscard]] T growth() const {
        return std::clamp(for_count(fewest_), static_cast<T>(std::exp2(2.0 / dimension_)),
                          static_cast<T>(std::exp2(8.0 / dimension_)));
    }

    /// Hands the rows on. Returns the largest squared distance that a row had to look at.
    HWY_INLINE T finish() {
        if (direct_) {
            direct_->name(first_, rows_, receivers_.points.indices + first_);
        } else {
            sink_.take({first_, rows_, receivers_.points.indices + first_, request_.k, scratch_.row_indices.data(),
                        scratch_.row_distances.data()});
        }
        return farthest_;
    }

    /// Rows that were written past the cache are seen by other threads from now on.
    HWY_INLINE void publish() {
        if (direct_) {
            hwy::FlushStream();
        }
    }

private:
    using LaneIndex = typename SearchScratch<T>::LaneIndex;

    [[nodiscard]] PointSource<T, std::int32_t> source_points() const {
        return {sources_.points.axis(0), sources_.points.stride, sources_.points.indices};
    }

    /// Searches the block for the pending rows.
    bool search_block(const AnyReceiver<T>& box, const Candidate<T>& bound, bool holds_all) {
        const std::int64_t size = block_.size;
        fewest_ = size;
        if (size < needed_ && !holds_all) {
            return false;
        }
        reserve_survivors(scratch_, size, 2);
        std::int64_t left = 0;
        if (box.is_single_point()) { // then one search answers all rows
            Measured<T> measured[1];
            const T threshold = measure<1>(0, box, bound.distance, measured);
            const std::int64_t found = find_nearest(measured[0], threshold, bound.distance, holds_all);
            for (std::int64_t i = 0; i < pending_; ++i) {
                conclude(scratch_.pending[i], found, holds_all, left);
            }
        } else {
            std::int64_t i = 0;
            for (; i + 1 < pending_; i += 2) {
                search_rows<2>(i, box, bound.distance, holds_all, left);
            }
            if (i < pending_) {
                search_rows<1>(i, box, bound.distance, holds_all, left);
            }
        }
        pending_ = left;
        return left == 0;
    }

    /// Searches the block for some pending rows, from the i-th on.
    template <int Queries>
    HWY_NOINLINE void search_rows(std::int64_t i, const AnyReceiver<T>& box, T farthest, bool holds_all,
                                  std::int64_t& left) {
        std::int32_t rows[Queries]; // their places among the pending ones may be taken by others
        std::copy_n(scratch_.pending.data() + i, Queries, rows);
        Measured<T> measured[Queries];
        const T threshold = measure<Queries>(i, box, farthest, measured);
        for (int q = 0; q < Queries; ++q) {
            conclude(rows[q], find_nearest(measured[q], threshold, farthest, holds_all), holds_all, left);
        }
    }

    /// Measures the block from some pending rows, from the i-th on. Returns the threshold that was taken.
    template <int Queries>
    HWY_INLINE T measure(std::int64_t i, const AnyReceiver<T>& box, T farthest, Measured<T>* measured) {
        std::int64_t positions[Queries];
        for (int q = 0; q < Queries; ++q) {
            positions[q] = first_ + scratch_.pending[i + q];
            measured[q] = {scratch_.distances[q].data(), scratch_.positions[q].data(), 0};
        }
        const T threshold = std::min(scratch_.guess, farthest);
        (Queries == 1 ? kernels_.measure_one : kernels_.measure_two)(
            receivers_.points.axis(0), receivers_.points.stride, positions, box.period, scratch_.block.data(),
            block_.stride, block_.size, threshold, measured);
        return threshold;
    }

    /// A row is finished, or pending for longer.
    HWY_INLINE void conclude(std::int32_t row, std::int64_t found, bool holds_all, std::int64_t& left) {
        if (found < needed_ && !holds_all) {
            scratch_.pending[left++] = row;
            fewest_ = std::min(fewest_, found);
            return;
        }
        const std::int32_t query = receivers_.points.indices[first_ + row];
        const RowMemory<T> memory = direct_ ? direct_->row(first_ + row, query, request_.k)
                                            : RowMemory<T>{scratch_.row_distances.data() + row * request_.k,
                                                           scratch_.row_indices.data() + row * request_.k};
        write_row(scratch_.sorted_distances.data(), scratch_.sorted_indices.data(), found,
                  request_.exclude_self ? query : -1, request_.k, request_.report, memory, direct_.has_value());
    }

    /// Finds the points of the block that are nearest to a query that has been measured: all of the first few that are
    /// needed, in order. Returns how many there are; if they are too few, and there may be more beyond, they are in no
    /// order.
    HWY_INLINE std::int64_t find_nearest(Measured<T>& measured, T threshold, T farthest, bool holds_all) {
        const bool too_small = measured.found < needed_;
        for (int widenings = 0; measured.found < needed_ && threshold != farthest; ++widenings) {
            // Widen once, as far as what was found suggests, then take what the block has.
            threshold = widenings == 0 ? std::min(threshold * for_count(measured.found), farthest) : farthest;
            find_within(measured, block_.size, threshold);
        }
        if (are_too_many(measured.found)) {
            cut_down(measured, threshold);
        }
        const std::int64_t found = measured.found;
        if (found < needed_ && !holds_all) {
            return found;
        }
        sort_survivors_at(Survivors<T, LaneIndex>{measured, block_.size, scratch_.block_indices.data(),
                                                  scratch_.sorted_distances.data(), scratch_.sorted_indices.data(),
                                                  scratch_.spare_distances.data(), scratch_.spare_indices.data(),
                                                  scratch_.candidates},
                          needed_);
        const T reached = found >= needed_ ? scratch_.sorted_distances[needed_ - 1] : farthest;
        if (reached > 0) { // places that many points share say nothing about the others
            // The last two queries guess better than either, unless the guess was wrong.
            const T guess = reached * guess_margin_;
            scratch_.guess = too_small ? guess : std::sqrt(guess) * std::sqrt(scratch_.last_guess);
            scratch_.last_guess = guess;
        }
        farthest_ = std::max(farthest_, reached);
        return found;
    }

    /// The factor from a squared radius that held so many points to one that should hold somewhat more than needed.
    [[nodiscard]] HWY_INLINE T for_count(std::int64_t found) const {
        const float share = (static_cast<float>(needed_) * 1.2F + 2.0F) / (static_cast<float>(found) + 0.5F);
        return static_cast<T>(rough_power(share, 2.0F / static_cast<float>(dimension_)));
    }

    /// Many more survivors than needed, too many to be sorted in registers.
    [[nodiscard]] bool are_too_many(std::int64_t found) const {
        return found > matrix_keys && found > needed_ + needed_ / 2 + 8;
    }

    /// Leaves out the farthest of too many survivors, all within the threshold.
    HWY_NOINLINE void cut_down(Measured<T>& measured, T threshold) {
        constexpr int max_cuts = 4;
        T too_small = 0;
        bool stale = false; // the positions are those of a threshold that was too small
        std::int64_t left = measured.found;
        for (int cuts = 0; cuts < max_cuts && are_too_many(left); ++cuts) {
            const T smaller = too_small > 0 ? std::sqrt(too_small) * std::sqrt(threshold) : threshold * for_count(left);
            if (!(smaller < threshold)) {
                break;
            }
            find_within(measured, block_.size, smaller);
            stale = measured.found < needed_;
            (stale ? too_small : threshold) = smaller;
            left = stale ? left : measured.found;
        }
        if (stale) {
            find_within(measured, block_.size, threshold);
        }
    }

    /// The square of what the next query's k-th distance is rarely larger by: the more neighbors, the less it varies.
    [[nodiscard]] static T margin_for(std::int64_t needed) {
        constexpr double few = 33;
        return static_cast<T>(1 + 0.18 * std::min(1.0, std::sqrt(few / static_cast<double>(needed))));
    }

    const TreeView<T>& receivers_;
    const TreeView<T>& sources_;
    const KnnRequest<T>& request_;
    RowSink<T>& sink_;
    const int dimension_;
    const BlockKernels<T>& kernels_;
    SearchScratch<T>& scratch_;
    const std::optional<DirectRows<T>> direct_; ///< rows are written there, past the cache
    const std::int64_t needed_;                 ///< neighbors to find, with the query itself where that is left out
    const T guess_margin_ = margin_for(needed_);
    std::int64_t first_ = 0; ///< sorted position of the leaf's first query
    std::int64_t rows_ = 0;
    std::int64_t pending_ = 0;
    std::int64_t fewest_ = 0; ///< points that a row found that did not find enough
    GatheredBlock block_;
    GatheredBlock shared_;
    T farthest_ = 0;
};

} // namespace kith::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
