// All particles whose distance from a center lies between two bounds, for many centers, on a GPU: shell_search.hpp's
// walk and operations, so the same bits.
//
// A warp takes a halo's center and walks down the tree of all particles. Shells are counted first, and made thinner if
// they hold more than there is memory for: which shells there are does not show. Then they are filled, from offsets on.
// A node that lies in the shell as a whole is counted, not opened.
#pragma once

#include "cuda/lane_sums.hpp"
#include "geometry/distances_kernel.hpp"
#include "halos/bound_member_kernel.hpp"
#include "halos/sphere_search.hpp"
#include "tree/view.hpp"
#include "walk/depth_first.hpp"

#include <array>
#include <bit>
#include <cstdint>

namespace kith::detail::inline KITH_GPU {

/// Particles in shells, one shell after the other.
struct ShellColumns {
    double* squares = nullptr;
    std::int32_t* indices = nullptr; ///< rows of the particles
    std::int32_t* shells = nullptr;  ///< which of those at hand
};

/// Counts or fills shells, each by a warp.
template <class T>
struct FindShells {
    TreeView<T> tree;
    const std::int32_t* halos_of_shells = nullptr;    ///< at hand
    const halos::MeasuredMembers* measured = nullptr; ///< of each halo
    halos::SphereSearch* searches = nullptr;          ///< of each halo
    std::int64_t most = 0;                            ///< particles of a shell, if it can be made thin enough
    std::int64_t* counts = nullptr;                   ///< of each shell; null: shells are filled
    const std::int64_t* offsets = nullptr;            ///< of each shell: its first particle
    std::int64_t first = 0;                           ///< offset of the first particle at hand
    ShellColumns found;

    __device__ void operator()(std::int64_t shell) const;
};

/// All members are called by the whole warp.
template <class T>
class ShellWalk {
public:
    __device__ ShellWalk(const TreeView<T>& tree, const std::array<double, 3>& center)
        : tree_(tree), lane_(static_cast<int>(threadIdx.x) % warp_size), center_(point_of(tree, center)) {}

    [[nodiscard]] __device__ std::int64_t count(double inner, double outer) const {
        std::int64_t count = 0; // that this lane has seen
        walk(
            inner, outer,
            [&](int plane, std::int32_t node, double least, double greatest) {
                const bool is_whole = least > inner && greatest <= outer;
                count += is_whole ? tree_.planes[plane].points_in(node) : 0;
                return !is_whole;
            },
            [&](bool is_within, std::int32_t /*place*/, double /*square*/) { count += is_within ? 1 : 0; });
        return sum_of_warp(static_cast<long long>(count));
    }

    /// Writes what is found from the offset `first` on.
    __device__ void fill(double inner, double outer, std::int64_t first, std::int64_t shell,
                         const ShellColumns& found) const {
        walk(
            inner, outer, [](int, std::int32_t, double, double) { return true; },
            [&](bool is_within, std::int32_t place, double square) {
                const unsigned within = __ballot_sync(whole_warp, is_within);
                if (is_within) {
                    const std::int64_t at = first + __popc(within & ((1U << lane_) - 1));
                    found.squares[at] = square;
                    found.indices[at] = tree_.points.indices[place];
                    found.shells[at] = static_cast<std::int32_t>(shell);
                }
                first += __popc(within);
            });
    }

private:
    using Point = DevicePoint<double, 3, true>; // open axes have an infinite period

    __device__ static Point point_of(const TreeView<T>& tree, const std::array<double, 3>& center) {
        const double period[3] = {static_cast<double>(tree.period[0]), static_cast<double>(tree.period[1]),
                                  static_cast<double>(tree.period[2])};
        return {center.data(), 1, period};
    }

    /// opens(plane, node, least, greatest) says of nodes that meet the shell whether to go into them; it is called by
    /// single lanes. visit(is_within, place, square) is called by all lanes at a time, of which some have a point.
    template <class Opens, class Visit>
    __device__ void walk(double inner, double outer, const Opens& opens, const Visit& visit) const {
        walk_depth_first(
            tree_,
            [&](int plane, std::int32_t node) {
                const PlaneView<T>& nodes = tree_.planes[plane];
                const auto lower = [&](int axis) { return static_cast<double>(nodes.lower(axis)[node]); };
                const auto upper = [&](int axis) { return static_cast<double>(nodes.upper(axis)[node]); };
                const double least = center_.least_squared_distance(lower, upper);
                const double greatest = center_.greatest_squared_distance(lower, upper);
                return least <= outer && greatest > inner && opens(plane, node, least, greatest);
            },
            [&](int plane, std::int32_t node) {
                if (plane == 0) {
                    compare(node, inner, outer, visit);
                }
                return true;
            });
    }

    template <class Visit>
    __device__ void compare(std::int32_t leaf, double inner, double outer, const Visit& visit) const {
        const PointSetView<T>& points = tree_.points;
        const std::uint32_t end = tree_.planes[0].first_point[leaf + 1]; // unsigned: it may be run past
        for (std::uint32_t first = tree_.planes[0].first_point[leaf]; first < end; first += warp_size) {
            const bool has_point = lane_ < static_cast<int>(end - first);
            const auto place = static_cast<std::int32_t>(has_point ? first + lane_ : first);
            const double square = center_.squared_distance(
                [&](int axis) { return static_cast<double>(points.coordinates[axis * points.stride + place]); });
            visit(has_point && square > inner && square <= outer, place, square);
        }
    }

    const TreeView<T>& tree_;
    const int lane_;
    const Point center_;
};

/// The largest outer bound with which a shell has no more particles than `most`; the least one at which it has any, if
/// there is none. Sets `count` to how many it then has. By bisection of the bits, which ends however far bounds are
/// apart.
template <class T>
__device__ double fitting_bound(const ShellWalk<T>& walk, double inner, double outer, std::int64_t most,
                                std::int64_t& count) {
    count = walk.count(inner, outer);
    if (count <= most) {
        return outer;
    }
    auto low = std::bit_cast<std::uint64_t>(device_max(inner, 0.0)); // fits
    auto high = std::bit_cast<std::uint64_t>(outer);                 // does not
    std::int64_t of_low = 0;
    std::int64_t of_high = count;
    while (of_low <= most / 2 && high - low > 1) {
        const std::uint64_t middle = low + (high - low) / 2;
        const std::int64_t of_middle = walk.count(inner, std::bit_cast<double>(middle));
        if (of_middle <= most) {
            low = middle;
            of_low = of_middle;
        } else {
            high = middle;
            of_high = of_middle;
        }
    }
    count = of_low > 0 ? of_low : of_high;
    return std::bit_cast<double>(of_low > 0 ? low : high);
}

template <class T>
__device__ void FindShells<T>::operator()(std::int64_t shell) const {
    const std::int32_t halo = halos_of_shells[shell];
    halos::SphereSearch& search = searches[halo];
    const ShellWalk<T> walk(tree, measured[halo].extent.center);
    const double inner = search.inner();
    const double outer = search.outer();
    if (counts == nullptr) {
        walk.fill(inner, outer, offsets[shell] - first, shell, found);
        return;
    }
    std::int64_t count = 0;
    const double bound = fitting_bound(walk, inner, outer, most, count);
    __syncwarp(); // all lanes have read the bounds
    if (threadIdx.x % warp_size == 0) {
        search.end_shell_at(bound);
        counts[shell] = count;
    }
}

/// Hands shells to their searches; writes what a search has found at its end.
struct SearchShells {
    static constexpr int numbers = 2;
    const std::int32_t* halos_of_shells = nullptr;
    halos::SphereSearch* searches = nullptr; ///< of each halo
    const std::int64_t* offsets = nullptr;   ///< of each shell at hand; one more at the end
    std::int64_t first = 0;                  ///< offset of the first particle at hand
    ShellColumns found;
    const std::int32_t* order = nullptr; ///< of the particles at hand, by shell and distance
    DeviceMasses masses;
    std::uint8_t* has_next = nullptr; ///< of each halo: it needs another shell
    int densities = 0;
    halos::Sphere* spheres = nullptr; ///< of each halo, one for each density
    halos::VelocityPeak* peaks = nullptr;

    __device__ void operator()(std::int64_t shell, InOrder<numbers> in_order) const {
        const std::int32_t halo = halos_of_shells[shell];
        const std::int32_t* const places = order + (offsets[shell] - first);
        halos::SphereSearch search = searches[halo];
        in_order.visit(
            offsets[shell + 1] - offsets[shell],
            [&](std::int64_t i, double(&of_one)[numbers]) {
                of_one[0] = root(found.squares[places[i]]);
                of_one[1] = masses(found.indices[places[i]]);
            },
            [&](const double(&of_one)[numbers]) { search.add(of_one[0], of_one[1]); });
        if (!in_order.is_first_lane()) {
            return;
        }
        const bool goes_on = search.next_shell();
        has_next[halo] = goes_on ? 1 : 0;
        searches[halo] = search;
        if (!goes_on) {
            for (int i = 0; i < densities; ++i) {
                spheres[std::int64_t{halo} * densities + i] = search.profile().sphere(i);
            }
            peaks[halo] = search.profile().peak();
        }
    }
};

/// Begins the search of each halo at hand.
struct BeginSearches {
    const halos::SearchRequest* request;
    const halos::MeasuredMembers* measured;
    const double* bounds; ///< null: 0 for all
    halos::Crossing* crossings;
    halos::SphereSearch* searches;
    std::int32_t* active; ///< all are

    __device__ void operator()(std::int64_t halo) const {
        searches[halo] = halos::SphereSearch(*request, measured[halo].extent, bounds != nullptr ? bounds[halo] : 0,
                                             crossings + halo * request->densities);
        active[halo] = static_cast<std::int32_t>(halo);
    }
};

} // namespace kith::detail::inline KITH_GPU
