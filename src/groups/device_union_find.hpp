// Union-find over point positions in memory of the device, for all threads of a grid at once.
//
// As union_find.hpp does it: every point points toward a lower position of its group, or to itself if it is the root;
// the higher of two roots is hooked to the lower by compare-and-swap, and both are looked up again if others were faster;
// paths are halved on the way. The last roots are the lowest positions of the groups, whatever the order of unions.
//
// What others write is seen in the memory that all multiprocessors share (volatile). A look through the nearer cache may
// find an older parent, which is a member of the same group all the same: two points that lead to one place are of one
// group for good, and two that do not are looked at again before anything is done. Most pairs of friends are of one group
// by the time they are found, and cost no more than that.
#pragma once

#include "cuda/intrinsics.hpp"

#include <cstdint>

namespace kith::detail::inline KITH_GPU {

class DeviceUnionFind {
public:
    DeviceUnionFind() = default;
    /// Uses memory of one int32 per point. Every point gets its first parent by set_parent().
    __host__ __device__ explicit DeviceUnionFind(std::int32_t* parents) : parents_(parents) {}

    /// A lower position of the point's group, or its own if no other thread is at this point yet.
    __device__ void set_parent(std::int32_t point, std::int32_t parent) const {
        static_cast<volatile std::int32_t*>(parents_)[point] = parent;
    }

    /// The root of a point's group, unless others hook it meanwhile.
    [[nodiscard]] __device__ std::int32_t find(std::int32_t point) const {
        return follow(point, static_cast<const volatile std::int32_t*>(parents_));
    }

    /// A member of the point's group: its root, now or a while ago.
    [[nodiscard]] __device__ std::int32_t known_root(std::int32_t point) const { return follow(point, parents_); }

    /// Makes the groups of two points one.
    __device__ void unite(std::int32_t a, std::int32_t b) const {
        a = known_root(a);
        b = known_root(b);
        while (a != b) {
            a = find(a);
            b = find(b);
            const std::int32_t higher = a < b ? b : a;
            const std::int32_t lower = a < b ? a : b;
            if (a == b || atomicCAS(parents_ + higher, higher, lower) == higher) {
                return;
            }
        }
    }

private:
    template <class Parents>
    [[nodiscard]] __device__ std::int32_t follow(std::int32_t point, Parents parents) const {
        while (true) {
            const std::int32_t parent = parents[point];
            if (parent == point) {
                return point;
            }
            const std::int32_t grandparent = parents[parent];
            if (grandparent == parent) {
                return parent;
            }
            set_parent(point, grandparent); // a lost race leaves an older, still valid, parent
            point = grandparent;
        }
    }

    std::int32_t* parents_ = nullptr;
};

} // namespace kith::detail::inline KITH_GPU
