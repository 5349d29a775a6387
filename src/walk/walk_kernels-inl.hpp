// What walks need the dimension for at compile time: a box against boxes, a vector at a time.
//
// Walks and their policies are compiled once for all dimensions, and call these through pointers, once for many nodes.
// The kernels of every space are compiled in walk_kernels.ipp, once for each type.

#include "geometry/distances-inl.hpp"

#include "walk/receiver_walk.hpp"

#include <cstdint>
#include <limits>

#if defined(KITH_WALK_KERNELS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef KITH_WALK_KERNELS_INL_HPP
#undef KITH_WALK_KERNELS_INL_HPP
#else
#define KITH_WALK_KERNELS_INL_HPP
#endif

HWY_BEFORE_NAMESPACE();
namespace kith::detail::HWY_NAMESPACE {

template <class T>
class NearRanges;

template <class T>
struct WalkKernels {
    /// Squared distances between a box and boxes, or points, whose corners follow each other. Whole vectors are
    /// written.
    void (*measure_boxes)(const AnyReceiver<T>& box, const T* lower, const T* upper, std::int64_t stride,
                          std::int64_t count, T* least, T* greatest);
    /// Appends nodes of a plane to a list that has room for them and a vector more: those from first_child[parent] to
    /// first_child[parent + 1] for each parent, or the parents themselves if first_child is null. Returns the smallest
    /// of their greatest distances, or less.
    T(*append_nodes)
    (const AnyReceiver<T>& box, const PlaneView<T>& plane, const std::int32_t* parents, std::int64_t count,
     const std::int32_t* first_child, InteractionList<T>& list);
    /// NearRanges::list().
    std::int64_t (*list_near)(NearRanges<T>& ranges, const AnyReceiver<T>& box, T radius, std::int64_t most);
};

template <class T>
const WalkKernels<T>& walk_kernels(int dimension, bool periodic);
template <>
const WalkKernels<float>& walk_kernels<float>(int dimension, bool periodic);
template <>
const WalkKernels<double>& walk_kernels<double>(int dimension, bool periodic);

} // namespace kith::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
