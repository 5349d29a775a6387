// The plane tree as an index: receivers and sources are trees, of which the walk takes nodes.
#pragma once

#include "engines/index.hpp"
#include "neighbors/knn.hpp"
#include "neighbors/query_tree.hpp"
#include "neighbors/radius_search.hpp"

namespace kith::detail {

template <Coordinate T>
class TreeIndex final : public Index<T> {
public:
    /// The tree, which is of that shape and not empty, must outlive the index.
    TreeIndex(const PlaneTree<T>& tree, const TreeShape& shape) : tree_(tree), shape_(shape) {}

    [[nodiscard]] const PointSet<T>& points() const override { return tree_.points; }
    [[nodiscard]] TreeView<T> view() const override { return tree_.view(); }
    [[nodiscard]] PlaneTree<T> arrange(Context& context, const NormalizedPoints<T>& queries) const override {
        return tree_of(context, queries, {});
    }

    /// Of the points themselves.
    void search(Context& context, const PointSet<T>& /*receivers*/, const KnnRequest<T>& request,
                RowSink<T>& sink) const override {
        search_tree(context, tree_, tree_, request, sink);
    }
    void search_queries(Context& context, const NormalizedPoints<T>& queries, const KnnRequest<T>& request,
                        RowSink<T>& sink) const override {
        const PlaneTree<T> receivers = tree_of(context, queries, sink.spare());
        context.stage("search", [&] { search_tree(context, receivers, tree_, request, sink); });
    }
    void search(Context& context, const RadiusJob<T>& job) const override { search_tree(context, job); }

private:
    PlaneTree<T> tree_of(Context& context, const NormalizedPoints<T>& queries, const DonatedMemory& spare) const {
        return build_plane_tree<T>(context, queries, query_tree_shape(shape_, tree_.points.count, queries.view.count()),
                                   spare);
    }

    const PlaneTree<T>& tree_;
    TreeShape shape_;
};

} // namespace kith::detail
