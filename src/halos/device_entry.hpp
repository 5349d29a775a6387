// What catalogs and the order of groups do on a GPU.
#pragma once

#include <kith/device_catalog.hpp>
#include <kith/group_order.hpp>

#include "cuda/namespace.hpp"
#include "halos/columns.hpp"

#include <cstdint>
#include <span>

namespace kith::detail::inline KITH_GPU {

Catalog catalog_on_device(const halos::LabeledGroups& groups, const Particles& particles, const Box& box,
                          const CatalogOptions& options);
DeviceCatalog device_catalog(const halos::LabeledGroups& groups, const Particles& particles, const Box& box,
                             const CatalogOptions& options);
/// The catalog in memory of the host.
Catalog catalog_on_host(const DeviceCatalog& catalog, const Execution& execution);

/// `offsets` may be empty.
void group_order(std::span<const std::int32_t> labels, std::int64_t groups, std::span<std::int32_t> indices,
                 std::span<std::int64_t> offsets, const Execution& execution, GroupOrderSummary& result);
/// There are rows, of a byte or more.
void gather_rows(std::span<const std::int32_t> indices, const void* rows, std::int64_t row_bytes, void* out,
                 const Execution& execution);

} // namespace kith::detail::inline KITH_GPU
