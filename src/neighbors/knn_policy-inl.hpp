// Exact k nearest neighbors as a policy of the receiver walk.
//
// A bound is a pair of squared distance and index, so that ties are cut as exactly as distances: no answer of the
// receiving node comes after it. Source nodes that together hold k points give one: every point of theirs lies within
// their greatest distances, so the k-th neighbor of every receiving point does (jz-tree paper, section III).
//
// For a leaf, that bound is several times wider than what its points need. So a leaf is first searched within a radius
// that is expected to do (reach.hpp), straight from the list of its parent (walk/near_ranges-inl.hpp); rows that find
// fewer than k there are searched within twice the volume or more, and so on, and what is left after a few rounds, or
// lies among too many points, takes the guaranteed bound.

#include "neighbors/leaf-inl.hpp"
#include "walk/near_ranges-inl.hpp"
#include "walk/receiver_walk-inl.hpp"

#if defined(KITH_KNN_POLICY_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef KITH_KNN_POLICY_INL_HPP
#undef KITH_KNN_POLICY_INL_HPP
#else
#define KITH_KNN_POLICY_INL_HPP
#endif

HWY_BEFORE_NAMESPACE();
namespace kith::detail::HWY_NAMESPACE {

template <class T>
class KnnPolicy : public PolicyDefaults {
public:
    using Bound = Candidate<T>;
    using List = InteractionList<T>;

    KnnPolicy(const SearchJob<T>& job, SearchScratch<T>& scratch)
        : receivers_(*job.receivers), sources_(*job.sources), request_(*job.request), dimension_(job.dimension),
          kernels_(walk_kernels<T>(job.dimension, job.periodic)), scratch_(scratch), leaf_(job, scratch),
          ranges_(sources_, dimension_, kernels_, scratch.walk), needed_(request_.needed()),
          self_search_(job.self_search), siblings_share_(dimension_ > 3) {}

    [[nodiscard]] const Bound& enter(const Bound* parent, int /*level*/, std::int64_t /*node*/) const {
        return parent != nullptr ? *parent : request_.limit;
    }
    [[nodiscard]] T reach(const Bound& bound) const { return bound.distance; }

    void begin_list() {
        scratch_.guarantees.clear();
        guaranteed_points_ = 0;
    }

    bool take(int level, std::int32_t node, T least, T greatest, Bound& bound) {
        if (greatest < bound.distance) { // or else it bounds nothing better
            tighten(sources_.planes[level], node, least, greatest, bound);
        }
        return false; // opened all the same: which of its points are the nearest is not known
    }

    /// Of the nodes exactly at the bound, those whose indices are all too large go as well.
    void drop_more(List& list, int level, const Bound& bound) const {
        if (bound.index == std::numeric_limits<std::int32_t>::max()) {
            return;
        }
        std::int64_t kept = 0;
        for (std::int64_t i = 0; i < list.size; ++i) {
            const std::int32_t node = list.nodes[i];
            list.nodes[kept] = node;
            list.least[kept] = list.least[i];
            list.greatest[kept] = list.greatest[i];
            kept += bound < Bound{list.least[i], sources_.planes[level].smallest_index[node]} ? 0 : 1;
        }
        list.size = kept;
    }

    void begin_leaves(const List& list, int level, const AnyReceiver<T>& parent) {
        ranges_.start(list, level);
        parent_ = parent;
        shared_radius_ = -1;
        shared_tried_ = false;
    }

    /// Searches a leaf as far as it is expected to need, then somewhat farther. Returns whether that did.
    HWY_NOINLINE bool finish_early(std::int64_t leaf, std::int64_t siblings, const AnyReceiver<T>& leaf_box,
                                   const Bound& bound) {
        leaf_.begin(leaf);
        if (self_search_ && leaf_box.is_single_point() && receivers_.planes[0].points_in(leaf) >= needed_) {
            return false; // its own points are the bound
        }
        constexpr int max_rounds = 5;
        AnyReceiver<T> box = leaf_box;
        const bool own_is_enough = self_search_ && needed_ == 1; // every point is there, at 0, which teaches nothing
        T radius = own_is_enough ? T(0) : guess_reach(leaf, box);
        for (int round = 0; round < max_rounds && (radius > 0 || own_is_enough); ++round) {
            radius = std::min(radius, bound.distance);
            if (!(radius < std::numeric_limits<T>::infinity())) {
                return false;
            }
            const bool holds_all = radius == bound.distance;
            if (siblings_share_ && round == 0 && siblings >= min_siblings && !shared_tried_) {
                gather_for_siblings(radius);
            }
            bool done = false;
            if (siblings_share_ && radius <= shared_radius_ && radius * max_shared_excess >= shared_radius_) {
                done = leaf_.search_shared(box, Bound{radius}, holds_all);
            } else {
                const std::int64_t max_points = scratch_.max_points_without_bound;
                if (ranges_.list(box, radius, max_points) > max_points) {
                    return false;
                }
                done = leaf_.search(box, ranges_.data(), ranges_.size(), Bound{radius}, holds_all);
            }
            if (done) {
                scratch_.reach.learn(leaf_.finish());
                return true;
            }
            box = leaf_.pending_box(sources_.period.data());
            radius *= leaf_.growth();
        }
        return false;
    }

    /// Searches a leaf within its guaranteed bound.
    void finish(std::int64_t /*leaf*/, const AnyReceiver<T>& box, List& list, Bound bound) {
        bound = tightened(list, box, bound);
        keep_within(list, reach(bound));
        drop_more(list, 0, bound);
        std::int64_t points = 0;
        ranges_.clear();
        for (std::int64_t i = 0; i < list.size; ++i) {
            points += ranges_.add(list.nodes[i], list.nodes[i] + 1);
        }
        (void)leaf_.search(box, ranges_.data(), ranges_.size(), bound, true);
        scratch_.reach.learn(leaf_.finish());
        scratch_.max_points_without_bound = std::max(points, scratch_.max_points_without_bound);
    }

private:
    static constexpr std::int64_t min_siblings = 5;
    static constexpr T shared_margin = T(1.2);     ///< gathered squared radius per wanted one: siblings may need more
    static constexpr T max_shared_excess = T(1.6); ///< up to which a smaller radius still takes the shared block

    /// All points of the node lie within `greatest` of every point of the receiver: keeps the nearest such nodes that
    /// hold k points together, and bounds the k-th neighbor by the last of them.
    HWY_NOINLINE void tighten(const PlaneView<T>& plane, std::int32_t node, T least, T greatest, Bound& bound) {
        std::int32_t last_index = std::numeric_limits<std::int32_t>::max();
        const std::int32_t points = plane.points_in(node);
        if (least == greatest && plane.is_single_point(node, dimension_)) {
            // All at one distance; within such a node indices ascend, so the first few bound the index as well.
            const std::int64_t counted = std::min<std::int64_t>(points, needed_);
            last_index = sources_.points.indices[plane.first_point[node] + counted - 1];
        }
        auto& guarantees = scratch_.guarantees;
        std::size_t i = guarantees.size();
        guarantees.push_back({greatest, points, last_index});
        for (; i > 0 && guarantees[i - 1].greatest > greatest; --i) {
            guarantees[i] = guarantees[i - 1];
        }
        guarantees[i] = {greatest, points, last_index};
        guaranteed_points_ += points;
        while (guaranteed_points_ - guarantees.back().points >= needed_) {
            guaranteed_points_ -= guarantees.back().points;
            guarantees.pop_back();
        }
        if (guaranteed_points_ >= needed_) {
            // Of the nodes at the last distance any may hold the k-th: the largest of their indices bounds its index.
            Bound found{guarantees.back().greatest, 0};
            for (i = guarantees.size(); i > 0 && guarantees[i - 1].greatest == found.distance; --i) {
                found.index = std::max(found.index, guarantees[i - 1].last_index);
            }
            bound = std::min(bound, found);
        }
    }

    /// Gathers what the leaves of the parent share, unless it is too much.
    void gather_for_siblings(T radius) {
        const T reach = radius * shared_margin;
        const std::int64_t max_points = 4 * scratch_.max_points_without_bound;
        shared_tried_ = true;
        if (ranges_.list(parent_, reach, max_points) <= max_points) {
            leaf_.gather_shared(parent_, ranges_.data(), ranges_.size(), reach);
            shared_radius_ = reach;
        }
    }

    HWY_INLINE T guess_reach(std::int64_t leaf, const AnyReceiver<T>& box) {
        T squared_diagonal = 0;
        for (int axis = 0; axis < dimension_; ++axis) {
            squared_diagonal += (box.upper[axis] - box.lower[axis]) * (box.upper[axis] - box.lower[axis]);
        }
        return scratch_.reach.guess(squared_diagonal, self_search_ ? receivers_.planes[0].points_in(leaf) : 0,
                                    dimension_);
    }

    /// The bound that the points of the nearest leaves give: the k-th smallest greatest distance to the receiver's box.
    HWY_INLINE Bound tightened(const List& list, const AnyReceiver<T>& box, const Bound& bound) {
        const PlaneView<T>& leaves = sources_.planes[0];
        auto& candidates = scratch_.candidates;
        candidates.clear();
        constexpr std::int64_t some = 64; // points at once, whole vectors
        HWY_ALIGN T least[some];
        HWY_ALIGN T greatest[some];
        for (std::int64_t i = 0; i < list.size; ++i) {
            if (list.greatest[i] > bound.distance) {
                continue;
            }
            const std::int64_t end = leaves.first_point[list.nodes[i] + 1];
            for (std::int64_t point = leaves.first_point[list.nodes[i]]; point < end; point += some) {
                const std::int64_t count = std::min(some, end - point);
                const T* coordinates = sources_.points.axis(0) + point;
                kernels_.measure_boxes(box, coordinates, coordinates, sources_.points.stride, count, least, greatest);
                for (std::int64_t j = 0; j < count; ++j) {
                    candidates.push_back({greatest[j], sources_.points.indices[point + j]});
                }
            }
        }
        if (std::ssize(candidates) < needed_) {
            return bound;
        }
        const auto last = candidates.begin() + (needed_ - 1);
        std::nth_element(candidates.begin(), last, candidates.end());
        return std::min(bound, *last);
    }

    const TreeView<T>& receivers_;
    const TreeView<T>& sources_;
    const KnnRequest<T>& request_;
    const int dimension_;
    const WalkKernels<T>& kernels_;
    SearchScratch<T>& scratch_;
    LeafSearch<T> leaf_;
    NearRanges<T> ranges_;
    const std::int64_t needed_; ///< sources that a bound must hold; one more if the point itself does not count
    const bool self_search_;
    /// Sibling leaves share a gathered block where the points that can matter to a leaf are many times its own.
    const bool siblings_share_;
    std::int64_t guaranteed_points_ = 0;
    AnyReceiver<T> parent_;
    bool shared_tried_ = false;
    T shared_radius_ = -1; ///< squared, of the points that are gathered for sibling leaves; -1: none are
};

} // namespace kith::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
