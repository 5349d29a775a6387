// The edges of the cells of a group: the cells whose boxes are nearest to each hub, with exact weights.
//
// Groups are gone through by their distance from the box of the group's hubs, until none can hold a cell that is nearer
// than those found. Somewhat more cells than there are edges are weighed, and the lightest kept. The horizon is the
// next weight, or the distance to the box of the next cell if that is smaller: no point of a cell that is left out is
// nearer, since bounds of boxes need no slack (geometry/distances-inl.hpp). Lists are sorted as whole numbers: a
// distance rounded down to float32, whose bits are in its order, above the cell's number.

#include "engines/clover/assign-inl.hpp"
#include "walk/walk_kernels-inl.hpp"

#include "engines/clover/kernels.hpp"
#include "engines/clover/shape.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#if defined(KITH_CLOVER_CONNECT_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef KITH_CLOVER_CONNECT_INL_HPP
#undef KITH_CLOVER_CONNECT_INL_HPP
#else
#define KITH_CLOVER_CONNECT_INL_HPP
#endif

HWY_BEFORE_NAMESPACE();
namespace kith::detail::HWY_NAMESPACE {

/// The least squared distances from a box to others, whose corners follow each other. Whole vectors are written.
template <class T>
void least_distances_to(const WalkKernels<T>& kernels, const AnyReceiver<T>& box, const T* lower, const T* upper,
                        std::int64_t stride, std::int64_t count, T* least) {
    constexpr std::int64_t some = 256; // boxes at once
    HWY_ALIGN T greatest[some];
    for (std::int64_t i = 0; i < count; i += some) {
        kernels.measure_boxes(box, lower + i, upper + i, stride, std::min(some, count - i), least + i, greatest);
    }
}

/// The largest number of type float that is not larger.
template <class T>
float rounded_down(T x) {
    const auto rounded = static_cast<float>(x);
    return rounded > x ? std::nextafter(rounded, 0.0F) : rounded;
}

/// A node at a distance, in the order of distance.
template <class T>
HWY_INLINE std::uint64_t distance_key(T distance, std::int32_t node) {
    return std::uint64_t{std::bit_cast<std::uint32_t>(rounded_down(distance))} << 32 | static_cast<std::uint32_t>(node);
}
inline float distance_of(std::uint64_t key) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(key >> 32));
}
inline std::int32_t node_of(std::uint64_t key) {
    return static_cast<std::int32_t>(key & 0xFFFFFFFFU);
}

template <class T>
class Connecting {

public:
    Connecting(const CellTree<T>& cells, CellGraph<T>& graph, ConnectScratch<T>& scratch)
        : tree_(cells), frame_(cells.tree.points.frame), graph_(graph), scratch_(scratch),
          boxes_(walk_kernels<T>(frame_.dimension, frame_.periodic)),
          kernels_(cell_kernels<T>(frame_.dimension, frame_.periodic)) {}

    void connect(std::int64_t group) {
        const Plane<T>& groups = tree_.groups();
        const std::int32_t first = groups.first_child[group];
        const std::int32_t last = groups.first_child[group + 1];
        AnyReceiver<T> box = hub_box(first);
        for (std::int32_t cell = first + 1; cell < last; ++cell) {
            for (int axis = 0; axis < frame_.dimension; ++axis) {
                box.lower[axis] = std::min(box.lower[axis], tree_.hub(cell, axis));
                box.upper[axis] = std::max(box.upper[axis], tree_.hub(cell, axis));
            }
        }
        scratch_.least.reserve(groups.nodes + padding);
        least_distances_to(boxes_, box, groups.lower(0), groups.upper(0), groups.stride, groups.nodes,
                           scratch_.least.data());
        scratch_.groups.clear();
        for (std::int64_t other = 0; other < groups.nodes; ++other) {
            scratch_.groups.push_back(distance_key(scratch_.least[other], static_cast<std::int32_t>(other)));
        }
        sorted_ = 0;
        for (std::int32_t cell = first; cell < last; ++cell) {
            connect_cell(cell);
        }
    }

private:
    [[nodiscard]] AnyReceiver<T> hub_box(std::int64_t cell) const {
        AnyReceiver<T> box{};
        for (int axis = 0; axis < frame_.dimension; ++axis) {
            box.lower[axis] = box.upper[axis] = tree_.hub(cell, axis);
            box.period[axis] = frame_.working_period[axis];
        }
        return box;
    }

    /// The i-th group in the order of distance, of which twice as many as before are sorted where they do not suffice.
    std::uint64_t group_at(std::size_t i) {
        constexpr std::size_t some = 48;
        if (i >= sorted_) {
            const std::size_t end = std::min(scratch_.groups.size(), std::max(some, 2 * sorted_));
            std::partial_sort(scratch_.groups.begin() + static_cast<std::ptrdiff_t>(sorted_),
                              scratch_.groups.begin() + static_cast<std::ptrdiff_t>(end), scratch_.groups.end());
            sorted_ = end;
        }
        return scratch_.groups[i];
    }

    void connect_cell(std::int32_t cell) {
        constexpr float infinity = std::numeric_limits<float>::infinity();
        const std::int64_t edges = graph_.edges;
        const std::int64_t weighed = cells_weighed(edges);
        const AnyReceiver<T> hub = hub_box(cell);
        auto& candidates = scratch_.candidates;
        candidates.clear();
        float limit = infinity; // squared: enough cells are within it
        for (std::size_t i = 0; i < scratch_.groups.size() && !(distance_of(group_at(i)) > limit); ++i) {
            add_cells(hub, node_of(group_at(i)), limit);
            if (std::ssize(candidates) > (limit == infinity ? weighed : 2 * weighed)) { // not for every few
                limit = keep_nearest(weighed);
            }
        }
        limit = std::ssize(candidates) > weighed ? keep_nearest(weighed) : infinity;
        candidates.resize(std::min(candidates.size(), static_cast<std::size_t>(weighed)));
        const PointSet<T>& points = tree_.tree.points;
        const Plane<T>& cells = tree_.cells();
        for (std::uint64_t& candidate : candidates) {
            const std::int32_t first = cells.first_point[node_of(candidate)];
            const T squared = kernels_
                                  .distances_to_range(hub.lower, hub.period, points.axis(0) + first, points.stride,
                                                      cells.first_point[node_of(candidate) + 1] - first)
                                  .least;
            candidate = distance_key(std::sqrt(squared), node_of(candidate));
        }
        std::sort(candidates.begin(), candidates.end());
        for (std::int64_t i = 0; i < edges; ++i) {
            graph_.weight[cell * edges + i] = distance_of(candidates[i]);
            graph_.target[cell * edges + i] = node_of(candidates[i]);
        }
        const float next = std::ssize(candidates) > edges ? distance_of(candidates[edges]) : infinity;
        graph_.horizon[cell] = std::min(next, rounded_down(std::sqrt(static_cast<T>(limit))));
    }

    /// Keeps some candidates and the next one, whose squared distance is returned.
    float keep_nearest(std::int64_t count) {
        const auto next = scratch_.candidates.begin() + count;
        std::nth_element(scratch_.candidates.begin(), next, scratch_.candidates.end());
        const float distance = distance_of(*next);
        scratch_.candidates.resize(static_cast<std::size_t>(count) + 1);
        return distance;
    }

    /// Adds the cells of a group within the limit.
    void add_cells(const AnyReceiver<T>& hub, std::int32_t group, float limit) {
        const Plane<T>& cells = tree_.cells();
        const std::int32_t first = tree_.groups().first_child[group];
        const std::int32_t count = tree_.groups().first_child[group + 1] - first;
        const T farthest = std::nextafter(limit, std::numeric_limits<float>::max());
        scratch_.least.reserve(count + padding);
        least_distances_to(boxes_, hub, cells.lower(0) + first, cells.upper(0) + first, cells.stride, count,
                           scratch_.least.data());
        for (std::int32_t i = 0; i < count; ++i) {
            if (scratch_.least[i] <= farthest) {
                scratch_.candidates.push_back(distance_key(scratch_.least[i], first + i));
            }
        }
    }

    static constexpr std::int64_t padding = 2 * 64 / sizeof(T);

    const CellTree<T>& tree_;
    const Frame<T>& frame_;
    CellGraph<T>& graph_;
    ConnectScratch<T>& scratch_;
    const WalkKernels<T>& boxes_;
    const CellKernels<T>& kernels_;
    std::size_t sorted_ = 0;
};

} // namespace kith::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
