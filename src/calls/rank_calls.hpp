// The calls over ranks: each rank checks its own arguments, all compare those that must be the same, and the algorithms
// of src/distributed run together. One rank whose points have no ids makes the call of one process.
#pragma once

#include <kith/catalog.hpp>
#include <kith/halos.hpp>

#include "calls/calls.hpp"

namespace kith::detail {

KnnResult knn_over_team(const KnnCall& call);
SearchSummary knn_into_over_team(const KnnCall& call);
SearchSummary knn_visit_over_team(const KnnCall& call);
RadiusResult radius_search_over_team(const RadiusCall& call);
RadiusCounts radius_count_over_team(const RadiusCall& call);
NeighborSums sum_neighbors_over_team(const SumCall& call);
PairCounts pair_counts_over_team(const PairCall& call);
FofResult fof_over_team(const FofCall& call);
DbscanResult dbscan_over_team(const DbscanCall& call);
HdbscanResult hdbscan_over_team(const HdbscanCall& call);
SpanningTree spanning_tree_over_team(const SpanningTreeCall& call);
ZOrder z_order_over_team(const ZOrderCall& call);
/// Throws invalid_argument unless the groups were found over as many ranks; 0: by one process.
void require_groups_of(const FofSummary& groups, int ranks);
Catalog catalog_over_team(const FofResult& groups, const Particles& particles, const CatalogOptions& options);

/// Throws what <kith/halos.hpp> says of options and shapes, whose checks need no particle.
void check_halos(const Particles& particles, const HaloOptions& options);
Halos halos_over_team(const FofResult& groups, const Particles& particles, const HaloOptions& options);

} // namespace kith::detail
