// CLOVER as an engine: its hierarchical form.
#pragma once

#include "engines/clover/knn.hpp"
#include "engines/index.hpp"

#include <kith/error.hpp>

namespace kith::detail {

template <Coordinate T>
class CloverIndex final : public Index<T> {
public:
    CloverIndex(Context& context, const UnsortedPoints<T>& points) {
        context.stage("cells", [&] { cells_ = make_cells(context, points); });
        context.stage("graph", [&] { graph_ = connect_cells(context, cells_); });
    }

    [[nodiscard]] const PointSet<T>& points() const override { return cells_.tree.points; }

    /// Of separate queries cells are made, from the points as they are given.
    [[nodiscard]] PlaneTree<T> arrange(Context& /*context*/, const NormalizedPoints<T>& /*queries*/) const override {
        throw Error(ErrorKind::unsupported, "the engine 'clover' arranges queries in cells");
    }

    /// Of the points themselves.
    void search(Context& context, const PointSet<T>& /*receivers*/, const KnnRequest<T>& request,
                RowSink<T>& sink) const override {
        search_cells(context, cells_, cells_, graph_, request, sink);
    }

    void search_queries(Context& context, const NormalizedPoints<T>& queries, const KnnRequest<T>& request,
                        RowSink<T>& sink) const override {
        CellTree<T> cells;
        context.stage("queries", [&] {
            cells = make_cells<T>(context, {nullptr, &queries}, shape_of_queries(points().count, queries.view.count()));
        });
        context.stage("search", [&] { search_cells(context, cells, cells_, graph_, request, sink); });
    }

    void search(Context& /*context*/, const RadiusJob<T>& /*job*/) const override {
        throw Error(ErrorKind::unsupported, "the engine 'clover' has no radius search");
    }

private:
    CellTree<T> cells_;
    CellGraph<T> graph_;
};

} // namespace kith::detail
