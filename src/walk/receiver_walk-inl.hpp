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

#include "walk/walk_kernels-inl.hpp"

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

template <class T>
HWY_INLINE AnyReceiver<T> box_of_node(const PlaneView<T>& plane, const Periods<T>& period, std::int64_t node,
                                      int dimension) {
    AnyReceiver<T> box{};
    for (int axis = 0; axis < dimension; ++axis) {
        box.lower[axis] = plane.lower(axis)[node];
        box.upper[axis] = plane.upper(axis)[node];
        box.period[axis] = period[axis];
    }
    return box;
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

template <class T, class Policy>
class ReceiverWalk {
public:
    using Bound = typename Policy::Bound;

    /// The job's schedule starts from the plane of the tasks.
    ReceiverWalk(const WalkJob<T>& job, WalkScratch<T>& scratch, Policy& policy)
        : receivers_(*job.receivers), sources_(*job.sources), dimension_(job.dimension), schedule_(*job.schedule),
          kernels_(walk_kernels<T>(job.dimension, job.periodic)), scratch_(scratch), policy_(policy) {
        if (scratch.lists.size() < schedule_.size() + 1) {
            scratch.lists.resize(schedule_.size() + 1);
        }
    }

    /// One task: all points of a node of the schedule's first receiving plane.
    void walk(std::int64_t node) {
        List& list = scratch_.lists[0];
        const PlaneView<T>& plane = sources_.planes[sources_.top];
        const int receiver_plane = schedule_.empty() ? 0 : schedule_.front().receiver_plane;
        const AnyReceiver<T> box = box_of(receivers_.planes[receiver_plane], node);
        Bound bound = policy_.enter(nullptr, receiver_plane, node);
        if (policy_.is_settled(bound)) {
            return;
        }
        begin_list(list, plane.nodes);
        const std::int32_t above = 0; // all nodes of the plane, as if they were the children of one above
        const std::int32_t children[] = {0, plane.nodes};
        fill(list, sources_.top, box, &above, 1, children, bound);
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

    [[nodiscard]] HWY_INLINE AnyReceiver<T> box_of(const PlaneView<T>& plane, std::int64_t node) const {
        return box_of_node(plane, sources_.period, node, dimension_);
    }

    /// The receiving node has its list, and a bound for all its points; the trees go down by one step.
    void descend(std::size_t depth, std::int64_t node, const Bound& bound) {
        const Step step = schedule_[depth];
        const bool to_leaves = depth + 1 == schedule_.size();
        const int receiver_level = step.receiver_plane - (step.receivers ? 1 : 0);
        const int source_level = step.source_plane - (step.sources ? 1 : 0);
        const PlaneView<T>& upper_receivers = receivers_.planes[step.receiver_plane];
        const PlaneView<T>& receiver_plane = receivers_.planes[receiver_level];
        const std::int64_t first = step.receivers ? upper_receivers.first_child[node] : node;
        const std::int64_t last = step.receivers ? upper_receivers.first_child[node + 1] : node + 1;
        const std::int32_t* first_source = step.sources ? sources_.planes[step.source_plane].first_child : nullptr;
        const List& parents = scratch_.lists[depth];
        List& list = scratch_.lists[depth + 1];
        if (to_leaves) {
            policy_.begin_leaves(parents, step.source_plane, box_of(upper_receivers, node));
        }
        std::int64_t most = parents.size;
        if (step.sources) {
            most = 0;
            for (std::int64_t i = 0; i < parents.size; ++i) {
                most += first_source[parents.nodes[i] + 1] - first_source[parents.nodes[i]];
            }
        }
        for (std::int64_t child = first; child < last; ++child) {
            const AnyReceiver<T> box = box_of(receiver_plane, child);
            Bound child_bound = policy_.enter(&bound, receiver_level, child);
            if (policy_.is_settled(child_bound)) {
                continue;
            }
            if (to_leaves && policy_.finish_early(child, last - child, box, child_bound)) {
                continue;
            }
            begin_list(list, most);
            fill(list, source_level, box, parents.nodes.data(), parents.size, first_source, child_bound);
            if (to_leaves) {
                policy_.finish(child, box, list, child_bound);
            } else {
                descend(depth + 1, child, child_bound);
            }
        }
    }

    void begin_list(List& list, std::int64_t most) {
        list.nodes.reserve(most + vector_padding);
        list.least.reserve(most + vector_padding);
        list.greatest.reserve(most + vector_padding);
        list.size = 0;
        policy_.begin_list();
    }

    /// Fills an empty list with nodes of a plane (append_nodes), offers those within reach to the policy, and keeps
    /// what the bound that it leaves does not drop.
    HWY_NOINLINE void fill(List& list, int level, const AnyReceiver<T>& box, const std::int32_t* parents,
                           std::int64_t count, const std::int32_t* first_child, Bound& bound) {
        const T smallest = kernels_.append_nodes(box, sources_.planes[level], parents, count, first_child, list);
        if (smallest <= policy_.reach(bound)) {
            offer(list, level, bound);
        }
        keep_within(list, policy_.reach(bound));
        policy_.drop_more(list, level, bound);
    }

    HWY_INLINE void offer(List& list, int level, Bound& bound) {
        const Tag tag;
        const auto lanes = static_cast<std::int64_t>(hn::Lanes(tag));
        T* least = list.least.data();
        const T* greatest = list.greatest.data();
        for (std::int64_t i = 0; i < list.size; i += lanes) {
            if (!hn::AllFalse(tag, hn::Le(hn::LoadU(tag, greatest + i), hn::Set(tag, policy_.reach(bound))))) {
                for (std::int64_t j = i; j < std::min(i + lanes, list.size); ++j) {
                    if (greatest[j] <= policy_.reach(bound) &&
                        policy_.take(level, list.nodes[j], least[j], greatest[j], bound)) {
                        least[j] = std::numeric_limits<T>::quiet_NaN(); // within no distance
                    }
                }
            }
        }
    }

    const TreeView<T>& receivers_;
    const TreeView<T>& sources_;
    const int dimension_;
    const std::vector<Step>& schedule_;
    const WalkKernels<T>& kernels_;
    WalkScratch<T>& scratch_;
    Policy& policy_;
};

/// Walks from one node of the plane of the tasks, with a policy that is made for the job.
template <template <class> class Policy, class T, class Job, class Scratch>
void walk_from(const Job& job, std::int64_t node, Scratch& scratch) {
    Policy<T> policy(job, scratch);
    ReceiverWalk<T, Policy<T>>(job, scratch.walk, policy).walk(node);
}

} // namespace kith::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
