// Potentials of the bodies of one leaf of a group's tree, by a warp (potential_kernels.cpp is the CPU's text).
//
// The warp looks at 32 nodes side by side in depth-first order, and then steps from one to the next in registers. What
// it takes whole, and the bodies of the leaves that it opens, it lists in shared memory; as soon as there are 16, the
// number of virtual lanes, each half of the warp adds them to a receiver, a lane one of them. Nodes are added before
// bodies, so the warp walks twice: remembering a list of any length would take memory for each warp.
#pragma once

#include "cuda/lane_bounds.hpp"
#include "halos/gravity_tree_kernel.hpp"

#include <array>
#include <cstdint>

namespace kith::detail::inline KITH_GPU {

/// A warp for each leaf.
struct LeafPotentials {
    Forest forest;
    halos::BodyView bodies;
    const std::int32_t* numbers; ///< of the bodies, as given
    const std::int32_t* trees;
    const std::int32_t* roots; ///< of each tree
    const halos::PotentialNode* nodes;
    const halos::SecondMoments* moments;
    const std::int32_t* leaves;
    SofteningKernel kernel;

    __device__ void operator()(std::int64_t thread) const;
};

/// All members are called by the whole warp.
class LeafGravity {
public:
    static constexpr int listed_at_most = gravity_lanes - 1 + warp_size;
    using List = SharedArray<std::int32_t, warps_of_block * listed_at_most>;

    __device__ LeafGravity(const LeafPotentials& job, std::int32_t leaf, List& list)
        : job_(job), list_(list), lane_(static_cast<int>(threadIdx.x) % warp_size),
          list_begin_(static_cast<int>(threadIdx.x) / warp_size * listed_at_most), first_(job.nodes[leaf].first),
          size_(job.nodes[leaf].last - first_), tree_(job.trees[first_]), root_(job.roots[tree_]),
          frame_(job.forest.frames[job.forest.groups[tree_].group]), gravity_(job.kernel, frame_.units.softening) {
        const std::int32_t body = first_ + device_min(lane_, size_ - 1);
        for (std::size_t axis = 0; axis < 3; ++axis) {
            box_.lower[axis] = least_of_lanes<warp_size>(job.bodies.position[axis][body]);
            box_.upper[axis] = greatest_of_lanes<warp_size>(job.bodies.position[axis][body]);
        }
        const halos::PotentialNode& root = job.nodes[root_];
        limit_ = box_.limit(root, halos::squared_size_of(root, job.moments[root_]));
#pragma unroll
        for (double& sum : sums_) {
            sum = 0;
        }
    }

    __device__ void find() {
        walk([&](std::int32_t first, unsigned whole, unsigned) {
            list(whole, first + lane_, [&](int listed) { add_nodes(listed); });
        });
        add_rest([&](int listed) { add_nodes(listed); });
        walk([&](std::int32_t first, unsigned, unsigned opened) {
            for (; opened != 0; opened &= opened - 1) {
                const halos::PotentialNode& leaf = job_.nodes[first + __ffs(static_cast<int>(opened)) - 1];
                const auto bodies = static_cast<unsigned>(leaf.last - leaf.first);
                list((1U << bodies) - 1, leaf.first + lane_, [&](int listed) { add_bodies(listed); });
            }
        });
        add_rest([&](int listed) { add_bodies(listed); });
        write();
    }

private:
    static constexpr int most_receivers = static_cast<int>(halos::potential_leaf_size) / 2; ///< of half a warp

    /// use(first, whole, opened) for up to 32 nodes from `first` on: those reached that count as a whole, and the
    /// leaves that do not.
    template <class Use>
    __device__ void walk(const Use& use) const {
        const std::int32_t end = job_.nodes[root_].next;
        for (std::int32_t node = root_; node < end;) {
            const std::int32_t first = node;
            const std::int32_t mine = first + lane_;
            bool is_whole = false;
            bool is_opened = false;
            std::int32_t next = mine + 1;
            if (mine < end) {
                const halos::PotentialNode& of_lane = job_.nodes[mine];
                is_whole = box_.takes_whole(of_lane, limit_);
                is_opened = !is_whole && of_lane.is_leaf(mine);
                next = is_whole ? of_lane.next : next;
            }
            const unsigned whole = __ballot_sync(whole_warp, is_whole ? 1 : 0);
            const unsigned opened = __ballot_sync(whole_warp, is_opened ? 1 : 0);
            unsigned reached = 0;
            while (node < end && node < first + warp_size) {
                reached |= 1U << (node - first);
                node = __shfl_sync(whole_warp, next, node - first);
            }
            use(first, whole & reached, opened & reached);
        }
    }

    /// Lists a number of each lane that is in the mask; calls add(lanes) for 16 at a time.
    template <class Add>
    __device__ void list(unsigned lanes, std::int32_t number, const Add& add) {
        if (((lanes >> lane_) & 1U) != 0) {
            list_[list_begin_ + listed_ + __popc(lanes & ((1U << lane_) - 1))] = number;
        }
        listed_ += __popc(lanes);
        __syncwarp();
        int begin = 0;
        for (; listed_ - begin >= gravity_lanes; begin += gravity_lanes) {
            added_ = begin;
            add(gravity_lanes);
        }
        if (begin > 0) { // the rest to the front
            std::int32_t kept = 0;
            if (lane_ < listed_ - begin) {
                kept = list_[list_begin_ + begin + lane_];
            }
            __syncwarp();
            if (lane_ < listed_ - begin) {
                list_[list_begin_ + lane_] = kept;
            }
            listed_ -= begin;
            __syncwarp();
        }
    }
    template <class Add>
    __device__ void add_rest(const Add& add) {
        added_ = 0;
        if (listed_ > 0) {
            add(listed_);
        }
        listed_ = 0;
        __syncwarp();
    }
    /// What the lane is to add of those that are listed; -1: nothing.
    [[nodiscard]] __device__ std::int32_t mine_of(int listed) const {
        const int lane = lane_ % gravity_lanes;
        std::int32_t mine = -1;
        if (lane < listed) {
            mine = list_[list_begin_ + added_ + lane];
        }
        return mine;
    }

    /// Calls term(receiver, its position, its sum) for those of the lane's half of the warp.
    template <class Term>
    __device__ void for_each_receiver(const Term& term) {
#pragma unroll
        for (int i = 0; i < most_receivers; ++i) {
            const std::int32_t receiver = first_ + 2 * i + lane_ / gravity_lanes;
            if (receiver < first_ + size_) {
                sums_[i] =
                    term(receiver,
                         std::array<double, 3>{job_.bodies.position[0][receiver], job_.bodies.position[1][receiver],
                                               job_.bodies.position[2][receiver]},
                         sums_[i]);
            }
        }
    }

    __device__ void add_bodies(int listed) {
        const std::int32_t mine = mine_of(listed);
        GravityBody body = GravityBody::padding();
        if (mine >= 0) {
            body = {{job_.bodies.position[0][mine], job_.bodies.position[1][mine], job_.bodies.position[2][mine]},
                    job_.bodies.mass[mine]};
        }
        for_each_receiver([&](std::int32_t receiver, const std::array<double, 3>& at, double sum) {
            return body.add_to(sum, gravity_, at, receiver == mine);
        });
    }

    /// M / u + (3/2 sum m (y d)^2 / u^2 - sum m y^2 / 2) / u^3, u the softened distance.
    __device__ void add_nodes(int listed) {
        const std::int32_t mine = mine_of(listed);
        GravityBody node = GravityBody::padding();
        std::array<double, 7> form{};
        if (mine >= 0) {
            node = {job_.nodes[mine].center, job_.nodes[mine].mass};
            form = halos::quadratic_form(job_.moments[mine]);
        }
        const auto fma = [](double a, double b, double c) { return fused_multiply_add(a, b, c); };
        for_each_receiver([&](std::int32_t, const std::array<double, 3>& at, double sum) {
            const GravityDifference d(at, node.position);
            const double inverse = 1 / gravity_.distance(d.square);
            const double inverse2 = inverse * inverse;
            const double along_x = fma(form[0], d.x, fma(form[1], d.y, form[2] * d.z));
            const double along_y = fma(form[3], d.y, form[4] * d.z);
            const double product = fma(along_x, d.x, fma(along_y, d.y, form[5] * d.z * d.z));
            const double second = fma(product, inverse2, form[6]);
            return fma(inverse, fma(second, inverse2, node.mass), sum);
        });
    }

    __device__ void write() {
        const TreeGroup& of = job_.forest.groups[tree_];
        const LeavingMembers& members = job_.forest.members;
#pragma unroll
        for (int i = 0; i < most_receivers; ++i) {
            const double sum = join_gravity_lanes(sums_[i]);
            const std::int32_t receiver = first_ + 2 * i + lane_ / gravity_lanes;
            if (receiver < first_ + size_ && lane_ % gravity_lanes == 0) {
                const std::int32_t place = job_.numbers[receiver] - of.first_body;
                members.potential[members.offset[of.group] + place] = frame_.potential(sum);
            }
        }
    }

    const LeafPotentials& job_;
    List& list_;
    int lane_;
    int list_begin_;
    int listed_ = 0;
    int added_ = 0; ///< where in the list what is added begins
    std::int32_t first_;
    std::int32_t size_;
    std::int32_t tree_;
    std::int32_t root_;
    const GroupFrame& frame_;
    DeviceGravity gravity_;
    halos::LeafBox box_{};
    double limit_ = 0;
    double sums_[most_receivers];
};

__device__ inline void LeafPotentials::operator()(std::int64_t thread) const {
    __shared__ LeafGravity::List list;
    LeafGravity(*this, leaves[thread / warp_size], list).find();
}

} // namespace kith::detail::inline KITH_GPU
