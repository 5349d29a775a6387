// One pass over all members on a GPU, whatever it collects: minima, maxima, integer sums.
//
// A warp takes a chunk of members, a lane every 32nd of them; the lanes' parts are joined and stored. Then a warp takes
// what owns chunks, a group or a run of one type in it, joins the parts and concludes. Nothing that is collected knows
// an order, so that chunks, lanes and warps do not show in the bits. What is collected is up to the pass:
//
//     struct Pass {
//         struct Part { join(const Part&, bring); };    // bring: fetches a number of the other part
//         Part start(owner) const;                      // of no members
//         void add(owner, member, Part&) const;
//         void conclude(owner, const Part&) const;      // by one thread
//     };
#pragma once

#include "cuda/intrinsics.hpp"
#include "cuda/lane_sums.hpp"
#include "halos/member_kernel.hpp"
#include "support/fixed_sum.hpp"

#include <cstdint>

namespace kith::detail::inline KITH_GPU {

template <class Part>
__device__ void join_lanes(Part& part) {
    __syncwarp();
#pragma unroll 1
    for (int lanes = warp_size / 2; lanes > 0; lanes /= 2) {
        part.join(part, OfLane{lanes});
    }
}

template <class Pass>
struct PassKernelJob {
    MemberRuns runs;
    int runs_of_owner; ///< runs_of_group if groups own the chunks, 1 if runs do
    std::int64_t owners;
    Pass pass;
    typename Pass::Part* parts; ///< of the chunks
};

/// A warp for each chunk.
template <class Pass>
__global__ void collect_kernel(const __grid_constant__ PassKernelJob<Pass> job) {
    const std::int64_t chunk = thread_index() / warp_size;
    if (chunk >= job.runs.chunks) {
        return;
    }
    const int lane = static_cast<int>(threadIdx.x) % warp_size;
    const std::int64_t run = job.runs.run_of_chunk[chunk];
    const std::int64_t first =
        job.runs.first_member[run] + (chunk - job.runs.first_chunk[run]) * std::int64_t{members_of_chunk};
    const std::int64_t end = device_min<std::int64_t>(first + members_of_chunk, job.runs.first_member[run + 1]);
    const std::int64_t owner = run / job.runs_of_owner;
    typename Pass::Part part = job.pass.start(owner);
    for (std::int64_t member = first + lane; member < end; member += warp_size) {
        job.pass.add(owner, member, part);
    }
    join_lanes(part);
    if (lane == 0) {
        job.parts[chunk] = part;
    }
}

/// A warp for each owner.
template <class Pass>
__global__ void conclude_kernel(const __grid_constant__ PassKernelJob<Pass> job) {
    const std::int64_t owner = thread_index() / warp_size;
    if (owner >= job.owners) {
        return;
    }
    const int lane = static_cast<int>(threadIdx.x) % warp_size;
    const std::int64_t first = job.runs.first_chunk[owner * job.runs_of_owner];
    const std::int64_t end = job.runs.first_chunk[(owner + 1) * job.runs_of_owner];
    typename Pass::Part part = job.pass.start(owner);
    for (std::int64_t chunk = first + lane; chunk < end; chunk += warp_size) {
        part.join(job.parts[chunk]);
    }
    if (end - first > 1) { // else the first lane has it all
        join_lanes(part);
    }
    if (lane == 0) {
        job.pass.conclude(owner, part);
    }
}

} // namespace kith::detail::inline KITH_GPU
