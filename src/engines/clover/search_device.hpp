// Cells that the CPU made, in memory of a GPU, and the launch of the search among them.
//
// Memory there: the working copy, 4 bytes a point more, 12 for each block of queries, and what a cell takes on the CPU.
#pragma once

#include "cuda/device_context.hpp"
#include "cuda/launch.hpp"
#include "engines/clover/host_cells.hpp"
#include "engines/clover/search_kernel.hpp"
#include "points/device_point_set.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace kith::detail::inline KITH_GPU {

template <class U>
DeviceBuffer<U> copied(DeviceWork& work, const U* from, std::int64_t count) {
    DeviceBuffer<U> there = work.buffer<U>(count);
    work.copy(there.data(), from, count * static_cast<std::int64_t>(sizeof(U)));
    return there;
}

/// A plane's arrays in memory of the device.
template <Coordinate T>
class CopiedPlane {
public:
    CopiedPlane(DeviceWork& work, const PlaneView<T>& plane, int dimension)
        : nodes_(plane.nodes), stride_(plane.stride), first_point_(copied(work, plane.first_point, plane.nodes + 1)),
          first_child_(copied(work, plane.first_child, plane.first_child != nullptr ? plane.nodes + 1 : 0)),
          lower_(copied(work, plane.lower_corners, dimension * plane.stride)),
          upper_(copied(work, plane.upper_corners, dimension * plane.stride)) {}

    [[nodiscard]] PlaneView<T> view() const {
        return {nodes_, stride_, first_point_.data(), first_child_.data(), nullptr, lower_.data(), upper_.data()};
    }

private:
    std::int32_t nodes_;
    std::int64_t stride_;
    DeviceBuffer<std::int32_t> first_point_;
    DeviceBuffer<std::int32_t> first_child_;
    DeviceBuffer<T> lower_;
    DeviceBuffer<T> upper_;
};

/// The cells, which must live until the stream is done with the copies.
template <Coordinate T>
class DeviceCells {
public:
    DeviceCells(DeviceWork& work, const HostCells<T>& cells)
        : frame_(cells.frame), edges_(cells.edges), points_(work, cells.frame, cells.points.count),
          cells_(work, cells.cells, cells.frame.dimension), groups_(work, cells.groups, cells.frame.dimension),
          hubs_(copied(work, cells.hubs, cells.frame.dimension * cells.cells.stride)),
          target_(copied(work, cells.target, std::int64_t{cells.cells.nodes} * cells.edges)),
          weight_(copied(work, cells.weight, std::int64_t{cells.cells.nodes} * cells.edges)),
          horizon_(copied(work, cells.horizon, cells.horizon != nullptr ? cells.cells.nodes : 0)) {
        const std::int64_t count = cells.points.count;
        work.copy(points_.indices.data(), cells.points.indices,
                  count * static_cast<std::int64_t>(sizeof(std::int32_t)));
        for (int axis = 0; axis < cells.frame.dimension; ++axis) {
            work.copy(points_.coordinates.data() + axis * points_.stride, cells.points.axis(axis),
                      count * static_cast<std::int64_t>(sizeof(T)));
        }
    }

    [[nodiscard]] PointSetView<T> points() const { return points_.view(); }

    /// The rows of queries, which may be points().
    template <int D>
    void search(DeviceWork& work, const PointSetView<T>& queries, const std::vector<CellQueries>& blocks,
                const DeviceRequest<T>& request) const {
        const DeviceBuffer<CellQueries> there = copied(work, blocks.data(), std::ssize(blocks));
        const SearchCellsJob<T> job{queries,        points_.view(), request,         TriangleBound<T>(frame_),
                                    cells_.view(),  groups_.view(), hubs_.data(),    edges_,
                                    target_.data(), weight_.data(), horizon_.data(), there.data()};
        const auto run = [&](auto* kernel) {
            launch(work, "search among cells", kernel, std::ssize(blocks), search_cells_warps * warp_size, job);
        };
        const bool is_short = request.k <= warp_size;
        if (frame_.periodic) {
            run(is_short ? search_cells_kernel<T, D, true, 1> : search_cells_kernel<T, D, true, 2>);
        } else {
            run(is_short ? search_cells_kernel<T, D, false, 1> : search_cells_kernel<T, D, false, 2>);
        }
    }

private:
    Frame<T> frame_;
    std::int32_t edges_;
    DevicePointSet<T> points_;
    CopiedPlane<T> cells_;
    CopiedPlane<T> groups_;
    DeviceBuffer<T> hubs_;
    DeviceBuffer<std::int32_t> target_;
    DeviceBuffer<float> weight_;
    DeviceBuffer<float> horizon_;
};

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
