// The k-d tree of a kith::Tree on a GPU, and the search of its nearest neighbors to rows in memory of the device.
#pragma once

#include "engines/kdtree/build_device.hpp"
#include "engines/kdtree/nearest_kernel.hpp"
#include "points/as_given.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace kith::detail::inline KITH_GPU {

/// A tree, and what a search takes from its points.
template <Coordinate T, int D>
struct KeptKdTree {
    DeviceKdTree<T, D> tree;
    Frame<T> frame;
    std::vector<T> as_given; ///< on the host, row-major; empty unless coordinates are tiny

    [[nodiscard]] std::int64_t count() const { return tree.nodes.size(); }
    [[nodiscard]] typename DeviceKdTree<T, D>::View view() const { return tree.view(frame); }
    /// The points as queries, in level order.
    [[nodiscard]] PointSetView<T> nodes() const {
        return {nullptr, 0, static_cast<std::int32_t>(count()), tree.indices.data()};
    }
    /// See given_rows().
    [[nodiscard]] std::vector<T> given_rows(DeviceContext& context) const {
        if (frame.has_tiny) {
            return as_given;
        }
        const std::vector<std::array<T, D>> positions = context.to_host(tree.nodes.data(), count());
        const std::vector<std::int32_t> indices = context.to_host(tree.indices.data(), count());
        std::vector<T> coordinates;
        for (int axis = 0; axis < D; ++axis) {
            for (const std::array<T, D>& position : positions) {
                coordinates.push_back(position[axis]);
            }
        }
        return unscaled_rows<T>(
            frame, {coordinates.data(), count(), static_cast<std::int32_t>(count()), indices.data()}, count());
    }
};

/// Memory for heaps, at most, as far as one block of threads fits.
inline constexpr std::int64_t max_heap_bytes = std::int64_t{1} << 28;

/// The rows of all queries; null: of the points themselves.
template <Coordinate T, int D>
void search_kd_tree(DeviceContext& context, const KeptKdTree<T, D>& tree, const DevicePointSet<T>* queries,
                    const DeviceRequest<T>& request) {
    NearestJob<T, D> job{tree.view(), queries != nullptr ? queries->view() : tree.nodes(), request};
    const std::int64_t blocks = (std::int64_t{job.queries.count} + nearest_threads - 1) / nearest_threads;
    const auto run = [&](auto* kernel, std::int64_t of_grid) {
        launch(context, "search of a k-d tree", kernel, of_grid, nearest_threads, job);
    };
    if (request.k == 1) {
        run(nearest_kernel<T, D, 1>, blocks);
    } else if (request.k <= largest_short_list) {
        run(nearest_kernel<T, D, largest_short_list>, blocks);
    } else {
        job.heap_size = std::max<std::int64_t>(1, std::min(request.k, tree.count()));
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
