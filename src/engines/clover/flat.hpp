// CLOVER as published: one level of hubs, and edges between all cells.
//
// Every point belongs to the nearest of H hubs; an edge from cell i to cell j weighs the distance from hub i to the
// nearest point of j; every cell has edges to all, in ascending order. Each query follows the edges of its cell, scans
// the cells, and stops where the triangle inequality excludes the next. Added to that: cells are skipped whose boxes
// are out of reach, and hubs may be spread by k-means++, which the paper names as the remedy for queries that scan
// much. For comparisons: the hierarchical form (knn.hpp) is faster. Cost: N H distances to find the cells, as many
// for the weights. Memory: 8 bytes for each of H * H edges, refused beyond a budget. Source: CLOVER (ICS 2025),
// sections 3 and 4.2.3.
#pragma once

#include "engines/clover/kernels.hpp"
#include "engines/clover/partition.hpp"
#include "engines/clover/shape.hpp"
#include "engines/clover/spread_hubs.hpp"
#include "neighbors/search.hpp"
#include "support/context.hpp"
#include "support/message.hpp"
#include "support/parallel.hpp"

#include <kith/error.hpp>
#include <kith/tree.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

namespace kith::detail {

struct FlatShape {
    std::int64_t hubs = 1024;
    HubSelection selection = HubSelection::random;
    bool skips_by_box = true;
    std::uint64_t seed = 0x6B697468;
    std::int64_t table_budget = std::int64_t{1} << 28; ///< bytes
    std::int64_t alignment = flat_alignment;           ///< of cells, for the search on a CPU
};

inline FlatShape flat_shape(const CloverOptions& options) {
    return {.hubs = options.hubs, .selection = options.hub_selection, .seed = options.seed};
}

/// Throws invalid_argument for a number of hubs that cannot be. More hubs than points are as many as points.
inline void check_flat_shape(const FlatShape& shape, std::int64_t points) {
    if (shape.hubs < 1) {
        throw error(ErrorKind::invalid_argument, of_value(shape.hubs), "hubs is ", shape.hubs,
                    "; ask for 1 hub or more");
    }
    constexpr std::int64_t edge = sizeof(float) + sizeof(std::int32_t);
    const std::int64_t hubs = std::min(shape.hubs, points);
    const std::int64_t cells = hubs + hubs / cells_per_crowd; // those of crowds come on top
    if (cells > 0 && cells > shape.table_budget / edge / cells) {
        throw error(ErrorKind::invalid_argument, "the edges between ", hubs, " hubs need ", edge * cells * cells,
                    " bytes, more than the ", shape.table_budget,
                    " that are allowed; use fewer hubs or the hierarchical form");
    }
}

/// Hubs among the points: drawn at random, or spread among a random sample of points.
template <Coordinate T>
std::vector<Position<T>> choose_hubs(const GivenPoints<T>& given, const FlatShape& shape) {
    const std::int64_t wanted = std::min(shape.hubs, given.count);
    std::vector<Position<T>> hubs;
    if (shape.selection == HubSelection::random) {
        for (std::int64_t hub = 0; hub < wanted; ++hub) {
            hubs.push_back(given.position(drawn_hub(shape.seed, hub, wanted, given.count)));
        }
        return hubs;
    }
    const std::int64_t samples = std::min(samples_for(wanted), given.count);
    const int dimension = given.frame.dimension;
    std::vector<T> drawn(dimension * samples);
    for (std::int64_t i = 0; i < samples; ++i) {
        const std::int64_t point = drawn_hub(shape.seed, i, samples, given.count);
        for (int axis = 0; axis < dimension; ++axis) {
            drawn[axis * samples + i] = given.read(point, axis);
        }
    }
    for (const std::int32_t sample : spread_hubs(given.frame, drawn, wanted, shape.seed)) {
        hubs.push_back(given.position(drawn_hub(shape.seed, sample, samples, given.count)));
    }
    return hubs;
}

/// Parts points by hubs. If these are their own, cells are not empty, and a crowd at a hub's place has a cell to
/// itself, of which a query looks at no more points than it needs; or else there is one cell for each hub.
template <Coordinate T>
FlatCells<T> part_by_hubs(Context& context, const GivenPoints<T>& given, const std::vector<Position<T>>& hubs,
                          bool are_own, std::int64_t alignment) {
    PerThread<AssignScratch<T>> scratch;
    const std::int64_t hub_count = std::ssize(hubs);
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
    if (given.count > most - 2 * hub_count * alignment) {
        throw error(ErrorKind::too_large, "there are ", given.count, " points; with the gaps between cells of ",
                    hub_count, " hubs they need more than ", most, " positions; use the hierarchical form");
    }
    const std::int64_t min_crowd = are_own ? cells_per_crowd * ((given.count + hub_count - 1) / hub_count) : no_crowds;
    Partition<T> partition = part_points(context, given, hubs, alignment, min_crowd, scratch);
    if (are_own) {
        std::erase_if(partition.parts, [](const Part<T>& part) { return part.count == 0; });
    }
    FlatCells<T> cells;
    cells.points = std::move(partition.points);
    for (const Part<T>& part : partition.parts) {
        cells.first.push_back(part.first);
        cells.count.push_back(part.count);
        for (int axis = 0; axis < given.frame.dimension; ++axis) {
            const T* const x = cells.points.axis(axis) + part.first;
            const auto [least, greatest] = std::minmax_element(x, x + std::max<std::int64_t>(part.count, 1));
            cells.hubs.push_back(part.hub[axis]);
            cells.lower.push_back(*least);
            cells.upper.push_back(*greatest);
        }
    }
    return cells;
}

/// The cells of one point or more, without edges. This and what follows run inside a stage.
template <Coordinate T>
FlatCells<T> make_flat_cells(Context& context, const UnsortedPoints<T>& points, const FlatShape& shape) {
    check_flat_shape(shape, points.count());
    const GivenPoints<T> given(points);
    return part_by_hubs(context, given, choose_hubs(given, shape), true, shape.alignment);
}

/// Queries parted by the hubs of the sources.
template <Coordinate T>
FlatCells<T> part_queries(Context& context, const UnsortedPoints<T>& queries, const FlatCells<T>& sources) {
    const int dimension = sources.points.dimension();
    std::vector<Position<T>> hubs(sources.cells());
    for (std::int64_t cell = 0; cell < sources.cells(); ++cell) {
        std::copy_n(sources.hubs.data() + cell * dimension, dimension, hubs[cell].data());
    }
    return part_by_hubs(context, GivenPoints<T>(queries), hubs, false, flat_alignment);
}

/// Finds all edges.
template <Coordinate T>
void connect_flat_cells(Context& context, FlatCells<T>& cells) {
    const std::int64_t count = cells.cells();
    cells.target = Buffer<std::int32_t>(context.memory_tracker(), count * count);
    cells.weight = Buffer<float>(context.memory_tracker(), count * count);
    parallel_each(count, 1, [&](std::int64_t cell) { connect_flat(cells, cell); });
}

/// The rows of all receivers: the sources, or queries parted by their hubs.
template <Coordinate T>
ScanCounts search_flat_cells(Context& context, const FlatCells<T>& receivers, const FlatCells<T>& cells,
                             bool skips_by_box, const KnnRequest<T>& request, RowSink<T>& sink) {
    const FlatJob<T> job{&receivers, &cells, TriangleBound<T>(cells.points.frame), skips_by_box, &request, &sink};
    context.expect(std::accumulate(receivers.count.begin(), receivers.count.end(), std::int64_t{0}));
    PerThread<FlatScratch<T>> scratch;
    parallel_each(cells.cells(), 1, [&](std::int64_t cell) {
        const std::int64_t first = receivers.first[cell];
        parallel_blocks(receivers.count[cell], queries_per_scan,
                        [&](std::int64_t /*scan*/, std::int64_t begin, std::int64_t end) {
                            search_flat(job, cell, first + begin, first + end, scratch.local());
                            context.done(end - begin);
                        });
    });
    ScanCounts counts;
    for (const FlatScratch<T>& part : scratch.values()) {
        counts.add(part.counts);
    }
    return counts;
}

} // namespace kith::detail
