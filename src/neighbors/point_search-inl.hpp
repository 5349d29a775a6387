// The walk of one query down the planes of a tree (point_search.hpp).
//
// Depth first, and among siblings the nearest first: their boxes are measured a vector at a time, and each time the
// nearest that is left is taken, until it cannot hold an answer any more. The first leaf is mostly the one that the
// query is in, so that the bound is good from then on. Candidates stay unsorted until there are k; from then on few are
// sorted, and new ones, which are fewer, are inserted one by one. Many stay unsorted to the end, and are cut down to k
// by partition whenever they are half as many again.

#include "geometry/distances-inl.hpp"
#include "neighbors/rows-inl.hpp"
#include "neighbors/select-inl.hpp"

#include "neighbors/other_labels.hpp"
#include "neighbors/point_radius.hpp"
#include "neighbors/point_search.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <vector>

#include <hwy/cache_control.h>

#if defined(KITH_POINT_SEARCH_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef KITH_POINT_SEARCH_INL_HPP
#undef KITH_POINT_SEARCH_INL_HPP
#else
#define KITH_POINT_SEARCH_INL_HPP
#endif

HWY_BEFORE_NAMESPACE();
namespace kith::detail::HWY_NAMESPACE {

/// The candidates of one query, of which the first k are its neighbors.
template <class T>
class NearestKept {
public:
    using LaneIndex = typename NearPoints<T>::LaneIndex;
    static constexpr std::int32_t max_fresh = 64; ///< points that are measured before any is kept

    /// Candidates are kept in the memory given, and nothing else is.
    NearestKept(std::int64_t k, const Candidate<T>& limit, NearPoints<T>& kept) : k_(k), limit_(limit), kept_(kept) {
        kept_.reserve((sorts() ? k_ : k_ + k_ / 2) + max_fresh + 2 * vector_padding);
        distances_ = kept_.distances();
        indices_ = kept_.indices();
    }

    /// Whether finish() leaves the neighbors in order.
    [[nodiscard]] bool sorts() const { return k_ <= max_sorted_neighbors; }

    /// All that may come is before it.
    [[nodiscard]] const Candidate<T>& bound() const { return bound_; }

    void begin() {
        found_ = 0;
        bound_ = limit_;
        full_ = k_;
    }

    /// Adds some points of a block, at most max_fresh, within the bound.
    HWY_INLINE void add(const T* measured, const std::int32_t* block_indices, const std::int32_t* fresh,
                        std::int32_t count) {
        if (found_ == k_ && sorts() && count * cycles_of_insertion() < cycles_of_sort(count)) {
            for (std::int32_t i = 0; i < count; ++i) {
                offer({measured[fresh[i]], block_indices[fresh[i]]});
            }
            return;
        }
        for (std::int32_t i = 0; i < count; ++i) {
            distances_[found_ + i] = measured[fresh[i]];
            indices_[found_ + i] = block_indices[fresh[i]];
        }
        found_ += count;
        if (found_ >= full_) {
            sorts() ? sort_kept() : select_kept();
        }
    }

    /// Leaves the neighbors in the memory.
    void finish() {
        if (!sorts()) {
            select_kept();
        } else if (found_ < k_) {
            sort_kept();
        }
        kept_.resize(found_);
    }

private:
    /// Roughly what it takes to keep a candidate, and to sort all with so many new ones.
    [[nodiscard]] std::int64_t cycles_of_insertion() const { return 20 + k_ / 2; }
    [[nodiscard]] std::int64_t cycles_of_sort(std::int64_t fresh) const { return 60 + (k_ + fresh) * (k_ + fresh) / 4; }

    /// Cuts candidates down to the first k, in any order.
    HWY_NOINLINE void select_kept() {
        if (found_ < k_) {
            return;
        }
        spare_.resize(found_);
        for (std::int64_t i = 0; i < found_; ++i) {
            spare_[i] = {distances_[i], static_cast<std::int32_t>(indices_[i])};
        }
        std::nth_element(spare_.begin(), spare_.begin() + (k_ - 1), spare_.end());
        for (std::int64_t i = 0; i < k_; ++i) {
            distances_[i] = spare_[i].distance;
            indices_[i] = spare_[i].index;
        }
        found_ = k_;
        full_ = k_ + k_ / 2;
        take_bound();
    }

    HWY_NOINLINE void sort_kept() {
        const std::int64_t count = found_;
        std::copy_n(distances_, count, unsorted_distances_);
        std::copy_n(indices_, count, unsorted_indices_);
        std::vector<Candidate<T>> spare;
        sort_survivors(unsorted_distances_, unsorted_indices_, count, k_, distances_, indices_, spare);
        found_ = std::min(count, k_);
        take_bound();
    }

    /// Keeps a candidate if it comes before the bound.
    HWY_INLINE void offer(const Candidate<T>& candidate) {
        if (!(candidate < bound_)) {
            return;
        }
        std::int64_t at = k_ - 1;
        for (; at > 0 && candidate < Candidate<T>{distances_[at - 1], static_cast<std::int32_t>(indices_[at - 1])};
             --at) {
            distances_[at] = distances_[at - 1];
            indices_[at] = indices_[at - 1];
        }
        distances_[at] = candidate.distance;
        indices_[at] = candidate.index;
        take_bound();
    }

    HWY_INLINE void take_bound() {
        if (found_ == k_) {
            bound_ = {distances_[k_ - 1], static_cast<std::int32_t>(indices_[k_ - 1])};
        }
    }

    static constexpr auto vector_padding = static_cast<std::int32_t>(hn::MaxLanes(hn::ScalableTag<T>()));
    static constexpr std::int64_t max_sorted = max_sorted_neighbors + max_fresh + 2 * vector_padding;
    static_assert(max_fresh % vector_padding == 0);

    const std::int64_t k_;
    const Candidate<T> limit_;
    Candidate<T> bound_;
    NearPoints<T>& kept_;
    T* distances_; ///< squared
    LaneIndex* indices_;
    std::int64_t found_ = 0;
    std::int64_t full_ = 0;                      ///< candidates that are cut down
    HWY_ALIGN T unsorted_distances_[max_sorted]; ///< read by whole vectors
    LaneIndex unsorted_indices_[max_sorted];
    std::vector<Candidate<T>> spare_; ///< only if candidates are not sorted
};

/// All points of the tree may be neighbors.
struct AllPoints {
    [[nodiscard]] HWY_INLINE bool leaves_out(int /*level*/, std::int32_t /*node*/) const { return false; }
    HWY_INLINE std::int32_t keep(std::int32_t /*first*/, std::int32_t* /*fresh*/, std::int32_t count) const {
        return count;
    }
};

/// Points of another label than the query's.
class PointsOfOtherLabels {
public:
    PointsOfOtherLabels(const SourceLabels& labels, const std::int32_t& own) : labels_(labels), own_(own) {}

    /// Whether no point of a node may be a neighbor.
    [[nodiscard]] HWY_INLINE bool leaves_out(int level, std::int32_t node) const {
        const LabelRange& range = labels_.of_nodes[static_cast<std::size_t>(level)][node];
        return range.lowest == own_ && range.highest == own_;
    }
    /// Moves those that may be neighbors to the front; they are counted from a first one. Returns how many they are.
    HWY_INLINE std::int32_t keep(std::int32_t first, std::int32_t* fresh, std::int32_t count) const {
        const std::int32_t* const labels = labels_.of_points + first;
        std::int32_t kept = 0;
        for (std::int32_t i = 0; i < count; ++i) {
            const std::int32_t point = fresh[i];
            fresh[kept] = point;
            kept += labels[point] != own_ ? 1 : 0;
        }
        return kept;
    }

private:
    const SourceLabels& labels_;
    const std::int32_t& own_;
};

/// Among the points that `Which` does not leave out.
template <class T, int D, bool Periodic, class Which = AllPoints>
class PointSearch {
public:
    PointSearch(const PlaneTree<T>& sources, NearestKept<T>& kept, const Which& which = {})
        : planes_(sources.planes.data()), top_(static_cast<int>(sources.planes.size()) - 1),
          coordinates_(sources.points.axis(0)), stride_(sources.points.stride), indices_(sources.points.indices.data()),
          kept_(kept), which_(which) {
        std::copy_n(sources.points.frame.working_period.data(), D, query_.period);
    }

    /// Finds the neighbors of a query in working coordinates.
    HWY_INLINE void search(const T* query) {
        std::copy_n(query, D, query_.lower);
        std::copy_n(query, D, query_.upper);
        kept_.begin();
        visit_nodes(top_, 0, static_cast<std::int32_t>(planes_[top_].nodes));
        kept_.finish();
    }

private:
    using Tag = hn::ScalableTag<T>;
    static constexpr std::int32_t vector_padding = static_cast<std::int32_t>(hn::MaxLanes(Tag()));
    using Bits = typename NearestKept<T>::LaneIndex;
    static constexpr std::int32_t max_fresh = NearestKept<T>::max_fresh;
    static constexpr std::int32_t max_siblings = 256; ///< that are compared with each other; as many as on top, usually
    static constexpr Bits position_mask = max_siblings - 1;

    static constexpr T none = std::numeric_limits<T>::infinity();

    /// Searches siblings, the nearest first.
    HWY_NOINLINE void visit_nodes(int level, std::int32_t first, std::int32_t last) {
        for (; first < last; first += max_siblings) {
            visit_siblings(level, first, std::min(max_siblings, last - first));
        }
    }

    HWY_INLINE void visit_siblings(int level, std::int32_t first, std::int32_t count) {
        const Plane<T>& plane = planes_[level];
        HWY_ALIGN T ranks[max_siblings];
        rank_siblings(plane, first, count, ranks);
        T nearest = next_rank(ranks, count, -1);
        while (least_of(nearest) <= kept_.bound().distance && nearest != none) {
            // Known before the nearest is searched, so that its memory is on the way.
            const T next = next_rank(ranks, count, nearest);
            if (level == 0 && least_of(next) <= kept_.bound().distance && next != none) {
                prefetch(plane, first + position_of(next));
            }
            visit(level, first + position_of(nearest), nearest);
            nearest = next;
        }
    }

    /// The rank of a sibling: the squared distance to its box, whose last bits give way to its position. So no two are
    /// equal, and the least of them says which it is.
    HWY_INLINE void rank_siblings(const Plane<T>& plane, std::int32_t first, std::int32_t count, T* ranks) const {
        const Tag tag;
        const hn::RebindToSigned<Tag> bits_tag;
        const auto lanes = static_cast<std::int32_t>(hn::Lanes(tag));
        for (std::int32_t i = 0; i < count; i += lanes) {
            const Columns<Tag> lower{tag, plane.lower_corners.data() + first + i, plane.stride};
            const Columns<Tag> upper{tag, plane.upper_corners.data() + first + i, plane.stride};
            const auto least = least_distances<Periodic, D>(tag, query_, lower, upper);
            const auto upper_bits = hn::And(hn::BitCast(bits_tag, least), hn::Set(bits_tag, ~position_mask));
            const auto rank = hn::BitCast(tag, hn::Or(upper_bits, numbers_from(bits_tag, i)));
            const auto in_range = hn::FirstN(tag, count - i);
            hn::Store(hn::IfThenElse(in_range, rank, hn::Set(tag, none)), tag, ranks + i);
        }
    }

    /// The least rank above the last one, or none.
    static HWY_INLINE T next_rank(const T* ranks, std::int32_t count, T last) {
        const Tag tag;
        const auto lanes = static_cast<std::int32_t>(hn::Lanes(tag));
        const auto taken = hn::Set(tag, last);
        auto next = hn::Set(tag, none);
        for (std::int32_t i = 0; i < count; i += lanes) {
            const auto rank = hn::Load(tag, ranks + i);
            next = hn::Min(next, hn::IfThenElse(hn::Gt(rank, taken), rank, hn::Set(tag, none)));
        }
        return hn::GetLane(hn::MinOfLanes(tag, next));
    }

    static HWY_INLINE std::int32_t position_of(T rank) {
        return static_cast<std::int32_t>(std::bit_cast<Bits>(rank) & position_mask);
    }
    /// The squared distance is between these.
    static HWY_INLINE T least_of(T rank) { return std::bit_cast<T>(std::bit_cast<Bits>(rank) & ~position_mask); }

    static HWY_INLINE T greatest_of(T rank) { return std::bit_cast<T>(std::bit_cast<Bits>(rank) | position_mask); }

    /// Whether all that a node may hold comes after the bound: among coincident points, most nodes do by their indices.
    HWY_NOINLINE bool is_beyond(const Plane<T>& plane, std::int32_t node) const {
        const Tag tag;
        const Columns<Tag> lower{tag, plane.lower_corners.data() + node, plane.stride};
        const Columns<Tag> upper{tag, plane.upper_corners.data() + node, plane.stride};
        const T least = hn::GetLane(least_distances<Periodic, D>(tag, query_, lower, upper));
        return kept_.bound() < Candidate<T>{least, plane.smallest_index[node]};
    }

    HWY_INLINE void prefetch(const Plane<T>& leaves, std::int32_t leaf) const {
        constexpr std::int32_t line = 64 / sizeof(T);
        const std::int32_t start = leaves.first_point[leaf];
        const std::int32_t end = std::min(leaves.first_point[leaf + 1], start + 5 * line);
        for (std::int32_t point = start; point < end; point += line) {
            for (int axis = 0; axis < D; ++axis) {
                hwy::Prefetch(coordinates_ + axis * stride_ + point);
            }
        }
        hwy::Prefetch(indices_ + start);
        hwy::Prefetch(indices_ + start + 16);
    }

    /// Searches a node, unless it comes after the bound.
    HWY_INLINE void visit(int level, std::int32_t node, T rank) {
        const Plane<T>& plane = planes_[level];
        if (which_.leaves_out(level, node)) {
            return;
        }
        if (HWY_UNLIKELY(greatest_of(rank) >= kept_.bound().distance) && is_beyond(plane, node)) {
            return;
        }
        if (level > 0) {
            visit_nodes(level - 1, plane.first_child[node], plane.first_child[node + 1]);
        } else {
            search_points(plane.first_point[node], plane.first_point[node + 1]);
        }
    }

    HWY_INLINE void search_points(std::int32_t first, std::int32_t last) {
        for (; first < last; first += max_fresh) {
            search_block(first, std::min(max_fresh, last - first));
        }
    }

    HWY_INLINE void search_block(std::int32_t first, std::int32_t count) {
        const Tag tag;
        const auto lanes = static_cast<std::int32_t>(hn::Lanes(tag));
        HWY_ALIGN T measured[max_fresh];
        std::int32_t fresh[max_fresh + 8 + vector_padding];
        const auto limit = hn::Set(tag, kept_.bound().distance);
        std::int32_t found = 0;
        for (std::int32_t i = 0; i < count; i += lanes) {
            const Columns<Tag> sources{tag, coordinates_ + first + i, stride_};
            const auto distance =
                point_distances<Periodic, D>(tag, query_.lower, query_.period, sources, hn::Zero(tag));
            const auto near = hn::And(hn::Le(distance, limit), hn::FirstN(tag, count - i));
            hn::Store(distance, tag, measured + i);
            found += static_cast<std::int32_t>(append_positions(tag, near, i, fresh + found));
        }
        kept_.add(measured, indices_ + first, fresh, which_.keep(first, fresh, found));
    }

    const Plane<T>* planes_;
    int top_;
    const T* coordinates_;
    std::int64_t stride_;
    const std::int32_t* indices_;
    NearestKept<T>& kept_;
    Which which_;
    Receiver<T, D> query_;
};

} // namespace kith::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
