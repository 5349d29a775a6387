// One scalar type's radius search for every instruction set; compiled by CMake's kith_add_scalar_instances().
#include "neighbors/radius.hpp"

#include "support/dimension.hpp"
#include "support/parallel.hpp"

#ifndef KITH_RADIUS_VISIT_BLOCK
#define KITH_RADIUS_VISIT_BLOCK
namespace kith::detail {

/// Passes the rows in the scratch to the visitor.
inline void visit_block(const RadiusJob<KITH_SCALAR>& job, std::int64_t first, std::int64_t rows,
                        RadiusScratch<KITH_SCALAR>& scratch) {
    RadiusBlock block;
    block.query_indices = {job.receivers->points.indices + first, static_cast<std::size_t>(rows)};
    block.offsets = {scratch.row_offsets.data(), static_cast<std::size_t>(rows + 1)};
    block.indices = {scratch.row_indices.data(), static_cast<std::size_t>(scratch.row_offsets[rows])};
    block.dtype = dtype_of<KITH_SCALAR>;
    block.distances_data = scratch.row_distances.data();
    isolated([&] { (*job.sink.visitor)(block); });
}

} // namespace kith::detail
#endif

#include <hwy/foreach_target.h> // must come before highway.h

#include "neighbors/radius_policy-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace kith::detail::HWY_NAMESPACE {

void search_radius_any(const RadiusJob<KITH_SCALAR>& job, std::int64_t node, RadiusScratch<KITH_SCALAR>& scratch) {
    walk_from<RadiusPolicy, KITH_SCALAR>(job, node, scratch);
}

template <int D, bool Periodic>
void compare_block(const RadiusJob<KITH_SCALAR>& job, std::int64_t begin, std::int64_t end, const NearSources& near,
                   RadiusScratch<KITH_SCALAR>& scratch) {
    Receiver<KITH_SCALAR, D> box;
    for (int axis = 0; axis < D; ++axis) {
        const KITH_SCALAR* x = job.receivers->points.axis(axis);
        box.lower[axis] = *std::min_element(x + begin, x + end);
        box.upper[axis] = *std::max_element(x + begin, x + end);
        box.period[axis] = job.sources->period[axis];
    }
    KITH_SCALAR reach = job.uniform.largest;
    if (job.squared_radii != nullptr) {
        reach = *std::max_element(job.squared_radii + begin, job.squared_radii + end);
    }
    RadiusLeaf<KITH_SCALAR, D, Periodic>(job, scratch)
        .search(begin, end, box, reach, near.ranges, near.range_count, near.counted);
}

void compare_radius_any(const RadiusJob<KITH_SCALAR>& job, std::int64_t begin, std::int64_t end,
                        const NearSources& near, RadiusScratch<KITH_SCALAR>& scratch) {
    with_space(job.dimension, job.periodic,
               [&]<int D, bool Periodic>() { compare_block<D, Periodic>(job, begin, end, near, scratch); });
}

} // namespace kith::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kith::detail {

HWY_EXPORT(search_radius_any);
HWY_EXPORT(compare_radius_any);

void search_radius(const RadiusJob<KITH_SCALAR>& job, std::int64_t node, RadiusScratch<KITH_SCALAR>& scratch) {
    HWY_DYNAMIC_DISPATCH(search_radius_any)(job, node, scratch);
}

void compare_radius(const RadiusJob<KITH_SCALAR>& job, std::int64_t begin, std::int64_t end, const NearSources& near,
                    RadiusScratch<KITH_SCALAR>& scratch) {
    HWY_DYNAMIC_DISPATCH(compare_radius_any)(job, begin, end, near, scratch);
}

} // namespace kith::detail
#endif
