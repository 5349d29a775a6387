// The edges of the cells of a group: the cells whose boxes are nearest to each hub, with exact weights.
//
// Groups are gone through by their distance from the box of the group's hubs, until none can hold a cell that is nearer
// than those found. Somewhat more cells than there are edges are weighed, and the lightest kept. The horizon is the
// next weight, or the distance to the box of the next cell if that is smaller: no point of a cell that is left out is
// nearer, since bounds of boxes need no slack (geometry/distances-inl.hpp). Lists are sorted as whole numbers: a
// distance rounded down to float32, whose bits are in its order, above the cell's number.

#include "engines/clover/assign-inl.hpp"

#include "engines/clover/kernels.hpp"

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

/// Squared distances from a box to the boxes of consecutive nodes. Whole vectors are written.
template <bool Periodic, int D, class T>
HWY_INLINE void distances_to_nodes(const Receiver<T, D>& box, const Plane<T>& plane, std::int64_t first,
                                   std::int64_t count, T* least) {
    const hn::ScalableTag<T> tag;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(tag));
    for (std::int64_t i = 0; i < count; i += lanes) {
        const Columns<decltype(tag)> lower{tag, plane.lower(0) + first + i, plane.stride};
        const Columns<decltype(tag)> upper{tag, plane.upper(0) + first + i, plane.stride};
        hn::StoreU(least_distances<Periodic, D>(tag, box, lower, upper), tag, least + i);
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

template <class T, int D, bool Periodic>
class Connecting {

public:
    Connecting(const CellTree<T>& cells, CellGraph<T>& graph, ConnectScratch<T>& scratch)
        : tree_(cells), graph_(graph), scratch_(scratch) {
        std::copy_n(cells.tree.points.frame.working_period.data(), D, period_);
    }

    void connect(std::int64_t group) {
        const Plane<T>& groups = tree_.groups();
        const std::int32_t first = groups.first_child[group];
        const std::int32_t last = groups.first_child[group + 1];
        Receiver<T, D> box = hub_box(first);
        for (std::int32_t cell = first + 1; cell < last; ++cell) {
            for (int axis = 0; axis < D; ++axis) {
                box.lower[axis] = std::min(box.lower[axis], tree_.hub(cell, axis));
                box.upper[axis] = std::max(box.upper[axis], tree_.hub(cell, axis));
            }
        }
        constexpr std::int64_t padding = 2 * 64 / sizeof(T);
        scratch_.least.reserve(groups.nodes + padding);
        distances_to_nodes<Periodic, D>(box, groups, 0, groups.nodes, scratch_.least.data());
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
    [[nodiscard]] Receiver<T, D> hub_box(std::int64_t cell) const {
        Receiver<T, D> box;
        for (int axis = 0; axis < D; ++axis) {
            box.lower[axis] = box.upper[axis] = tree_.hub(cell, axis);
            box.period[axis] = period_[axis];
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
        const std::int64_t weighed = edges + edges / 4;
        const Receiver<T, D> hub = hub_box(cell);
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
            const T squared = least_distance<Periodic, D>(hub.lower, period_, points.axis(0) + first, points.stride,
                                                          cells.first_point[node_of(candidate) + 1] - first);
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
    void add_cells(const Receiver<T, D>& hub, std::int32_t group, float limit) {
        const hn::ScalableTag<T> tag;
        const auto lanes = static_cast<std::int64_t>(hn::Lanes(tag));
        const Plane<T>& cells = tree_.cells();
        const std::int32_t last = tree_.groups().first_child[group + 1];
        const auto farthest = hn::Set(tag, static_cast<T>(std::nextafter(limit, std::numeric_limits<float>::max())));
        HWY_ALIGN T least[hn::MaxLanes(hn::ScalableTag<T>())];
        for (std::int32_t i = tree_.groups().first_child[group]; i < last; i += static_cast<std::int32_t>(lanes)) {
            const Columns<decltype(tag)> lower{tag, cells.lower(0) + i, cells.stride};
            const Columns<decltype(tag)> upper{tag, cells.upper(0) + i, cells.stride};
            const auto distance = least_distances<Periodic, D>(tag, hub, lower, upper);
            const auto near = hn::And(hn::Le(distance, farthest), hn::FirstN(tag, last - i));
            hn::Store(distance, tag, least);
            for (unsigned bits = mask_bits(tag, near); bits != 0; bits &= bits - 1) {
                const int lane = std::countr_zero(bits);
                scratch_.candidates.push_back(distance_key(least[lane], i + lane));
            }
        }
    }

    const CellTree<T>& tree_;
    CellGraph<T>& graph_;
    ConnectScratch<T>& scratch_;
    T period_[D];
    std::size_t sorted_ = 0;
};

} // namespace kith::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
