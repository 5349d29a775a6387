// The passes over the members that make a group's numbers on a GPU: the CPU's (vector_moments.hpp).
//
// Positions and velocities are treated alike, one after the other: a velocity is an offset from rest in open space. Of
// masses, largest exponents come first, for each run and, from these, each group; they give the units of the sums of
// mass and, with the bounds of a vector, of its moments. What a group has so far lies in its VectorMoments.
//
// Cost: three passes over masses, four over a vector, each of which reads the vector and the mass of every member.
#pragma once

#include <kith/points.hpp>

#include "cuda/intrinsics.hpp"
#include "halos/collect_kernel.hpp"
#include "halos/device_columns.hpp"
#include "halos/vector_moments.hpp"

#include <cstdint>
#include <limits>

namespace kith::detail::inline KITH_GPU {

/// What each member counts for in a group: its mass, or 1 if the group has none.
struct MemberWeights {
    DeviceColumn masses;
    const int* exponents = nullptr; ///< of each group: the largest of its masses
    const ScaledNumber* masses_of_groups = nullptr;

    [[nodiscard]] __device__ bool are_masses(std::int64_t group) const {
        return masses.axes[0] != nullptr && exponents[group] > halos::product_exponent(split(0.0), split(1.0));
    }
    [[nodiscard]] __device__ SplitNumber of_member(std::int64_t group, std::int64_t member) const {
        return split(are_masses(group) ? masses(member, 0) : 1.0);
    }
    [[nodiscard]] __device__ ScaledNumber of_group(std::int64_t group, std::int32_t members) const {
        return are_masses(group) ? masses_of_groups[group] : ScaledNumber{static_cast<double>(members), 0};
    }
};

/// The largest exponents of masses.
struct MassExponentPass {
    struct Part {
        int exponent;

        template <class Bring = InPlace>
        __device__ void join(const Part& other, const Bring& bring = {}) {
            exponent = device_max(exponent, bring(other.exponent));
        }
    };

    DeviceColumn masses;
    int* exponents; ///< of each owner

    [[nodiscard]] __device__ Part start(std::int64_t /*owner*/) const { return {halos::no_product}; }
    __device__ void add(std::int64_t /*owner*/, std::int64_t member, Part& part) const {
        const SplitNumber mass = split(masses(member, 0));
        part.exponent = device_max(part.exponent, halos::product_exponent(mass, split(1.0)));
    }
    __device__ void conclude(std::int64_t owner, const Part& part) const { exponents[owner] = part.exponent; }
};

struct JoinExponents {
    int runs_of_group;
    const int* of_runs;
    int* of_groups;

    __device__ void operator()(std::int64_t group) const {
        int largest = halos::no_product;
        for (int run = 0; run < runs_of_group; ++run) {
            largest = device_max(largest, of_runs[group * runs_of_group + run]);
        }
        of_groups[group] = largest;
    }
};

/// The sums of masses, of runs or of groups.
struct MassSumPass {
    using Part = halos::SumPart;

    MemberRuns runs;
    int runs_of_owner;
    DeviceColumn masses;
    const int* exponents; ///< of each owner
    ScaledNumber* sums;

    [[nodiscard]] __device__ Part start(std::int64_t owner) const {
        const std::int64_t group = owner * runs_of_owner / runs.runs_of_group;
        return {FixedSum(exponents[owner], runs.members_of(group))};
    }
    __device__ void add(std::int64_t /*owner*/, std::int64_t member, Part& part) const {
        part.sum.add(split(masses(member, 0)), split(1.0));
    }
    __device__ void conclude(std::int64_t owner, const Part& part) const { sums[owner] = part.sum.value(); }
};

/// One vector of all members, and the moments of their groups.
template <int D>
struct MemberVectors {
    DeviceColumn column;
    double scale;     ///< what its numbers are read times
    double period[D]; ///< times the scale; 0 on open axes
    MemberRuns runs;
    MemberWeights weights;
    int axes_of_spread; ///< among which the mean square is shared
    halos::VectorMoments<D>* moments;

    [[nodiscard]] __device__ double offset(std::int64_t group, std::int64_t member, int axis) const {
        return halos::nearest_offset(scale * column(member, axis), moments[group].reference[axis], period[axis]);
    }
    [[nodiscard]] __device__ ScaledNumber weight_of(std::int64_t group) const {
        return weights.of_group(group, runs.members_of(group));
    }
    /// Of the distance from the mean.
    [[nodiscard]] __device__ double square(std::int64_t group, std::int64_t member) const {
        double sum = 0;
#pragma unroll
        for (int axis = 0; axis < D; ++axis) {
            sum += moments[group].unit.squared_difference(offset(group, member, axis), moments[group].mean[axis]);
        }
        return sum;
    }
};

/// Before the passes: the reference of a group is its lowest-index member, the first of one of its runs.
template <int D>
struct TakeReferences {
    MemberVectors<D> vectors;
    DeviceColumn positions;   ///< by row; null: the reference is 0
    const std::int32_t* rows; ///< of the members

    __device__ void operator()(std::int64_t group) const {
        const MemberRuns& runs = vectors.runs;
        std::int32_t lowest = std::numeric_limits<std::int32_t>::max();
        for (int i = 0; i < runs.runs_of_group; ++i) {
            const std::int64_t run = group * runs.runs_of_group + i;
            if (runs.first_member[run] < runs.first_member[run + 1]) {
                lowest = device_min(lowest, rows[runs.first_member[run]]);
            }
        }
#pragma unroll
        for (int axis = 0; axis < D; ++axis) {
            vectors.moments[group].reference[axis] =
                positions.axes[0] != nullptr ? vectors.scale * positions(lowest, axis) : 0.0;
        }
    }
};

/// First: where the members are, and the largest exponents of the terms of the sums.
template <int D>
struct VectorBoundsPass {
    using Part = halos::VectorBounds<D>;

    MemberVectors<D> vectors;

    [[nodiscard]] __device__ Part start(std::int64_t /*group*/) const { return {}; }
    __device__ void add(std::int64_t group, std::int64_t member, Part& part) const {
        const SplitNumber weight = vectors.weights.of_member(group, member);
#pragma unroll
        for (int axis = 0; axis < D; ++axis) {
            const double x = vectors.offset(group, member, axis);
            part.lower[axis] = device_min(part.lower[axis], x);
            part.upper[axis] = device_max(part.upper[axis], x);
            part.exponent[axis] = device_max(part.exponent[axis], halos::product_exponent(weight, split(x)));
        }
    }
    __device__ void conclude(std::int64_t group, const Part& part) const {
        part.conclude(vectors.moments[group], D);
    }
};

/// Second: the weighted sums, which give the mean.
template <int D>
struct VectorSumPass {
    using Part = halos::VectorSums<D>;

    MemberVectors<D> vectors;

    [[nodiscard]] __device__ Part start(std::int64_t group) const {
        return {vectors.moments[group], D, vectors.runs.members_of(group)};
    }
    __device__ void add(std::int64_t group, std::int64_t member, Part& part) const {
        const SplitNumber weight = vectors.weights.of_member(group, member);
#pragma unroll
        for (int axis = 0; axis < D; ++axis) {
            part.sum[axis].add(weight, split(vectors.offset(group, member, axis)));
        }
    }
    __device__ void conclude(std::int64_t group, const Part& part) const {
        part.conclude(vectors.moments[group], D, vectors.weight_of(group));
    }
};

/// Third: the largest squares of distances from the mean, weighted and not.
template <int D>
struct SpreadBoundsPass {
    using Part = halos::SpreadBounds;

    MemberVectors<D> vectors;

    [[nodiscard]] __device__ Part start(std::int64_t /*group*/) const { return {}; }
    __device__ void add(std::int64_t group, std::int64_t member, Part& part) const {
        const SplitNumber weight = vectors.weights.of_member(group, member);
        const double square = vectors.square(group, member);
        part.largest = device_max(part.largest, square);
        part.exponent = device_max(part.exponent, halos::product_exponent(weight, split(square)));
    }
    __device__ void conclude(std::int64_t group, const Part& part) const { part.conclude(vectors.moments[group]); }
};

/// Fourth: the weighted sum of the squares.
template <int D>
struct SpreadSumPass {
    using Part = halos::SumPart;

    MemberVectors<D> vectors;

    [[nodiscard]] __device__ Part start(std::int64_t group) const {
        return {FixedSum(vectors.moments[group].square_exponent, vectors.runs.members_of(group))};
    }
    __device__ void add(std::int64_t group, std::int64_t member, Part& part) const {
        part.sum.add(vectors.weights.of_member(group, member), split(vectors.square(group, member)));
    }
    __device__ void conclude(std::int64_t group, const Part& part) const {
        part.conclude(vectors.moments[group], vectors.weight_of(group), vectors.axes_of_spread);
    }
};

} // namespace kith::detail::inline KITH_GPU
