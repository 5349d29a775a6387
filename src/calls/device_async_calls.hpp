// What the public functions of include/kith/async.hpp do: all checks that do not take the points, then the work.
//
// Builds without CUDA have these, too: they throw unsupported (no_cuda.cpp).
#pragma once

#include <kith/async.hpp>

#include "groups/device_entry.hpp"
#include "neighbors/device_entry.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace kith::detail::inline KITH_GPU {

std::int64_t knn_async_bytes_on_device(const KnnSize& size, const Execution& execution);

/// Chooses the engine: `all_pairs` need not be set.
void knn_async_on_device(DeviceKnnAsync search, std::span<std::byte> scratch);

std::int64_t fof_async_bytes_on_device(const FofSize& size, const Execution& execution);
void fof_async_on_device(DeviceFofAsync fof, std::span<std::byte> scratch);

} // namespace kith::detail::inline KITH_GPU
