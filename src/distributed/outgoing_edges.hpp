// Edges between the points of this rank and those of others, as far as the spanning tree may need them.
//
// In a round, the points that may have a shorter edge out of their component than the least known one ask
// (edge_requests.hpp), and the ranks with boxes within reach answer with their points of other components
// (edge_answers.hpp). Of all edges among the requesting points and those that arrive, only those of their own spanning
// tree can be edges of the whole (the cycle property), so that few are left. What is not in the answers is beyond the
// new bound.
#pragma once

#include "distributed/edge_answers.hpp"
#include "distributed/edge_requests.hpp"
#include "distributed/open_edges.hpp"
#include "distributed/ranks.hpp"
#include "distributed/shared_frame.hpp"
#include "support/context.hpp"
#include "tree/plane_tree.hpp"

#include <cstdint>
#include <functional>
#include <vector>

namespace kith::detail {

template <class Metric>
class OutgoingEdges {
public:
    using T = typename Metric::Scalar;
    using Length = typename Metric::Length;
    using Components = OwnComponents<Length>;

    /// Collective. Of the points of the tree, which has no planes if there are none.
    OutgoingEdges(Ranks& ranks, Context& context, const SharedPoints<T>& shared, const Metric& metric,
                  const PlaneTree<T>& tree);

    /// A length that no unknown edge between the point and another rank is less than.
    [[nodiscard]] Length limit_of(std::int64_t row) const { return requests_.limit_of(row); }

    /// Collective. Edges out of this rank's components, to points of other ranks and components. Then the least edge of
    /// a component is shorter than all its points' bounds, unless it waits, or has more requests than a round allows.
    std::vector<OpenEdge<Length>> find(const Components& components, bool is_first);

private:
    struct Round {
        const Components& components;
        NodeComponents of_nodes;
        EdgePoints<T> points; ///< that have arrived
        SentRows sent;
    };

    void fetch(const std::function<std::vector<RankMessage>()>& make_requests, Round& round);
    std::vector<OpenEdge<Length>> edges_among(const Components& components, EdgePoints<T> ghosts);

    Ranks& ranks_;
    Context& context_;
    const SharedPoints<T>& shared_;
    const Metric& metric_;
    const TreeView<T> view_;
    std::vector<Buffer<T>> largest_cores_; ///< by level and node, if there are core distances
    EdgeRequests<Metric> requests_;
};

} // namespace kith::detail
