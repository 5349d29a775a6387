// Searches the points of a part on the CPU: trees of the points and of separate queries, and of the selected receivers
// a tree of their own.
#pragma once

#include "neighbors/knn.hpp"
#include "neighbors/part_searcher.hpp"
#include "neighbors/part_trees.hpp"
#include "support/context.hpp"
#include "tree/plane_tree.hpp"
#include "tree/subtree.hpp"

namespace kith::detail {

template <Coordinate T>
class HostPartSearcher final : public PartSearcher<T> {
public:
    /// Runs stages of the context, which outlives the searcher. Null queries mean a self-search.
    HostPartSearcher(Context& context, const NormalizedPoints<T>& points, const NormalizedPoints<T>* queries)
        : context_(context), trees_(context, points, queries) {}

    [[nodiscard]] TreeView<T> sources() const override { return trees_.sources.view(); }
    [[nodiscard]] TreeView<T> receivers() const override { return trees_.receivers().view(); }

    void search(const char* stage, const KnnRequest<T>& request, RowSink<T>& sink) override {
        context_.stage(stage, [&] { search_tree(context_, trees_.receivers(), trees_.sources, request, sink); });
    }

    void select(const Buffer<std::uint8_t>& is_selected) override {
        context_.run([&] { selected_ = subtree(context_, trees_.receivers(), is_selected); });
    }

    void search_others(const NormalizedPoints<T>& points, const KnnRequest<T>& request, RowSink<T>& sink) override {
        const PlaneTree<T> others = build_plane_tree<T>(context_, points, {});
        context_.stage("search pieces", [&] { search_tree(context_, selected_, others, request, sink); });
    }

private:
    Context& context_;
    PartTrees<T> trees_;
    PlaneTree<T> selected_;
};

} // namespace kith::detail
