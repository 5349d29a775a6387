// One scalar type's tree search for every instruction set; compiled by CMake's kith_add_scalar_instances().
#include "neighbors/search.hpp"

#include <hwy/foreach_target.h> // must come before highway.h

#include "neighbors/knn_policy-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace kith::detail::HWY_NAMESPACE {

void search_any(const SearchJob<KITH_SCALAR>& job, std::int64_t node, SearchScratch<KITH_SCALAR>& scratch) {
    walk_from<KnnPolicy, KITH_SCALAR>(job, node, scratch);
    if (job.sink->direct()) {
        hwy::FlushStream(); // rows that were written past the cache are seen by other threads from now on
    }
}

} // namespace kith::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kith::detail {

HWY_EXPORT(search_any);

void search_node(const SearchJob<KITH_SCALAR>& job, std::int64_t node, SearchScratch<KITH_SCALAR>& scratch) {
    HWY_DYNAMIC_DISPATCH(search_any)(job, node, scratch);
}

} // namespace kith::detail
#endif
