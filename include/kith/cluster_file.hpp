// Files of the clusters of HDBSCAN*.
#pragma once

#include <kith/hdbscan.hpp>
#include <kith/io.hpp>

#include <filesystem>

namespace kith::io {

/// Writes clusters in the order of the points, with the provenance, as write_spanning_tree_npz() and _hdf5() do. Of
/// points: `labels` (int32), `probabilities`, `outlier_scores`, `core_distances`, `last_clusters` (int32) and
/// `lambdas`; of the spanning tree `edges` ((n - 1) x 2, int32) and `heights`; of the clusters of the condensed tree
/// `cluster_parents`, `cluster_sizes`, `cluster_labels` (int32), `cluster_births`, `cluster_deaths` and
/// `cluster_stabilities`. Throws Error(file).
void write_density_clusters_npz(const std::filesystem::path& path, const HdbscanResult& clusters,
                                const Provenance& provenance);
void write_density_clusters_hdf5(const std::filesystem::path& path, const HdbscanResult& clusters,
                                 const Provenance& provenance);

} // namespace kith::io
