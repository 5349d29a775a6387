// One scalar type's brute-force search for every instruction set; compiled by CMake's kith_add_scalar_instances().
#include "engines/brute_force/search.hpp"

#include <hwy/foreach_target.h> // must come before highway.h

#include "neighbors/block_kernels-inl.hpp"
#include "neighbors/rows-inl.hpp"
#include "neighbors/select-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace kith::detail::HWY_NAMESPACE {

void search_block_any(const BruteForceJob<KITH_SCALAR>& job, std::int64_t begin, std::int64_t end,
                      CandidateScratch<KITH_SCALAR>& scratch) {
    using T = KITH_SCALAR;
    using LaneIndex = typename SearchScratch<T>::LaneIndex;
    constexpr std::int64_t tile = 1024; // with its indices, half of a first-level cache
    constexpr std::int64_t room = static_cast<std::int64_t>(hn::MaxLanes(hn::ScalableTag<T>()));
    const PointSet<T>& sources = *job.sources;
    const KnnRequest<T>& request = *job.request;
    const std::int64_t k = request.k;
    const std::int64_t needed = request.needed();
    const std::int64_t rows = end - begin;
    const int dimension = sources.dimension();
    const auto keep_within = block_kernels<T>(dimension, sources.frame.periodic).keep;
    // Survivors are cut down to the needed ones whenever there are a good deal more. Tiles start small and double, so
    // that each adds about as many survivors as are kept: the first threshold comes early.
    const std::int64_t most = std::min(sources.count, std::max<std::int64_t>(needed + needed / 2, 16));
    const std::int64_t stride = most + tile + 2 * room;
    scratch.reserve(rows, stride);
    scratch.reserve_rows(rows * k + room);

    T queries[queries_per_block][max_dimension];
    T thresholds[queries_per_block];
    std::int64_t found[queries_per_block] = {};
    for (std::int64_t row = 0; row < rows; ++row) {
        thresholds[row] = request.limit.distance;
        for (int axis = 0; axis < dimension; ++axis) {
            queries[row][axis] = job.receivers->axis(axis)[begin + row];
        }
    }
    std::int64_t size = std::min(tile, std::max<std::int64_t>(2 * needed + room - 1, 2 * room) / room * room);
    for (std::int64_t start = 0; start < sources.count; start += size, size = std::min(tile, start)) {
        for (std::int64_t row = 0; row < rows; ++row) {
            T* distances = scratch.distances.data() + row * stride;
            LaneIndex* indices = scratch.indices.data() + row * stride;
            found[row] +=
                keep_within(queries[row], sources.frame.working_period.data(), sources.axis(0) + start, sources.stride,
                            sources.indices.data() + start, std::min(size, sources.count - start), thresholds[row],
                            distances + found[row], indices + found[row]);
            if (found[row] > most) {
                sort_survivors(distances, indices, found[row], needed, scratch.sorted_distances.data(),
                               scratch.sorted_indices.data(), scratch.candidates);
                found[row] = needed;
                std::copy_n(scratch.sorted_distances.data(), needed, distances);
                std::copy_n(scratch.sorted_indices.data(), needed, indices);
                thresholds[row] = distances[needed - 1];
            }
        }
    }
    for (std::int64_t row = 0; row < rows; ++row) {
        T* distances = scratch.distances.data() + row * stride;
        LaneIndex* indices = scratch.indices.data() + row * stride;
        sort_survivors(distances, indices, found[row], needed, scratch.sorted_distances.data(),
                       scratch.sorted_indices.data(), scratch.candidates);
        write_row(scratch.sorted_distances.data(), scratch.sorted_indices.data(), found[row],
                  request.exclude_self ? job.receivers->indices[begin + row] : -1, k, request.report,
                  {scratch.row_distances.data() + row * k, scratch.row_indices.data() + row * k});
    }
    job.sink->take({begin, rows, job.receivers->indices.data() + begin, k, scratch.row_indices.data(),
                    scratch.row_distances.data()});
}

} // namespace kith::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kith::detail {

HWY_EXPORT(search_block_any);

void search_block(const BruteForceJob<KITH_SCALAR>& job, std::int64_t begin, std::int64_t end,
                  CandidateScratch<KITH_SCALAR>& scratch) {
    HWY_DYNAMIC_DISPATCH(search_block_any)(job, begin, end, scratch);
}

} // namespace kith::detail
#endif
