// k nearest neighbors by CLOVER: cells around random hubs, a graph of near cells, and a search along its edges.
//
// Cost: near linear in the number of points. Memory beside the working copy: less than 8 bytes a point while cells are
// made (14 in float64, if most points are in one part), and 320 bytes a cell.
// Source: CLOVER (ICS 2025); sparse edges and levels of hubs instead of its H x H table.
#pragma once

#include "engines/clover/cells.hpp"
#include "engines/clover/kernels.hpp"
#include "engines/clover/shape.hpp"
#include "neighbors/search.hpp"
#include "support/context.hpp"
#include "support/parallel.hpp"

#include <algorithm>
#include <cstdint>

namespace kith::detail {

/// Cells of queries are about as large in space as those of the sources, so that few queries do not share one that
/// spans the whole box.
inline CellShape shape_of_queries(std::int64_t sources, std::int64_t queries, CellShape shape = {}) {
    const double share = static_cast<double>(queries) / static_cast<double>(sources);
    const auto most = static_cast<double>(shape.cell_size);
    shape.cell_size = static_cast<std::int64_t>(std::clamp(share * most, 1.0, most));
    return shape;
}

/// Runs inside a stage.
template <Coordinate T>
CellGraph<T> connect_cells(Context& context, const CellTree<T>& cells) {
    const std::int64_t count = cells.cells().nodes;
    CellGraph<T> graph;
    graph.edges =
        static_cast<std::int32_t>(std::min<std::int64_t>(count, edges_per_cell<T>(cells.tree.points.dimension())));
    graph.target = Buffer<std::int32_t>(context.memory_tracker(), count * graph.edges);
    graph.weight = Buffer<float>(context.memory_tracker(), count * graph.edges);
    graph.horizon = Buffer<float>(context.memory_tracker(), count);
    PerThread<ConnectScratch<T>> scratch;
    context.expect(cells.groups().nodes);
    parallel_each(cells.groups().nodes, 1, [&](std::int64_t group) {
        connect_group(cells, graph, group, scratch.local());
        context.done(1);
    });
    return graph;
}

/// The rows of all receivers, which may be the sources themselves. Neither is empty. Runs inside a stage.
template <Coordinate T>
ScanCounts search_cells(Context& context, const CellTree<T>& receivers, const CellTree<T>& sources,
                        const CellGraph<T>& graph, const KnnRequest<T>& request, RowSink<T>& sink) {
    const Frame<T>& frame = sources.tree.points.frame;
    const TreeView<T> source_view = sources.tree.view();
    const TreeView<T> receiver_view = receivers.tree.view();
    const CellSearchJob<T> job{
        &receivers,
        &sources,
        &graph,
        TriangleBound<T>(frame),
        {{&receiver_view, &source_view, frame.dimension, frame.periodic}, &receivers == &sources, &request, &sink}};
    const Plane<T>& groups = receivers.groups();
    context.expect(receivers.tree.points.count);
    PerThread<CellSearchScratch<T>> scratch;
    parallel_each(groups.nodes, 1, [&](std::int64_t group) {
        search_group(job, group, scratch.local());
        context.done(groups.first_point[group + 1] - groups.first_point[group]);
    });
    ScanCounts counts;
    for (const CellSearchScratch<T>& part : scratch.values()) {
        counts.add(part.counts);
    }
    return counts;
}

} // namespace kith::detail
