// What catalogs, the order of groups and bound halos do on a GPU.
#pragma once

#include <kith/device_catalog.hpp>
#include <kith/group_order.hpp>
#include <kith/halos.hpp>

#include "cuda/namespace.hpp"
#include "halos/bound_members.hpp"
#include "halos/columns.hpp"

#include <cstdint>
#include <span>
#include <vector>

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

/// What is bound of the first groups, of which `offsets` has one number more: it gets where their members begin. Labels
/// and particles are the host's, columns() have been checked, and the options' softening has been resolved. Adds the
/// stages "upload", "members" and "unbind".
halos::BoundMembers find_bound_on_device(std::span<const std::int32_t> labels, const Particles& particles,
                                         const halos::Columns& columns, const HaloOptions& options,
                                         std::vector<std::int64_t>& offsets, StageReports& stages);

} // namespace kith::detail::inline KITH_GPU
