// The public neighbor searches that only put work on a stream.
#include <kith/async.hpp>

#include "calls/device_async_calls.hpp"

namespace kith {

std::int64_t knn_async_bytes(const KnnSize& size, const Execution& execution) {
    return detail::knn_async_bytes_on_device(size, execution);
}

void knn_async(const NeighborRows& rows, const PointsView& points, std::int64_t k, const KnnOptions& options,
               std::span<std::byte> scratch, DeviceStatus* status) {
    detail::knn_async_on_device({points, {}, {k, options, &rows}, false, status}, scratch);
}

void knn_async(const NeighborRows& rows, const PointsView& points, const PointsView& queries, std::int64_t k,
               const KnnOptions& options, std::span<std::byte> scratch, DeviceStatus* status) {
    detail::knn_async_on_device({points, queries, {k, options, &rows}, false, status}, scratch);
}

} // namespace kith
