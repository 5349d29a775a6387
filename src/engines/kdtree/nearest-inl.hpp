// The nearest neighbors of one query in a k-d tree with leaves of several points.
//
// Depth first, the nearer part first, with a stack of the farther ones: closest-corner tracking of kdtree_search.hpp,
// with the same bounds, which need no slack. A subtree is dropped if (bound, smallest index) of it comes after the k-th
// candidate. Leaves are measured a vector at a time; candidates are collected, and cut down to the nearest whenever
// there are half again as many. Source: I. Wald, cudaKDTree, for closest corners. Cost: O(log N + k) for ordinary
// points, leaves for runs of coincident ones included.

#include "neighbors/select-inl.hpp"

#include "engines/kdtree/search.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>

#if defined(KITH_KDTREE_NEAREST_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef KITH_KDTREE_NEAREST_INL_HPP
#undef KITH_KDTREE_NEAREST_INL_HPP
#else
#define KITH_KDTREE_NEAREST_INL_HPP
#endif

HWY_BEFORE_NAMESPACE();
namespace kith::detail::HWY_NAMESPACE {

template <class T, int D, bool Periodic>
class NearestInBuckets {
public:
    NearestInBuckets(const BucketTree<T>& tree, std::int64_t needed, const Candidate<T>& limit,
                     CandidateScratch<T>& scratch)
        : tree_(tree), first_leaf_(static_cast<Node>(tree.leaves - 1)), needed_(needed), limit_(limit),
          most_(std::min(tree.points.count, needed + std::max<std::int64_t>(needed / 2, 8))), scratch_(scratch) {
        std::copy_n(tree.points.frame.working_period.data(), D, period_);
        scratch.reserve(1, most_ + tree.leaf_size + 2 * vector_padding);
    }

    /// Finds the neighbors of a query in working coordinates: sorted in the scratch. Returns how many there are, which
    /// may be more than needed.
    HWY_INLINE std::int64_t search(const T* query) {
        std::copy_n(query, D, query_);
        bound_ = limit_;
        found_ = 0;
        Region waiting[kdtree::max_levels];
        int waiting_count = 0;
        Region region = root();
        for (;;) {
            while (may_hold(region.node, region.bound)) {
                if (region.node >= first_leaf_) {
                    scan(leaf_number(region.node, tree_.leaves));
                    break;
                }
                Region& far = waiting[waiting_count];
                part(region, far);
                waiting_count += may_hold(far.node, far.bound) ? 1 : 0;
            }
            if (waiting_count == 0) {
                break;
            }
            region = waiting[--waiting_count];
        }
        sort();
        return found_;
    }

private:
    using Node = kdtree::Node;
    using LaneIndex = typename CandidateScratch<T>::LaneIndex;
    static constexpr std::int64_t vector_padding = static_cast<std::int64_t>(hn::MaxLanes(hn::ScalableTag<T>()));

    /// How far a region is from the query along each axis. In open space that is enough.
    struct OpenCell {
        T offset[D];
    };
    struct PeriodicCell {
        T offset[D];
        T lower[D];
        T upper[D];
    };
    struct Region {
        Node node;
        T bound; ///< no point in it has a smaller squared distance
        std::conditional_t<Periodic, PeriodicCell, OpenCell> cell;
    };

    /// Least distance along an axis to an interval, nearest image.
    [[nodiscard]] HWY_INLINE T offset_to(int axis, T lower, T upper) const {
        const T q = query_[axis];
        const T nearest = std::max(std::max(lower - q, q - upper), T(0));
        if constexpr (!Periodic) {
            return nearest;
        }
        const T farthest = std::max(upper - q, q - lower);
        return std::max(std::min(nearest, period_[axis] - farthest), T(0));
    }

    /// Sum of squares in the order of the axes, as distances are.
    [[nodiscard]] static HWY_INLINE T sum_of_squares(const T* offset) {
        T sum = offset[0] * offset[0];
        for (int axis = 1; axis < D; ++axis) {
            sum = std::fma(offset[axis], offset[axis], sum);
        }
        return sum;
    }

    [[nodiscard]] HWY_INLINE Region root() const {
        Region region;
        region.node = 0;
        for (int axis = 0; axis < D; ++axis) {
            region.cell.offset[axis] = offset_to(axis, tree_.lower[axis], tree_.upper[axis]);
            if constexpr (Periodic) {
                region.cell.lower[axis] = tree_.lower[axis];
                region.cell.upper[axis] = tree_.upper[axis];
            }
        }
        region.bound = sum_of_squares(region.cell.offset);
        return region;
    }

    /// A region becomes the nearer of its two parts, the left one if both are as near; `far` the other one.
    HWY_INLINE void part(Region& region, Region& far) const {
        const int axis = tree_.axes[region.node];
        const T plane = tree_.planes[region.node];
        const T q = query_[axis];
        far = region;
        if constexpr (Periodic) {
            const T left = offset_to(axis, region.cell.lower[axis], plane);
            const T right = offset_to(axis, plane, region.cell.upper[axis]);
            const bool left_is_nearer = left <= right;
            (left_is_nearer ? region : far).cell.upper[axis] = plane;
            (left_is_nearer ? far : region).cell.lower[axis] = plane;
            region.cell.offset[axis] = std::min(left, right);
            region.bound = sum_of_squares(region.cell.offset);
            far.cell.offset[axis] = std::max(left, right);
            descend(region, far, left_is_nearer);
        } else { // the nearer part is as near as the whole
            far.cell.offset[axis] = std::max(region.cell.offset[axis], std::abs(q - plane));
            descend(region, far, q <= plane || far.cell.offset[axis] == region.cell.offset[axis]);
        }
        far.bound = sum_of_squares(far.cell.offset);
    }
    static HWY_INLINE void descend(Region& region, Region& far, bool to_left) {
        far.node = to_left ? kdtree::right_child(region.node) : kdtree::left_child(region.node);
        region.node = to_left ? kdtree::left_child(region.node) : kdtree::right_child(region.node);
    }

    /// Whether a candidate may be in a subtree.
    [[nodiscard]] HWY_INLINE bool may_hold(Node node, T bound) const {
        return bound < bound_.distance || (bound == bound_.distance && tree_.least_indices[node] < bound_.index);
    }

    HWY_INLINE void scan(std::int64_t leaf) {
        const std::int64_t begin = leaf * tree_.leaf_size;
        found_ += keep_within<Periodic, D>(query_, period_, tree_.points.axis(0) + begin, tree_.points.stride,
                                           tree_.points.indices.data() + begin,
                                           std::min(tree_.leaf_size, tree_.points.count - begin), bound_.distance,
                                           scratch_.distances.data() + found_, scratch_.indices.data() + found_);
        if (found_ > most_ || (found_ >= needed_ && !is_bounded_by_neighbors())) {
            sort();
            std::copy_n(scratch_.sorted_distances.data(), needed_, scratch_.distances.data());
            std::copy_n(scratch_.sorted_indices.data(), needed_, scratch_.indices.data());
            found_ = needed_;
            bound_ = {scratch_.distances[needed_ - 1], static_cast<std::int32_t>(scratch_.indices[needed_ - 1])};
        }
    }
    /// The index of the limit is behind all others.
    [[nodiscard]] HWY_INLINE bool is_bounded_by_neighbors() const { return bound_.index != limit_.index; }

    void sort() {
        sort_survivors(scratch_.distances.data(), scratch_.indices.data(), found_, needed_,
                       scratch_.sorted_distances.data(), scratch_.sorted_indices.data(), scratch_.candidates);
    }

    const BucketTree<T>& tree_;
    Node first_leaf_;
    std::int64_t needed_;
    Candidate<T> limit_;
    std::int64_t most_; ///< candidates that wait before they are cut down
    CandidateScratch<T>& scratch_;
    T period_[D];
    T query_[D];
    Candidate<T> bound_;
    std::int64_t found_ = 0;
};

} // namespace kith::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
