// The public calls that only put work on a stream.
#include <kith/async.hpp>
#include <kith/async_tree.hpp>

#include "calls/device_calls.hpp"
#include "groups/checks.hpp"

namespace kith {

std::int64_t knn_async_bytes(const KnnSize& size, const Execution& execution) {
    return detail::on_gpu().knn_async_bytes(AsyncTreeSize{size.dtype, size.dimension, size.points}, size.queries,
                                            size.k, size.engine, execution);
}

std::int64_t knn_async_bytes(const Tree& tree, std::int64_t k, std::optional<std::int64_t> queries) {
    return detail::on_gpu().knn_async_bytes(tree, queries, k, Engine::automatic, {});
}

std::int64_t knn_async_bytes(const AsyncTree& tree, std::int64_t k, std::optional<std::int64_t> queries,
                             const Execution& execution) {
    return detail::on_gpu().knn_async_bytes(tree, queries, k, Engine::automatic, execution);
}

void knn_async(const NeighborRows& rows, const PointsOrTree& points, std::int64_t k, const KnnOptions& options,
               std::span<std::byte> scratch, DeviceStatus* status) {
    detail::on_gpu().knn_async({points, {}, {k, options, &rows}, false, status}, scratch);
}

void knn_async(const NeighborRows& rows, const PointsOrTree& points, const PointsView& queries, std::int64_t k,
               const KnnOptions& options, std::span<std::byte> scratch, DeviceStatus* status) {
    detail::on_gpu().knn_async({points, queries, {k, options, &rows}, false, status}, scratch);
}

void knn_async(const NeighborRows& rows, const AsyncTree& tree, std::int64_t k, const KnnOptions& options,
               std::span<std::byte> scratch, DeviceStatus* status) {
    detail::on_gpu().knn_async({PointsView(), {}, {k, options, &rows}, false, status, nullptr, &tree}, scratch);
}

void knn_async(const NeighborRows& rows, const AsyncTree& tree, const PointsView& queries, std::int64_t k,
               const KnnOptions& options, std::span<std::byte> scratch, DeviceStatus* status) {
    detail::on_gpu().knn_async({PointsView(), queries, {k, options, &rows}, false, status, nullptr, &tree}, scratch);
}

std::int64_t fof_async_bytes(const FofSize& size, const Execution& execution) {
    return detail::on_gpu().fof_async_bytes(AsyncTreeSize{size.dtype, size.dimension, size.points}, size.engine,
                                            execution);
}

std::int64_t fof_async_bytes(const Tree& tree) {
    return detail::on_gpu().fof_async_bytes(tree, Engine::automatic, {});
}

std::int64_t fof_async_bytes(const AsyncTree& tree, const Execution& execution) {
    return detail::on_gpu().fof_async_bytes(tree, Engine::automatic, execution);
}

void fof_async(std::span<std::int32_t> labels, const PointsOrTree& points, LinkingLength linking_length,
               const FofOptions& options, std::span<std::byte> scratch, DeviceFofSummary* summary,
               DeviceStatus* status) {
    detail::check_labels(labels, points.count());
    detail::on_gpu().fof_async({points, linking_length, options, labels.data(), false, summary, status}, scratch);
}

void fof_async(std::span<std::int32_t> labels, const AsyncTree& tree, LinkingLength linking_length,
               const FofOptions& options, std::span<std::byte> scratch, DeviceFofSummary* summary,
               DeviceStatus* status) {
    detail::check_labels(labels, tree.size.points);
    detail::on_gpu().fof_async(
        {PointsView(), linking_length, options, labels.data(), false, summary, status, nullptr, &tree}, scratch);
}

std::int64_t async_tree_bytes(const AsyncTreeSize& size, const Execution& execution) {
    return detail::on_gpu().async_tree_bytes(size, execution);
}

std::int64_t build_tree_async_bytes(const AsyncTreeSize& size, const Execution& execution) {
    return detail::on_gpu().build_tree_async_bytes(size, execution);
}

AsyncTree build_tree_async(std::span<std::byte> memory, const PointsView& points, const Box& box,
                           const Execution& execution, std::span<std::byte> scratch, DeviceStatus* status) {
    const AsyncTree tree{memory, {points.dtype(), points.dimension(), points.count()}, box};
    detail::on_gpu().build_tree_async(tree, points, execution, scratch, status);
    return tree;
}

} // namespace kith
