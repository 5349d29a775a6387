// The searches of the k-d tree engine, as their callers see them. The kernels are in nearest-inl.hpp and
// near_leaves-inl.hpp, compiled for each instruction set and chosen at run time.
#pragma once

#include "engines/candidates.hpp"
#include "engines/kdtree/bucket_tree.hpp"
#include "neighbors/radius.hpp"

#include <cstdint>

namespace kith::detail {

template <Coordinate T>
struct KdTreeKnnJob {
    const BucketTree<T>* tree;
    const PointSet<T>* receivers;
    const KnnRequest<T>* request;
    RowSink<T>* sink;
};

/// The rows of the receivers [begin, end).
void find_nearest(const KdTreeKnnJob<float>& job, std::int64_t begin, std::int64_t end,
                  CandidateScratch<float>& scratch);
void find_nearest(const KdTreeKnnJob<double>& job, std::int64_t begin, std::int64_t end,
                  CandidateScratch<double>& scratch);

/// The points that may be within the radii of the receivers [begin, end); the ranges are in the scratch. Whole nodes
/// are counted if the job asks for counts.
NearSources near_sources(const BucketTree<float>& tree, const RadiusJob<float>& job, std::int64_t begin,
                         std::int64_t end, RadiusScratch<float>& scratch);
NearSources near_sources(const BucketTree<double>& tree, const RadiusJob<double>& job, std::int64_t begin,
                         std::int64_t end, RadiusScratch<double>& scratch);

} // namespace kith::detail
