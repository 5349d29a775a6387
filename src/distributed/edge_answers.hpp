// The points of this rank that other ranks may have edges to (edge_requests.hpp).
//
// For each request, the points of other components than the asking one within its bound of its box. A point of another
// component at the box's greatest distance from it is an edge out of the asking one, so that no answer reaches farther:
// the first walk down the tree lowers the bound, the second marks what is within it. With core distances that edge
// weighs no more than the largest core distance that the request names, and those of the node, allow. Cost: two walks
// for each request.
#pragma once

#include "distributed/edge_requests.hpp"
#include "distributed/node_components.hpp"
#include "distributed/open_edges.hpp"
#include "distributed/ranks.hpp"
#include "distributed/shared_frame.hpp"
#include "support/context.hpp"
#include "tree/view.hpp"

#include <cstdint>
#include <vector>

namespace kith::detail {

/// The points of this rank and their nodes.
template <class Metric>
struct AskedPoints {
    using T = typename Metric::Scalar;

    const SharedPoints<T>& shared;
    const Metric& metric;
    const TreeView<T>& tree;
    const std::vector<Buffer<T>>& largest_cores; ///< by level and node, if there are core distances
    const OwnComponents<typename Metric::Length>& components;
    const NodeComponents& of_nodes;
};

/// By rank: rows of this rank's points that it has from answers of this round, ascending.
using SentRows = std::vector<std::vector<std::int32_t>>;

/// Inside a stage, without communication. Answers requests, which are freed, with points that have not been sent.
template <class Metric>
std::vector<RankMessage> answers_to_edge_requests(Context& context, const AskedPoints<Metric>& points, SentRows& sent,
                                                  std::vector<RankMessage> requests);

/// Appends the points of an answer, whose bounds `requests` take.
template <class Metric>
void take_edge_answer(const RankMessage& message, int dimension, EdgeRequests<Metric>& requests,
                      EdgePoints<typename Metric::Scalar>& points);

} // namespace kith::detail
