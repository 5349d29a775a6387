// Union-find over point positions, for many threads at once.
//
// Every point points toward a lower position of its group, or to itself if it is the root. Roots are linked by
// compare-and-swap, the higher to the lower, and retried if one of them was linked meanwhile; paths are halved on the
// way. The final roots, the lowest position of each group, do not depend on the order of unions. Source: jz-tree paper,
// section IV-A.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <numeric>
#include <utility>

namespace kith::detail {

class UnionFind {
public:
    /// Uses memory of one int32 per point. Every point gets its first parent by `separate` or `adopt`.
    explicit UnionFind(std::int32_t* parents) : parents_(parents) {}

    /// Each of [begin, end) a group of its own. No other thread may be at these points.
    void separate(std::int32_t begin, std::int32_t end) const noexcept {
        std::iota(parents_ + begin, parents_ + end, begin);
    }
    /// All of [begin, end) one group; alone there, as above.
    void adopt(std::int32_t begin, std::int32_t end) const noexcept {
        std::fill(parents_ + begin, parents_ + end, begin);
    }
    /// One group of those whose bit is set, at least one, counted from `begin`; alone there, as above.
    [[gnu::always_inline]] void adopt(std::int32_t begin, std::uint64_t members) const noexcept {
        const std::int32_t root = begin + std::countr_zero(members);
        for (; members != 0; members &= members - 1) {
            parents_[begin + std::countr_zero(members)] = root;
        }
    }

    [[nodiscard]] std::int32_t find(std::int32_t point) const noexcept {
        while (true) {
            const std::int32_t parent = load(point);
            if (parent == point) {
                return point;
            }
            const std::int32_t grandparent = load(parent);
            if (grandparent != parent) { // a lost race leaves an older, still valid, pointer
                std::atomic_ref(parents_[point]).store(grandparent, std::memory_order_relaxed);
            }
            point = grandparent;
        }
    }

    /// Links the groups of two points. Returns the root that is none any more, or -1 if the groups were one. In line:
    /// with a call it takes a twentieth longer to link halos.
    [[gnu::always_inline]] std::int32_t unite(std::int32_t a, std::int32_t b) const noexcept {
        while (true) {
            a = find(a);
            b = find(b);
            if (a == b) {
                return -1;
            }
            if (a < b) {
                std::swap(a, b);
            }
            std::int32_t expected = a;
            if (std::atomic_ref(parents_[a]).compare_exchange_strong(expected, b, std::memory_order_relaxed)) {
                return a;
            }
        }
    }

    /// Makes a point point to its root. Nobody links meanwhile.
    void shorten(std::int32_t point) const noexcept {
        std::int32_t root = load(point);
        for (std::int32_t parent = load(root); parent != root; parent = load(root)) {
            root = parent;
        }
        std::atomic_ref(parents_[point]).store(root, std::memory_order_relaxed);
    }

    /// The memory it was given.
    [[nodiscard]] std::int32_t* parents() const noexcept { return parents_; }

private:
    [[nodiscard]] std::int32_t load(std::int32_t point) const noexcept {
        return std::atomic_ref(parents_[point]).load(std::memory_order_relaxed);
    }

    std::int32_t* parents_;
};

} // namespace kith::detail
