// What searches of leaves need the dimension for at compile time: to gather points into a block, and to measure it.
//
// Searches are compiled once for all dimensions, and call these through pointers, once for many points. The kernels of
// every space are compiled in block_kernels.ipp, once for each type.

#include "geometry/distances-inl.hpp"

#include "neighbors/candidate.hpp"
#include "support/scratch_array.hpp"
#include "walk/receiver_walk.hpp"

#include <cstdint>
#include <type_traits>

#if defined(KITH_BLOCK_KERNELS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef KITH_BLOCK_KERNELS_INL_HPP
#undef KITH_BLOCK_KERNELS_INL_HPP
#else
#define KITH_BLOCK_KERNELS_INL_HPP
#endif

HWY_BEFORE_NAMESPACE();
namespace kith::detail::HWY_NAMESPACE {

/// Points axis after axis, and their original indices.
template <class T, class Index>
struct PointSource {
    const T* coordinates;
    std::int64_t stride;
    const Index* indices;
};

/// A block of points: axis after axis, followed by a whole vector of NaN on axis 0.
struct GatheredBlock {
    std::int64_t stride = 0;
    std::int64_t size = 0;
};

/// One query's squared distances to the points of a block, and the positions of those that survive a threshold.
template <class T>
struct Measured {
    T* distances;            ///< room for the block and a vector more
    std::int32_t* positions; ///< room for the block and eight more
    std::int64_t found;      ///< how many positions there are
};

/// Some queries, by their positions among points, and a squared radius for each.
template <class T>
struct BlockQueries {
    const T* coordinates; ///< of all points, axis after axis
    std::int64_t stride;
    const std::int32_t* positions;
    std::int64_t count;
    const T* period;
    T limit;                   ///< squared radius of all of them
    const T* limits = nullptr; ///< or else by position
};

template <class T>
struct BlockKernels {
    using LaneIndex = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
    template <class Index>
    using Gather = GatheredBlock (*)(const AnyReceiver<T>& box, const PointSource<T, Index>& origin,
                                     const IndexRange* ranges, std::int64_t range_count, const Candidate<T>& bound,
                                     ScratchArray<T>& block, ScratchArray<LaneIndex>& indices);
    /// Queries are numbered by their positions among points, whose coordinates lie axis after axis.
    using Measure = void (*)(const T* coordinates, std::int64_t coordinate_stride, const std::int64_t* positions,
                             const T* period, const T* block, std::int64_t stride, std::int64_t size, T threshold,
                             Measured<T>* measured);

    Gather<std::int32_t> gather;    ///< gather_near(), from points
    Gather<LaneIndex> gather_again; ///< from a gathered block
    Measure measure_one;            ///< measure_within()
    Measure measure_two;
    /// keep_within(), of points with original indices.
    std::int64_t (*keep)(const T* query, const T* period, const T* block, std::int64_t stride,
                         const std::int32_t* block_indices, std::int64_t size, T threshold, T* distances,
                         LaneIndex* indices);
    /// Adds to each query's count the points within its radius; stops soon after that is `enough`.
    void (*count_near)(const BlockQueries<T>& queries, const T* block, std::int64_t stride, std::int64_t size,
                       std::int64_t enough, std::int64_t* counts);
    /// The lowest of the numbers of the points within each query's radius, or `none`. Behind the block is NaN.
    void (*lowest_near)(const BlockQueries<T>& queries, const T* block, std::int64_t stride, std::int64_t size,
                        const LaneIndex* numbers, std::int32_t none, std::int32_t* lowest);
};

template <class T>
const BlockKernels<T>& block_kernels(int dimension, bool periodic);
template <>
const BlockKernels<float>& block_kernels<float>(int dimension, bool periodic);
template <>
const BlockKernels<double>& block_kernels<double>(int dimension, bool periodic);

} // namespace kith::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
