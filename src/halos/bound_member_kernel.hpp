// What the bound members of halos say of them, on a GPU: the sums of halo_describer.cpp, in the same order.
//
// A warp takes a halo. Its members are loaded once, as offsets from the center, and kept; sums are taken one after the
// other (in_order.hpp). The ellipsoid of shape.hpp is every lane's own: all have the same sums.
#pragma once

#include "cuda/lane_bounds.hpp"
#include "cuda/lane_sums.hpp"
#include "geometry/distances_kernel.hpp"
#include "halos/device_columns.hpp"
#include "halos/halo_rows.hpp"
#include "halos/in_order.hpp"
#include "halos/terms.hpp"
#include "points/coordinates.hpp"
#include "points/frame.hpp"

#include <cstdint>

namespace kith::detail::inline KITH_GPU {

/// One halo's members among the rows of groups, the bound ones first.
struct HaloMembers {
    std::int64_t first;   ///< in the rows
    std::int64_t bound;   ///< how many
    std::int64_t members; ///< of the group
    std::int64_t place;   ///< of the first bound one among those of the halos at hand
    std::int32_t center_row;
};

/// Masses of particles by row.
struct DeviceMasses {
    DeviceColumn column; ///< without axes: all have one mass
    double uniform = 1;

    [[nodiscard]] __device__ double operator()(std::int64_t row) const {
        return column.axes[0] != nullptr ? column(row, 0) : uniform;
    }
};

/// Bound members of the halos at hand, one after the other.
struct BoundColumns {
    std::int64_t stride = 0;   ///< between axes of the offsets: all of them
    double* offsets = nullptr; ///< from the center
    double* squares = nullptr; ///< of distances from the center
    double* masses = nullptr;
    std::int32_t* halos = nullptr; ///< which of those at hand
    std::int32_t* rows = nullptr;
};

/// Fills the columns of bound members, and what is measured but for the farthest one, half-mass radius and shape.
template <class T>
struct LoadBoundMembers {
    static constexpr int numbers = 3;
    const HaloMembers* members = nullptr; ///< of the halos at hand
    const std::int32_t* rows = nullptr;   ///< of all groups
    Coordinates<T> positions;
    const Frame<T>* frame = nullptr; ///< in memory of the device
    DeviceMasses masses;
    const std::uint8_t* types = nullptr; ///< null: all are type 1
    BoundColumns bound;
    halos::MeasuredMembers* measured = nullptr;

    __device__ void operator()(std::int64_t halo, const InOrder<numbers>& in_order) const;
};

/// The same of one halo. All members are called by the whole warp.
template <class T>
class BoundMembersOfHalo {
public:
    __device__ BoundMembersOfHalo(const LoadBoundMembers<T>& job, std::int64_t halo, const InOrder<3>& in_order)
        : job_(job), halo_(halo), members_(job.members[halo]), rows_(job.rows + members_.first), lane_(in_order.lane()),
          in_order_(in_order) {}

    __device__ void run() {
        double mass[1] = {};
        in_order_.add(
            members_.bound,
            [&](std::int64_t i, double(&numbers)[1]) {
                const std::int32_t row = rows_[i];
                numbers[0] = job_.masses(row);
                job_.bound.masses[members_.place + i] = numbers[0];
                job_.bound.rows[members_.place + i] = row;
                job_.bound.halos[members_.place + i] = static_cast<std::int32_t>(halo_);
            },
            mass);
        halos::MeasuredMembers& measured = job_.measured[halo_];
        if (lane_ == 0) {
            measured = {};
            measured.extent.mass = mass[0];
            measured.extent.center_row = members_.center_row;
        }
        __syncwarp();
        measure_offsets(mass[0]);
        count_types();
        in_order_.add(
            members_.members - members_.bound,
            [&](std::int64_t i, double(&numbers)[1]) { numbers[0] = job_.masses(rows_[members_.bound + i]); }, mass);
        if (lane_ == 0) {
            measured.group_mass = mass[0];
        }
    }

private:
    [[nodiscard]] __device__ double coordinate(std::int64_t row, int axis) const {
        return static_cast<double>(job_.frame->load(job_.positions(row, axis), axis));
    }

    __device__ void measure_offsets(double mass) {
        double center[3];
        double period[3];
        double least[3] = {};
        double most[3] = {};
        double sums[3] = {};
#pragma unroll
        for (int axis = 0; axis < 3; ++axis) {
            center[axis] = coordinate(members_.center_row, axis);
            period[axis] = static_cast<double>(job_.frame->working_period[axis]);
        }
        in_order_.add(
            members_.bound,
            [&](std::int64_t i, double(&numbers)[3]) {
                const std::int64_t place = members_.place + i;
                const std::int32_t row = rows_[i];
                const double weight = mass > 0 ? job_.bound.masses[place] : 1;
                double x[3];
#pragma unroll
                for (int axis = 0; axis < 3; ++axis) {
                    x[axis] = coordinate(row, axis);
                    const double offset = halos::nearest_offset(x[axis], center[axis], period[axis]);
                    job_.bound.offsets[axis * job_.bound.stride + place] = offset;
                    least[axis] = device_min(least[axis], offset);
                    most[axis] = device_max(most[axis], offset);
                    numbers[axis] = weight * offset;
                }
                job_.bound.squares[place] = sum_of_squares<double, 3>(
                    [&](int axis) { return difference_on_axis<true>(x[axis], center[axis], period[axis]); });
            },
            sums);
        halos::MeasuredMembers& measured = job_.measured[halo_];
        const double weight = mass > 0 ? mass : static_cast<double>(members_.bound);
        bool is_wide = false;
#pragma unroll
        for (int axis = 0; axis < 3; ++axis) {
            is_wide = is_wide || halos::is_wider_than_half(least_of_lanes<warp_size>(least[axis]),
                                                           greatest_of_lanes<warp_size>(most[axis]), period[axis]);
            if (lane_ == 0) {
                measured.extent.center[axis] = center[axis];
                measured.extent.mean_offset[axis] = sums[axis] / weight;
                measured.center[axis] = static_cast<double>(job_.positions(members_.center_row, axis));
            }
        }
        if (lane_ == 0) {
            measured.extent.is_wide = is_wide;
        }
    }

    __device__ void count_types() const {
        std::int64_t count = 0; // of the type that is this lane's number
        for (std::int64_t start = 0; start < members_.bound; start += warp_size) {
            const std::int64_t i = start + lane_;
            const int type = i >= members_.bound ? -1 : job_.types == nullptr ? 1 : job_.types[rows_[i]];
            for (int each = 0; each < max_types; ++each) {
                const unsigned of_type = __ballot_sync(whole_warp, type == each);
                count += lane_ == each ? __popc(of_type) : 0;
            }
        }
        if (lane_ < max_types) {
            job_.measured[halo_].count_by_type[lane_] = count;
        }
    }

    const LoadBoundMembers<T>& job_;
    const std::int64_t halo_;
    const HaloMembers members_;
    const std::int32_t* const rows_;
    const int lane_;
    InOrder<3> in_order_;
};

template <class T>
__device__ void LoadBoundMembers<T>::operator()(std::int64_t halo, const InOrder<numbers>& in_order) const {
    BoundMembersOfHalo<T>(*this, halo, in_order).run();
}

/// Bound members that have been loaded.
struct LoadedMembers {
    const HaloMembers* members = nullptr; ///< of the halos at hand
    BoundColumns bound;
    const std::int32_t* order = nullptr; ///< places of bound members by halo and distance
    halos::MeasuredMembers* measured = nullptr;

    /// The distance and the mass of the i-th bound member by distance.
    __device__ void by_distance(const HaloMembers& of, std::int64_t i, double (&numbers)[2]) const {
        const std::int32_t place = order[of.place + i];
        numbers[0] = root(bound.squares[place]);
        numbers[1] = bound.masses[place];
    }
};

/// The farthest member and the half-mass radius, and on request the profile of the bound members alone.
struct MeasureDistances {
    static constexpr int numbers = 2;
    LoadedMembers loaded;
    const halos::SearchRequest* request = nullptr; ///< null: no profile
    halos::Crossing* crossings = nullptr;          ///< of each halo at hand, one for each density
    halos::Sphere* spheres = nullptr;              ///< likewise
    halos::VelocityPeak* peaks = nullptr;

    __device__ void operator()(std::int64_t halo, InOrder<numbers> in_order) const {
        const HaloMembers members = loaded.members[halo];
        const auto load = [&](std::int64_t i, double(&of_one)[2]) { loaded.by_distance(members, i, of_one); };
        double total = 0; // in this order
        in_order.visit(members.bound, load, [&](const double(&of_one)[2]) { total += of_one[1]; });
        halos::HalfMassRadius half_mass(total);
        in_order.visit(members.bound, load, [&](const double(&of_one)[2]) { half_mass.add(of_one[0], of_one[1]); });
        double last[2];
        loaded.by_distance(members, members.bound - 1, last);
        if (in_order.is_first_lane()) {
            loaded.measured[halo].extent.farthest = last[0];
            loaded.measured[halo].half_mass_radius = half_mass.finish();
        }
        if (request != nullptr) {
            const int densities = request->densities;
            halos::MassProfile profile(*request, last[0], crossings + halo * densities);
            in_order.visit(members.bound, load, [&](const double(&of_one)[2]) { profile.add(of_one[0], of_one[1]); });
            if (in_order.is_first_lane()) {
                profile.finish_alone();
                for (int i = 0; i < densities; ++i) {
                    spheres[halo * densities + i] = profile.sphere(i);
                }
                peaks[halo] = profile.peak();
            }
        }
    }
};

/// Needs half-mass radii.
struct MeasureShapes {
    static constexpr int numbers = halos::shape_terms;
    LoadedMembers loaded;

    __device__ void operator()(std::int64_t halo, InOrder<numbers> in_order) const {
        const HaloMembers members = loaded.members[halo];
        const double* const x = loaded.bound.offsets + members.place;
        const double* const y = x + loaded.bound.stride;
        const double* const z = y + loaded.bound.stride;
        const double* const masses = loaded.bound.masses + members.place;
        halos::ShapeSearch search(loaded.measured[halo].half_mass_radius);
        while (!search.is_done()) {
            int inside = 0; // of those that this lane looked at
            double sums[numbers] = {};
            in_order.add(
                members.bound,
                [&](std::int64_t i, double(&terms)[numbers]) {
                    if (search.find_terms(x[i], y[i], z[i], masses[i], terms)) {
                        ++inside;
                    } else {
                        for (double& term : terms) {
                            term = 0; // leaves a sum as it is: none is -0
                        }
                    }
                },
                sums);
            search.step(sum_of_warp(inside), sums);
        }
        if (in_order.is_first_lane()) {
            loaded.measured[halo].shape = search.shape();
        }
    }
};

} // namespace kith::detail::inline KITH_GPU
