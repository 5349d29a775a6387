// Exact k nearest neighbors by a dual walk of two plane trees, depth first.
//
// Problem: for every point of a receiving tree, the k nearest points of a source tree. Method (jz-tree paper, section
// III, rearranged for a CPU): a receiving node carries the list of source nodes that can hold a neighbor of any of its
// points. Going down a plane, the children of the listed nodes are tested against each child of the receiver, a vector
// at a time; the greatest distances to the nearest of them vouch for k sources, which bounds the k-th distance of every
// point inside; what lies beyond the bound is dropped.
//
// For a leaf, that bound is several times wider than what its points need. So the leaf is first searched within a
// radius that is expected to do (reach.hpp), straight from the list of its parent (spans-inl.hpp); rows that find fewer
// than k there are searched within twice the volume or more, and so on, and what is left after a few rounds, or lies
// among too many points, takes the guaranteed bound. Bounds are pairs of squared distance and index, so that ties are
// cut as exactly as distances. Lists live in per-thread memory: nothing is allocated in the inner loops and memory does
// not grow with N.

#include "neighbors/leaf-inl.hpp"
#include "neighbors/spans-inl.hpp"

#if defined(KITH_SEARCH_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef KITH_SEARCH_INL_HPP
#undef KITH_SEARCH_INL_HPP
#else
#define KITH_SEARCH_INL_HPP
#endif

HWY_BEFORE_NAMESPACE();
namespace kith::detail::HWY_NAMESPACE {

template <class T, int D, bool Periodic>
class Searcher {
public:
    Searcher(const SearchJob<T>& job, SearchScratch<T>& scratch)
        : receivers_(*job.receivers), sources_(*job.sources), schedule_(*job.schedule), request_(*job.request),
          scratch_(scratch), leaf_(job, scratch), spans_(sources_, scratch),
          needed_(request_.k + (request_.exclude_self ? 1 : 0)) {
        for (int axis = 0; axis < D; ++axis) {
            period_[axis] = sources_.points.frame.working_period[axis];
        }
        if (scratch.lists.size() < schedule_.size() + 1) {
            scratch.lists.resize(schedule_.size() + 1);
        }
    }

    void search(std::int64_t node) {
        List& list = scratch_.lists[0];
        const Plane<T>& plane = sources_.planes[sources_.top()];
        const Receiver<T, D> box = receiver(receivers_.planes[receivers_.top()], node);
        begin_list(list, plane.nodes);
        Candidate<T> bound = request_.limit;
        scratch_.vouched.clear();
        vouched_points_ = 0;
        add_nodes(list, plane, box, 0, static_cast<std::int32_t>(plane.nodes), bound);
        keep_near(list, plane, bound);
        descend(0, node, bound);
        leaf_.publish();
    }

private:
    using List = typename SearchScratch<T>::List;
    using Vouched = typename SearchScratch<T>::Vouched;
    using Tag = hn::ScalableTag<T>;
    /// Whether leaves share a block: pays where the points that can matter to a leaf are many times its own.
    static constexpr bool families = D > 3;
    static constexpr std::int64_t vector_room = static_cast<std::int64_t>(hn::MaxLanes(Tag()));

    [[nodiscard]] HWY_INLINE Receiver<T, D> receiver(const Plane<T>& plane, std::int64_t node) const {
        Receiver<T, D> box;
        for (int axis = 0; axis < D; ++axis) {
            box.lower[axis] = plane.lower(axis)[node];
            box.upper[axis] = plane.upper(axis)[node];
            box.period[axis] = period_[axis];
        }
        return box;
    }

    /// The receiving node has its list, and a bound for all its points; both trees go down.
    void descend(std::size_t depth, std::int64_t node, const Candidate<T>& bound) {
        if (depth == schedule_.size()) {
            leaf_.begin(node);
            search_leaf(receiver(receivers_.planes[0], node), scratch_.lists[depth], bound);
            return;
        }
        const Step step = schedule_[depth];
        const bool to_leaves = depth + 1 == schedule_.size();
        const Plane<T>& upper_sources = sources_.planes[step.source_plane];
        const Plane<T>& source_plane = sources_.planes[step.source_plane - (step.sources ? 1 : 0)];
        const Plane<T>& upper_receivers = receivers_.planes[step.receiver_plane];
        const Plane<T>& receiver_plane = receivers_.planes[step.receiver_plane - (step.receivers ? 1 : 0)];
        const std::int64_t first = step.receivers ? upper_receivers.first_child[node] : node;
        const std::int64_t last = step.receivers ? upper_receivers.first_child[node + 1] : node + 1;
        const List& parents = scratch_.lists[depth];
        const Receiver<T, D> parent_box = receiver(upper_receivers, node);
        List& list = scratch_.lists[depth + 1];
        if (to_leaves) {
            spans_.start(parents, upper_sources);
            family_radius_ = -1;
            family_tried_ = false;
        }
        std::int64_t most = parents.size;
        if (step.sources) {
            most = 0;
            for (std::int64_t i = 0; i < parents.size; ++i) {
                most += upper_sources.first_child[parents.nodes[i] + 1] - upper_sources.first_child[parents.nodes[i]];
            }
        }
        for (std::int64_t child = first; child < last; ++child) {
            const Receiver<T, D> box = receiver(receiver_plane, child);
            if (to_leaves) {
                leaf_.begin(child);
                if (search_leaf_within_reach(child, last - child, box, parent_box, bound)) {
                    continue;
                }
            }
            begin_list(list, most);
            Candidate<T> child_bound = bound;
            scratch_.vouched.clear();
            vouched_points_ = 0;
            for (std::int64_t i = 0; i < parents.size; ++i) {
                const std::int32_t parent = parents.nodes[i];
                if (step.sources) {
                    add_nodes(list, source_plane, box, upper_sources.first_child[parent],
                              upper_sources.first_child[parent + 1], child_bound);
                } else {
                    add_nodes(list, source_plane, box, parent, parent + 1, child_bound);
                }
            }
            keep_near(list, source_plane, child_bound);
            if (to_leaves) {
                search_leaf(box, list, child_bound);
            } else {
                descend(depth + 1, child, child_bound);
            }
        }
    }

    HWY_INLINE void begin_list(List& list, std::int64_t most) {
        list.nodes.reserve(most + vector_room);
        list.least.reserve(most + vector_room);
        list.greatest.reserve(most + vector_room);
        list.size = 0;
    }

    /// Appends the nodes [first, last) with their distances, and lets them tighten the bound.
    HWY_INLINE void add_nodes(List& list, const Plane<T>& plane, const Receiver<T, D>& box, std::int32_t first,
                              std::int32_t last, Candidate<T>& bound) {
        const Tag tag;
        const std::int32_t lanes = static_cast<std::int32_t>(hn::Lanes(tag));
        T* least = list.least.data() + list.size;
        T* greatest = list.greatest.data() + list.size;
        std::int32_t* nodes = list.nodes.data() + list.size;
        for (std::int32_t i = first; i < last; i += lanes) {
            const Columns<Tag> lower{tag, plane.lower(0) + i, plane.stride};
            const Columns<Tag> upper{tag, plane.upper(0) + i, plane.stride};
            const auto bounds =
                box_distances<Periodic, D>(tag, box, lower, upper, Bounds<hn::Vec<Tag>>{hn::Zero(tag), hn::Zero(tag)});
            hn::StoreU(bounds.least, tag, least + (i - first));
            hn::StoreU(bounds.greatest, tag, greatest + (i - first));
            if (!hn::AllFalse(tag, hn::Lt(bounds.greatest, hn::Set(tag, bound.distance)))) {
                for (std::int32_t j = i; j < std::min(i + lanes, last); ++j) {
                    if (greatest[j - first] < bound.distance) {
                        vouch(plane, j, least[j - first], greatest[j - first], bound);
                    }
                }
            }
        }
        for (std::int32_t i = first; i < last; ++i) {
            nodes[i - first] = i;
        }
        list.size += last - first;
    }

    /// A node all of whose points lie within `greatest` of every point of the receiver.
    HWY_NOINLINE void vouch(const Plane<T>& plane, std::int32_t node, T least, T greatest, Candidate<T>& bound) {
        std::int32_t last_index = std::numeric_limits<std::int32_t>::max();
        const std::int32_t points = plane.points_in(node);
        if (least == greatest && is_one_place(plane, node)) {
            // All at one distance; within such a node indices ascend, so the first few bound the index as well.
            const std::int64_t counted = std::min<std::int64_t>(points, needed_);
            last_index = sources_.points.indices[plane.first_point[node] + counted - 1];
        }
        auto& vouched = scratch_.vouched;
        std::size_t place = vouched.size();
        vouched.push_back({greatest, points, last_index});
        for (; place > 0 && vouched[place - 1].greatest > greatest; --place) {
            vouched[place] = vouched[place - 1];
        }
        vouched[place] = {greatest, points, last_index};
        vouched_points_ += points;
        while (vouched_points_ - vouched.back().points >= needed_) {
            vouched_points_ -= vouched.back().points;
            vouched.pop_back();
        }
        if (vouched_points_ >= needed_) {
            Candidate<T> found{vouched.back().greatest, 0};
            for (std::size_t i = vouched.size(); i > 0 && vouched[i - 1].greatest == found.distance; --i) {
                found.index = std::max(found.index, vouched[i - 1].last_index);
            }
            bound = std::min(bound, found);
        }
    }

    [[nodiscard]] static bool is_one_place(const Plane<T>& plane, std::int32_t node) {
        for (int axis = 0; axis < D; ++axis) {
            if (plane.lower(axis)[node] != plane.upper(axis)[node]) {
                return false;
            }
        }
        return true;
    }

    /// Drops the nodes beyond the bound.
    HWY_INLINE void keep_near(List& list, const Plane<T>& plane, const Candidate<T>& bound) {
        const Tag tag;
        const hn::Rebind<std::int32_t, Tag> node_tag;
        const std::int64_t lanes = static_cast<std::int64_t>(hn::Lanes(tag));
        const auto limit = hn::Set(tag, bound.distance);
        std::int64_t kept = 0;
        for (std::int64_t i = 0; i < list.size; i += lanes) {
            const auto least = hn::LoadU(tag, list.least.data() + i);
            const auto greatest = hn::LoadU(tag, list.greatest.data() + i);
            const auto nodes = hn::LoadU(node_tag, list.nodes.data() + i);
            const auto in_list = hn::FirstN(tag, static_cast<std::size_t>(list.size - i));
            const auto near = hn::And(hn::Le(least, limit), in_list);
            compress_store(tag, greatest, near, list.greatest.data() + kept);
            if constexpr (sizeof(T) == 4) {
                compress_store(node_tag, nodes, hn::RebindMask(node_tag, near), list.nodes.data() + kept);
            } else {
                compress_nodes(list.nodes.data(), i, near, list.nodes.data() + kept);
            }
            kept += compress_store(tag, least, near, list.least.data() + kept);
        }
        list.size = kept;
        if (bound.index != std::numeric_limits<std::int32_t>::max()) {
            drop_ties(list, plane, bound);
        }
    }

    /// Lanes of T are wider than node numbers: one by one.
    template <class Mask>
    static HWY_INLINE void compress_nodes(const std::int32_t* nodes, std::int64_t first, Mask near, std::int32_t* out) {
        const Tag tag;
        const unsigned bits = mask_bits(tag, near);
        for (std::int64_t lane = 0; lane < static_cast<std::int64_t>(hn::Lanes(tag)); ++lane) {
            if ((bits >> lane) & 1U) {
                *out++ = nodes[first + lane];
            }
        }
    }

    /// Of the nodes exactly at the bound, those whose indices are all too large go as well.
    static void drop_ties(List& list, const Plane<T>& plane, const Candidate<T>& bound) {
        std::int64_t kept = 0;
        for (std::int64_t i = 0; i < list.size; ++i) {
            const std::int32_t node = list.nodes[i];
            list.nodes[kept] = node;
            list.least[kept] = list.least[i];
            list.greatest[kept] = list.greatest[i];
            kept += bound < Candidate<T>{list.least[i], plane.smallest_index[node]} ? 0 : 1;
        }
        list.size = kept;
    }

    /// Gathers what the leaves below one box share, unless it is too much.
    void make_family(const Receiver<T, D>& box, T radius) {
        const T reach = radius * T(1.2);
        const std::int64_t most = 4 * scratch_.crowd;
        family_tried_ = true;
        if (spans_.list(box, reach, most) <= most) {
            leaf_.gather_family(box, spans_.data(), spans_.size(), reach);
            family_radius_ = reach;
        }
    }

    /// Searches a leaf as far as it is expected to need, then somewhat farther. Returns whether that did.
    HWY_INLINE bool search_leaf_within_reach(std::int64_t leaf, std::int64_t siblings, const Receiver<T, D>& leaf_box,
                                             const Receiver<T, D>& parent_box, const Candidate<T>& bound) {
        if (self_search_ && leaf_box.is_one_place() && receivers_.planes[0].points_in(leaf) >= needed_) {
            return false; // its own points are the bound
        }
        constexpr int rounds = 5;
        Receiver<T, D> box = leaf_box;
        T radius = guess_reach(leaf, box);
        for (int round = 0; round < rounds && radius > 0; ++round) {
            radius = std::min(radius, bound.distance);
            if (!(radius < std::numeric_limits<T>::infinity())) {
                return false;
            }
            const bool holds_all = radius == bound.distance;
            if (families && round == 0 && siblings >= 5 && !family_tried_) {
                make_family(parent_box, radius);
            }
            bool done = false;
            if (families && radius <= family_radius_ && radius * T(1.6) >= family_radius_) {
                done = leaf_.search_family(box, Candidate<T>{radius}, holds_all);
            } else {
                if (spans_.list(box, radius, scratch_.crowd) > scratch_.crowd) {
                    return false;
                }
                done = leaf_.search(box, spans_.data(), spans_.size(), Candidate<T>{radius}, holds_all);
            }
            if (done) {
                scratch_.reach.learn(leaf_.finish());
                return true;
            }
            box = leaf_.pending_box(period_);
            radius *= leaf_.growth();
        }
        return false;
    }

    HWY_INLINE T guess_reach(std::int64_t leaf, const Receiver<T, D>& box) {
        T squared_diagonal = 0;
        for (int axis = 0; axis < D; ++axis) {
            squared_diagonal += (box.upper[axis] - box.lower[axis]) * (box.upper[axis] - box.lower[axis]);
        }
        return scratch_.reach.guess(squared_diagonal, self_search_ ? receivers_.planes[0].points_in(leaf) : 0, D);
    }

    /// Searches a leaf within its guaranteed bound.
    void search_leaf(const Receiver<T, D>& box, List& list, Candidate<T> bound) {
        const Plane<T>& leaves = sources_.planes[0];
        bound = tightened(list, leaves, box, bound);
        keep_near(list, leaves, bound);
        std::int64_t points = 0;
        spans_.clear();
        for (std::int64_t i = 0; i < list.size; ++i) {
            points += spans_.add(list.nodes[i], list.nodes[i] + 1);
        }
        (void)leaf_.search(box, spans_.data(), spans_.size(), bound, true);
        scratch_.reach.learn(leaf_.finish());
        scratch_.crowd = std::max(points, scratch_.crowd);
    }

    /// The bound that the points of the nearest leaves give: the k-th smallest greatest distance to the receiver's box.
    HWY_INLINE Candidate<T> tightened(const List& list, const Plane<T>& leaves, const Receiver<T, D>& box,
                                      const Candidate<T>& bound) {
        const Tag tag;
        const std::int64_t lanes = static_cast<std::int64_t>(hn::Lanes(tag));
        auto& candidates = scratch_.candidates;
        candidates.clear();
        HWY_ALIGN T greatest[vector_room];
        for (std::int64_t i = 0; i < list.size; ++i) {
            if (list.greatest[i] > bound.distance) {
                continue;
            }
            const std::int64_t end = leaves.first_point[list.nodes[i] + 1];
            for (std::int64_t point = leaves.first_point[list.nodes[i]]; point < end; point += lanes) {
                const Columns<Tag> place{tag, sources_.points.axis(0) + point, sources_.points.stride};
                const auto bounds = box_distances<Periodic, D>(tag, box, place, place,
                                                               Bounds<hn::Vec<Tag>>{hn::Zero(tag), hn::Zero(tag)});
                hn::Store(bounds.greatest, tag, greatest);
                for (std::int64_t j = 0; j < std::min(lanes, end - point); ++j) {
                    candidates.push_back({greatest[j], sources_.points.indices[point + j]});
                }
            }
        }
        if (static_cast<std::int64_t>(candidates.size()) < needed_) {
            return bound;
        }
        const auto last = candidates.begin() + (needed_ - 1);
        std::nth_element(candidates.begin(), last, candidates.end());
        return std::min(bound, *last);
    }

    const PlaneTree<T>& receivers_;
    const PlaneTree<T>& sources_;
    const std::vector<Step>& schedule_;
    const KnnRequest<T>& request_;
    SearchScratch<T>& scratch_;
    LeafSearch<T, D, Periodic> leaf_;
    Spans<T, D, Periodic> spans_;
    const std::int64_t needed_; ///< sources that must be vouched for; one more if the point itself does not count
    const bool self_search_ = &receivers_ == &sources_;
    std::int64_t vouched_points_ = 0;
    bool family_tried_ = false;
    T family_radius_ = -1; ///< squared, of the points that are gathered for some leaves; -1: none are
    T period_[D];
};

} // namespace kith::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
