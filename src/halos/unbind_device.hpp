// Unbinding on a GPU: what runs after what, the CPU's bound members to the last bit (unbind.hpp).
//
// All groups take one step at a time side by side: potentials where they are to be computed anew, energies and removal
// (unbind_kernel.hpp), and the part of those removed. The host learns how many each group lost, 4 bytes a group and
// step, and says which take the next one and how; that is decided by three numbers of a group. Coordinates stay on the
// device. In the end members are sorted by energy, and rows, energies, 12 bytes a member, and 72 bytes a halo come to
// the host. Memory: 108 bytes a member (24 less without velocities, 8 more with internal energies), 108 a group, and
// that of a forest (potentials_device.hpp). Cost: that of the CPU; sums of a group in the order of its members are one
// thread's, about as many additions as members each step.
#pragma once

#include <kith/halos.hpp>

#include "halos/bound_on_device.hpp"
#include "halos/columns.hpp"
#include "halos/device_columns.hpp"
#include "halos/potentials_device.hpp"
#include "halos/unbind_kernel.hpp"
#include "halos/unbind_steps.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

namespace kith::detail::inline KITH_GPU {

/// The particles' columns in memory of the device, and how they are read.
struct HaloColumns {
    DeviceColumn positions;
    DeviceColumn velocities; ///< these three may be none
    DeviceColumn masses;
    DeviceColumn internal_energies;
    double position_scale = 1; ///< what is read is multiplied by
    double velocity_scale = 1;
    double uniform_mass = 1;
    std::array<double, 3> period{}; ///< of positions times their scale
};

/// Groups in memory of the device.
struct HaloGroups {
    const std::int32_t* rows;
    const std::int64_t* offset_on_device;
    std::span<const std::int64_t> offset; ///< the same

    [[nodiscard]] std::int32_t count() const { return static_cast<std::int32_t>(std::ssize(offset) - 1); }
    [[nodiscard]] std::int64_t members() const { return offset.back(); }
};

/// All groups while their members leave.
class GroupsUnbinding {
public:
    GroupsUnbinding(DeviceContext& context, const HaloColumns& columns, const HaloGroups& groups,
                    const HaloOptions& options)
        : context_(context), groups_(groups), options_(options), left_(static_cast<std::size_t>(groups.count())),
          computed_(left_.size()) {
        const std::int64_t members = groups.members();
        const bool have_velocities = columns.velocities.axes[0] != nullptr;
        numbers_ = context.buffer<double>((have_velocities ? 7 : 4) * members);
        double* const first = numbers_.data();
        const auto column = [&](int number) { return first + number * members; };
        if (columns.internal_energies.axes[0] != nullptr) {
            internal_energies_ = context.buffer<double>(members);
        }
        LoadMembers load{groups.rows,
                         columns.positions,
                         columns.position_scale,
                         columns.velocities,
                         columns.velocity_scale,
                         columns.masses,
                         columns.uniform_mass,
                         columns.internal_energies,
                         {column(0), column(1), column(2)},
                         {},
                         column(3),
                         internal_energies_.data()};
        if (have_velocities) {
            load.velocity = {column(4), column(5), column(6)};
        }
        for_each_index(context, "loading members", members, load);
        places_ = context.buffer<std::int32_t>(members);
        removed_ = context.buffer<std::int32_t>(members);
        counts_ = context.buffer<std::int32_t>(groups.count());
        potentials_ = context.buffer<double>(members);
        energies_ = context.buffer<double>(members);
        frames_ = context.buffer<GroupFrame>(groups.count());
        std::transform(load.position.begin(), load.position.end(), members_.position.begin(),
                       [](double* x) { return x; });
        std::transform(load.velocity.begin(), load.velocity.end(), members_.velocity.begin(),
                       [](double* x) { return x; });
        members_.offset = groups.offset_on_device;
        members_.mass = load.mass;
        members_.internal_energy = internal_energies_.data();
        members_.left = places_.data();
        members_.count = counts_.data();
        members_.potential = potentials_.data();
        members_.energy = energies_.data();
        members_.period = columns.period;
        members_.unit = 1 / columns.position_scale;
        for_each_index(context, "all are left", members, ListMembers{members_, groups.count()});
        for (std::size_t group = 0; group < left_.size(); ++group) {
            left_[group] = static_cast<std::int32_t>(groups.offset[group + 1] - groups.offset[group]);
            if (left_[group] < std::max<std::int64_t>(options.min_members, 1)) {
                left_[group] = 0;
            }
        }
    }

    /// Removes members until the others are bound, or too few.
    void run() {
        std::vector<std::int32_t> at_work = with_members();
        std::vector<std::int32_t> to_compute = at_work;
        while (!at_work.empty()) {
            compute(to_compute);
            step(at_work, to_compute);
        }
    }
    /// Takes all members with their potentials as energies.
    void take_all() { compute(with_members()); }

    /// To be called last.
    [[nodiscard]] BoundOnDevice bound() {
        halos::BoundMembers bound;
        const std::int64_t members = groups_.members();
        bound.count.assign(left_.begin(), left_.end());
        bound.deepest.assign(left_.size(), -1);
        if (members_.velocity[0] != nullptr) {
            bound.motions.resize(left_.size());
        }
        const std::vector<std::int32_t> finished = with_members();
        const DeviceBuffer<std::int32_t> list = copied(context_, finished);
        const DeviceBuffer<FinishedGroup> found = context_.buffer<FinishedGroup>(std::ssize(finished));
        DeviceBuffer<std::uint64_t> order = context_.buffer<std::uint64_t>(members);
        const DeviceBuffer<double> energy_of_member = context_.buffer<double>(members);
        context_.fill(order.data(), 0xFF, 8 * members);
        context_.fill(energy_of_member.data(), 0, 8 * members);
        for_each_block(context_, "finished groups", std::ssize(finished),
                       FinishGroups{members_, list.data(), groups_.rows, options_.universe, !options_.unbind,
                                    found.data(), order.data(), energy_of_member.data()});
        sort(order);
        for_each_index(
            context_, "bound members", members,
            GatherBound{places_.data(), groups_.rows, energy_of_member.data(), removed_.data(), energies_.data()});
        const std::vector<FinishedGroup> of_groups = context_.to_host(found.data(), std::ssize(finished));
        bound.rows = context_.to_host(removed_.data(), members);
        bound.energies = context_.to_host(energies_.data(), members);
        for (std::size_t i = 0; i < finished.size(); ++i) {
            bound.deepest[finished[i]] = of_groups[i].deepest;
            if (!bound.motions.empty()) {
                bound.motions[finished[i]] = of_groups[i].motion;
            }
        }
        return {std::move(bound), std::move(removed_)};
    }

private:
    [[nodiscard]] std::vector<std::int32_t> with_members() const {
        std::vector<std::int32_t> groups;
        for (std::size_t group = 0; group < left_.size(); ++group) {
            if (left_[group] > 0) {
                groups.push_back(static_cast<std::int32_t>(group));
            }
        }
        return groups;
    }

    void compute(std::span<const std::int32_t> groups) {
        if (groups.empty()) {
            return;
        }
        find_potentials(context_, members_, groups, left_, *options_.softening, frames_.data());
        for (const std::int32_t group : groups) {
            computed_[group] = left_[group];
        }
    }

    /// One step of the groups at work: both lists become those of the next one.
    void step(std::vector<std::int32_t>& at_work, std::vector<std::int32_t>& to_compute) {
        const DeviceBuffer<std::int32_t> list = copied(context_, at_work);
        const DeviceBuffer<std::int32_t> counts = context_.buffer<std::int32_t>(std::ssize(at_work));
        for_each_block(context_, "unbinding", std::ssize(at_work),
                       UnbindStep{members_, list.data(), options_.universe, *options_.softening, frames_.data(),
                                  removed_.data(), counts.data()});
        const std::vector<std::int32_t> removed = context_.to_host(counts.data(), std::ssize(at_work));
        to_compute.clear();
        std::vector<RemovedPart> parts;
        std::int32_t tasks = 0;
        std::size_t kept = 0;
        for (std::size_t i = 0; i < at_work.size(); ++i) {
            const std::int32_t group = at_work[i];
            left_[group] -= removed[i];
            if (removed[i] == 0) {
                continue; // all others are bound
            }
            if (left_[group] < std::max<std::int64_t>(options_.min_members, 1)) {
                left_[group] = 0;
                continue;
            }
            at_work[kept++] = group;
            if (halos::is_subtracted(removed[i], left_[group], computed_[group])) {
                parts.push_back({group, removed[i], tasks});
                tasks += (left_[group] + receivers_of_task - 1) / receivers_of_task;
            } else {
                to_compute.push_back(group);
            }
        }
        at_work.resize(kept);
        const DeviceBuffer<RemovedPart> parts_there = copied(context_, parts);
        for_each_block(context_, "part of those removed", tasks,
                       SubtractRemoved{members_, parts_there.data(), static_cast<std::int32_t>(std::ssize(parts)),
                                       frames_.data(), removed_.data(), *options_.softening});
        context_.wait(); // for the lists
    }

    /// Numbers of members by group and, in it, by these numbers, in `places_`, whose own are needed no more.
    void sort(DeviceBuffer<std::uint64_t>& order) {
        const std::int64_t members = groups_.members();
        for_each_index(context_, "numbering members", members, NumberMembers{places_.data()});
        sort_by_key(context_, order, places_, 64);
        if (groups_.count() > 1) {
            DeviceBuffer<std::uint32_t> keys = context_.buffer<std::uint32_t>(members);
            for_each_index(context_, "groups of members", members,
                           GroupsOfMembers{places_.data(), groups_.offset_on_device, groups_.count(), keys.data()});
            sort_by_key(context_, keys, places_,
                        static_cast<int>(std::bit_width(static_cast<std::uint32_t>(groups_.count() - 1))));
        }
    }

    DeviceContext& context_;
    HaloGroups groups_;
    const HaloOptions& options_;
    LeavingMembers members_{};
    DeviceBuffer<double> numbers_; ///< positions, masses and velocities, column after column
    DeviceBuffer<double> internal_energies_;
    DeviceBuffer<std::int32_t> places_;
    DeviceBuffer<std::int32_t> removed_;
    DeviceBuffer<std::int32_t> counts_;
    DeviceBuffer<double> potentials_;
    DeviceBuffer<double> energies_;
    DeviceBuffer<GroupFrame> frames_;
    std::vector<std::int32_t> left_;     ///< how many are left of each group; 0: none is bound
    std::vector<std::int32_t> computed_; ///< how many were when potentials were last computed
};

/// What the host's find_bound() finds (unbind.hpp). Inside a stage; the options' softening has been resolved.
inline BoundOnDevice find_bound(DeviceContext& context, const HaloColumns& columns, const HaloGroups& groups,
                                const HaloOptions& options) {
    GroupsUnbinding unbinding(context, columns, groups, options);
    if (options.unbind) {
        unbinding.run();
    } else {
        unbinding.take_all();
    }
    return unbinding.bound();
}

} // namespace kith::detail::inline KITH_GPU
