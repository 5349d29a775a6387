// The k-d tree engine on a GPU, from points of the device in the order given to rows in its memory.
#pragma once

#include "engines/kdtree/build_device.hpp"
#include "engines/kdtree/nearest_kernel.hpp"

#include <algorithm>
#include <cstdint>

namespace kith::detail::inline KITH_GPU {

/// Memory for heaps, at most, as far as one block of threads fits.
inline constexpr std::int64_t max_heap_bytes = std::int64_t{1} << 28;

/// The rows of all queries; null: of the points themselves.
template <Coordinate T, int D>
void search_kd_tree(DeviceContext& context, const DeviceKdTree<T, D>& tree, const Frame<T>& frame,
                    const DevicePointSet<T>* queries, const DeviceRequest<T>& request) {
    const std::int64_t sources = tree.nodes.size();
    NearestJob<T, D> job{tree.view(frame), {}, request};
    job.queries = queries != nullptr
                      ? queries->view()
                      : PointSetView<T>{nullptr, 0, static_cast<std::int32_t>(sources), tree.indices.data()};
    const std::int64_t blocks = (std::int64_t{job.queries.count} + nearest_threads - 1) / nearest_threads;
    const auto run = [&](auto* kernel, std::int64_t of_grid) {
        launch(context, "search of a k-d tree", kernel, of_grid, nearest_threads, job);
    };
    if (request.k == 1) {
        run(nearest_kernel<T, D, 1>, blocks);
    } else if (request.k <= largest_short_list) {
        run(nearest_kernel<T, D, largest_short_list>, blocks);
    } else {
        job.heap_size = std::max<std::int64_t>(1, std::min(request.k, sources));
        const std::int64_t heaps_of_block = nearest_threads * job.heap_size;
        const std::int64_t bytes_of_block = heaps_of_block * static_cast<std::int64_t>(sizeof(kdtree::Neighbor<T>));
        const std::int64_t max_bytes = std::min(max_heap_bytes, context.memory()->left() / 2);
        const std::int64_t of_grid = std::min(blocks, std::max<std::int64_t>(1, max_bytes / bytes_of_block));
        const DeviceBuffer<kdtree::Neighbor<T>> heaps = context.buffer<kdtree::Neighbor<T>>(of_grid * heaps_of_block);
        job.heaps = heaps.data();
        run(nearest_kernel<T, D, 0>, of_grid);
    }
}

} // namespace kith::detail::inline KITH_GPU
