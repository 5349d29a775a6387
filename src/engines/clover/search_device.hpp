// The search among cells on a GPU, as it is launched. Memory: 12 bytes for each block of queries.
#pragma once

#include "cuda/launch.hpp"
#include "engines/clover/build_device.hpp"
#include "engines/clover/search_kernel.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace kith::detail::inline KITH_GPU {

/// The rows of queries, which may be the points of the cells.
template <int D, Coordinate T>
void search_cells(DeviceWork& work, const DeviceCells<T>& cells, const PointSetView<T>& queries,
                  const std::vector<CellQueries>& blocks, const DeviceRequest<T>& request) {
    const DeviceBuffer<CellQueries> there = copied(work, blocks);
    const SearchCellsJob<T> job{queries,
                                cells.points.view(),
                                request,
                                TriangleBound<T>(cells.points.frame),
                                cells.cells.view(),
                                cells.groups.view(),
                                cells.hubs.data(),
                                cells.edges,
                                cells.target.data(),
                                cells.weight.data(),
                                cells.horizon.data(),
                                there.data()};
    const auto run = [&](auto* kernel) {
        launch(work, "search among cells", kernel, std::ssize(blocks), search_cells_warps * warp_size, job);
    };
    const bool is_short = request.k <= warp_size;
    if (cells.points.frame.periodic) {
        run(is_short ? search_cells_kernel<T, D, true, 1> : search_cells_kernel<T, D, true, 2>);
    } else {
        run(is_short ? search_cells_kernel<T, D, false, 1> : search_cells_kernel<T, D, false, 2>);
    }
}

/// Adds blocks of queries that follow the edges of one cell, or of their own. A block serves few: a cell at one place
/// may hold any number.
inline void add_queries(std::vector<CellQueries>& blocks, std::int32_t home, std::int32_t first, std::int32_t last) {
    constexpr std::int32_t most = 64;
    while (first < last) {
        const std::int32_t end = first + std::min(most, last - first);
        blocks.push_back({home, first, end});
        first = end;
    }
}

} // namespace kith::detail::inline KITH_GPU
