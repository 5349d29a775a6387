// The nearest of a tree's points by mutual reachability distance, of one point at a time.
//
// Method: nodes are opened in the order of the least mutual reachability distance that they allow, which takes the
// smallest core distance of each node as an attribute, until none can hold a nearer point. Ties are decided by squared
// length, then index, so that of many points in one position only the leaf with the smallest index is opened. Bounds
// use the operations of distances in their order; rounding is monotone, so they need no slack. Cost: close to O(log n).
#pragma once

#include "points/frame.hpp"
#include "support/context.hpp"
#include "tree/node_attributes.hpp"
#include "tree/view.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <tuple>
#include <vector>

namespace kith::detail {

/// A point in the order of (squared mutual reachability distance, squared length, index).
template <Coordinate T>
struct ReachableNeighbor {
    T reach = std::numeric_limits<T>::infinity();
    T squared = std::numeric_limits<T>::infinity();
    std::int32_t index = std::numeric_limits<std::int32_t>::max(); ///< this: none

    [[nodiscard]] bool exists() const noexcept { return index != std::numeric_limits<std::int32_t>::max(); }
    friend bool operator<(const ReachableNeighbor& a, const ReachableNeighbor& b) noexcept {
        return std::tie(a.reach, a.squared, a.index) < std::tie(b.reach, b.squared, b.index);
    }
};

/// Takes all points, at their squared lengths.
struct AllPoints {
    [[nodiscard]] bool skips_node(int /*level*/, std::int32_t /*node*/) const noexcept { return false; }
    [[nodiscard]] bool skips(std::int32_t /*position*/) const noexcept { return false; }
    template <Coordinate T>
    [[nodiscard]] T reach_of(T squared) const noexcept {
        return squared;
    }
};

/// Several points may be searched for at once.
template <Coordinate T>
class ReachabilitySearch {
public:
    using Neighbor = ReachableNeighbor<T>;
    using Position = std::array<T, max_dimension>; ///< in working units
    /// A node that may hold a nearer point than `least`, which has its smallest index.
    struct Near {
        Neighbor least;
        std::int32_t node;
        int level;

        friend bool operator<(const Near& a, const Near& b) noexcept { return b.least < a.least; } // the nearest on top
    };

    /// Of a tree of one point or more; `core` are squared core distances, by position. Both must outlive this.
    ReachabilitySearch(Context& context, const TreeView<T>& tree, const Frame<T>& frame, const T* core)
        : tree_(tree), frame_(frame), core_(core),
          cores_(node_attributes<T>(
              context, tree, [&](std::int32_t i) { return core[i]; }, [](T a, T b) { return std::min(a, b); })) {}

    /// The nearest to a point of that squared core distance, if it comes before `found`; else that. The policy leaves
    /// out nodes and points, and may raise squared lengths where these are compared with core distances. `heap` is
    /// memory for nodes.
    template <class Policy>
    [[nodiscard]] Neighbor nearest(const Position& at, T core, Neighbor found, const Policy& policy,
                                   std::vector<Near>& heap) const {
        heap.clear();
        add(at, core, tree_.top, 0, tree_.planes[tree_.top].nodes, found, policy, heap);
        while (!heap.empty() && heap.front().least < found) {
            std::pop_heap(heap.begin(), heap.end());
            const auto [least, node, level] = heap.back();
            heap.pop_back();
            const PlaneView<T>& plane = tree_.planes[level];
            if (level > 0) {
                add(at, core, level - 1, plane.first_child[node], plane.first_child[node + 1], found, policy, heap);
                continue;
            }
            for (std::int32_t i = plane.first_point[node]; i < plane.first_point[node + 1]; ++i) {
                if (!policy.skips(i)) {
                    offer(found, core, core_[i], squared_length(at, i), tree_.points.indices[i], policy);
                }
            }
        }
        return found;
    }

    template <class Policy>
    static void offer(Neighbor& found, T core, T core_of_other, T squared, std::int32_t index, const Policy& policy) {
        Neighbor other{std::max({core, core_of_other, squared}), squared, index};
        if (other.reach <= found.reach) {
            other.reach = std::max({core, core_of_other, policy.reach_of(squared)});
            found = std::min(found, other);
        }
    }

private:
    template <class Policy>
    void add(const Position& at, T core, int level, std::int32_t begin, std::int32_t end, const Neighbor& found,
             const Policy& policy, std::vector<Near>& heap) const {
        const PlaneView<T>& plane = tree_.planes[level];
        for (std::int32_t node = begin; node < end; ++node) {
            if (policy.skips_node(level, node)) {
                continue;
            }
            const T squared = least_length(at, plane, node);
            const Near near{
                {std::max({core, cores_[level][node], squared}), squared, plane.smallest_index[node]}, node, level};
            if (near.least < found) {
                heap.push_back(near);
                std::push_heap(heap.begin(), heap.end());
            }
        }
    }

    [[nodiscard]] T squared_length(const Position& at, std::int32_t i) const {
        T sum = 0;
        for (int axis = 0; axis < frame_.dimension; ++axis) {
            T t = std::abs(at[axis] - tree_.points.axis(axis)[i]);
            t = std::min(t, frame_.working_period[axis] - t); // infinity on open axes
            sum = axis == 0 ? t * t : std::fma(t, t, sum);
        }
        return sum;
    }

    /// To the box of a node, by the operations of geometry/distances-inl.hpp.
    [[nodiscard]] T least_length(const Position& at, const PlaneView<T>& plane, std::int32_t node) const {
        T sum = 0;
        for (int axis = 0; axis < frame_.dimension; ++axis) {
            const T lower = plane.lower(axis)[node];
            const T upper = plane.upper(axis)[node];
            const T nearest = std::max(std::max(lower - at[axis], at[axis] - upper), T(0));
            const T farthest = std::max(upper - at[axis], at[axis] - lower);
            const T t = std::max(std::min(nearest, frame_.working_period[axis] - farthest), T(0));
            sum = axis == 0 ? t * t : std::fma(t, t, sum);
        }
        return sum;
    }

    TreeView<T> tree_;
    const Frame<T>& frame_;
    const T* core_;
    std::vector<Buffer<T>> cores_; ///< the smallest of each node
};

} // namespace kith::detail
