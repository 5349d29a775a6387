// The columns of the catalog from what the passes found, a thread for each group: group_moments.cpp's last step.
#pragma once

#include <kith/catalog.hpp>

#include "cuda/intrinsics.hpp"
#include "halos/moment_kernel.hpp"
#include "points/frame.hpp"

#include <cstdint>

namespace kith::detail::inline KITH_GPU {

/// Columns of <kith/catalog.hpp> in memory of the device, of the same shapes.
struct DeviceCatalog {
    std::int64_t* count_by_type;
    double* mass;
    double* mass_by_type;
    double* center;
    double* velocity;
    double* rms_radius;
    double* velocity_dispersion;
    double* max_radius;
    double* lower;
    double* upper;
    std::uint8_t* is_ambiguous;
};

template <int D>
struct ColumnsKernelJob {
    MemberRuns runs;
    Frame<double> box; ///< in the units of the moments of places
    double length;     ///< what numbers in these units are multiplied by
    double speed;      ///< and those of velocities
    const VectorMoments<D>* places;
    const VectorMoments<D>* velocities;          ///< null: there are none
    const halos::ScaledNumber* masses_of_groups; ///< null: every member has uniform_mass
    const halos::ScaledNumber* masses_of_runs;   ///< the same
    double uniform_mass;
    DeviceCatalog columns;
};

template <int D>
__device__ void write_masses(const ColumnsKernelJob<D>& job, std::int64_t group) {
    const MemberRuns& runs = job.runs;
    for (int type = 0; type < max_types; ++type) {
        const std::int64_t at = group * max_types + type;
        const bool has_run = runs.runs_of_group == max_types || type == 1;
        const std::int64_t run = runs.runs_of_group == max_types ? at : group;
        const std::int32_t members = has_run ? runs.first_member[run + 1] - runs.first_member[run] : 0;
        job.columns.count_by_type[at] = members;
        job.columns.mass_by_type[at] = job.masses_of_runs == nullptr ? job.uniform_mass * members
                                       : has_run                     ? halos::to_double(job.masses_of_runs[run])
                                                                     : 0.0;
    }
    job.columns.mass[group] = job.masses_of_groups == nullptr ? job.uniform_mass * runs.members_of(group)
                                                              : halos::to_double(job.masses_of_groups[group]);
}

template <int D>
__device__ void write_places(const ColumnsKernelJob<D>& job, std::int64_t group) {
    const VectorMoments<D>& place = job.places[group];
    bool wide = false;
#pragma unroll
    for (int axis = 0; axis < D; ++axis) {
        const std::int64_t at = group * D + axis;
        job.columns.center[at] = job.box.wrap(place.reference[axis] + place.mean[axis], axis) * job.length;
        job.columns.lower[at] = (place.lower[axis] - place.mean[axis]) * job.length;
        job.columns.upper[at] = (place.upper[axis] - place.mean[axis]) * job.length;
        wide = wide || halos::is_wider_than_half(place.lower[axis], place.upper[axis], job.box.period[axis]);
    }
    job.columns.is_ambiguous[group] = wide ? 1 : 0;
    job.columns.rms_radius[group] = place.root_mean_square * job.length;
    job.columns.max_radius[group] = place.unit.length(place.largest_square) * job.length;
}

template <int D>
__global__ void write_columns_kernel(const __grid_constant__ ColumnsKernelJob<D> job) {
    const std::int64_t group = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (group >= job.runs.groups) {
        return;
    }
    write_masses(job, group);
    write_places(job, group);
    if (job.velocities != nullptr) {
        const VectorMoments<D>& velocity = job.velocities[group];
#pragma unroll
        for (int axis = 0; axis < D; ++axis) {
            job.columns.velocity[group * D + axis] = velocity.mean[axis] * job.speed;
        }
        job.columns.velocity_dispersion[group] = velocity.root_mean_square * job.speed;
    }
}

} // namespace kith::detail::inline KITH_GPU
