// One scalar type's searches of single queries for every instruction set; compiled by CMake's
// kith_add_scalar_instances().
#include "neighbors/point_search.hpp"

#include "neighbors/few_queries.hpp"
#include "neighbors/other_labels.hpp"
#include "neighbors/point_radius.hpp"
#include "support/dimension.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include <hwy/foreach_target.h> // must come before highway.h

#include "neighbors/point_search-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace kith::detail::HWY_NAMESPACE {

/// Sorts the neighbors that are kept, and writes them and what is missing to a row.
void sort_and_write(NearPoints<KITH_SCALAR>& kept, const KnnRequest<KITH_SCALAR>& request, std::int64_t sources,
                    const RowMemory<KITH_SCALAR>& row) {
    const std::int64_t offsets[2] = {0, kept.size()};
    write_rows(
        {&kept, offsets, 1, sources, RowOrder::distance, request.report, row.distances, row.indices, row.wide_indices});
    const auto fill = [&](auto* numbers, auto missing) {
        if (numbers != nullptr) {
            std::fill(numbers + kept.size(), numbers + request.k, missing);
        }
    };
    fill(row.distances, std::numeric_limits<KITH_SCALAR>::infinity());
    fill(row.indices, std::int32_t{-1});
    fill(row.wide_indices, std::int64_t{-1});
}

/// Writes what was found for a query.
void write_found(NearPoints<KITH_SCALAR>& found, bool is_sorted, const KnnRequest<KITH_SCALAR>& request,
                 std::int64_t sources, const RowMemory<KITH_SCALAR>& row) {
    if (is_sorted) {
        write_row(found.distances(), found.indices(), found.size(), -1, request.k, request.report, row);
    } else {
        sort_and_write(found, request, sources, row);
    }
}

template <int D, bool Periodic>
void search_each(const PointSearchJob<KITH_SCALAR>& job) {
    const PointSet<KITH_SCALAR>& sources = job.sources->points;
    const Coordinates<KITH_SCALAR> queries(*job.queries);
    NearPoints<KITH_SCALAR> found;
    NearestKept<KITH_SCALAR> kept(std::min<std::int64_t>(job.request->k, sources.count), job.request->limit, found);
    PointSearch<KITH_SCALAR, D, Periodic> search(*job.sources, kept);
    for (std::int64_t row = 0; row < job.queries->count(); ++row) {
        const auto query = working_query<D>(queries, sources.frame, row);
        search.search(query.data());
        write_found(found, kept.sorts(), *job.request, sources.count, job.rows.row(row, job.request->k));
    }
}

void search_points_any(const PointSearchJob<KITH_SCALAR>& job) {
    const Frame<KITH_SCALAR>& frame = job.sources->points.frame;
    with_space(frame.dimension, frame.periodic, [&]<int D, bool Periodic>() { search_each<D, Periodic>(job); });
}

template <int D, bool Periodic>
void search_labels(const LabelSearch<KITH_SCALAR>& job, std::int64_t begin, std::int64_t end) {
    const KnnRequest<KITH_SCALAR>& request = *job.request;
    const PointSet<KITH_SCALAR>& receivers = *job.receivers;
    const std::int64_t sources = job.sources->points.count;
    std::vector<KITH_SCALAR> distances((end - begin) * request.k);
    std::vector<std::int32_t> indices((end - begin) * request.k);
    const RowMemory<KITH_SCALAR> rows{distances.data(), indices.data()};
    NearPoints<KITH_SCALAR> found;
    NearestKept<KITH_SCALAR> kept(std::min(request.k, sources), request.limit, found);
    std::int32_t label = 0;
    PointSearch<KITH_SCALAR, D, Periodic, PointsOfOtherLabels> search(*job.sources, kept, {job.labels, label});
    for (std::int64_t position = begin; position < end; ++position) {
        KITH_SCALAR query[D];
        for (int axis = 0; axis < D; ++axis) {
            query[axis] = receivers.axis(axis)[position];
        }
        label = job.labels_of_queries[receivers.indices[position]];
        search.search(query);
        write_found(found, kept.sorts(), request, sources, rows.row(position - begin, request.k));
    }
    job.sink->take(
        {begin, end - begin, receivers.indices.data() + begin, request.k, indices.data(), distances.data()});
}

void search_labels_any(const LabelSearch<KITH_SCALAR>& job, std::int64_t begin, std::int64_t end) {
    const Frame<KITH_SCALAR>& frame = job.sources->points.frame;
    with_space(frame.dimension, frame.periodic,
               [&]<int D, bool Periodic>() { search_labels<D, Periodic>(job, begin, end); });
}

} // namespace kith::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kith::detail {

HWY_EXPORT(search_points_any);
HWY_EXPORT(search_labels_any);

bool search_points(const PointSearchJob<KITH_SCALAR>& job) {
    const Frame<KITH_SCALAR>& frame = job.sources->points.frame;
    if (frame.has_tiny || !are_in_range(*job.queries, frame)) {
        return false;
    }
    HWY_DYNAMIC_DISPATCH(search_points_any)(job);
    return true;
}

void search_other_labels(const LabelSearch<KITH_SCALAR>& search, std::int64_t begin, std::int64_t end) {
    HWY_DYNAMIC_DISPATCH(search_labels_any)(search, begin, end);
}

} // namespace kith::detail
#endif
