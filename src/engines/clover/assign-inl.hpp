// The nearest hub of many points: a vector of points against one hub after another.

#include "geometry/distances-inl.hpp"

#include "engines/clover/kernels.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

#if defined(KITH_CLOVER_ASSIGN_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef KITH_CLOVER_ASSIGN_INL_HPP
#undef KITH_CLOVER_ASSIGN_INL_HPP
#else
#define KITH_CLOVER_ASSIGN_INL_HPP
#endif

HWY_BEFORE_NAMESPACE();
namespace kith::detail::HWY_NAMESPACE {

template <bool Periodic, int D, class T>
HWY_NOINLINE void assign_points(const AssignJob<T>& job) {
    const hn::ScalableTag<T> tag;
    const hn::Rebind<typename AssignJob<T>::LaneIndex, decltype(tag)> index_tag;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(tag));
    T period[D];
    std::copy_n(job.period, D, period);
    // What follows the last point belongs to other tasks, so the last vectors are read from a copy.
    T last[D * 2 * hn::MaxLanes(tag)] = {};
    for (std::int64_t i = 0; i < job.count; i += 2 * lanes) { // two vectors, so that neither waits for itself
        const T* coordinates = job.coordinates + i;
        std::int64_t stride = job.stride;
        if (job.count - i < 2 * lanes) {
            for (int axis = 0; axis < D; ++axis) {
                std::copy_n(coordinates + axis * stride, job.count - i, last + axis * 2 * lanes);
            }
            coordinates = last;
            stride = 2 * lanes;
        }
        const Columns<decltype(tag)> first{tag, coordinates, stride};
        const Columns<decltype(tag)> second{tag, coordinates + lanes, stride};
        auto least_first = hn::Set(tag, std::numeric_limits<T>::infinity());
        auto least_second = least_first;
        auto nearest_first = hn::Zero(index_tag);
        auto nearest_second = nearest_first;
        for (std::int64_t hub = 0; hub < job.hub_count; ++hub) {
            T position[D];
            for (int axis = 0; axis < D; ++axis) {
                position[axis] = job.hubs[axis * job.hub_stride + hub];
            }
            const auto number = hn::Set(index_tag, static_cast<typename AssignJob<T>::LaneIndex>(hub));
            const auto d_first = point_distances<Periodic, D>(tag, position, period, first, hn::Zero(tag));
            const auto d_second = point_distances<Periodic, D>(tag, position, period, second, hn::Zero(tag));
            const auto nearer_first = hn::Lt(d_first, least_first);
            const auto nearer_second = hn::Lt(d_second, least_second);
            least_first = hn::IfThenElse(nearer_first, d_first, least_first);
            least_second = hn::IfThenElse(nearer_second, d_second, least_second);
            nearest_first = hn::IfThenElse(hn::RebindMask(index_tag, nearer_first), number, nearest_first);
            nearest_second = hn::IfThenElse(hn::RebindMask(index_tag, nearer_second), number, nearest_second);
        }
        hn::StoreU(least_first, tag, job.squared + i);
        hn::StoreU(nearest_first, index_tag, job.nearest + i);
        hn::StoreU(least_second, tag, job.squared + i + lanes);
        hn::StoreU(nearest_second, index_tag, job.nearest + i + lanes);
    }
}

/// The least and the greatest squared distance from a point to those of a range.
template <bool Periodic, int D, class T>
Bounds<T> distances_to_range(const T* point, const T* period, const T* coordinates, std::int64_t stride,
                             std::int64_t count) {
    const hn::ScalableTag<T> tag;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(tag));
    const auto none = hn::Set(tag, std::numeric_limits<T>::infinity());
    auto least = none;
    auto greatest = hn::Zero(tag);
    for (std::int64_t i = 0; i < count; i += lanes) {
        const Columns<decltype(tag)> others{tag, coordinates + i, stride};
        const auto distance = point_distances<Periodic, D>(tag, point, period, others, hn::Zero(tag));
        const auto counts = hn::FirstN(tag, count - i);
        least = hn::Min(least, hn::IfThenElse(counts, distance, none));
        greatest = hn::Max(greatest, hn::IfThenElseZero(counts, distance));
    }
    return {hn::GetLane(hn::MinOfLanes(tag, least)), hn::GetLane(hn::MaxOfLanes(tag, greatest))};
}

/// What building a graph and searching it needs the dimension for at compile time, beside the kernels of walks.
template <class T>
struct CellKernels {
    void (*assign)(const AssignJob<T>& job);
    Bounds<T> (*distances_to_range)(const T* point, const T* period, const T* coordinates, std::int64_t stride,
                                    std::int64_t count);
};

template <class T>
const CellKernels<T>& cell_kernels(int dimension, bool periodic) {
    const CellKernels<T>* kernels = nullptr;
    with_space(dimension, periodic, [&]<int D, bool Periodic>() {
        static constexpr CellKernels<T> of_space{&assign_points<Periodic, D, T>, &distances_to_range<Periodic, D, T>};
        kernels = &of_space;
    });
    return *kernels;
}

} // namespace kith::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
