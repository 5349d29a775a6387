// One scalar type's rounds for every instruction set; compiled by CMake's kith_add_scalar_instances().
#include "mst/forest.hpp"

#include <hwy/foreach_target.h> // must come before highway.h

#include "mst/forest_policy-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace kith::detail::HWY_NAMESPACE {

template <class T>
using DistancePolicy = ForestPolicy<T, DistanceWeight<T>>;

void read_rows_any(const Forest<KITH_SCALAR>& forest, std::int64_t begin, std::int64_t end) {
    read_rows_of(forest, begin, end);
}

void bound_by_order_any(const Forest<KITH_SCALAR>& forest, std::int64_t begin, std::int64_t end) {
    bound_by_order_of(forest, begin, end);
}

void search_forest_any(const ForestSearch<KITH_SCALAR>& search, std::int64_t node,
                       ForestScratch<KITH_SCALAR>& scratch) {
    walk_from<DistancePolicy, KITH_SCALAR>(search, node, scratch);
}

} // namespace kith::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kith::detail {

HWY_EXPORT(read_rows_any);
HWY_EXPORT(bound_by_order_any);
HWY_EXPORT(search_forest_any);

using Distance = DistanceWeight<KITH_SCALAR>;

template <>
void ForestSteps<KITH_SCALAR, Distance>::read_rows(const Forest<KITH_SCALAR>& forest, std::int64_t begin,
                                                   std::int64_t end) {
    HWY_DYNAMIC_DISPATCH(read_rows_any)(forest, begin, end);
}

template <>
void ForestSteps<KITH_SCALAR, Distance>::bound_by_order(const Forest<KITH_SCALAR>& forest, std::int64_t begin,
                                                        std::int64_t end) {
    HWY_DYNAMIC_DISPATCH(bound_by_order_any)(forest, begin, end);
}

template <>
void ForestSteps<KITH_SCALAR, Distance>::search(const ForestSearch<KITH_SCALAR>& search, std::int64_t node,
                                                ForestScratch<KITH_SCALAR>& scratch) {
    HWY_DYNAMIC_DISPATCH(search_forest_any)(search, node, scratch);
}

} // namespace kith::detail
#endif
