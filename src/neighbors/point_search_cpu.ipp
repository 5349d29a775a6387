// One scalar type's search of few queries for every instruction set; compiled by CMake's kith_add_scalar_instances().
#include "neighbors/point_search.hpp"

#include "points/coordinates.hpp"
#include "points/resolve_frame.hpp"
#include "support/dimension.hpp"

#include <array>
#include <cmath>

#ifndef KITH_POINT_SEARCH_QUERY
#define KITH_POINT_SEARCH_QUERY
namespace kith::detail {

/// A query in raw units; 0 on axes that it does not have.
inline std::array<KITH_SCALAR, max_dimension> query_of(const Coordinates<KITH_SCALAR>& queries, int dimension,
                                                       std::int64_t row) {
    std::array<KITH_SCALAR, max_dimension> query{};
    for (int axis = 0; axis < dimension; ++axis) {
        query[axis] = queries(row, axis);
    }
    return query;
}

/// Whether all are numbers, none is too far and none has a tiny coordinate.
inline bool are_in_range(const PointsView& queries, const Frame<KITH_SCALAR>& frame) {
    const Coordinates<KITH_SCALAR> coordinates(queries);
    for (std::int64_t row = 0; row < queries.count(); ++row) {
        const std::array<KITH_SCALAR, max_dimension> query = query_of(coordinates, queries.dimension(), row);
        for (const KITH_SCALAR x : query) {
            if (!std::isfinite(x) || (x != 0 && magnitude_of(x) < frame.tiny)) {
                return false;
            }
        }
        if (axis_too_far(frame, query, query) >= 0) {
            return false;
        }
    }
    return true;
}

} // namespace kith::detail
#endif

#include <hwy/foreach_target.h> // must come before highway.h

#include "neighbors/point_search-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace kith::detail::HWY_NAMESPACE {

template <int D, bool Periodic>
void search_each(const PointSearchJob<KITH_SCALAR>& job) {
    const KnnRequest<KITH_SCALAR>& request = *job.request;
    const Frame<KITH_SCALAR>& frame = job.sources->points.frame;
    const Coordinates<KITH_SCALAR> queries(*job.queries);
    PointSearch<KITH_SCALAR, D, Periodic> search(*job.sources, request.k, request.limit);
    for (std::int64_t row = 0; row < job.queries->count(); ++row) {
        std::array<KITH_SCALAR, max_dimension> query = query_of(queries, D, row);
        for (int axis = 0; axis < D; ++axis) {
            query[axis] = frame.load(query[axis], axis);
        }
        const std::int64_t found = search.search(query.data());
        write_row(search.distances(), search.indices(), found, -1, request.k, request.report,
                  job.rows.row(row, request.k));
    }
}

void search_points_any(const PointSearchJob<KITH_SCALAR>& job) {
    const Frame<KITH_SCALAR>& frame = job.sources->points.frame;
    with_space(frame.dimension, frame.periodic, [&]<int D, bool Periodic>() { search_each<D, Periodic>(job); });
}

} // namespace kith::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kith::detail {

HWY_EXPORT(search_points_any);

bool search_points(const PointSearchJob<KITH_SCALAR>& job) {
    const Frame<KITH_SCALAR>& frame = job.sources->points.frame;
    if (frame.has_tiny || !are_in_range(*job.queries, frame)) {
        return false;
    }
    HWY_DYNAMIC_DISPATCH(search_points_any)(job);
    return true;
}

} // namespace kith::detail
#endif
