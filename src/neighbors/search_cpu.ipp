// One scalar type's tree search for every instruction set; the including file names the type and itself.
#include "neighbors/search.hpp"

#include "support/dimension.hpp"

#include <hwy/foreach_target.h> // must come before highway.h

#include "neighbors/knn_policy-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace kith::detail::HWY_NAMESPACE {

template <int D, bool Periodic>
void walk_from(const SearchJob<KITH_SCALAR>& job, std::int64_t node, SearchScratch<KITH_SCALAR>& scratch) {
    KnnPolicy<KITH_SCALAR, D, Periodic> policy(job, scratch);
    ReceiverWalk<KITH_SCALAR, D, Periodic, KnnPolicy<KITH_SCALAR, D, Periodic>>(*job.receivers, *job.sources,
                                                                                *job.schedule, scratch.walk, policy)
        .walk(node);
    policy.publish();
}

void search_any(const SearchJob<KITH_SCALAR>& job, std::int64_t node, SearchScratch<KITH_SCALAR>& scratch) {
    with_dimension(job.dimension, [&]<int D>(std::integral_constant<int, D>) {
        job.periodic ? walk_from<D, true>(job, node, scratch) : walk_from<D, false>(job, node, scratch);
    });
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
