// The k-d tree as an engine: leaves of several points, searched from each query on its own for the nearest neighbors,
// and from a few queries at once for those within a radius.
#pragma once

#include "engines/index.hpp"
#include "engines/kdtree/bucket_tree.hpp"
#include "engines/kdtree/search.hpp"
#include "tree/plane_tree.hpp"

#include <algorithm>
#include <cstdint>

namespace kith::detail {

template <Coordinate T>
class KdTreeIndex final : public Index<T> {
public:
    KdTreeIndex(Context& context, const UnsortedPoints<T>& points, std::int64_t leaf_size) {
        const std::int64_t whole_vectors = (leaf_size + bucket_step - 1) / bucket_step * bucket_step;
        context.stage("tree",
                      [&] { tree_ = build_bucket_tree(context, points, points.frame().dimension, whole_vectors); });
    }

    [[nodiscard]] const BucketTree<T>& tree() const noexcept { return tree_; }
    [[nodiscard]] const PointSet<T>& points() const override { return tree_.points; }

    /// Along the curve: queries that follow each other meet the same leaves.
    [[nodiscard]] PlaneTree<T> arrange(Context& context, const NormalizedPoints<T>& queries) const override {
        return {build_plane_tree<T>(context, queries, TreeShape{}).points, {}, {}};
    }

    void search(Context& context, const PointSet<T>& receivers, const KnnRequest<T>& request,
                RowSink<T>& sink) const override {
        const KdTreeKnnJob<T> job{&tree_, &receivers, &request, &sink};
        context.expect(receivers.count);
        for_blocks<CandidateScratch<T>>(context, receivers.count, bucket_size,
                                        [&](std::int64_t begin, std::int64_t end, CandidateScratch<T>& scratch) {
                                            find_nearest(job, begin, end, scratch);
                                        });
    }

    void search(Context& context, const RadiusJob<T>& job) const override {
        // Queries that are sparse beside the sources do not share a box.
        const std::int64_t count = job.receivers->points.count;
        context.expect(count);
        const std::int64_t block = std::clamp<std::int64_t>(bucket_size * count / tree_.points.count, 1, bucket_size);
        for_blocks<RadiusScratch<T>>(context, count, block,
                                     [&](std::int64_t begin, std::int64_t end, RadiusScratch<T>& scratch) {
                                         const NearSources near = near_sources(tree_, job, begin, end, scratch);
                                         compare_radius(job, begin, end, near, scratch);
                                     });
    }

private:
    BucketTree<T> tree_;
};

} // namespace kith::detail
