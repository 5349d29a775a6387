// What the catalog does on a GPU.
#pragma once

#include <kith/catalog.hpp>

#include "cuda/namespace.hpp"
#include "halos/columns.hpp"

namespace kith::detail::inline KITH_GPU {

Catalog catalog_on_device(const halos::LabeledGroups& groups, const Particles& particles, const Box& box,
                          const CatalogOptions& options);

} // namespace kith::detail::inline KITH_GPU
