// One scalar type's searches of DBSCAN for every instruction set; compiled by CMake's kith_add_scalar_instances().
#include "groups/density.hpp"

#include <hwy/foreach_target.h> // must come before highway.h

#include "groups/border_policy-inl.hpp"
#include "groups/core_policy-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace kith::detail::HWY_NAMESPACE {

using CoreJobOf = CoreJob<KITH_SCALAR>;
using BorderJobOf = BorderJob<KITH_SCALAR>;
using ScratchOf = DensityScratch<KITH_SCALAR>;

void find_core_points_any(const CoreJobOf& job, std::int64_t node, ScratchOf& scratch) {
    walk_from<CorePolicy, KITH_SCALAR>(job, node, scratch);
}

void label_border_points_any(const BorderJobOf& job, std::int64_t node, ScratchOf& scratch) {
    walk_from<BorderPolicy, KITH_SCALAR>(job, node, scratch);
}

void compare_core_points_any(const CoreJobOf& job, std::int64_t begin, std::int64_t end, ScratchOf& scratch) {
    CoreLeaf<KITH_SCALAR> leaf(job, scratch);
    if (leaf.count_within(begin, end, job.min_samples) > 0) {
        const IndexRange others[] = {{0, static_cast<std::int32_t>(begin)},
                                     {static_cast<std::int32_t>(end), job.sources->points.count}};
        leaf.count_near(leaf.box_of_open(), others, 2);
    }
}

void compare_border_points_any(const BorderJobOf& job, std::int64_t begin, std::int64_t end, ScratchOf& scratch) {
    BorderLeaf<KITH_SCALAR> leaf(job, scratch);
    if (leaf.list(begin, end) > 0) {
        const IndexRange all{0, job.sources->points.count};
        leaf.label(leaf.box_of_listed(), &all, 1, no_cluster);
    }
}

} // namespace kith::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kith::detail {

HWY_EXPORT(find_core_points_any);
HWY_EXPORT(label_border_points_any);
HWY_EXPORT(compare_core_points_any);
HWY_EXPORT(compare_border_points_any);

void find_core_points(const CoreJob<KITH_SCALAR>& job, std::int64_t node, DensityScratch<KITH_SCALAR>& scratch) {
    HWY_DYNAMIC_DISPATCH(find_core_points_any)(job, node, scratch);
}

void label_border_points(const BorderJob<KITH_SCALAR>& job, std::int64_t node, DensityScratch<KITH_SCALAR>& scratch) {
    HWY_DYNAMIC_DISPATCH(label_border_points_any)(job, node, scratch);
}

void compare_core_points(const CoreJob<KITH_SCALAR>& job, std::int64_t begin, std::int64_t end,
                         DensityScratch<KITH_SCALAR>& scratch) {
    HWY_DYNAMIC_DISPATCH(compare_core_points_any)(job, begin, end, scratch);
}

void compare_border_points(const BorderJob<KITH_SCALAR>& job, std::int64_t begin, std::int64_t end,
                           DensityScratch<KITH_SCALAR>& scratch) {
    HWY_DYNAMIC_DISPATCH(compare_border_points_any)(job, begin, end, scratch);
}

} // namespace kith::detail
#endif
