// The columns of the catalog from what the passes found, a thread for each group: group_moments.cpp's last step.
#pragma once

#include "cuda/intrinsics.hpp"
#include "halos/group_columns.hpp"
#include "halos/moment_kernel.hpp"

#include <cstdint>

namespace kith::detail::inline KITH_GPU {

template <int D>
struct ColumnsKernelJob {
    MemberRuns runs;
    Frame<double> box; ///< in the units of the moments of places
    double length;     ///< what numbers in these units are multiplied by
    double speed;      ///< and those of velocities
    const halos::VectorMoments<D>* places;
    const halos::VectorMoments<D>* velocities; ///< null: there are none
    const ScaledNumber* masses_of_groups;      ///< null: every member has uniform_mass
    const ScaledNumber* masses_of_runs;        ///< the same
    double uniform_mass;
    halos::ColumnPointers columns;
};

template <int D>
__device__ void write_masses(const ColumnsKernelJob<D>& job, std::int64_t group) {
    const MemberRuns& runs = job.runs;
    const halos::ColumnPointers& columns = job.columns;
    for (int type = 0; type < max_types; ++type) {
        const std::int64_t at = group * max_types + type;
        const bool has_run = runs.runs_of_group == max_types || type == 1;
        const std::int64_t run = runs.runs_of_group == max_types ? at : group;
        const std::int32_t members = has_run ? runs.first_member[run + 1] - runs.first_member[run] : 0;
        columns.of<&Catalog::count_by_type>()[at] = members;
        columns.of<&Catalog::mass_by_type>()[at] = job.masses_of_runs == nullptr ? job.uniform_mass * members
                                                   : has_run                     ? to_double(job.masses_of_runs[run])
                                                                                 : 0.0;
    }
    columns.of<&Catalog::mass>()[group] = job.masses_of_groups == nullptr ? job.uniform_mass * runs.members_of(group)
                                                                          : to_double(job.masses_of_groups[group]);
}

template <int D>
__global__ void write_columns_kernel(const __grid_constant__ ColumnsKernelJob<D> job) {
    const std::int64_t group = thread_index();
    if (group >= job.runs.groups) {
        return;
    }
    write_masses(job, group);
    halos::write_position_columns(job.columns, group, D, job.places[group], job.box, job.length);
    if (job.velocities != nullptr) {
        halos::write_velocity_columns(job.columns, group, D, job.velocities[group], job.speed);
    }
}

} // namespace kith::detail::inline KITH_GPU
