// Potentials by all pairs on a GPU: of small groups, and what those removed had added.
//
// 16 threads are the 16 virtual lanes of one receiver's sum (docs/semantics.md, "Bound halos"), and join their sums as
// the CPU does. Every operation is the CPU's (potential_kernels.cpp), so the bits are.
#pragma once

#include "cuda/blocks.hpp"
#include "halos/leaving_members.hpp"
#include "halos/unbind_steps.hpp"

#include <array>
#include <cstdint>

namespace kith::detail::inline KITH_GPU {

constexpr int gravity_lanes = static_cast<int>(halos::potential_lanes);

/// How pairs attract each other, in the frame of a group.
struct DeviceGravity {
    bool is_spline;
    double reach;
    double inverse_reach;
    double squared_length;

    __device__ DeviceGravity(SofteningKernel kernel, double length)
        : is_spline(kernel == SofteningKernel::spline), reach(2.8 * length), inverse_reach(1 / (2.8 * length)),
          squared_length(length * length) {}

    [[nodiscard]] __device__ double distance(double square) const {
        return root(is_spline ? square : square + squared_length);
    }
    [[nodiscard]] __device__ double weight(double distance, double inverse) const {
        if (!is_spline || !(distance < reach)) {
            return inverse;
        }
        const auto fma = [](double a, double b, double c) { return fused_multiply_add(a, b, c); };
        const double u = distance * inverse_reach;
        const double uu = u * u;
        const double softened = u < 0.5 ? fma(uu, fma(uu, fma(u, -32.0 / 5, 48.0 / 5), -16.0 / 3), 14.0 / 5)
                                        : fma(uu, fma(u, fma(u, fma(u, 32.0 / 15, -48.0 / 5), 16.0), -32.0 / 3),
                                              fma(inverse * reach, -1.0 / 15, 16.0 / 5));
        return softened * inverse_reach;
    }
};

/// From a receiver to a source.
struct GravityDifference {
    double x;
    double y;
    double z;
    double square;

    __device__ GravityDifference(const std::array<double, 3>& from, const std::array<double, 3>& to)
        : x(from[0] - to[0]), y(from[1] - to[1]), z(from[2] - to[2]),
          square(fused_multiply_add(z, z, fused_multiply_add(y, y, x * x))) {}
};

struct GravityBody {
    std::array<double, 3> position;
    double mass;

    /// What fills a block of lanes.
    static __device__ GravityBody padding() {
        return {{halos::padding_position, halos::padding_position, halos::padding_position}, 0};
    }
    [[nodiscard]] __device__ double add_to(double sum, const DeviceGravity& gravity,
                                           const std::array<double, 3>& receiver, bool is_receiver) const {
        const double distance = gravity.distance(GravityDifference(receiver, position).square);
        return fused_multiply_add(is_receiver ? 0.0 : mass, gravity.weight(distance, 1 / distance), sum);
    }
};

/// Lanes i and i + 8, then i and i + 4, and so on; for each of 16 lanes side by side. To be called by the whole warp.
__device__ inline double join_gravity_lanes(double sum) {
#pragma unroll
    for (int lanes = gravity_lanes / 2; lanes > 0; lanes /= 2) {
        sum += __shfl_xor_sync(whole_warp, sum, lanes);
    }
    return sum;
}

/// Bodies of a block, and a block of lanes more.
template <int Most>
struct SharedBodies {
    SharedArray<double, Most + gravity_lanes> x;
    SharedArray<double, Most + gravity_lanes> y;
    SharedArray<double, Most + gravity_lanes> z;
    SharedArray<double, Most + gravity_lanes> mass;

    __device__ void write(int at, const GravityBody& body) {
        x[at] = body.position[0];
        y[at] = body.position[1];
        z[at] = body.position[2];
        mass[at] = body.mass;
    }
    [[nodiscard]] __device__ GravityBody read(int at) {
        GravityBody body{};
        body.position[0] = x[at];
        body.position[1] = y[at];
        body.position[2] = z[at];
        body.mass = mass[at];
        return body;
    }
    /// Writes `count` bodies, made by body(at), and fills up the last block of lanes. To be called by all threads.
    template <class Body>
    __device__ void fill(int count, const Body& body) {
        const auto padded = static_cast<int>(halos::whole_lanes(count));
        for (int at = static_cast<int>(threadIdx.x); at < padded; at += threads_of_block) {
            write(at, at < count ? body(at) : GravityBody::padding());
        }
        __syncthreads();
    }
    /// The lane's part of a receiver's sum, without the receiver if it is body `own`.
    [[nodiscard]] __device__ double sum(int count, const DeviceGravity& gravity, const std::array<double, 3>& receiver,
                                        int own) {
        double sum = 0;
        for (int at = static_cast<int>(threadIdx.x) % gravity_lanes; at < halos::whole_lanes(count);
             at += gravity_lanes) {
            sum = read(at).add_to(sum, gravity, receiver, at == own);
        }
        return sum;
    }
};

constexpr int receivers_at_once = threads_of_block / gravity_lanes;

/// A block for each group.
struct DirectSums {
    LeavingMembers members;
    const std::int32_t* groups; ///< of up to direct_sum_size members
    Softening softening;

    __device__ void operator()() const;
};

__device__ inline void DirectSums::operator()() const {
    __shared__ SharedBodies<static_cast<int>(halos::direct_sum_size)> bodies;
    const std::int32_t group = groups[blockIdx.x];
    const std::int32_t count = members.count[group];
    const GroupFrame frame = frame_of_group(members, group, softening.length);
    const DeviceGravity gravity(softening.kernel, frame.units.softening);
    bodies.fill(count, [&](int at) {
        const std::int64_t member = members.member(group, at);
        return GravityBody{frame.position(members, member), frame.mass(members, member)};
    });
    const int thread = static_cast<int>(threadIdx.x);
    for (int first = 0; first < count; first += receivers_at_once) {
        const int receiver = first + thread / gravity_lanes;
        const int own = device_min(receiver, count - 1);
        const double sum = join_gravity_lanes(bodies.sum(count, gravity, bodies.read(own).position, own));
        if (receiver < count && thread % gravity_lanes == 0) {
            members.potential[members.offset[group] + receiver] = count < 2 ? 0.0 : frame.potential(sum);
        }
    }
}

/// A group from which some were removed, whose part its other members lose.
struct RemovedPart {
    std::int32_t group;
    std::int32_t removed;
    std::int32_t first_task;
};

/// A block for some receivers of a group.
struct SubtractRemoved {
    LeavingMembers members; ///< without those removed
    const RemovedPart* parts;
    std::int32_t count;
    const GroupFrame* frames;    ///< by group, before any was removed
    const std::int32_t* removed; ///< places in the group, in the order of members, at the group's offset
    Softening softening;

    __device__ void operator()() const;
};

constexpr int receivers_of_task = 8 * receivers_at_once;

__device__ inline void SubtractRemoved::operator()() const {
    __shared__ SharedBodies<static_cast<int>(halos::most_subtracted)> bodies;
    const RemovedPart part =
        parts[owner_of_task(blockIdx.x, count, [&](std::int32_t i) { return parts[i].first_task; })];
    const std::int64_t offset = members.offset[part.group];
    const GroupFrame& frame = frames[part.group];
    const DeviceGravity gravity(softening.kernel, frame.units.softening);
    bodies.fill(part.removed, [&](int at) {
        const std::int64_t member = offset + removed[offset + at];
        return GravityBody{frame.position(members, member), frame.mass(members, member)};
    });
    const int thread = static_cast<int>(threadIdx.x);
    const std::int32_t begin = (static_cast<std::int32_t>(blockIdx.x) - part.first_task) * receivers_of_task;
    const std::int32_t end = device_min(begin + receivers_of_task, members.count[part.group]);
    for (std::int32_t first = begin; first < end; first += receivers_at_once) {
        const std::int32_t receiver = first + thread / gravity_lanes;
        const std::int64_t member = members.member(part.group, device_min(receiver, end - 1));
        const double sum = join_gravity_lanes(bodies.sum(part.removed, gravity, frame.position(members, member), -1));
        if (receiver < end && thread % gravity_lanes == 0) {
            members.potential[offset + receiver] -= -frame.units.unit * sum;
        }
    }
}

} // namespace kith::detail::inline KITH_GPU
