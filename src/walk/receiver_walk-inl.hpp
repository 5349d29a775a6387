// The receiver walk: a receiving tree against a source tree, depth first, with a list of source nodes carried down.
//
// Problem: every receiving point wants something of the source points near it; how near is known better the smaller the
// receiving node is. Method (jz-tree paper, section III, rearranged for a CPU): a receiving node carries the list of
// the source nodes that can matter to any of its points. Going down a plane (schedule.hpp), the children of the listed
// nodes are measured from each child of the receiver, a vector at a time. What is wanted is up to a policy, which is
// asked in the order in which its functions stand here:
//
//   using Bound                                  what is known of all answers of a receiving node
//   Bound enter(parent, level, node)             from its parent's bound, or null if the node is a task; all that follows
//                                                is about this node, until the next one is entered
//   bool is_settled(bound)                       its points want nothing more, and have all their answers: it is left
//   void begin_list()                            its list is about to be filled
//   T reach(bound)                               drop: source nodes whose least squared distance is larger
//   bool take(level, source, least, greatest, bound)   called for source nodes whose greatest distance is within reach;
//                                                may tighten the bound; true takes the node whole: it is not opened
//   void drop_more(list, level, bound)           drops source nodes that the reach alone does not; may tighten the bound
//   void begin_leaves(list, level, box)          the receiver's children are leaves; its list and box
//   bool finish_early(leaf, siblings_left, box, bound)   begins a receiving leaf; true if it needs no list of its own
//   void finish(leaf, box, list, bound)          a receiving leaf and its list of source leaves
//
// Those that a policy has no use for come from PolicyDefaults. What is taken whole at a node is true of all points
// below it: a policy keeps it in the bound, which is handed down, or on a stack whose height is in the bound. Where a
// task's node and the top of the sources are leaves already, finish_early() comes after the list, which it may ignore.
//
// Lists live in per-thread memory, so that nothing is allocated in the inner loops; they are as long as the reach is
// wide.

#include "geometry/distances-inl.hpp"

#include "support/dimension.hpp"
#include "walk/receiver_walk.hpp"
#include "walk/schedule.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

#if defined(KITH_RECEIVER_WALK_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef KITH_RECEIVER_WALK_INL_HPP
#undef KITH_RECEIVER_WALK_INL_HPP
#else
#define KITH_RECEIVER_WALK_INL_HPP
#endif

HWY_BEFORE_NAMESPACE();
namespace kith::detail::HWY_NAMESPACE {

template <class T, int D>
HWY_INLINE Receiver<T, D> box_of_node(const PlaneView<T>& plane, const Periods<T>& period, std::int64_t node) {
    Receiver<T, D> box;
    for (int axis = 0; axis < D; ++axis) {
        box.lower[axis] = plane.lower(axis)[node];
        box.upper[axis] = plane.upper(axis)[node];
        box.period[axis] = period[axis];
    }
    return box;
}

/// The greatest squared distance that two points of a node can have.
template <bool Periodic, int D, class T>
HWY_INLINE T greatest_distance_within(const PlaneView<T>& plane, const Periods<T>& period, std::int64_t node) {
    const hn::CappedTag<T, 1> one;
    const Columns<decltype(one)> lower{one, plane.lower(0) + node, plane.stride};
    const Columns<decltype(one)> upper{one, plane.upper(0) + node, plane.stride};
    const auto bounds = box_distances<Periodic, D>(one, box_of_node<T, D>(plane, period, node), lower, upper,
                                                   Bounds<hn::Vec<decltype(one)>>{hn::Zero(one), hn::Zero(one)});
    return hn::GetLane(bounds.greatest);
}

/// Lanes of T are wider than node numbers: one by one.
template <class Tag, class Mask>
HWY_INLINE void compress_nodes(Tag tag, const std::int32_t* nodes, Mask near, std::int32_t* out) {
    const unsigned bits = mask_bits(tag, near);
    for (std::int64_t lane = 0; lane < static_cast<std::int64_t>(hn::Lanes(tag)); ++lane) {
        if ((bits >> lane) & 1U) {
            *out++ = nodes[lane];
        }
    }
}

/// Drops the nodes whose least squared distance is larger than the reach.
template <Coordinate T>
HWY_INLINE void keep_within(InteractionList<T>& list, T reach) {
    const hn::ScalableTag<T> tag;
    const hn::Rebind<std::int32_t, decltype(tag)> node_tag;
    const std::int64_t lanes = static_cast<std::int64_t>(hn::Lanes(tag));
    const auto limit = hn::Set(tag, reach);
    std::int64_t kept = 0;
    for (std::int64_t i = 0; i < list.size; i += lanes) {
        const auto least = hn::LoadU(tag, list.least.data() + i);
        const auto greatest = hn::LoadU(tag, list.greatest.data() + i);
        const auto nodes = hn::LoadU(node_tag, list.nodes.data() + i);
        const auto in_list = hn::FirstN(tag, list.size - i);
        const auto near = hn::And(hn::Le(least, limit), in_list);
        compress_store(tag, greatest, near, list.greatest.data() + kept);
        if constexpr (sizeof(T) == 4) {
            compress_store(node_tag, nodes, hn::RebindMask(node_tag, near), list.nodes.data() + kept);
        } else {
            compress_nodes(tag, list.nodes.data() + i, near, list.nodes.data() + kept);
        }
        kept += compress_store(tag, least, near, list.least.data() + kept);
    }
    list.size = kept;
}

/// Nodes are never settled, taken whole or dropped, and leaves have lists: as far as a policy does not say otherwise.
struct PolicyDefaults {
    [[nodiscard]] bool is_settled(const auto& /*bound*/) const { return false; }
    void begin_list() const {}
    [[nodiscard]] bool take(const auto&... /*of_node*/) const { return false; }
    void drop_more(const auto&... /*of_list*/) const {}
    void begin_leaves(const auto&... /*of_list*/) const {}
    [[nodiscard]] bool finish_early(const auto&... /*of_leaf*/) const { return false; }
    void finish(const auto&... /*of_leaf*/) const {}
};

template <class T, int D, bool Periodic, class Policy>
class ReceiverWalk {
public:
    using Bound = typename Policy::Bound;

    /// The schedule starts from the plane of the tasks.
    ReceiverWalk(const TreeView<T>& receivers, const TreeView<T>& sources, const std::vector<Step>& schedule,
                 WalkScratch<T>& scratch, Policy& policy)
        : receivers_(receivers), sources_(sources), schedule_(schedule), scratch_(scratch), policy_(policy) {
        if (scratch.lists.size() < schedule.size() + 1) {
            scratch.lists.resize(schedule.size() + 1);
        }
    }

    /// One task: all points of a node of the schedule's first receiving plane.
    void walk(std::int64_t node) {
        List& list = scratch_.lists[0];
        const PlaneView<T>& plane = sources_.planes[sources_.top];
        const int receiver_plane = schedule_.empty() ? 0 : schedule_.front().receiver_plane;
        const Receiver<T, D> box = box_of_node<T, D>(receivers_.planes[receiver_plane], sources_.period, node);
        Bound bound = policy_.enter(nullptr, receiver_plane, node);
        if (policy_.is_settled(bound)) {
            return;
        }
        begin_list(list, plane.nodes);
        add_nodes(list, sources_.top, box, 0, plane.nodes, bound);
        keep_near(list, sources_.top, bound);
        if (schedule_.empty()) { // both trees are a plane of leaves
            policy_.begin_leaves(list, 0, box);
            if (!policy_.finish_early(node, 1, box, bound)) {
                policy_.finish(node, box, list, bound);
            }
            return;
        }
        descend(0, node, bound);
    }

private:
    using List = InteractionList<T>;
    using Tag = hn::ScalableTag<T>;
    static constexpr std::int64_t vector_padding = static_cast<std::int64_t>(hn::MaxLanes(Tag()));

    /// The receiving node has its list, and a bound for all its points; the trees go down by one step.
    void descend(std::size_t depth, std::int64_t node, const Bound& bound) {
        const Step step = schedule_[depth];
        const bool to_leaves = depth + 1 == schedule_.size();
        const int receiver_level = step.receiver_plane - (step.receivers ? 1 : 0);
        const int source_level = step.source_plane - (step.sources ? 1 : 0);
        const PlaneView<T>& upper_sources = sources_.planes[step.source_plane];
        const PlaneView<T>& upper_receivers = receivers_.planes[step.receiver_plane];
        const PlaneView<T>& receiver_plane = receivers_.planes[receiver_level];
        const std::int64_t first = step.receivers ? upper_receivers.first_child[node] : node;
        const std::int64_t last = step.receivers ? upper_receivers.first_child[node + 1] : node + 1;
        const List& parents = scratch_.lists[depth];
        List& list = scratch_.lists[depth + 1];
        if (to_leaves) {
            policy_.begin_leaves(parents, step.source_plane, box_of_node<T, D>(upper_receivers, sources_.period, node));
        }
        std::int64_t most = parents.size;
        if (step.sources) {
            most = 0;
            for (std::int64_t i = 0; i < parents.size; ++i) {
                most += upper_sources.first_child[parents.nodes[i] + 1] - upper_sources.first_child[parents.nodes[i]];
            }
        }
        for (std::int64_t child = first; child < last; ++child) {
            const Receiver<T, D> box = box_of_node<T, D>(receiver_plane, sources_.period, child);
            Bound child_bound = policy_.enter(&bound, receiver_level, child);
            if (policy_.is_settled(child_bound)) {
                continue;
            }
            if (to_leaves && policy_.finish_early(child, last - child, box, child_bound)) {
                continue;
            }
            begin_list(list, most);
            for (std::int64_t i = 0; i < parents.size; ++i) {
                const std::int32_t parent = parents.nodes[i];
                if (step.sources) {
                    add_nodes(list, source_level, box, upper_sources.first_child[parent],
                              upper_sources.first_child[parent + 1], child_bound);
                } else {
                    add_nodes(list, source_level, box, parent, parent + 1, child_bound);
                }
            }
            keep_near(list, source_level, child_bound);
            if (to_leaves) {
                policy_.finish(child, box, list, child_bound);
            } else {
                descend(depth + 1, child, child_bound);
            }
        }
    }

    HWY_INLINE void begin_list(List& list, std::int64_t most) {
        list.nodes.reserve(most + vector_padding);
        list.least.reserve(most + vector_padding);
        list.greatest.reserve(most + vector_padding);
        list.size = 0;
        policy_.begin_list();
    }

    /// Appends the nodes [first, last) with their distances, and offers those within reach to the policy.
    HWY_INLINE void add_nodes(List& list, int level, const Receiver<T, D>& box, std::int32_t first, std::int32_t last,
                              Bound& bound) {
        const PlaneView<T>& plane = sources_.planes[level];
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
            if (!hn::AllFalse(tag, hn::Le(bounds.greatest, hn::Set(tag, policy_.reach(bound))))) {
                for (std::int32_t j = i; j < std::min(i + lanes, last); ++j) {
                    if (greatest[j - first] <= policy_.reach(bound) &&
                        policy_.take(level, j, least[j - first], greatest[j - first], bound)) {
                        least[j - first] = std::numeric_limits<T>::quiet_NaN(); // within no distance
                    }
                }
            }
        }
        for (std::int32_t i = first; i < last; ++i) {
            nodes[i - first] = i;
        }
        list.size += last - first;
    }

    HWY_INLINE void keep_near(List& list, int level, Bound& bound) {
        keep_within(list, policy_.reach(bound));
        policy_.drop_more(list, level, bound);
    }

    const TreeView<T>& receivers_;
    const TreeView<T>& sources_;
    const std::vector<Step>& schedule_;
    WalkScratch<T>& scratch_;
    Policy& policy_;
};

/// Walks from one node of the plane of the tasks, with a policy that is made for the job.
template <template <class, int, bool> class Policy, class T, class Job, class Scratch>
void walk_from(const Job& job, std::int64_t node, Scratch& scratch) {
    with_space(job.dimension, job.periodic, [&]<int D, bool Periodic>() {
        Policy<T, D, Periodic> policy(job, scratch);
        ReceiverWalk<T, D, Periodic, Policy<T, D, Periodic>>(*job.receivers, *job.sources, *job.schedule, scratch.walk,
                                                             policy)
            .walk(node);
    });
}

} // namespace kith::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
