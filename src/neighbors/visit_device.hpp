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

inline constexpr std::int64_t max_bytes_of_block = std::int64_t{1} << 28;

/// Ranges of leaves with at most so many points, or of one leaf each.
template <Coordinate T>
std::vector<LeafRange> leaf_blocks(DeviceContext& context, const DevicePlaneTree<T>& tree, std::int64_t max_points) {
    const std::int64_t leaves = tree.planes[0].nodes;
    const std::vector<std::int32_t> first_point = context.to_host(tree.planes[0].first_point.data(), leaves + 1);
    std::vector<LeafRange> blocks;
    for (std::int64_t first = 0; first < leaves;) {
        const std::int64_t most = std::int64_t{first_point[first]} + max_points;
        const auto end = std::upper_bound(first_point.begin() + first + 1, first_point.end(), most);
        const std::int64_t next = std::max(first + 1, end - first_point.begin() - 1);
        blocks.push_back(
            {static_cast<std::int32_t>(first), static_cast<std::int32_t>(next), first_point[first], first_point[next]});
        first = next;
    }
    return blocks;
}

template <Coordinate T, int D>
void visit_on_device(DeviceContext& context, const DevicePlaneTree<T>& queries, const DevicePlaneTree<T>& sources,
                     DeviceRequest<T> request, const NeighborVisitor& visitor, CountOnHost<T>& count) {
    const std::int64_t bytes_of_row = request.k * static_cast<std::int64_t>(sizeof(T) + sizeof(std::int32_t));
    const std::int64_t max_bytes = std::min(max_bytes_of_block, context.memory()->left() / 2);
    const std::vector<LeafRange> blocks =
        leaf_blocks(context, queries, std::max<std::int64_t>(1, max_bytes / bytes_of_row));
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
        const auto rows = static_cast<std::size_t>(block.end_point - block.first_point);
        NeighborBlock seen;
        seen.first = block.first_point;
        seen.query_indices = {queries.points.indices.data() + block.first_point, rows};
        seen.k = request.k;
        seen.indices = {indices.data(), rows * static_cast<std::size_t>(request.k)};
        seen.dtype = dtype_of<T>;
        seen.distances_data = distances.data();
        seen.device = context.device();
        seen.stream = context.stream();
        if (count.is_needed()) {
            count.take(context.to_host(indices.data(), static_cast<std::int64_t>(rows) * request.k), request.k, 0,
                       context.to_host(seen.query_indices.data(), static_cast<std::int64_t>(rows)).data());
        }
        visitor(seen);
        context.done(static_cast<double>(block.end_point) / static_cast<double>(queries.points.count));
    }
}

} // namespace kith::detail::inline KITH_GPU
