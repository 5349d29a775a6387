// Beyond which radius no sphere about a center can have a given density, on a GPU: the steps of mass_bound.hpp, a warp
// for each center. The sums of masses have another order, within the slack for rounding that every step has.
#pragma once

#include "cuda/lane_sums.hpp"
#include "geometry/distances_kernel.hpp"
#include "halos/bound_member_kernel.hpp"
#include "halos/mass_bound.hpp"
#include "tree/device_attributes.hpp"
#include "walk/depth_first.hpp"

#include <array>
#include <cstdint>

namespace kith::detail::inline KITH_GPU {

struct MassOfPlace {
    const std::int32_t* indices; ///< of the tree's points
    DeviceMasses masses;

    __device__ double operator()(std::int32_t place) const { return masses(indices[place]); }
};

struct AddMasses {
    static constexpr double identity = 0;

    __device__ double operator()(double a, double b) const { return a + b; }
};

/// The radius of each halo, by a warp.
template <class T>
struct BoundRadii {
    TreeView<T> tree;
    std::array<double*, max_planes> masses{}; ///< of nodes, by plane
    const halos::MeasuredMembers* measured = nullptr;
    double ball_mass = 0;
    double* bounds = nullptr;

    __device__ void operator()(std::int64_t halo) const {
        const std::array<double, 3> center = measured[halo].extent.center;
        halos::LargestRadius radius(ball_mass);
        while (radius.shrink(most_within(center, radius.value()))) {
        }
        if (threadIdx.x % warp_size == 0) {
            bounds[halo] = radius.value();
        }
    }

private:
    /// An upper limit of the mass within a radius, but for rounding.
    [[nodiscard]] __device__ double most_within(const std::array<double, 3>& center, double radius) const {
        double mass = 0; // of nodes that this lane has seen
        walk_depth_first(
            tree,
            [&](int plane, std::int32_t node) {
                const PlaneView<T>& nodes = tree.planes[plane];
                double side = 0;
                const double square = sum_of_squares<double, 3>([&](int axis) {
                    const double lower = nodes.lower(axis)[node];
                    const double upper = nodes.upper(axis)[node];
                    side = device_max(side, upper - lower);
                    return least_on_axis<true>(center[axis], center[axis], lower, upper,
                                               static_cast<double>(tree.period[axis]));
                });
                if (square > halos::LargestRadius::above_rounding * radius * radius) {
                    return false;
                }
                const bool is_whole = plane == 0 || side <= halos::size_of_whole * radius;
                mass += is_whole ? masses[plane][node] : 0;
                return !is_whole;
            },
            [](int, std::int32_t) { return true; });
#pragma unroll
        for (int lanes = warp_size / 2; lanes > 0; lanes /= 2) {
            mass += OfLane{lanes}(mass);
        }
        return mass;
    }
};

} // namespace kith::detail::inline KITH_GPU
