// One scalar type's linking for every instruction set; compiled by CMake's kith_add_scalar_instances().
#include "groups/link.hpp"

#include "support/dimension.hpp"

#include <hwy/foreach_target.h> // must come before highway.h

#include "groups/fof_policy-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace kith::detail::HWY_NAMESPACE {

template <int D, bool Periodic>
using FofWalk = PairWalk<KITH_SCALAR, D, Periodic, FofPolicy<KITH_SCALAR, D>>;

void link_within_any(const LinkJob<KITH_SCALAR>& job, int plane, std::int64_t node) {
    with_space(job.dimension, job.periodic, [&]<int D, bool Periodic>() {
        FofPolicy<KITH_SCALAR, D> policy(job);
        FofWalk<D, Periodic>(*job.tree, policy).within(plane, static_cast<std::int32_t>(node));
    });
}

void link_with_later_any(const LinkJob<KITH_SCALAR>& job, int plane, std::int64_t node) {
    with_space(job.dimension, job.periodic, [&]<int D, bool Periodic>() {
        FofPolicy<KITH_SCALAR, D> policy(job);
        FofWalk<D, Periodic>(*job.tree, policy).with_later(plane, static_cast<std::int32_t>(node));
    });
}

void link_tiles_any(const LinkJob<KITH_SCALAR>& job, std::int64_t begin, std::int64_t end, std::int64_t other_begin,
                    std::int64_t other_end) {
    with_space(job.dimension, job.periodic, [&]<int D, bool Periodic>() {
        const FofPolicy<KITH_SCALAR, D> policy(job);
        for (std::int64_t i = begin; i < end; ++i) {
            const std::int64_t first = begin == other_begin ? i + 1 : other_begin;
            policy.template link_point<Periodic>(static_cast<std::int32_t>(i), first, other_end, false);
        }
    });
}

} // namespace kith::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kith::detail {

HWY_EXPORT(link_within_any);
HWY_EXPORT(link_with_later_any);
HWY_EXPORT(link_tiles_any);

void link_within_node(const LinkJob<KITH_SCALAR>& job, int plane, std::int64_t node) {
    HWY_DYNAMIC_DISPATCH(link_within_any)(job, plane, node);
}

void link_with_later_nodes(const LinkJob<KITH_SCALAR>& job, int plane, std::int64_t node) {
    HWY_DYNAMIC_DISPATCH(link_with_later_any)(job, plane, node);
}

void link_tiles(const LinkJob<KITH_SCALAR>& job, std::int64_t begin, std::int64_t end, std::int64_t other_begin,
                std::int64_t other_end) {
    HWY_DYNAMIC_DISPATCH(link_tiles_any)(job, begin, end, other_begin, other_end);
}

} // namespace kith::detail
#endif
