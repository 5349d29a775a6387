// The steps of unbinding on a GPU, a block for each group: energies, the removal of the least bound, and what is known
// of a group once no more leave. unbind.hpp has the method.
//
// Sums over a group are in the order of its members, so one thread adds each of them; what is compared or counted is
// shared by the block. Which energies are the largest follows from their bits, eight at a time from the top: positive
// numbers are in the order of their bits.
#pragma once

#include "cuda/blocks.hpp"
#include "halos/gravity_kernel.hpp"
#include "halos/leaving_members.hpp"
#include "halos/motion.hpp"
#include "halos/unbind_steps.hpp"

#include <array>
#include <bit>
#include <cstdint>
#include <limits>

namespace kith::detail::inline KITH_GPU {

/// Mean place and velocity of those left, by mass; members without any count alike.
struct MeanMotion {
    std::array<double, 3> place;
    std::array<double, 3> velocity;
    double weight;
    bool have_mass;

    [[nodiscard]] __device__ double weight_of(const LeavingMembers& members, std::int64_t member) const {
        return have_mass ? members.mass[member] : 1.0;
    }
};

/// To be called by all threads of a block.
__device__ inline MeanMotion mean_motion(const LeavingMembers& members, std::int32_t group) {
    const std::int32_t count = members.count[group];
    std::int32_t with_mass = 0;
    for (auto at = static_cast<std::int32_t>(threadIdx.x); at < count; at += threads_of_block) {
        with_mass |= members.mass[members.member(group, at)] > 0 ? 1 : 0;
    }
    MeanMotion mean{};
    mean.have_mass = greatest_of_block(with_mass) != 0;
    double sums[7];
    sum_in_order<7>(
        count,
        [&](std::int32_t at, double(&terms)[7]) {
            const std::int64_t member = members.member(group, at);
            const double weight = mean.weight_of(members, member);
            const std::array<double, 3> place = members.offset_of(group, member);
            const std::array<double, 3> velocity = members.velocity_of(member);
            terms[0] = weight;
            for (std::size_t axis = 0; axis < 3; ++axis) {
                terms[1 + axis] = weight * place[axis];
                terms[4 + axis] = weight * velocity[axis];
            }
        },
        sums);
    mean.weight = sums[0];
    for (std::size_t axis = 0; axis < 3; ++axis) {
        mean.place[axis] = sums[1 + axis] / mean.weight;
        mean.velocity[axis] = sums[4 + axis] / mean.weight;
    }
    return mean;
}

/// The energies above 0 that are removed: all above the least, and of equal ones the first.
struct Cut {
    std::uint64_t least;    ///< bits of the least energy
    std::int32_t and_equal; ///< how many of those with this energy
};

/// Of the `wanted` largest of more energies above 0. To be called by all threads of a block.
__device__ inline Cut cut_of_largest(const double* energies, std::int32_t count, std::int32_t wanted) {
    constexpr int bits_at_once = 8;
    __shared__ SharedArray<std::int32_t, 1 << bits_at_once> found;
    __shared__ SharedArray<std::int32_t, 2> chosen; // the digit, and how many are wanted of it
    const auto thread = static_cast<int>(threadIdx.x);
    static_assert(threads_of_block == 1 << bits_at_once);
    Cut cut{0, wanted};
    for (int shift = 64 - bits_at_once; shift >= 0; shift -= bits_at_once) {
        __syncthreads();
        found[thread] = 0;
        __syncthreads();
        for (std::int32_t at = thread; at < count; at += threads_of_block) {
            const auto bits = std::bit_cast<std::uint64_t>(energies[at]);
            const std::uint64_t above = shift + bits_at_once < 64 ? (bits ^ cut.least) >> (shift + bits_at_once) : 0;
            if (energies[at] > 0 && above == 0) {
                found.atomic_add(static_cast<int>(bits >> shift & ((1 << bits_at_once) - 1)), 1);
            }
        }
        __syncthreads();
        if (thread == 0) {
            std::int32_t digit = (1 << bits_at_once) - 1;
            std::int32_t left = cut.and_equal;
            for (std::int32_t here = found[digit]; here < left; here = found[digit]) {
                left -= here;
                --digit;
            }
            chosen[0] = digit;
            chosen[1] = left;
        }
        __syncthreads();
        const std::int32_t digit = chosen[0];
        cut.least |= static_cast<std::uint64_t>(digit) << shift;
        cut.and_equal = chosen[1];
    }
    return cut;
}

/// Removes the least bound of a group, if any is unbound; potentials are known. A block for each group.
struct UnbindStep {
    LeavingMembers members;
    const std::int32_t* groups;
    Universe universe;
    Softening softening;
    GroupFrame* frames;          ///< by group, of those that were left before this step, if any is removed
    std::int32_t* places;        ///< of those removed in the group, in the order of members, at the group's offset
    std::int32_t* removed_count; ///< by number in `groups`

    __device__ void operator()() const;
};

__device__ inline void UnbindStep::operator()() const {
    const std::int32_t group = groups[blockIdx.x];
    const std::int32_t count = members.count[group];
    const std::int64_t offset = members.offset[group];
    const auto thread = static_cast<std::int32_t>(threadIdx.x);
    const MeanMotion mean = mean_motion(members, group);
    const halos::EnergyFrame about(mean.place, mean.velocity, universe);
    std::int32_t unbound = 0;
    for (std::int32_t at = thread; at < count; at += threads_of_block) {
        const std::int64_t member = members.member(group, at);
        const double internal = members.internal_energy != nullptr ? members.internal_energy[member] : 0.0;
        const double energy = about.energy(members.potential[offset + at], members.offset_of(group, member),
                                           members.velocity_of(member), internal);
        members.energy[offset + at] = energy;
        unbound += energy > 0 ? 1 : 0;
    }
    unbound = sum_of_block(unbound);
    const auto most = static_cast<std::int32_t>(halos::most_removed(count));
    if (thread == 0) {
        removed_count[blockIdx.x] = device_min(unbound, most);
    }
    if (unbound == 0) {
        return;
    }
    const GroupFrame frame = frame_of_group(members, group, softening.length);
    if (thread == 0) {
        frames[group] = frame;
    }
    const Cut cut = unbound > most ? cut_of_largest(members.energy + offset, count, most) : Cut{0, 0};

    std::int32_t kept = 0;
    std::int32_t removed = 0;
    std::int32_t equal = 0;
    for (std::int32_t first = 0; first < count; first += threads_of_block) {
        const std::int32_t at = first + thread;
        const bool is_there = at < count;
        const std::int32_t place = is_there ? members.left[offset + at] : 0;
        const double potential = is_there ? members.potential[offset + at] : 0;
        const double energy = is_there ? members.energy[offset + at] : 0;
        const auto bits = std::bit_cast<std::uint64_t>(energy);
        const RankInBlock of_equal = rank_in_block(energy > 0 && bits == cut.least);
        const bool leaves =
            energy > 0 && (bits > cut.least || (bits == cut.least && equal + of_equal.rank < cut.and_equal));
        const RankInBlock of_removed = rank_in_block(leaves);
        const std::int32_t removed_before = removed + of_removed.rank;
        if (leaves) {
            places[offset + removed_before] = place;
        } else if (is_there) { // behind what others have still to read nothing is written
            members.left[offset + at - removed_before] = place;
            members.potential[offset + at - removed_before] = potential;
        }
        equal += of_equal.total;
        removed += of_removed.total;
        kept = device_min(first + threads_of_block, count) - removed;
    }
    __syncthreads();
    if (thread == 0) {
        members.count[group] = kept;
    }
}

/// What is known of a group.
struct FinishedGroup {
    halos::Motion motion; ///< of those left, if there are velocities
    std::int32_t deepest; ///< the row of the one of lowest potential, of several the first
};

/// A block for each group.
struct FinishGroups {
    LeavingMembers members;
    const std::int32_t* groups; ///< that have some left
    const std::int32_t* rows;   ///< of all members
    Universe universe;
    bool by_potential;        ///< energies are potentials
    FinishedGroup* found;     ///< by number in `groups`
    std::uint64_t* order;     ///< of each member: its energy, in bits that are in the order of numbers; all ones before
    double* energy_of_member; ///< zeros before

    __device__ void operator()() const;
};

/// A number's bits, in the order of numbers; zeros of either sign are equal.
__device__ inline std::uint64_t ordered_bits(double number) {
    constexpr std::uint64_t sign = std::uint64_t{1} << 63;
    const auto bits = std::bit_cast<std::uint64_t>(number + 0.0);
    return (bits & sign) != 0 ? ~bits : bits | sign;
}

__device__ inline void FinishGroups::operator()() const {
    const std::int32_t group = groups[blockIdx.x];
    const std::int32_t count = members.count[group];
    const std::int64_t offset = members.offset[group];
    const auto thread = static_cast<std::int32_t>(threadIdx.x);
    double least = std::numeric_limits<double>::infinity();
    for (std::int32_t at = thread; at < count; at += threads_of_block) {
        const double potential = members.potential[offset + at];
        least = device_min(least, potential);
        if (by_potential) {
            members.energy[offset + at] = potential * (universe.gravity / universe.scale_factor);
        }
        const double energy = members.energy[offset + at];
        order[members.member(group, at)] = ordered_bits(energy);
        energy_of_member[members.member(group, at)] = energy;
    }
    least = least_of_block(least);
    std::int32_t deepest = std::numeric_limits<std::int32_t>::max();
    for (std::int32_t at = thread; at < count; at += threads_of_block) {
        deepest = members.potential[offset + at] == least ? device_min(deepest, at) : deepest;
    }
    deepest = least_of_block(deepest);
    FinishedGroup of_group{};
    of_group.deepest = rows[members.member(group, deepest)];
    if (members.velocity[0] != nullptr) {
        const MeanMotion mean = mean_motion(members, group);
        double sums[5];
        sum_in_order<5>(
            count,
            [&](std::int32_t at, double(&terms)[5]) {
                const std::int64_t member = members.member(group, at);
                const halos::MotionSums of_member = halos::motion_of_member(
                    mean.weight_of(members, member), halos::difference(members.offset_of(group, member), mean.place),
                    halos::difference(members.velocity_of(member), mean.velocity), members.potential[offset + at],
                    universe);
                terms[0] = of_member.squared_speeds;
                terms[1] = of_member.depths;
                for (std::size_t axis = 0; axis < 3; ++axis) {
                    terms[2 + axis] = of_member.spin[axis];
                }
            },
            sums);
        of_group.motion =
            halos::motion_from(mean.velocity, {sums[0], sums[1], {sums[2], sums[3], sums[4]}}, mean.weight, universe);
    }
    if (thread == 0) {
        found[blockIdx.x] = of_group;
    }
}

struct NumberMembers {
    std::int32_t* numbers;

    __device__ void operator()(std::int64_t member) const { numbers[member] = static_cast<std::int32_t>(member); }
};

/// The group of each of some members.
struct GroupsOfMembers {
    const std::int32_t* numbers;
    const std::int64_t* offset;
    std::int32_t groups;
    std::uint32_t* keys;

    __device__ void operator()(std::int64_t i) const {
        keys[i] = static_cast<std::uint32_t>(
            owner_of_task(numbers[i], groups, [&](std::int32_t group) { return offset[group]; }));
    }
};

struct GatherBound {
    const std::int32_t* numbers;
    const std::int32_t* rows;
    const double* energy_of_member;
    std::int32_t* bound_rows;
    double* energies;

    __device__ void operator()(std::int64_t i) const {
        bound_rows[i] = rows[numbers[i]];
        energies[i] = energy_of_member[numbers[i]];
    }
};

} // namespace kith::detail::inline KITH_GPU
