// The radius search on a GPU, from finished trees to counts, to rows in memory of the host, or to a visitor. How the
// sources are searched, a walk says: that of the planes (below) or that of a k-d tree
// (engines/kdtree/radius_device.hpp).
//
// Rows are counted, then filled and sorted. Beside the trees and the rows it takes 8 bytes a query for offsets and 4 to
// name long rows, and the radii if there is one each; a visitor's blocks take it for one block at a time.
#pragma once

#include "cuda/device_wide.hpp"
#include "cuda/launch.hpp"
#include "neighbors/count_on_host.hpp"
#include "neighbors/radius_checks.hpp"
#include "neighbors/radius_kernel.hpp"
#include "neighbors/row_order_kernel.hpp"
#include "neighbors/visit_device.hpp"
#include "support/allocation_errors.hpp"
#include "tree/device_planes.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace kith::detail::inline KITH_GPU {

/// A search around the points of some leaves that is still to be told where its answer goes.
template <Coordinate T>
RadiusKernelJob<T> radius_job(const DevicePlaneTree<T>& queries, const LeafRange& range,
                              const DevicePlaneTree<T>& sources, T squared_radius) {
    RadiusKernelJob<T> job;
    job.queries = queries.points.view();
    job.leaves = queries.planes.empty() ? nullptr : queries.planes[0].first_point.data();
    job.first_leaf = range.first_leaf;
    job.end_leaf = range.end_leaf;
    job.sources = sources.view();
    job.squared_radius = squared_radius;
    return job;
}

/// A warp for each leaf of the queries.
template <Coordinate T, int D, RadiusTask Task>
void launch_radius_search(DeviceWork& work, const char* name, bool periodic, const RadiusKernelJob<T>& job) {
    launch(work, name, periodic ? search_radius_kernel<T, D, true, Task> : search_radius_kernel<T, D, false, Task>,
           (std::int64_t{job.end_leaf} - job.first_leaf + radius_warps - 1) / radius_warps, radius_warps * warp_size,
           job);
}

/// Of planes of nodes: a warp for each leaf of the queries.
template <Coordinate T, int D>
class RadiusWalkOfPlanes {
public:
    RadiusWalkOfPlanes(const DevicePlaneTree<T>& queries, const DevicePlaneTree<T>& sources)
        : queries_(queries), sources_(sources) {}

    [[nodiscard]] const Frame<T>& frame() const { return sources_.points.frame; }
    [[nodiscard]] std::int64_t source_count() const { return sources_.points.count; }
    [[nodiscard]] std::int64_t query_count() const { return queries_.points.count; }
    /// Original indices, in the order of the queries.
    [[nodiscard]] const std::int32_t* query_indices() const { return queries_.points.indices.data(); }
    /// All leaves of queries; the same in blocks of at most `max_queries` queries; and the first query of a leaf.
    [[nodiscard]] LeafRange all() const { return all_leaves(queries_); }
    [[nodiscard]] std::vector<LeafRange> blocks(DeviceContext& context, std::int64_t max_queries) const {
        return leaf_blocks(context, queries_, max_queries);
    }
    [[nodiscard]] std::int32_t first_of(DeviceContext& context, std::int32_t leaf) const {
        return context.to_host(queries_.planes[0].first_point.data() + leaf);
    }
    [[nodiscard]] RadiusKernelJob<T> job(const LeafRange& range, T squared_radius) const {
        return radius_job(queries_, range, sources_, squared_radius);
    }
    template <RadiusTask Task>
    void launch(DeviceWork& work, const char* name, const RadiusKernelJob<T>& job) const {
        launch_radius_search<T, D, Task>(work, name, frame().periodic, job);
    }

private:
    const DevicePlaneTree<T>& queries_;
    const DevicePlaneTree<T>& sources_;
};

template <Coordinate T, class Walk>
class DeviceRadiusSearch {
public:
    DeviceRadiusSearch(DeviceContext& context, const Walk& walk, const DeviceRadiusCall& call)
        : context_(context), walk_(walk), call_(call) {
        const Radii& radii = call.radii;
        if (radii.is_uniform()) {
            uniform_ = frame().squared_radius(radii[0]);
            return;
        }
        with_allocation_errors("the radii", [&] { squared_.resize(radii.count()); });
        for (std::int64_t i = 0; i < radii.count(); ++i) {
            squared_[i] = frame().squared_radius(radii[i]);
        }
        there_ = context.buffer<T>(radii.count());
        context.copy(there_.data(), squared_.data(), radii.count() * static_cast<std::int64_t>(sizeof(T)));
    }

    /// The lengths of all rows, on the host.
    void count(std::vector<std::int64_t>& counts) {
        with_allocation_errors("the lengths of the rows", [&] { counts.resize(walk_.query_count()); });
        context_.stage("count", [&] {
            const DeviceBuffer<std::int64_t> there = context_.buffer<std::int64_t>(walk_.query_count());
            count_rows(walk_.all(), -1, there.data());
            context_.copy(counts.data(), there.data(), walk_.query_count() * 8);
            context_.wait();
        });
    }

    /// All rows, on the host.
    void find(const RadiusResultAccess& result, CountOnHost<T>& unresolved) {
        const std::int64_t rows = walk_.query_count();
        const LeafRange leaves = walk_.all();
        DeviceBuffer<std::int64_t> offsets;
        with_allocation_errors("the lengths of the rows",
                               [&] { result.offsets.resize(static_cast<std::size_t>(rows) + 1); });
        context_.stage("count", [&] {
            offsets = offsets_of(leaves, -1);
            context_.copy(result.offsets.data(), offsets.data(), (rows + 1) * 8);
            context_.wait();
        });
        result.allocate(call_.options.max_result_bytes);
        const std::int64_t size = result.size();
        const std::int64_t index_bytes = size * item_size(result.index_type);
        const DeviceBuffer<std::uint8_t> indices = context_.buffer<std::uint8_t>(index_bytes);
        const DeviceBuffer<T> distances = context_.buffer<T>(size);
        context_.stage("search", [&] {
            fill_rows(leaves, -1, offsets.data(), row_memory<T>(distances.data(), indices.data(), result.index_type));
        });
        context_.stage("download", [&] {
            context_.copy(result.indices.get(), indices.data(), index_bytes);
            context_.copy(result.distances.get(), distances.data(), size * static_cast<std::int64_t>(sizeof(T)));
            context_.wait();
        });
        if (unresolved.is_needed()) {
            result.index_type == IndexType::int32
                ? unresolved.take_rows(result.offsets, static_cast<const std::int32_t*>(result.indices.get()), nullptr,
                                       is_by_distance())
                : unresolved.take_rows(result.offsets, static_cast<const std::int64_t*>(result.indices.get()), nullptr,
                                       is_by_distance());
        }
    }

    /// Hands the rows to a visitor, block by block along the curve (visit_device.hpp).
    void visit(const RadiusVisitor& visitor, CountOnHost<T>& unresolved) {
        constexpr std::int64_t max_queries = 1 << 20; // of a block
        context_.stage("search", [&] {
            if (walk_.query_count() == 0) {
                return;
            }
            for (const LeafRange& block : walk_.blocks(context_, max_queries)) {
                visit_block(block, visitor, unresolved);
            }
        });
    }

private:
    [[nodiscard]] const Frame<T>& frame() const { return walk_.frame(); }
    [[nodiscard]] bool is_by_distance() const { return call_.options.order == RowOrder::distance; }

    RadiusKernelJob<T> job_of(const LeafRange& range, std::int32_t first_position) const {
        RadiusKernelJob<T> job = walk_.job(range, uniform_);
        job.exclude_self = call_.options.exclude_self;
        job.squared_radii = call_.radii.is_uniform() ? nullptr : there_.data();
        job.first_position = first_position;
        return job;
    }

    void count_rows(const LeafRange& range, std::int32_t first_position, std::int64_t* counts) {
        RadiusKernelJob<T> job = job_of(range, first_position);
        job.counts = counts;
        walk_.template launch<RadiusTask::count>(context_, "counting neighbors", job);
    }

    /// Where the rows of some leaves begin, from 0, and where the last one ends.
    DeviceBuffer<std::int64_t> offsets_of(const LeafRange& range, std::int32_t first_position) {
        const std::int64_t rows = std::int64_t{range.end_point} - range.first_point;
        DeviceBuffer<std::int64_t> offsets = context_.buffer<std::int64_t>(rows + 1);
        context_.fill(offsets.data(), 0, sizeof(std::int64_t));
        if (rows > 0) {
            count_rows(range, first_position, offsets.data() + 1);
            inclusive_sum(context_, offsets.data() + 1, rows, offsets.data() + 1);
        }
        return offsets;
    }

    void fill_rows(const LeafRange& range, std::int32_t first_position, const std::int64_t* offsets,
                   const DeviceRowMemory<T>& memory) {
        RadiusKernelJob<T> search = job_of(range, first_position);
        search.offsets = offsets;
        search.rows = memory;
        walk_.template launch<RadiusTask::fill>(context_, "filling rows", search);
        const std::int64_t rows = std::int64_t{range.end_point} - range.first_point;
        const DeviceBuffer<std::int32_t> long_rows = context_.buffer<std::int32_t>(rows);
        const DeviceBuffer<std::int32_t> long_count = context_.buffer<std::int32_t>(1);
        context_.fill(long_count.data(), 0, sizeof(std::int32_t));
        const RowOrderKernelJob<T> job{offsets,
                                       static_cast<std::int32_t>(rows),
                                       !is_by_distance(),
                                       ReportScale<T>(frame(), call_.options.squared),
                                       memory,
                                       {long_rows.data(), long_count.data()}};
        launch(context_, "ordering rows", order_short_rows_kernel<T>, (rows + order_warps - 1) / order_warps,
               order_warps * warp_size, job);
        if (walk_.source_count() > max_short_row) {
            launch(context_, "ordering long rows", order_long_rows_kernel<T>,
                   std::min<std::int64_t>(rows, 2 * context_.multiprocessors()), order_threads, job);
        }
    }

    /// In halves if its rows are too many.
    void visit_block(const LeafRange& range, const RadiusVisitor& visitor, CountOnHost<T>& unresolved) {
        const DeviceBuffer<std::int64_t> offsets = offsets_of(range, range.first_point);
        const std::int64_t rows = std::int64_t{range.end_point} - range.first_point;
        const std::int64_t size = context_.to_host(offsets.data() + rows);
        const std::int64_t max_bytes = std::min(max_bytes_of_block, context_.memory()->left() / 2);
        constexpr std::int64_t bytes_each = sizeof(T) + sizeof(std::int32_t);
        if (size > max_bytes / bytes_each && range.end_leaf - range.first_leaf > 1) {
            LeafRange half = range;
            half.end_leaf = range.first_leaf + (range.end_leaf - range.first_leaf) / 2;
            half.end_point = walk_.first_of(context_, half.end_leaf);
            visit_block(half, visitor, unresolved);
            visit_block({half.end_leaf, range.end_leaf, half.end_point, range.end_point}, visitor, unresolved);
            return;
        }
        const DeviceBuffer<std::int32_t> indices = context_.buffer<std::int32_t>(size);
        const DeviceBuffer<T> distances = context_.buffer<T>(size);
        fill_rows(range, range.first_point, offsets.data(), {distances.data(), indices.data(), nullptr});
        RadiusBlock block;
        block.query_indices = {walk_.query_indices() + range.first_point, static_cast<std::size_t>(rows)};
        block.offsets = {offsets.data(), static_cast<std::size_t>(rows) + 1};
        block.size = size;
        block.indices_data = indices.data();
        block.dtype = dtype_of<T>;
        block.distances_data = distances.data();
        block.device = context_.device();
        block.stream = context_.stream();
        if (unresolved.is_needed()) {
            unresolved.take_rows(context_.to_host(offsets.data(), rows + 1),
                                 context_.to_host(indices.data(), size).data(),
                                 context_.to_host(block.query_indices.data(), rows).data(), is_by_distance());
        }
        visitor(block);
        context_.done(static_cast<double>(range.end_point) / static_cast<double>(walk_.query_count()));
    }

    DeviceContext& context_;
    const Walk& walk_;
    const DeviceRadiusCall& call_;
    T uniform_ = 0;
    std::vector<T> squared_; ///< radii in working units, by original index
    DeviceBuffer<T> there_;  ///< the same in memory of the device
};

/// Throws invalid_argument for a radius whose square underflows, if there is something to search. given() returns the
/// sources as given, on the host, row-major.
template <Coordinate T, class Given>
void check_radii(const DeviceRadiusCall& call, const Frame<T>& frame, std::int64_t rows, std::int64_t sources,
                 bool is_self_search, const Given& given) {
    if (rows > 0 && sources > 0) {
        require_resolved_radii(call.radii, call.smallest_radius, frame, is_self_search, [&] {
            const std::vector<T> points = given();
            return largest_coordinate(frame, Coordinates<T>(PointsView(points, frame.dimension)), sources);
        });
    }
}

/// Brings the answer to where it was asked for.
template <Coordinate T, class Walk>
SearchSummary search_radius(DeviceContext& context, const Walk& walk, const DeviceRadiusCall& call,
                            CountOnHost<T>& unresolved) {
    DeviceRadiusSearch<T, Walk> search(context, walk, call);
    if (call.counts != nullptr) {
        search.count(*call.counts);
    } else if (call.rows != nullptr) {
        search.find(*call.rows, unresolved);
    } else {
        search.visit(*call.visitor, unresolved);
    }
    return unresolved.summary();
}

} // namespace kith::detail::inline KITH_GPU
