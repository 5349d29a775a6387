// One scalar type's searches of the k-d tree for every instruction set; compiled by CMake's
// kith_add_scalar_instances().
#include "engines/kdtree/search.hpp"

#include "support/dimension.hpp"

#include <algorithm>
#include <optional>

#include <hwy/cache_control.h>
#include <hwy/foreach_target.h> // must come before highway.h

#include "engines/kdtree/near_leaves-inl.hpp"
#include "engines/kdtree/nearest-inl.hpp"
#include "neighbors/rows-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace kith::detail::HWY_NAMESPACE {

template <int D, bool Periodic>
void find_rows(const KdTreeKnnJob<KITH_SCALAR>& job, std::int64_t begin, std::int64_t end,
               CandidateScratch<KITH_SCALAR>& scratch) {
    using T = KITH_SCALAR;
    const KnnRequest<T>& request = *job.request;
    const PointSet<T>& receivers = *job.receivers;
    const std::int64_t k = request.k;
    const std::optional<DirectRows<T>> direct = job.sink->direct();
    if (!direct) {
        scratch.reserve_rows((end - begin) * k);
    }
    const RowMemory<T> block{scratch.row_distances.data(), scratch.row_indices.data()};
    NearestInBuckets<T, D, Periodic> nearest(*job.tree, request.needed(), request.limit, scratch);
    for (std::int64_t i = begin; i < end; ++i) {
        T query[D];
        for (int axis = 0; axis < D; ++axis) {
            query[axis] = receivers.axis(axis)[i];
        }
        const std::int64_t found = nearest.search(query);
        write_row(scratch.sorted_distances.data(), scratch.sorted_indices.data(), found,
                  request.exclude_self ? receivers.indices[i] : -1, k, request.report,
                  direct ? direct->row(i, receivers.indices[i], k) : block.row(i - begin, k), direct.has_value());
    }
    if (direct) {
        direct->name(begin, end - begin, receivers.indices.data() + begin);
        hwy::FlushStream(); // rows were written past the cache
    } else {
        job.sink->take({begin, end - begin, receivers.indices.data() + begin, k, block.indices, block.distances});
    }
}

void find_nearest_any(const KdTreeKnnJob<KITH_SCALAR>& job, std::int64_t begin, std::int64_t end,
                      CandidateScratch<KITH_SCALAR>& scratch) {
    const Frame<KITH_SCALAR>& frame = job.tree->points.frame;
    with_space(frame.dimension, frame.periodic,
               [&]<int D, bool Periodic>() { find_rows<D, Periodic>(job, begin, end, scratch); });
}

NearSources near_sources_any(const BucketTree<KITH_SCALAR>& tree, const RadiusJob<KITH_SCALAR>& job, std::int64_t begin,
                             std::int64_t end, RadiusScratch<KITH_SCALAR>& scratch) {
    AnyReceiver<KITH_SCALAR> box{};
    for (int axis = 0; axis < job.dimension; ++axis) {
        const auto [least, greatest] =
            std::minmax_element(job.receivers->points.axis(axis) + begin, job.receivers->points.axis(axis) + end);
        box.lower[axis] = *least;
        box.upper[axis] = *greatest;
        box.period[axis] = job.sources->period[axis];
    }
    RadiusRange<KITH_SCALAR> squared = job.uniform;
    if (job.squared_radii != nullptr) {
        const auto [least, greatest] = std::minmax_element(job.squared_radii + begin, job.squared_radii + end);
        squared = {*least, *greatest};
    }
    NearLeaves<KITH_SCALAR> leaves(tree, box, scratch.walk.ranges);
    leaves.list(squared.largest, job.sink.counts != nullptr ? squared.smallest : KITH_SCALAR(-1));
    return {scratch.walk.ranges.data(), leaves.size(), leaves.counted()};
}

} // namespace kith::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kith::detail {

HWY_EXPORT(find_nearest_any);
HWY_EXPORT(near_sources_any);

void find_nearest(const KdTreeKnnJob<KITH_SCALAR>& job, std::int64_t begin, std::int64_t end,
                  CandidateScratch<KITH_SCALAR>& scratch) {
    HWY_DYNAMIC_DISPATCH(find_nearest_any)(job, begin, end, scratch);
}

NearSources near_sources(const BucketTree<KITH_SCALAR>& tree, const RadiusJob<KITH_SCALAR>& job, std::int64_t begin,
                         std::int64_t end, RadiusScratch<KITH_SCALAR>& scratch) {
    return HWY_DYNAMIC_DISPATCH(near_sources_any)(tree, job, begin, end, scratch);
}

} // namespace kith::detail
#endif
