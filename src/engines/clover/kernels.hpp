// The kernels of CLOVER as its stages call them; they are compiled for every instruction set and chosen at run time.
#pragma once

#include "engines/candidates.hpp"
#include "engines/clover/bound.hpp"
#include "engines/clover/graph.hpp"
#include "neighbors/search.hpp"

#include <cstdint>
#include <utility>
#include <vector>

namespace kith::detail {

/// What queries looked at.
struct ScanCounts {
    std::int64_t queries = 0;
    std::int64_t cells = 0;  ///< scanned, once for each query or group of queries that scans them
    std::int64_t points = 0; ///< measured, once for each query; gathered ones count once more

    void add(const ScanCounts& other) {
        queries += other.queries;
        cells += other.cells;
        points += other.points;
    }
};

/// The nearest hub of each of some points, the first of equals. Whole vectors are read and written.
template <Coordinate T>
struct AssignJob {
    using LaneIndex = typename SearchScratch<T>::LaneIndex;

    int dimension;
    bool periodic;
    const T* period;
    const T* coordinates; ///< axis after axis
    std::int64_t stride;
    std::int64_t count;
    const T* hubs; ///< axis after axis
    std::int64_t hub_stride;
    std::int64_t hub_count; ///< 1 or more
    LaneIndex* nearest;
    T* squared; ///< distance to it
};

void assign_to_hubs(const AssignJob<float>& job);
void assign_to_hubs(const AssignJob<double>& job);

/// Memory of one thread for connecting cells.
template <Coordinate T>
struct ConnectScratch {
    ScratchArray<T> least;                 ///< squared distances to boxes
    std::vector<std::uint64_t> groups;     ///< keys of distance and node
    std::vector<std::uint64_t> candidates; ///< cells likewise
};

/// Finds the edges of all cells of a group.
void connect_group(const CellTree<float>& cells, CellGraph<float>& graph, std::int64_t group,
                   ConnectScratch<float>& scratch);
void connect_group(const CellTree<double>& cells, CellGraph<double>& graph, std::int64_t group,
                   ConnectScratch<double>& scratch);

template <Coordinate T>
struct CellSearchJob {
    const CellTree<T>* receivers;
    const CellTree<T>* sources;
    const CellGraph<T>* graph; ///< of the sources
    TriangleBound<T> bound;
    SearchJob<T> search; ///< for the search of a cell; it has no schedule
};

/// Memory of one thread, kept from task to task.
template <Coordinate T>
struct CellSearchScratch {
    SearchScratch<T> search;
    InteractionList<T> groups;
    std::vector<std::pair<T, std::int32_t>> guarantees; ///< greatest distance to a group, and its points
    ScanCounts counts;
};

/// Finds the neighbors of all points of a group of receiving cells.
void search_group(const CellSearchJob<float>& job, std::int64_t group, CellSearchScratch<float>& scratch);
void search_group(const CellSearchJob<double>& job, std::int64_t group, CellSearchScratch<double>& scratch);

/// Queries of the flat form whose rows are handed on together.
inline constexpr std::int64_t queries_per_scan = 16;

/// Memory of one thread for the flat form.
template <Coordinate T>
struct FlatScratch : CandidateScratch<T> {
    ScanCounts counts;
};

template <Coordinate T>
struct FlatJob {
    const FlatCells<T>* receivers; ///< parted by the hubs of the sources
    const FlatCells<T>* sources;
    TriangleBound<T> bound;
    bool skips_by_box;
    const KnnRequest<T>* request;
    RowSink<T>* sink;
};

/// Finds the edges of a cell.
void connect_flat(FlatCells<float>& cells, std::int64_t cell);
void connect_flat(FlatCells<double>& cells, std::int64_t cell);

/// Finds the neighbors of the queries [begin, end) of a cell, at most queries_per_scan of them.
void search_flat(const FlatJob<float>& job, std::int64_t cell, std::int64_t begin, std::int64_t end,
                 FlatScratch<float>& scratch);
void search_flat(const FlatJob<double>& job, std::int64_t cell, std::int64_t begin, std::int64_t end,
                 FlatScratch<double>& scratch);

} // namespace kith::detail
