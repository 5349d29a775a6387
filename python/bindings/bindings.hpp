// The parts of kith._core, a file each.
#pragma once

#include <nanobind/nanobind.h>

namespace kith::python {

namespace nb = nanobind;

void bind_boxes(nb::module_& module);       ///< boxes and devices
void bind_call(nb::module_& module);        ///< the arguments that calls share
void bind_search(nb::module_& module);      ///< trees and nearest neighbors
void bind_radius(nb::module_& module);      ///< neighbors within a radius
void bind_sums(nb::module_& module);        ///< sums over neighbors
void bind_pairs(nb::module_& module);       ///< pairs by distance
void bind_groups(nb::module_& module);      ///< groups and their catalog
void bind_group_order(nb::module_& module); ///< arrays in the order of groups
void bind_halos(nb::module_& module);       ///< bound halos of groups
void bind_dbscan(nb::module_& module);      ///< clusters
void bind_hdbscan(nb::module_& module);     ///< clusters of different densities
void bind_mst(nb::module_& module);         ///< the minimum spanning tree
void bind_hierarchy(nb::module_& module);   ///< the hierarchy of groups
void bind_kdtree(nb::module_& module);      ///< the order of a k-d tree
void bind_z_order(nb::module_& module);     ///< the z-order, and rows of other processes
void bind_files(nb::module_& module);       ///< snapshots and catalogs in files

} // namespace kith::python
