// Friends of up to 32 points among others, by a warp: each lane has one of the points.
//
// The others are given as a run of 32 and the ones of it that can matter, so that a lane's friends are a word of bits.
// Within the 32 points themselves the groups follow from these words by ballots, without memory.
#pragma once

#include "geometry/distances_kernel.hpp"
#include "groups/device_union_find.hpp"
#include "points/point_set_view.hpp"

#include <cstdint>

namespace kith::detail::inline KITH_GPU {

/// What linking takes from the frame of the points, in memory of the device.
template <class T>
struct LinkFrame {
    Periods<T> period;
    T squared_length = 0;    ///< linking length squared, in working units
    bool is_refused = false; ///< nothing is linked
};

template <class T, int D, bool Periodic>
class FriendSearch {
public:
    /// For `count` points from `first` on, 1 to 32; further lanes have none.
    __device__ FriendSearch(const PointSetView<T>& points, const Periods<T>& period, T squared_length,
                            std::int32_t first, std::int32_t count)
        : points_(points), squared_length_(squared_length), first_(first), count_(count),
          lane_(static_cast<int>(threadIdx.x) % warp_size), has_point_(lane_ < count),
          position_(points.coordinates + first + (has_point_ ? lane_ : 0), points.stride, period.data()) {}

    [[nodiscard]] __device__ std::int32_t point() const { return first_ + lane_; } ///< of this lane

    /// Whether there may be friends of this lane's point in a box.
    template <class Lower, class Upper>
    [[nodiscard]] __device__ bool is_near(const Lower& lower, const Upper& upper) const {
        return has_point_ && !(squared_length_ < position_.least_squared_distance(lower, upper));
    }

    /// Which of the candidates, bits counted from `first_other`, are friends of this lane's point.
    [[nodiscard]] __device__ unsigned among(std::int32_t first_other, unsigned candidates) const {
        unsigned friends = 0;
        for (; candidates != 0; candidates &= candidates - 1) {
            const int bit = __ffs(static_cast<int>(candidates)) - 1;
            const T* other = points_.coordinates + first_other + bit; // the same for all lanes: read once
            const T distance = position_.squared_distance([&](int axis) { return other[axis * points_.stride]; });
            friends |= distance <= squared_length_ ? 1U << bit : 0U;
        }
        return has_point_ ? friends : 0;
    }

    /// Gives the points their first parents, by the links among themselves.
    __device__ void start_groups(const DeviceUnionFind& groups) const {
        unsigned free = whole_warp >> (warp_size - count_);
        const unsigned friends = among(first_, free);
        int root = 0;
        while (free != 0) { // groups one after the other, each grown until it has no more friends
            const int lowest = __ffs(static_cast<int>(free)) - 1;
            unsigned members = 1U << lowest;
            for (unsigned before = 0; before != members;) {
                before = members;
                members |= __ballot_sync(whole_warp, (friends & before) != 0);
            }
            root = ((members >> lane_) & 1U) != 0 ? lowest : root;
            free &= ~members;
        }
        if (has_point_) {
            groups.set_parent(point(), first_ + root);
        }
    }

    /// Joins this lane's point with its friends, bits counted from `first_other`.
    __device__ void join(const DeviceUnionFind& groups, std::int32_t first_other, unsigned friends) const {
        for (; friends != 0; friends &= friends - 1) {
            groups.unite(point(), first_other + __ffs(static_cast<int>(friends)) - 1);
        }
    }

private:
    const PointSetView<T>& points_;
    T squared_length_;
    std::int32_t first_;
    std::int32_t count_;
    int lane_;
    bool has_point_;
    DevicePoint<T, D, Periodic> position_;
};

} // namespace kith::detail::inline KITH_GPU
