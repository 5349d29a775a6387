// One scalar type's kernels of walks for every instruction set; compiled by CMake's kith_add_scalar_instances().
#include "support/dimension.hpp"

#include <hwy/foreach_target.h> // must come before highway.h

#include "walk/near_ranges-inl.hpp"
#include "walk/walk_kernels-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace kith::detail::HWY_NAMESPACE {

template <bool Periodic, int D, class T>
void measure_boxes(const AnyReceiver<T>& given, const T* lower_corners, const T* upper_corners, std::int64_t stride,
                   std::int64_t count, T* least, T* greatest) {
    const hn::ScalableTag<T> tag;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(tag));
    const Receiver<T, D> box = in_space<D>(given);
    for (std::int64_t i = 0; i < count; i += lanes) {
        const Columns<decltype(tag)> lower{tag, lower_corners + i, stride};
        const Columns<decltype(tag)> upper{tag, upper_corners + i, stride};
        const auto bounds = box_distances<Periodic, D>(tag, box, lower, upper,
                                                       Bounds<hn::Vec<decltype(tag)>>{hn::Zero(tag), hn::Zero(tag)});
        hn::StoreU(bounds.least, tag, least + i);
        hn::StoreU(bounds.greatest, tag, greatest + i);
    }
}

template <bool Periodic, int D, class T>
T append_nodes(const AnyReceiver<T>& given, const PlaneView<T>& plane, const std::int32_t* parents, std::int64_t count,
               const std::int32_t* first_child, InteractionList<T>& list) {
    const hn::ScalableTag<T> tag;
    const hn::Rebind<std::int32_t, decltype(tag)> node_tag;
    const auto lanes = static_cast<std::int32_t>(hn::Lanes(tag));
    const Receiver<T, D> box = in_space<D>(given);
    auto smallest = hn::Set(tag, std::numeric_limits<T>::infinity());
    std::int32_t* nodes = list.nodes.data() + list.size;
    T* least = list.least.data() + list.size;
    T* greatest = list.greatest.data() + list.size;
    for (std::int64_t parent = 0; parent < count; ++parent) {
        const std::int32_t first = first_child != nullptr ? first_child[parents[parent]] : parents[parent];
        const std::int32_t last = first_child != nullptr ? first_child[parents[parent] + 1] : first + 1;
        for (std::int32_t i = first; i < last; i += lanes) {
            const Columns<decltype(tag)> lower{tag, plane.lower_corners + i, plane.stride};
            const Columns<decltype(tag)> upper{tag, plane.upper_corners + i, plane.stride};
            const auto bounds = box_distances<Periodic, D>(
                tag, box, lower, upper, Bounds<hn::Vec<decltype(tag)>>{hn::Zero(tag), hn::Zero(tag)});
            hn::StoreU(bounds.least, tag, least + (i - first));
            hn::StoreU(bounds.greatest, tag, greatest + (i - first));
            hn::StoreU(numbers_from(node_tag, i), node_tag, nodes + (i - first));
            // What is no number, behind the last node, is no smaller.
            smallest = hn::IfThenElse(hn::Lt(bounds.greatest, smallest), bounds.greatest, smallest);
        }
        nodes += last - first;
        least += last - first;
        greatest += last - first;
    }
    list.size = nodes - list.nodes.data();
    return hn::GetLane(hn::MinOfLanes(tag, smallest));
}

template <>
const WalkKernels<KITH_SCALAR>& walk_kernels<KITH_SCALAR>(int dimension, bool periodic) {
    const WalkKernels<KITH_SCALAR>* kernels = nullptr;
    with_space(dimension, periodic, [&]<int D, bool Periodic>() {
        using T = KITH_SCALAR;
        static constexpr WalkKernels<T> of_space{&measure_boxes<Periodic, D, T>, &append_nodes<Periodic, D, T>,
                                                 &NearRanges<T>::template list_in_space<Periodic, D>};
        kernels = &of_space;
    });
    return *kernels;
}

} // namespace kith::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
