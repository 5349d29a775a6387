// What a search collects: the k nearest, all within a radius, their number, or whatever a callback does with them.
//
// A search hands every source that comes before (farthest(), farthest_index()) to take(), and drops subtrees in which
// there can be none. Neighbors are ordered by squared distance, ties by original index. A type with these three
// functions is a list of candidates of your own; farthest() returns the tree's scalar type. Host and device; no memory
// is allocated. A radius is given as squared_radius<T>(R), T the scalar type of the tree:
//
//   kdtree::CountWithin within(kdtree::squared_radius<float>(R));
#pragma once

#include <kith/device/kdtree_layout.hpp>

#include <cstdint>
#include <limits>
#include <type_traits>

namespace kith::kdtree {

/// Greater than every index.
inline constexpr std::int32_t no_index = 0x7FFFFFFF;

template <class T>
inline constexpr T infinite = std::numeric_limits<T>::infinity();

/// The square of a radius as searches compare it with squared distances, inclusive.
template <class T>
struct SquaredRadius {
    T value = infinite<T>;
};
/// As kith::radius_search() squares it: R is rounded to T, the tree's scalar type, once, then the product is rounded
/// once. R * R in another type differs in the last digits: sources at the distance R would be lost or added.
template <class T>
    requires(std::is_same_v<T, float> || std::is_same_v<T, double>)
KITH_KDTREE_HD constexpr SquaredRadius<T> squared_radius(double radius) {
    const T rounded = static_cast<T>(radius);
    return {rounded * rounded};
}

template <class T>
struct Neighbor {
    T squared_distance;
    std::int32_t index; ///< original
    Node node;          ///< where in the tree it is, with its payload
};

template <class T>
KITH_KDTREE_HD constexpr bool is_before(T squared, std::int32_t index, T other_squared, std::int32_t other_index) {
    return squared < other_squared || (squared == other_squared && index < other_index);
}

/// The K nearest, K known to the compiler: a sorted list, on a device in registers or local memory, as the compiler
/// decides. Only sources within `limit` count. Cost of a source: O(K), on average much less.
template <class T, int K>
class Nearest {
public:
    KITH_KDTREE_HD explicit Nearest(SquaredRadius<T> limit = {}) {
        KITH_KDTREE_UNROLL
        for (int i = 0; i < K; ++i) {
            list_[i] = {limit.value, no_index, 0};
        }
    }
    KITH_KDTREE_HD T farthest() const { return list_[K - 1].squared_distance; }
    KITH_KDTREE_HD std::int32_t farthest_index() const { return list_[K - 1].index; }
    KITH_KDTREE_HD void take(T squared, std::int32_t index, Node node) {
        KITH_KDTREE_UNROLL
        for (int i = K - 1; i > 0; --i) {
            if (!is_before(squared, index, list_[i - 1].squared_distance, list_[i - 1].index)) {
                list_[i] = {squared, index, node};
                return;
            }
            list_[i] = list_[i - 1];
        }
        list_[0] = {squared, index, node};
    }

    /// How many were found: K unless there are fewer sources, or fewer within the limit.
    KITH_KDTREE_HD int size() const {
        int found = 0;
        KITH_KDTREE_UNROLL
        for (int i = 0; i < K; ++i) {
            found += list_[i].index != no_index ? 1 : 0;
        }
        return found;
    }
    /// The i-th nearest; i is less than size().
    KITH_KDTREE_HD const Neighbor<T>& operator[](int i) const { return list_[i]; }

private:
    Neighbor<T> list_[K];
};

/// The nearest source alone.
template <class T>
using Closest = Nearest<T, 1>;

/// The k nearest, k at least 1 and known at run time, in the caller's memory: a heap while searching, the farthest on
/// top; sort() puts them in order. Cost of a source: O(log k).
template <class T>
class NearestHeap {
public:
    /// `memory` has room for k.
    KITH_KDTREE_HD NearestHeap(Neighbor<T>* memory, std::int64_t k, SquaredRadius<T> limit = {})
        : heap_(memory), k_(k), farthest_{limit.value, no_index, 0} {}
    KITH_KDTREE_HD T farthest() const { return farthest_.squared_distance; }
    KITH_KDTREE_HD std::int32_t farthest_index() const { return farthest_.index; }
    KITH_KDTREE_HD void take(T squared, std::int32_t index, Node node) {
        const Neighbor<T> taken{squared, index, node};
        if (size_ < k_) {
            std::int64_t hole = size_++;
            for (; hole > 0 && before(heap_[(hole - 1) / 2], taken); hole = (hole - 1) / 2) {
                heap_[hole] = heap_[(hole - 1) / 2];
            }
            heap_[hole] = taken;
        } else {
            sift(taken, size_);
        }
        if (size_ == k_) {
            farthest_ = heap_[0];
        }
    }

    /// Sorts what was found, nearest first; the search is over then. Cost: O(k log k).
    KITH_KDTREE_HD void sort() {
        for (std::int64_t end = size_; end > 1; --end) {
            const Neighbor<T> last = heap_[end - 1];
            heap_[end - 1] = heap_[0];
            sift(last, end - 1);
        }
    }
    /// How many were found.
    KITH_KDTREE_HD std::int64_t size() const { return size_; }
    KITH_KDTREE_HD const Neighbor<T>& operator[](std::int64_t i) const { return heap_[i]; }

private:
    KITH_KDTREE_HD static bool before(const Neighbor<T>& a, const Neighbor<T>& b) {
        return is_before(a.squared_distance, a.index, b.squared_distance, b.index);
    }
    /// Puts a neighbor into a heap whose top is free.
    KITH_KDTREE_HD void sift(const Neighbor<T>& neighbor, std::int64_t size) {
        std::int64_t hole = 0;
        for (std::int64_t child = 1; child < size; child = 2 * hole + 1) {
            child += child + 1 < size && before(heap_[child], heap_[child + 1]) ? 1 : 0;
            if (!before(neighbor, heap_[child])) {
                break;
            }
            heap_[hole] = heap_[child];
            hole = child;
        }
        heap_[hole] = neighbor;
    }

    Neighbor<T>* heap_;
    std::int64_t k_;
    std::int64_t size_ = 0;
    Neighbor<T> farthest_; ///< beyond it nothing is taken
};

/// Calls visit(squared distance, original index, node) for every source within a radius, in no order. If it
/// returns a bool, false ends the search.
template <class T, class Visit>
class WithinRadius {
public:
    KITH_KDTREE_HD WithinRadius(SquaredRadius<T> radius, const Visit& visit) : limit_(radius.value), visit_(visit) {}
    KITH_KDTREE_HD T farthest() const { return limit_; }
    KITH_KDTREE_HD std::int32_t farthest_index() const { return no_index; }
    KITH_KDTREE_HD void take(T squared, std::int32_t index, Node node) {
        if constexpr (requires { static_cast<bool>(visit_(squared, index, node)); }) {
            if (!visit_(squared, index, node)) {
                limit_ = -1; // nothing is as near
            }
        } else {
            visit_(squared, index, node);
        }
    }

private:
    T limit_;
    Visit visit_;
};

/// Counts the sources within a radius.
template <class T>
class CountWithin {
public:
    KITH_KDTREE_HD explicit CountWithin(SquaredRadius<T> radius) : limit_(radius.value) {}
    KITH_KDTREE_HD T farthest() const { return limit_; }
    KITH_KDTREE_HD std::int32_t farthest_index() const { return no_index; }
    KITH_KDTREE_HD void take(T, std::int32_t, Node) { ++count_; }
    [[nodiscard]] KITH_KDTREE_HD std::int64_t count() const { return count_; }

private:
    T limit_;
    std::int64_t count_ = 0;
};

/// Wraps another list and skips one source, given by its original index: the query itself in a self-search.
template <class Candidates>
class Except {
public:
    KITH_KDTREE_HD Except(Candidates& candidates, std::int32_t excluded)
        : candidates_(candidates), excluded_(excluded) {}
    KITH_KDTREE_HD auto farthest() const { return candidates_.farthest(); }
    KITH_KDTREE_HD std::int32_t farthest_index() const { return candidates_.farthest_index(); }
    template <class T>
    KITH_KDTREE_HD void take(T squared, std::int32_t index, Node node) {
        if (index != excluded_) {
            candidates_.take(squared, index, node);
        }
    }

private:
    Candidates& candidates_;
    std::int32_t excluded_;
};

} // namespace kith::kdtree
