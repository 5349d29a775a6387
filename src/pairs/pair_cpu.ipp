// One scalar type's pair counts for every instruction set; compiled by CMake's kith_add_scalar_instances().
#include "pairs/pair_job.hpp"

#include "support/dimension.hpp"

#include <hwy/foreach_target.h> // must come before highway.h

#include "pairs/pair_policy-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace kith::detail::HWY_NAMESPACE {

void count_pairs_of_node_any(const PairJob<KITH_SCALAR>& job, int plane, std::int64_t node,
                             PairScratch<KITH_SCALAR>& scratch) {
    with_space(job.dimension, job.periodic, [&]<int D, bool Periodic>() {
        using Policy = PairPolicy<KITH_SCALAR, D>;
        Policy policy(job, scratch);
        PairWalk<KITH_SCALAR, D, Periodic, Policy> walk(*job.first.tree, *job.second.tree, policy);
        if (job.within) {
            walk.within(plane, static_cast<std::int32_t>(node));
            walk.with_later(plane, static_cast<std::int32_t>(node));
        } else {
            walk.with_all(plane, static_cast<std::int32_t>(node));
        }
    });
}

} // namespace kith::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kith::detail {

HWY_EXPORT(count_pairs_of_node_any);

void count_pairs_of_node(const PairJob<KITH_SCALAR>& job, int plane, std::int64_t node,
                         PairScratch<KITH_SCALAR>& scratch) {
    HWY_DYNAMIC_DISPATCH(count_pairs_of_node_any)(job, plane, node, scratch);
}

} // namespace kith::detail
#endif
