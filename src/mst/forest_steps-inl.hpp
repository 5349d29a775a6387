// The steps of Boruvka's rounds that measure distances (forest.hpp): the rows of points are read on to the next point
// of another component, and each component takes the least of the edges that its points then know.
//
// Threads work on runs of points side by side. A component's least edge and bounds are lowered by atomic exchanges in
// the order of edges, which is total: answers do not depend on who was first. Where edges are weighed by core
// distances, weights stand for distances. Cost: O(1) for each point and step of its row.

#include "mst/forest.hpp"
#include "support/simd-inl.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#if defined(KITH_FOREST_STEPS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef KITH_FOREST_STEPS_INL_HPP
#undef KITH_FOREST_STEPS_INL_HPP
#else
#define KITH_FOREST_STEPS_INL_HPP
#endif

HWY_BEFORE_NAMESPACE();
namespace kith::detail::HWY_NAMESPACE {

template <class T>
HWY_INLINE void lower(T& shared, T value) {
    const std::atomic_ref<T> least(shared);
    T seen = least.load(std::memory_order_relaxed);
    while (value < seen && !least.compare_exchange_weak(seen, value, std::memory_order_relaxed)) {
    }
}

template <class T, class Weight>
T squared_distance(const Forest<T, Weight>& forest, std::int64_t point, std::int64_t other) {
    const TreeView<T>& tree = *forest.tree;
    T sum = 0;
    for (int axis = 0; axis < forest.dimension; ++axis) {
        const T* x = tree.points.axis(axis);
        T t = std::abs(x[point] - x[other]);
        t = std::min(t, tree.period[axis] - t); // infinity on open axes
        sum = axis == 0 ? t * t : std::fma(t, t, sum);
    }
    return sum;
}

template <class T, class Weight>
HWY_INLINE T weight_between(const Forest<T, Weight>& forest, std::int32_t point, std::int32_t other) {
    return forest.weigh(point, other, squared_distance(forest, point, other));
}

/// Whether the next neighbor of a point makes an edge that comes before that of another point.
template <class T, class Weight>
HWY_INLINE bool comes_before(const Forest<T, Weight>& forest, std::int32_t point, std::int32_t other) {
    if (forest.distance[point] != forest.distance[other]) {
        return forest.distance[point] < forest.distance[other];
    }
    if constexpr (!Weight::is_distance) {
        const T length = squared_distance(forest, point, forest.neighbor(point));
        const T other_length = squared_distance(forest, other, forest.neighbor(other));
        if (length != other_length) {
            return length < other_length;
        }
    }
    const std::int32_t* index = forest.tree->points.indices;
    const auto [smaller, larger] = std::minmax(index[point], index[forest.neighbor(point)]);
    const auto [other_smaller, other_larger] = std::minmax(index[other], index[forest.neighbor(other)]);
    return smaller < other_smaller || (smaller == other_smaller && larger < other_larger);
}

/// Offers the next neighbor of a point to its component.
template <class T, class Weight>
HWY_INLINE void offer(const Forest<T, Weight>& forest, std::int32_t component, std::int32_t point) {
    const std::atomic_ref<std::int32_t> best(forest.best[component]);
    std::int32_t seen = best.load(std::memory_order_acquire);
    while ((seen < 0 || comes_before(forest, point, seen)) &&
           !best.compare_exchange_weak(seen, point, std::memory_order_acq_rel, std::memory_order_acquire)) {
    }
}

/// Points of one component follow each other mostly: what is known of a run of them is brought there at once.
template <class T, class Weight>
class RunOfComponent {
public:
    explicit RunOfComponent(const Forest<T, Weight>& forest) : forest_(forest) {}

    HWY_INLINE void add(std::int32_t component, std::int32_t point) {
        if (component != component_) {
            finish();
            component_ = component;
        }
        if (forest_.next[point] == row_length) {
            unseen_ = std::min(unseen_, forest_.distance[point]);
        } else if (best_ < 0 || comes_before(forest_, point, best_)) {
            best_ = point;
        }
    }
    HWY_INLINE void finish() {
        if (unseen_ < std::numeric_limits<T>::infinity()) {
            lower(forest_.unseen[component_], unseen_);
        }
        if (best_ >= 0) {
            offer(forest_, component_, best_);
        }
        unseen_ = std::numeric_limits<T>::infinity();
        best_ = -1;
    }

private:
    const Forest<T, Weight>& forest_;
    std::int32_t component_ = -1;
    std::int32_t best_ = -1;
    T unseen_ = std::numeric_limits<T>::infinity();
};

/// The first position of a row that holds no point of the component; row_length if there is none.
HWY_INLINE int first_foreign(const std::int32_t* row, const std::int32_t* component_of, std::int32_t component) {
    const hn::CappedTag<std::int32_t, 8> tag;
    constexpr int lanes = static_cast<int>(hn::MaxLanes(hn::CappedTag<std::int32_t, 8>()));
    static_assert(row_length <= 8); // behind the last row a vector can be read
    unsigned foreign = 1U << row_length;
    for (int i = 0; i < row_length; i += lanes) {
        const auto in_row = hn::FirstN(tag, row_length - i);
        const auto points = hn::IfThenElseZero(in_row, hn::LoadU(tag, row + i));
        const auto missing = hn::Lt(points, hn::Zero(tag));
        const auto components = hn::GatherIndex(tag, component_of, hn::Max(points, hn::Zero(tag)));
        const auto other = hn::Or(hn::Ne(components, hn::Set(tag, component)), missing);
        foreign |= mask_bits(tag, hn::And(other, in_row)) << i;
    }
    return std::countr_zero(foreign);
}

/// Reads on the row of a point, whose next neighbor has joined its component, to the place `next`, row_length if there
/// is no other.
template <class T, class Weight>
HWY_INLINE void read_on(const Forest<T, Weight>& forest, std::int32_t point, int next) {
    const std::int32_t* row = forest.rows + std::int64_t{point} * row_length;
    T distance = std::numeric_limits<T>::infinity(); // the row holds all points
    if constexpr (Weight::is_distance) {
        const std::int32_t last = row[std::min(next, row_length - 1)];
        if (last >= 0) {
            distance = squared_distance(forest, point, last);
        } else {
            next = row_length;
        }
    } else {
        distance = next < row_length ? weight_between(forest, point, row[next])
                                     : std::max(forest.distance[point], forest.weigh.frontier[point]);
    }
    forest.next[point] = static_cast<std::uint8_t>(next);
    forest.distance[point] = distance;
}

template <class T, class Weight>
void read_rows_of(const Forest<T, Weight>& forest, std::int64_t begin, std::int64_t end) {
    RunOfComponent<T, Weight> run(forest);
    for (auto point = static_cast<std::int32_t>(begin); point < end; ++point) {
        const int before = forest.next[point];
        if (before == is_duplicate) {
            continue;
        }
        const std::int32_t component = forest.component[point];
        if (before < row_length) {
            const std::int32_t* row = forest.rows + std::int64_t{point} * row_length;
            const int next = first_foreign(row, forest.component, component);
            if (next != before || row[next] < 0) {
                read_on(forest, point, next);
            }
        }
        run.add(component, point);
    }
    run.finish();
}

template <class T, class Weight>
void bound_by_order_of(const Forest<T, Weight>& forest, std::int64_t begin, std::int64_t end) {
    for (auto point = static_cast<std::int32_t>(begin); point < end; ++point) {
        const std::int32_t component = forest.component[point];
        const std::int32_t other = forest.component[point + 1];
        if (component != other) {
            const T weight = weight_between(forest, point, point + 1);
            lower(forest.bound[component], weight);
            lower(forest.bound[other], weight);
        }
    }
}

} // namespace kith::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
