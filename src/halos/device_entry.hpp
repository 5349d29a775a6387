// What catalogs, the order of groups and bound halos do on a GPU.
#pragma once

#include <kith/device_catalog.hpp>
#include <kith/group_order.hpp>
#include <kith/halos.hpp>

#include "cuda/namespace.hpp"
#include "halos/bound_on_device.hpp"
#include "halos/columns.hpp"
#include "halos/part_describer.hpp"
#include "halos/particles_on_device.hpp"
#include "support/context.hpp"
#include "tree/device_handle.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace kith::detail::inline KITH_GPU {

Catalog catalog_on_device(const halos::LabeledGroups& groups, const Particles& particles, const FofSummary& found,
                          const CatalogOptions& options);
DeviceCatalog device_catalog(const halos::LabeledGroups& groups, const Particles& particles, const FofSummary& found,
                             const CatalogOptions& options);
/// The catalog in memory of the host.
Catalog catalog_on_host(const DeviceCatalog& catalog, const Execution& execution);

/// Writes a column of catalog_columns, on the stream, to memory for numbers of its kind.
void store_column(const DeviceCatalog& catalog, std::size_t column, const ColumnMemory& to, const Execution& execution);

/// Describes groups of one rank.
std::unique_ptr<halos::PartDescriber> part_describer(const Execution& execution);

/// `offsets` may be empty.
void group_order(std::span<const std::int32_t> labels, std::int64_t groups, std::span<std::int32_t> indices,
                 std::span<std::int64_t> offsets, const Execution& execution, GroupOrderSummary& result);
/// There are rows, of a byte or more.
void gather_rows(std::span<const std::int32_t> indices, const void* rows, std::int64_t row_bytes, void* out,
                 const Execution& execution);

/// What is bound of the first groups, in the stages "members" and "unbind"; `offsets`, one more than there are groups,
/// gets where their members begin. Labels are the host's, and `columns` those of the host's particles, checked, which
/// give units and box. The options' softening has been resolved.
BoundOnDevice find_bound_on_device(DeviceContext& context, std::span<const std::int32_t> labels,
                                   const ParticlesOnDevice& there, const halos::Columns& columns,
                                   const HaloOptions& options, std::vector<std::int64_t>& offsets);

/// The halos of the first found.groups groups, in the stages "members", "unbind" and
/// "spheres"; resolves the softening of found.options.
/// The tree is of the same particles. The threads of `host` write the rows.
template <Coordinate T>
void find_halos_on_device(DeviceContext& context, Context& host, std::span<const std::int32_t> labels,
                          const ParticlesOnDevice& there, const DeviceTreeHandle& tree, const halos::Columns& columns,
                          Halos& found);

} // namespace kith::detail::inline KITH_GPU
