// A search on a GPU that hands its rows to a visitor, block by block along the curve.
//
// A block is a range of leaves whose rows fit a piece of scratch. The visitor is called on the host, before the block's
// work on the stream is done: what it launches on that stream comes after it.
#pragma once

#include "neighbors/count_on_host.hpp"
#include "neighbors/search_device.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace kith::detail::inline KITH_GPU {

inline constexpr std::int64_t max_bytes_of_block = std::int64_t{1} << 30;

/// Finds block after block the leaves that begin in so many points, one a thread.
struct FindLeafBlocks {
    const std::int32_t* first_point; ///< of each leaf, then the number of points
    std::int32_t leaves;
    std::int64_t points_of_block;
    LeafRange* blocks;

    __device__ void operator()(std::int64_t block) const {
        const std::int32_t first = first_leaf_from(block * points_of_block);
        const std::int32_t end = first_leaf_from((block + 1) * points_of_block);
        blocks[block] = {first, end, first_point[first], first_point[end]};
    }

private:
    /// The first leaf that begins at a point or after it.
    __device__ std::int32_t first_leaf_from(std::int64_t point) const {
        std::int32_t first = 0;
        std::int32_t end = leaves;
        while (first < end) {
            const std::int32_t middle = first + (end - first) / 2;
            const bool is_before = first_point[middle] < point;
            first = is_before ? middle + 1 : first;
            end = is_before ? end : middle;
        }
        return first;
    }
};

/// Ranges of leaves with at most so many points, or of one leaf each.
template <Coordinate T>
std::vector<LeafRange> leaf_blocks(DeviceContext& context, const DevicePlaneTree<T>& tree, std::int64_t max_points) {
    // The last leaf of a block may end in the points of the next one.
    const std::int64_t points_of_block = std::max<std::int64_t>(1, max_points - (warp_size - 1));
    const std::int64_t count = (tree.points.count + points_of_block - 1) / points_of_block;
    const DeviceBuffer<LeafRange> there = context.buffer<LeafRange>(count);
    for_each_index(context, "blocks of leaves", count,
                   FindLeafBlocks{tree.planes[0].first_point.data(), static_cast<std::int32_t>(tree.planes[0].nodes),
                                  points_of_block, there.data()});
    std::vector<LeafRange> blocks = context.to_host(there.data(), count);
    std::erase_if(blocks, [](const LeafRange& block) { return block.first_leaf == block.end_leaf; });
    return blocks;
}

/// Searches block after block of queries, whose rows have a limited size, and calls take(block, rows) for each.
/// Their memory is the device's, of 32-bit indices, and the next block overwrites it.
template <Coordinate T, int D, class Take>
void search_in_blocks(DeviceContext& context, const DevicePlaneTree<T>& queries, const DevicePlaneTree<T>& sources,
                      DeviceRequest<T> request, std::int64_t max_bytes, const Take& take) {
    const std::int64_t bytes_of_row = request.k * static_cast<std::int64_t>(sizeof(T) + sizeof(std::int32_t));
    const std::int64_t bytes = std::min(max_bytes, context.memory()->left() / 2);
    const std::vector<LeafRange> blocks =
        leaf_blocks(context, queries, std::max<std::int64_t>(1, bytes / bytes_of_row));
    std::int64_t max_rows = 0;
    for (const LeafRange& block : blocks) {
        max_rows = std::max<std::int64_t>(max_rows, block.end_point - block.first_point);
    }
    const DeviceBuffer<std::int32_t> indices = context.buffer<std::int32_t>(max_rows * request.k);
    const DeviceBuffer<T> distances = context.buffer<T>(max_rows * request.k);
    request.rows = {distances.data(), indices.data(), nullptr};
    DeviceSearch<T, D> search(context, queries, sources);
    for (const LeafRange& block : blocks) {
        request.first_position = block.first_point;
        search.run(request, block);
        take(block, request.rows);
        context.done(static_cast<double>(block.end_point) / static_cast<double>(queries.points.count));
    }
}

template <Coordinate T, int D>
void visit_on_device(DeviceContext& context, const DevicePlaneTree<T>& queries, const DevicePlaneTree<T>& sources,
                     const DeviceRequest<T>& request, const NeighborVisitor& visitor, CountOnHost<T>& count) {
    search_in_blocks<T, D>(
        context, queries, sources, request, max_bytes_of_block,
        [&](const LeafRange& block, const DeviceRowMemory<T>& memory) {
            const auto rows = static_cast<std::size_t>(block.end_point - block.first_point);
            NeighborBlock seen;
            seen.first = block.first_point;
            seen.query_indices = {queries.points.indices.data() + block.first_point, rows};
            seen.k = request.k;
            seen.indices_data = memory.indices;
            seen.dtype = dtype_of<T>;
            seen.distances_data = memory.distances;
            seen.device = context.device();
            seen.stream = context.stream();
            if (count.is_needed()) {
                count.take(context.to_host(memory.indices, static_cast<std::int64_t>(rows) * request.k), request.k, 0,
                           context.to_host(seen.query_indices.data(), static_cast<std::int64_t>(rows)).data());
            }
            visitor(seen);
        });
}

} // namespace kith::detail::inline KITH_GPU
