// The points of this rank that other ranks may have edges to (edge_requests.hpp).
//
// For each request, the points of other components than the asking one within its bound of its box. A point of another
// component at the box's greatest distance from it is an edge out of the asking one, so that no answer reaches farther:
// the first walk down the tree lowers the bound, the second marks what is within it. Cost: two walks for each request.
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

/// Inside a stage, without communication. Answers requests, which are freed.
template <Coordinate T>
std::vector<RankMessage> answers_to_edge_requests(Context& context, const SharedPoints<T>& shared,
                                                  const TreeView<T>& tree, const OwnComponents<T>& components,
                                                  const NodeComponents& of_nodes, std::vector<RankMessage> requests);

/// Appends the points of an answer, whose bounds `requests` take.
template <Coordinate T>
void take_edge_answer(const RankMessage& message, int dimension, EdgeRequests<T>& requests, EdgePoints<T>& points);

} // namespace kith::detail
