// Members of groups in memory of a GPU while they leave: what the kernels of potentials and of unbinding share.
#pragma once

#include <kith/halos.hpp>

#include "cuda/blocks.hpp"
#include "halos/device_columns.hpp"
#include "halos/potential_node.hpp"
#include "halos/terms.hpp"

#include <array>
#include <cstdint>
#include <limits>

namespace kith::detail::inline KITH_GPU {

/// The last of ascending tasks' owners that begins at or before a task.
template <class FirstTask>
__device__ std::int32_t owner_of_task(std::int64_t task, std::int32_t owners, const FirstTask& first_task) {
    std::int32_t first = 0;
    for (std::int32_t left = owners; left > 1;) {
        const std::int32_t half = left / 2;
        const bool is_behind = first_task(first + half) <= task;
        first += is_behind ? half : 0;
        left = is_behind ? left - half : half;
    }
    return first;
}

/// Arrays of members are in the order of groups; those of group g begin at offset[g]. What is left of a group is listed
/// in the order of its members.
struct LeavingMembers {
    const std::int64_t* offset;
    std::array<const double*, 3> position; ///< times 1/unit
    std::array<const double*, 3> velocity; ///< null: there are none
    const double* mass;
    const double* internal_energy; ///< null: there are none
    std::int32_t* left;            ///< places in the group
    std::int32_t* count;           ///< how many are left of each group
    double* potential;             ///< of those left
    double* energy;                ///< likewise
    std::array<double, 3> period;
    double unit; ///< what positions are multiplied by to be in the caller's units

    /// Member number `at` of those left.
    [[nodiscard]] __device__ std::int64_t member(std::int32_t group, std::int32_t at) const {
        return offset[group] + left[offset[group] + at];
    }
    /// From the group's first member, which may have been removed, in the caller's units.
    [[nodiscard]] __device__ std::array<double, 3> offset_of(std::int32_t group, std::int64_t member) const {
        std::array<double, 3> from_first{};
        for (std::size_t axis = 0; axis < 3; ++axis) {
            const double first = position[axis][offset[group]];
            from_first[axis] = halos::nearest_offset(position[axis][member], first, period[axis]) * unit;
        }
        return from_first;
    }
    [[nodiscard]] __device__ std::array<double, 3> velocity_of(std::int64_t member) const {
        return {velocity[0][member], velocity[1][member], velocity[2][member]};
    }
};

/// Lists all members as left.
struct ListMembers {
    LeavingMembers members;
    std::int32_t groups;

    __device__ void operator()(std::int64_t member) const {
        const std::int32_t group = owner_of_task(member, groups, [&](std::int32_t i) { return members.offset[i]; });
        members.left[member] = static_cast<std::int32_t>(member - members.offset[group]);
        if (member == members.offset[group]) {
            members.count[group] = static_cast<std::int32_t>(members.offset[group + 1] - member);
        }
    }
};

/// Makes members of rows.
struct LoadMembers {
    const std::int32_t* rows;
    DeviceColumn positions;
    double position_scale;
    DeviceColumn velocities;
    double velocity_scale;
    DeviceColumn masses;
    double uniform_mass;
    DeviceColumn internal_energies;
    std::array<double*, 3> position;
    std::array<double*, 3> velocity;
    double* mass;
    double* internal_energy;

    __device__ void operator()(std::int64_t member) const {
        const std::int32_t row = rows[member];
        for (int axis = 0; axis < 3; ++axis) {
            position[axis][member] = position_scale * positions(row, axis);
            if (velocities.axes[0] != nullptr) {
                velocity[axis][member] = velocity_scale * velocities(row, axis) * (1 / velocity_scale);
            }
        }
        mass[member] = masses.axes[0] != nullptr ? masses(row, 0) : uniform_mass;
        if (internal_energies.axes[0] != nullptr) {
            internal_energy[member] = internal_energies(row, 0);
        }
    }
};

/// The frame of those left of a group (docs/semantics.md, "Bound halos").
struct GroupFrame {
    halos::FrameUnits units;
    std::array<double, 3> corner;
    PowerOfTwo<double> of_lengths;
    PowerOfTwo<double> of_masses;

    [[nodiscard]] __device__ std::array<double, 3> position(const LeavingMembers& members, std::int64_t member) const {
        std::array<double, 3> in_frame{};
        for (std::size_t axis = 0; axis < 3; ++axis) {
            in_frame[axis] = of_lengths(
                halos::offset_from_lowest(members.position[axis][member], corner[axis], members.period[axis]));
        }
        return in_frame;
    }
    [[nodiscard]] __device__ double mass(const LeavingMembers& members, std::int64_t member) const {
        return of_masses(members.mass[member]);
    }
    /// Of the sum over masses in the frame, in the caller's units.
    [[nodiscard]] __device__ double potential(double sum) const { return units.unit == 0 ? 0.0 : -units.unit * sum; }
};

/// To be called by all threads of a block, for a group of which some are left.
__device__ inline GroupFrame frame_of_group(const LeavingMembers& members, std::int32_t group, double softening) {
    const std::int32_t count = members.count[group];
    const auto first = static_cast<std::int32_t>(threadIdx.x);
    GroupFrame frame{};
    double side = 0;
    for (std::size_t axis = 0; axis < 3; ++axis) {
        const double* const position = members.position[axis];
        const double period = members.period[axis];
        const double reference = position[members.member(group, 0)];
        double least = std::numeric_limits<double>::infinity();
        for (std::int32_t at = first; at < count; at += threads_of_block) {
            least = device_min(least, halos::nearest_offset(position[members.member(group, at)], reference, period));
        }
        least = least_of_block(least);
        double corner = std::numeric_limits<double>::infinity(); // of offsets equal in float64 the least as given
        for (std::int32_t at = first; at < count; at += threads_of_block) {
            const double x = position[members.member(group, at)];
            corner = halos::nearest_offset(x, reference, period) == least ? device_min(corner, x) : corner;
        }
        frame.corner[axis] = least_of_block(corner);
        for (std::int32_t at = first; at < count; at += threads_of_block) {
            side = device_max(
                side, halos::offset_from_lowest(position[members.member(group, at)], frame.corner[axis], period));
        }
    }
    double mass = 0;
    for (std::int32_t at = first; at < count; at += threads_of_block) {
        mass = device_max(mass, members.mass[members.member(group, at)]);
    }
    frame.units = halos::FrameUnits(greatest_of_block(side), greatest_of_block(mass), softening, members.unit);
    frame.of_lengths = PowerOfTwo<double>(frame.units.length_exponent);
    frame.of_masses = PowerOfTwo<double>(frame.units.mass_exponent);
    return frame;
}

} // namespace kith::detail::inline KITH_GPU
