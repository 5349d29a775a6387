// Searches by CLOVER without the public calls in between, so that tests choose the cells.
#pragma once

#include "engines/clover/flat.hpp"
#include "engines/clover/knn.hpp"
#include "neighbors/knn.hpp"
#include "neighbors/sinks.hpp"
#include "support/cases.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace kith::test {

template <class T>
struct CloverSearch {
    PointsView points;
    const PointsView* queries = nullptr; ///< null: a self-search
    std::int64_t k = 1;
    KnnOptions options = {};
    detail::CellShape shape = {};
    detail::ScanCounts counts = {}; ///< of the last search

    /// By the hierarchical form.
    [[nodiscard]] oracle::Rows<T> rows() {
        return answered([&](detail::Context& context, const detail::UnsortedPoints<T>& sources,
                            const detail::UnsortedPoints<T>* others, const detail::KnnRequest<T>& request,
                            detail::RowSink<T>& sink) {
            const detail::CellTree<T> cells = detail::make_cells(context, sources, shape);
            const detail::CellGraph<T> graph = detail::connect_cells(context, cells);
            if (others != nullptr) {
                const auto of_queries = detail::shape_of_queries(sources.count(), others->count(), shape);
                counts = detail::search_cells(context, detail::make_cells(context, *others, of_queries), cells, graph,
                                              request, sink);
            } else {
                counts = detail::search_cells(context, cells, cells, graph, request, sink);
            }
        });
    }

    /// By the flat form.
    [[nodiscard]] oracle::Rows<T> flat_rows(const detail::FlatShape& flat) {
        return answered([&](detail::Context& context, const detail::UnsortedPoints<T>& sources,
                            const detail::UnsortedPoints<T>* others, const detail::KnnRequest<T>& request,
                            detail::RowSink<T>& sink) {
            detail::FlatCells<T> cells = detail::make_flat_cells(context, sources, flat);
            detail::connect_flat_cells(context, cells);
            const detail::FlatCells<T> parted =
                others != nullptr ? detail::part_queries(context, *others, cells) : detail::FlatCells<T>();
            counts = detail::search_flat_cells(context, others != nullptr ? parted : cells, cells, flat.skips_by_box,
                                               request, sink);
        });
    }

private:
    template <class Search>
    [[nodiscard]] oracle::Rows<T> answered(const Search& search) const {
        detail::Context context(options.execution);
        oracle::Rows<T> rows;
        const std::int64_t count = queries != nullptr ? queries->count() : points.count();
        rows.indices.resize(static_cast<std::size_t>(count * k));
        rows.distances.resize(rows.indices.size());
        context.stage("search", [&] {
            const auto sources = detail::normalize_sources<T>(points, options.box);
            std::optional<detail::NormalizedPoints<T>> given;
            std::optional<detail::UnsortedPoints<T>> others;
            if (queries != nullptr) {
                given = detail::normalize_queries<T>(*queries, sources.frame);
                others = detail::UnsortedPoints<T>{nullptr, &*given};
            }
            detail::StoredRows<T> sink(
                NeighborRows(std::span<std::int64_t>(rows.indices), std::span<T>(rows.distances)));
            search(context, {nullptr, &sources}, others ? &*others : nullptr,
                   detail::make_request(sources.frame, k, options), sink);
        });
        return rows;
    }
};

} // namespace kith::test
