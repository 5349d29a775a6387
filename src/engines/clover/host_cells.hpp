// Cells and their graph as a search on a GPU takes them, made by the CPU.
//
// A GPU's search waits for them: at 1e6 points 0.14 s on two cores (notebook/performance.md), and the points travel to
// the host and back. Only plain arrays are declared here, so that what includes this needs neither oneTBB nor Highway.
#pragma once

#include <kith/execution.hpp>
#include <kith/points.hpp>

#include "points/frame.hpp"
#include "points/point_set_view.hpp"
#include "tree/view.hpp"

#include <cstdint>
#include <memory>

namespace kith::detail {

/// Views of CellTree and CellGraph (graph.hpp), which the owner keeps.
template <Coordinate T>
struct HostCells {
    Frame<T> frame;
    bool has_tiny = false; ///< of the points; their rows may have to be counted
    PointSetView<T> points;
    PlaneView<T> cells;
    PlaneView<T> groups;
    const T* hubs = nullptr;
    std::int32_t edges = 0; ///< of every cell
    const std::int32_t* target = nullptr;
    const float* weight = nullptr;
    const float* horizon = nullptr; ///< null if there are edges to all cells
    std::shared_ptr<const void> owner;
};

/// Of one point or more, in memory of the host, with the threads and the progress of a call. With `flat_hubs` those of
/// the flat form (flat.hpp), around so many hubs and in one group. Throws what normalize_sources() and
/// check_flat_shape() throw, and canceled.
template <Coordinate T>
HostCells<T> make_host_cells(const PointsView& points, const Box& box, const Execution& execution,
                             std::int64_t flat_hubs);

} // namespace kith::detail
