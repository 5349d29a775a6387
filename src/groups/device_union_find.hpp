// Union-find over point positions in memory of the device, for all threads of a grid at once.
//
// As union_find.hpp does it: every point points toward a lower position of its group, or to itself if it is the root;
// the higher of two roots is hooked to the lower by compare-and-swap, and both are looked up again if others were
// faster; paths are halved on the way. The last roots are the lowest positions of the groups, whatever the order of
// unions.
//
// Blocks talk to each other through the parents alone, by relaxed atomic words of the device's scope. A look through
// the cache of a multiprocessor may find any older parent, which is a member of the same group all the same: two points
// that lead to one place are of one group for good, and two that do not are looked at again before anything is done.
// Most pairs of friends are of one group by the time they are found, and cost no more than that.
#pragma once

#include "cuda/intrinsics.hpp"

#include <cstdint>

namespace kith::detail::inline KITH_GPU {

/// The parents in memory of the device.
class ParentWords {
public:
    ParentWords() = default;
    __host__ __device__ explicit ParentWords(std::int32_t* words) : words_(words) {}

    [[nodiscard]] __device__ std::int32_t load(std::int32_t point) const { return load_relaxed(words_ + point); }
    /// A value of now or a while ago.
    [[nodiscard]] __device__ std::int32_t load_cached(std::int32_t point) const {
        return load_relaxed_through_cache(words_ + point);
    }
    __device__ void store(std::int32_t point, std::int32_t parent) const { store_relaxed(words_ + point, parent); }
    /// Stores the parent if the point is a root; says whether it was.
    __device__ bool hook(std::int32_t point, std::int32_t parent) const {
        return compare_exchange_relaxed(words_ + point, point, parent);
    }

private:
    std::int32_t* words_ = nullptr;
};

/// Tests give words of their own, to try every order of the accesses.
template <class Words>
class UnionFindOver {
public:
    UnionFindOver() = default;
    /// Uses memory of one int32 per point. Every point gets its first parent by set_parent().
    __host__ __device__ explicit UnionFindOver(Words parents) : parents_(parents) {}

    /// A lower position of the point's group, or its own if no other thread is at this point yet.
    __device__ void set_parent(std::int32_t point, std::int32_t parent) const { parents_.store(point, parent); }

    /// The root of a point's group, unless others hook it meanwhile.
    [[nodiscard]] __device__ std::int32_t find(std::int32_t point) const {
        return follow(point, [&](std::int32_t at) { return parents_.load(at); });
    }

    /// A member of the point's group: its root, now or a while ago.
    [[nodiscard]] __device__ std::int32_t known_root(std::int32_t point) const {
        return follow(point, [&](std::int32_t at) { return parents_.load_cached(at); });
    }

    /// Makes the groups of two points one. Returns the root that is none any more, or -1 if the groups were one.
    __device__ std::int32_t unite(std::int32_t a, std::int32_t b) const {
        a = known_root(a);
        b = known_root(b);
        while (a != b) {
            a = find(a);
            b = find(b);
            const std::int32_t higher = a < b ? b : a;
            const std::int32_t lower = a < b ? a : b;
            if (a == b || parents_.hook(higher, lower)) {
                return a == b ? -1 : higher;
            }
        }
        return -1;
    }

    /// Makes a point point to its root, which is returned. Meanwhile other threads do no more than this: one that
    /// halves paths could store an older parent after it.
    __device__ std::int32_t shorten(std::int32_t point) const {
        std::int32_t root = parents_.load(point);
        for (std::int32_t parent = parents_.load(root); parent != root; parent = parents_.load(root)) {
            root = parent;
        }
        parents_.store(point, root);
        return root;
    }

private:
    template <class ParentOf>
    [[nodiscard]] __device__ std::int32_t follow(std::int32_t point, const ParentOf& parent_of) const {
        while (true) {
            const std::int32_t parent = parent_of(point);
            if (parent == point) {
                return point;
            }
            const std::int32_t grandparent = parent_of(parent);
            if (grandparent == parent) {
                return parent;
            }
            set_parent(point, grandparent); // a lost race leaves an older, still valid, parent
            point = grandparent;
        }
    }

    Words parents_;
};

class DeviceUnionFind : public UnionFindOver<ParentWords> {
public:
    DeviceUnionFind() = default;
    __host__ __device__ explicit DeviceUnionFind(std::int32_t* parents) : UnionFindOver(ParentWords(parents)) {}
};

} // namespace kith::detail::inline KITH_GPU
