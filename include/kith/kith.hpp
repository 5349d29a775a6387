// All headers of kith's core: trees, neighbors, groups and their hierarchy, clusters, spanning trees, catalogs, bound
// halos, ranks. Not included: files, <kith/io.hpp>; MPI, <kith/mpi.hpp>; for your own loops, walks, <kith/walk.hpp>,
// and k-d trees, <kith/device/kdtree.hpp>.
#pragma once

#include <kith/async.hpp>
#include <kith/async_tree.hpp>
#include <kith/box.hpp>
#include <kith/catalog.hpp>
#include <kith/catalog_columns.hpp>
#include <kith/communicator.hpp>
#include <kith/cosmology.hpp>
#include <kith/dbscan.hpp>
#include <kith/device_catalog.hpp>
#include <kith/device_communicator.hpp>
#include <kith/device_status.hpp>
#include <kith/distributed.hpp>
#include <kith/error.hpp>
#include <kith/execution.hpp>
#include <kith/fof.hpp>
#include <kith/group_order.hpp>
#include <kith/group_sizes.hpp>
#include <kith/halos.hpp>
#include <kith/hdbscan.hpp>
#include <kith/hierarchy.hpp>
#include <kith/index_array.hpp>
#include <kith/kdtree_order.hpp>
#include <kith/knn.hpp>
#include <kith/neighbor_row.hpp>
#include <kith/other_labels.hpp>
#include <kith/pair_counts.hpp>
#include <kith/points.hpp>
#include <kith/progress.hpp>
#include <kith/radius.hpp>
#include <kith/spanning_tree.hpp>
#include <kith/sum_neighbors.hpp>
#include <kith/tree.hpp>
#include <kith/types.hpp>
#include <kith/version.hpp>
#include <kith/z_order.hpp>
