// One scalar type's tree search for every instruction set; compiled by CMake's kith_add_scalar_instances().
#include "neighbors/search.hpp"

#include "support/dimension.hpp"

#include <hwy/foreach_target.h> // must come before highway.h

#include "neighbors/knn_policy-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace kith::detail::HWY_NAMESPACE {

void search_any(const SearchJob<KITH_SCALAR>& job, std::int64_t node, SearchScratch<KITH_SCALAR>& scratch) {
    with_space(job.dimension, job.periodic, [&]<int D, bool Periodic>() {
        using Policy = KnnPolicy<KITH_SCALAR, D, Periodic>;
        Policy policy(job, scratch);
        ReceiverWalk<KITH_SCALAR, D, Periodic, Policy>(*job.receivers, *job.sources, *job.schedule, scratch.walk,
                                                       policy)
            .walk(node);
        policy.publish();
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
