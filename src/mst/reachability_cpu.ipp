// One scalar type's rounds with mutual reachability distances for every instruction set; compiled by CMake's
// kith_add_scalar_instances().
#include "mst/forest.hpp"

#include <hwy/foreach_target.h> // must come before highway.h

#include "mst/forest_policy-inl.hpp"
#include "mst/reachability-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace kith::detail::HWY_NAMESPACE {

template <class T>
using ReachabilityPolicy = ForestPolicy<T, ReachabilityWeight<T>>;

using Weight = ReachabilityWeight<KITH_SCALAR>;

void read_weighed_rows_any(const Forest<KITH_SCALAR, Weight>& forest, std::int64_t begin, std::int64_t end) {
    read_rows_of(forest, begin, end);
}

void bound_by_order_any(const Forest<KITH_SCALAR, Weight>& forest, std::int64_t begin, std::int64_t end) {
    bound_by_order_of(forest, begin, end);
}

void search_weighed_any(const ForestSearch<KITH_SCALAR, Weight>& search, std::int64_t node,
                        ForestScratch<KITH_SCALAR>& scratch) {
    walk_from<ReachabilityPolicy, KITH_SCALAR>(search, node, scratch);
}

void weigh_rows_any(const Forest<KITH_SCALAR, Weight>& forest, std::int64_t begin, std::int64_t end) {
    weigh_rows_of(forest, begin, end);
}

void measure_edges_any(const Forest<KITH_SCALAR, Weight>& forest, WeighedEdge<KITH_SCALAR>* edges, std::int64_t begin,
                       std::int64_t end) {
    measure_edges_of(forest, edges, begin, end);
}

} // namespace kith::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kith::detail {

HWY_EXPORT(read_weighed_rows_any);
HWY_EXPORT(bound_by_order_any);
HWY_EXPORT(search_weighed_any);
HWY_EXPORT(weigh_rows_any);
HWY_EXPORT(measure_edges_any);

using Weight = ReachabilityWeight<KITH_SCALAR>;

template <>
void ForestSteps<KITH_SCALAR, Weight>::read_rows(const Forest<KITH_SCALAR, Weight>& forest, std::int64_t begin,
                                                 std::int64_t end) {
    HWY_DYNAMIC_DISPATCH(read_weighed_rows_any)(forest, begin, end);
}

template <>
void ForestSteps<KITH_SCALAR, Weight>::bound_by_order(const Forest<KITH_SCALAR, Weight>& forest, std::int64_t begin,
                                                      std::int64_t end) {
    HWY_DYNAMIC_DISPATCH(bound_by_order_any)(forest, begin, end);
}

template <>
void ForestSteps<KITH_SCALAR, Weight>::search(const ForestSearch<KITH_SCALAR, Weight>& search, std::int64_t node,
                                              ForestScratch<KITH_SCALAR>& scratch) {
    HWY_DYNAMIC_DISPATCH(search_weighed_any)(search, node, scratch);
}

void weigh_rows(const Forest<KITH_SCALAR, Weight>& forest, std::int64_t begin, std::int64_t end) {
    HWY_DYNAMIC_DISPATCH(weigh_rows_any)(forest, begin, end);
}

void measure_edges(const Forest<KITH_SCALAR, Weight>& forest, WeighedEdge<KITH_SCALAR>* edges, std::int64_t begin,
                   std::int64_t end) {
    HWY_DYNAMIC_DISPATCH(measure_edges_any)(forest, edges, begin, end);
}

} // namespace kith::detail
#endif
