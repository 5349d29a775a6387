// CLOVER as an engine: its two forms. Queries are divided into cells, from the points as they are given.
#pragma once

#include "engines/clover/flat.hpp"
#include "engines/clover/knn.hpp"
#include "engines/index.hpp"

#include <kith/error.hpp>

namespace kith::detail {

/// What both forms lack: calls that need it are refused before (calls/answers.hpp).
template <Coordinate T>
class CellIndex : public Index<T> {
public:
    [[nodiscard]] PlaneTree<T> arrange(Context& /*context*/, const NormalizedPoints<T>& /*queries*/) const final {
        throw Error(ErrorKind::unsupported, "the engine 'clover' arranges queries in cells");
    }
    using Index<T>::search;
    void search(Context& /*context*/, const RadiusJob<T>& /*job*/) const final {
        throw Error(ErrorKind::unsupported, "the engine 'clover' has no radius search");
    }
};

template <Coordinate T>
class CloverIndex final : public CellIndex<T> {
public:
    CloverIndex(Context& context, const UnsortedPoints<T>& points, const CellShape& shape) : shape_(shape) {
        context.stage("cells", [&] { cells_ = make_cells(context, points, shape_); });
        context.stage("graph", [&] { graph_ = connect_cells(context, cells_); });
    }

    [[nodiscard]] const PointSet<T>& points() const override { return cells_.tree.points; }

    using CellIndex<T>::search;
    /// Of the points themselves.
    void search(Context& context, const PointSet<T>& /*receivers*/, const KnnRequest<T>& request,
                RowSink<T>& sink) const override {
        search_cells(context, cells_, cells_, graph_, request, sink);
    }

    void search_queries(Context& context, const NormalizedPoints<T>& queries, const KnnRequest<T>& request,
                        RowSink<T>& sink) const override {
        CellTree<T> cells;
        context.stage("queries", [&] {
            cells = make_cells<T>(context, {nullptr, &queries},
                                  shape_of_queries(points().count, queries.view.count(), shape_));
        });
        context.stage("search", [&] { search_cells(context, cells, cells_, graph_, request, sink); });
    }

private:
    CellShape shape_;
    CellTree<T> cells_;
    CellGraph<T> graph_;
};

template <Coordinate T>
class FlatCloverIndex final : public CellIndex<T> {
public:
    FlatCloverIndex(Context& context, const UnsortedPoints<T>& points, const FlatShape& shape)
        : skips_by_box_(shape.skips_by_box) {
        context.stage("cells", [&] { cells_ = make_flat_cells(context, points, shape); });
        context.stage("graph", [&] { connect_flat_cells(context, cells_); });
    }

    /// With positions between cells that are no points: their index is -1.
    [[nodiscard]] const PointSet<T>& points() const override { return cells_.points; }

    using CellIndex<T>::search;
    /// Of the points themselves.
    void search(Context& context, const PointSet<T>& /*receivers*/, const KnnRequest<T>& request,
                RowSink<T>& sink) const override {
        search_flat_cells(context, cells_, cells_, skips_by_box_, request, sink);
    }

    void search_queries(Context& context, const NormalizedPoints<T>& queries, const KnnRequest<T>& request,
                        RowSink<T>& sink) const override {
        FlatCells<T> cells;
        context.stage("queries", [&] { cells = part_queries<T>(context, {nullptr, &queries}, cells_); });
        context.stage("search", [&] { search_flat_cells(context, cells, cells_, skips_by_box_, request, sink); });
    }

private:
    bool skips_by_box_;
    FlatCells<T> cells_;
};

} // namespace kith::detail
