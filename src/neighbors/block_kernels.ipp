// One scalar type's kernels of leaves for every instruction set; compiled by CMake's kith_add_scalar_instances().
#include "support/dimension.hpp"

#include <algorithm>

#include <hwy/foreach_target.h> // must come before highway.h

#include "neighbors/gather-inl.hpp"
#include "neighbors/survivors-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace kith::detail::HWY_NAMESPACE {

/// Coordinates are read here: numbers that the caller had stored one by one would make a vector of them wait.
template <bool Periodic, int D, int Queries, class T>
void measure_queries(const T* coordinates, std::int64_t coordinate_stride, const std::int64_t* positions,
                     const T* period, const T* block, std::int64_t stride, std::int64_t size, T threshold,
                     Measured<T>* measured) {
    T queries[Queries * D];
    for (int q = 0; q < Queries; ++q) {
        load_point<D>(coordinates + positions[q], coordinate_stride, queries + q * D);
    }
    measure_within<Periodic, D, Queries>(queries, period, block, stride, size, threshold, measured);
}

template <bool Periodic, int D, class T>
void count_near(const BlockQueries<T>& queries, const T* block, std::int64_t stride, std::int64_t size,
                std::int64_t enough, std::int64_t* counts) {
    const hn::ScalableTag<T> tag;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(tag));
    const BlockQueries<T> given = queries;
    T period[D];
    std::copy_n(given.period, D, period);
    for (std::int64_t query = 0; query < given.count; ++query) {
        T position[D];
        load_point<D>(given.coordinates + given.positions[query], given.stride, position);
        const auto limit = hn::Set(tag, given.limits != nullptr ? given.limits[given.positions[query]] : given.limit);
        std::int64_t found = counts[query];
        std::int64_t i = 0;
        for (; i + lanes <= size && found < enough; i += lanes) {
            const Columns<decltype(tag)> others{tag, block + i, stride};
            const auto distance = point_distances<Periodic, D>(tag, position, period, others, hn::Zero(tag));
            found += static_cast<std::int64_t>(hn::CountTrue(tag, hn::Le(distance, limit)));
        }
        if (i < size && found < enough) {
            const Columns<decltype(tag)> others{tag, block + i, stride};
            const auto distance = point_distances<Periodic, D>(tag, position, period, others, hn::Zero(tag));
            found += static_cast<std::int64_t>(
                hn::CountTrue(tag, hn::And(hn::Le(distance, limit), hn::FirstN(tag, size - i))));
        }
        counts[query] = found;
    }
}

template <bool Periodic, int D, class T, class LaneIndex>
void lowest_near(const BlockQueries<T>& queries, const T* block, std::int64_t stride, std::int64_t size,
                 const LaneIndex* numbers, std::int32_t none, std::int32_t* lowest) {
    const hn::ScalableTag<T> tag;
    const hn::Rebind<LaneIndex, decltype(tag)> number_tag;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(tag));
    const BlockQueries<T> given = queries;
    const auto limit = hn::Set(tag, given.limit);
    const auto above_all = hn::Set(number_tag, LaneIndex{none});
    T period[D];
    std::copy_n(given.period, D, period);
    for (std::int64_t query = 0; query < given.count; ++query) {
        T position[D];
        load_point<D>(given.coordinates + given.positions[query], given.stride, position);
        auto least = above_all;
        for (std::int64_t i = 0; i < size; i += lanes) {
            const Columns<decltype(tag)> others{tag, block + i, stride};
            const auto distance = point_distances<Periodic, D>(tag, position, period, others, hn::Zero(tag));
            const auto near = hn::RebindMask(number_tag, hn::Le(distance, limit));
            least = hn::Min(least, hn::IfThenElse(near, hn::LoadU(number_tag, numbers + i), above_all));
        }
        HWY_ALIGN LaneIndex by_lane[hn::MaxLanes(hn::ScalableTag<T>())];
        hn::Store(least, number_tag, by_lane);
        lowest[query] = static_cast<std::int32_t>(*std::min_element(by_lane, by_lane + lanes));
    }
}

template <>
const BlockKernels<KITH_SCALAR>& block_kernels<KITH_SCALAR>(int dimension, bool periodic) {
    using T = KITH_SCALAR;
    using LaneIndex = BlockKernels<T>::LaneIndex;
    const BlockKernels<T>* kernels = nullptr;
    with_space(dimension, periodic, [&]<int D, bool Periodic>() {
        static constexpr BlockKernels<T> of_space{&gather_near<Periodic, D, T, std::int32_t, LaneIndex>,
                                                  &gather_near<Periodic, D, T, LaneIndex, LaneIndex>,
                                                  &measure_queries<Periodic, D, 1, T>,
                                                  &measure_queries<Periodic, D, 2, T>,
                                                  &keep_within<Periodic, D, T, LaneIndex, std::int32_t>,
                                                  &count_near<Periodic, D, T>,
                                                  &lowest_near<Periodic, D, T, LaneIndex>};
        kernels = &of_space;
    });
    return *kernels;
}

} // namespace kith::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
