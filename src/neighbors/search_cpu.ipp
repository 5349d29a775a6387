// One scalar type's tree search for every instruction set; the including file names the type and itself.
#include "neighbors/search.hpp"

#include "support/dimension.hpp"

#include <hwy/foreach_target.h> // must come before highway.h

#include "neighbors/search-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace kith::detail::HWY_NAMESPACE {

template <int D>
void search_dimension(const SearchJob<KITH_SCALAR>& job, std::int64_t node, SearchScratch<KITH_SCALAR>& scratch) {
    if (job.sources->points.frame.periodic) {
        Searcher<KITH_SCALAR, D, true>(job, scratch).search(node);
    } else {
        Searcher<KITH_SCALAR, D, false>(job, scratch).search(node);
    }
}

void search_any(const SearchJob<KITH_SCALAR>& job, std::int64_t node, SearchScratch<KITH_SCALAR>& scratch) {
    with_dimension(job.sources->points.dimension(),
                   [&]<int D>(std::integral_constant<int, D>) { search_dimension<D>(job, node, scratch); });
}

} // namespace kith::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kith::detail {

HWY_EXPORT(search_any);

void search_top_node(const SearchJob<KITH_SCALAR>& job, std::int64_t node, SearchScratch<KITH_SCALAR>& scratch) {
    HWY_DYNAMIC_DISPATCH(search_any)(job, node, scratch);
}

} // namespace kith::detail
#endif
