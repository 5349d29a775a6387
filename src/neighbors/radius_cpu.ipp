// One scalar type's radius search for every instruction set; compiled by CMake's kith_add_scalar_instances().
#include "neighbors/radius.hpp"

#include "neighbors/few_queries.hpp"
#include "neighbors/point_radius.hpp"
#include "support/dimension.hpp"
#include "support/parallel.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <vector>

#ifndef KITH_RADIUS_VISIT_BLOCK
#define KITH_RADIUS_VISIT_BLOCK
namespace kith::detail {

/// Passes the rows in the scratch to the visitor.
inline void visit_block(const RadiusJob<KITH_SCALAR>& job, std::int64_t first, std::int64_t rows,
                        RadiusScratch<KITH_SCALAR>& scratch) {
    RadiusBlock block;
    block.query_indices = {job.receivers->points.indices + first, static_cast<std::size_t>(rows)};
    block.offsets = {scratch.row_offsets.data(), static_cast<std::size_t>(rows + 1)};
    block.size = scratch.row_offsets[rows];
    block.indices_data = scratch.row_indices.data();
    block.dtype = dtype_of<KITH_SCALAR>;
    block.distances_data = scratch.row_distances.data();
    isolated([&] { (*job.sink.visitor)(block); });
}

} // namespace kith::detail
#endif

#include <hwy/foreach_target.h> // must come before highway.h

#include "neighbors/point_radius-inl.hpp"
#include "neighbors/radius_policy-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace kith::detail::HWY_NAMESPACE {

void search_radius_any(const RadiusJob<KITH_SCALAR>& job, std::int64_t node, RadiusScratch<KITH_SCALAR>& scratch) {
    walk_from<RadiusPolicy, KITH_SCALAR>(job, node, scratch);
}

void compare_radius_any(const RadiusJob<KITH_SCALAR>& job, std::int64_t begin, std::int64_t end,
                        const NearSources& near, RadiusScratch<KITH_SCALAR>& scratch) {
    AnyReceiver<KITH_SCALAR> box{};
    for (int axis = 0; axis < job.dimension; ++axis) {
        const KITH_SCALAR* x = job.receivers->points.axis(axis);
        box.lower[axis] = *std::min_element(x + begin, x + end);
        box.upper[axis] = *std::max_element(x + begin, x + end);
        box.period[axis] = job.sources->period[axis];
    }
    KITH_SCALAR reach = job.uniform.largest;
    if (job.squared_radii != nullptr) {
        reach = *std::max_element(job.squared_radii + begin, job.squared_radii + end);
    }
    RadiusLeaf<KITH_SCALAR>(job, scratch).search(begin, end, box, reach, near.ranges, near.range_count, near.counted);
}

template <int D, bool Periodic>
void search_each_within(const PointRadiusJob<KITH_SCALAR>& job) {
    const Frame<KITH_SCALAR>& frame = job.sources->points.frame;
    const Coordinates<KITH_SCALAR> queries(*job.queries);
    PointRadius<KITH_SCALAR, D, Periodic> search(*job.sources, job.found, job.most_found);
    for (std::int64_t row = 0; row < job.queries->count(); ++row) {
        const auto query = working_query<D>(queries, frame, row);
        job.counts[row] = search.search(query.data(), frame.squared_radius((*job.radii)[row]));
    }
}

void search_within_any(const PointRadiusJob<KITH_SCALAR>& job) {
    const Frame<KITH_SCALAR>& frame = job.sources->points.frame;
    with_space(frame.dimension, frame.periodic, [&]<int D, bool Periodic>() { search_each_within<D, Periodic>(job); });
}

/// Sorts points into the scratch memory.
HWY_NOINLINE void sort_found(const KITH_SCALAR* distances, const NearPoints<KITH_SCALAR>::LaneIndex* indices,
                             std::int64_t size, RowOrder order, std::int64_t sources,
                             RadiusScratch<KITH_SCALAR>& scratch) {
    reserve_survivors(scratch, size, 1);
    std::copy_n(distances, size, scratch.distances[0].data());
    std::iota(scratch.positions[0].data(), scratch.positions[0].data() + size, 0);
    Measured<KITH_SCALAR> measured{scratch.distances[0].data(), scratch.positions[0].data(), size};
    RowSort<KITH_SCALAR>(measured, size, indices, scratch).sort(order, sources);
}

void write_rows_any(const FoundRows<KITH_SCALAR>& rows) {
    using LaneIndex = NearPoints<KITH_SCALAR>::LaneIndex;
    constexpr std::int64_t few = 64; // more are not sorted by rank
    constexpr std::int64_t room = few + static_cast<std::int64_t>(hn::MaxLanes(hn::ScalableTag<KITH_SCALAR>()));
    HWY_ALIGN KITH_SCALAR few_distances[room];
    HWY_ALIGN LaneIndex few_indices[room];
    std::optional<RadiusScratch<KITH_SCALAR>> scratch;
    for (std::int64_t row = 0; row < rows.count; ++row) {
        const std::int64_t first = rows.offsets[row];
        const std::int64_t size = rows.offsets[row + 1] - first;
        KITH_SCALAR* distances = rows.found->distances() + first;
        LaneIndex* indices = rows.found->indices() + first;
        if (size <= few && rows.order == RowOrder::distance) {
            std::vector<Candidate<KITH_SCALAR>> none;
            sort_survivors(distances, indices, size, size, few_distances, few_indices, none);
            distances = few_distances;
            indices = few_indices;
        } else {
            if (!scratch) {
                scratch.emplace();
            }
            sort_found(distances, indices, size, rows.order, rows.sources, *scratch);
            distances = scratch->sorted_distances.data();
            indices = scratch->sorted_indices.data();
        }
        if (rows.distances != nullptr) {
            report_distances(distances, size, rows.report, rows.distances + first);
        }
        if (rows.indices != nullptr) {
            std::copy_n(indices, size, rows.indices + first);
        } else if (rows.wide_indices != nullptr) {
            std::copy_n(indices, size, rows.wide_indices + first);
        }
    }
}

} // namespace kith::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kith::detail {

HWY_EXPORT(search_radius_any);
HWY_EXPORT(compare_radius_any);
HWY_EXPORT(search_within_any);
HWY_EXPORT(write_rows_any);

void search_radius(const RadiusJob<KITH_SCALAR>& job, std::int64_t node, RadiusScratch<KITH_SCALAR>& scratch) {
    HWY_DYNAMIC_DISPATCH(search_radius_any)(job, node, scratch);
}

void compare_radius(const RadiusJob<KITH_SCALAR>& job, std::int64_t begin, std::int64_t end, const NearSources& near,
                    RadiusScratch<KITH_SCALAR>& scratch) {
    HWY_DYNAMIC_DISPATCH(compare_radius_any)(job, begin, end, near, scratch);
}

bool search_within(const PointRadiusJob<KITH_SCALAR>& job) {
    const Frame<KITH_SCALAR>& frame = job.sources->points.frame;
    if (frame.has_tiny || !are_in_range(*job.queries, frame)) {
        return false;
    }
    HWY_DYNAMIC_DISPATCH(search_within_any)(job);
    return job.found == nullptr || job.found->size() <= job.most_found;
}

void write_rows(const FoundRows<KITH_SCALAR>& rows) {
    HWY_DYNAMIC_DISPATCH(write_rows_any)(rows);
}

} // namespace kith::detail
#endif
