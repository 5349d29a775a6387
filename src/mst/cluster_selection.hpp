// Which clusters of the condensed tree are the answer of HDBSCAN*, and what follows for every point: labels,
// probabilities and outlier scores.
//
// Method: stabilities are exact sums in fixed point (docs/semantics.md, "HDBSCAN*"), so that they depend on no order.
// Passes over clusters go up (children before parents) or down (parents first), by their numbers. Sources: Campello,
// Moulavi and Sander, PAKDD 2013; GLOSH: Campello et al., TKDD 10 (2015) 5; epsilon: Malzer and Baum, MFI 2020. Cost:
// O(n).
#pragma once

#include <kith/hdbscan.hpp>

#include "mst/condensed_tree.hpp"

#include <algorithm>
#include <limits>

namespace kith::detail {

/// Density at which points connected at that height part.
inline double lambda_of(double height) noexcept {
    return std::min(1 / height, std::numeric_limits<double>::max());
}

/// Fills in clusters, labels and scores of points, one or more, from the edges and heights of the result and its
/// smallest cluster. Runs the stages "merge" and "clusters".
void find_clusters(Context& context, std::int64_t points, const HdbscanOptions& options, HdbscanResult& result);

} // namespace kith::detail
