// Which points of a rank ask other ranks for edges out of their components, and how far (outgoing_edges.hpp).
//
// Each point has a bound: no unknown edge to another component on another rank is shorter. At first that is its
// distance from the boxes of the other ranks' top planes; from the second round on, of those boxes that do not belong
// to its component alone. Where the bound is within the length of the least known edge out of the component, a shorter
// one may exist: the points of a component in a leaf, with their box, are a request. The nearest box of another
// component has a point, which limits the length, too.
//
// In the first round the components of a leaf near other ranks ask together, and far enough for several rounds. The
// least known edge may be much longer than the least one, and then many points would answer. So a component that is far
// from other ranks, or has more requests than a round allows (8 in the first, 64 in the second), first asks with single
// points, one of each of its nearest leaves, for the points nearest to them. An edge from any of its points to these
// limits the length for the requests proper, if they are then few enough.
//
// Bounds and what travels are squared distances; components and edges are compared by the metric (tree_metric.hpp). The
// core distances of points behind boxes are not known, so with core distances boxes limit nothing.
#pragma once

#include "distributed/edge_messages.hpp"
#include "distributed/foreign_boxes.hpp"
#include "distributed/node_components.hpp"
#include "distributed/open_edges.hpp"
#include "distributed/ranks.hpp"
#include "distributed/shared_frame.hpp"
#include "distributed/tree_metric.hpp"
#include "support/context.hpp"
#include "tree/view.hpp"

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace kith::detail {

template <class Metric>
class EdgeRequests {
public:
    using T = typename Metric::Scalar;
    using Length = typename Metric::Length;
    using Components = OwnComponents<Length>;

    /// Collective. Of the points of the tree, which has no planes if there are none.
    EdgeRequests(Ranks& ranks, Context& context, const SharedPoints<T>& shared, const Metric& metric,
                 const TreeView<T>& view);

    /// A length that no unknown edge between the point and another rank and component is less than.
    [[nodiscard]] Length limit_of(std::int64_t row) const {
        return metric_.between(metric_.core(row), 0, bounds_[row]);
    }
    /// Positions of the points that ask in this round, request after request; some twice.
    [[nodiscard]] const std::vector<std::int32_t>& requesting() const { return requesting_; }

    /// Collective. After the first round: to which components the nodes of the top planes belong.
    void share_components(Ranks& ranks, const NodeComponents& of_nodes) { foreign_.share_components(ranks, of_nodes); }
    /// Begins a round. Returns the requests of single points.
    std::vector<RankMessage> make_probes(const Components& components, bool is_first);
    /// After the answers to these, which have brought `points`, the other requests.
    std::vector<RankMessage> make(const Components& components, const EdgePoints<T>& points);
    /// Reads the bounds to which a rank has answered this rank's requests.
    void take_bounds(int rank, MessageReader& reader);
    /// After all answers: what is not in them is beyond the bounds.
    void raise_bounds();

private:
    /// Points of a leaf that may ask.
    struct Group {
        std::int32_t component; ///< or none: several components ask together
        T bound;                ///< no unknown edge out of it is shorter
        Length limit;           ///< no unknown edge out of it is less
        Length reach; ///< some edge out of the component is no longer, or infinity; together: how far they ask
        bool is_far;  ///< from points of other components on other ranks
        Corners<T> of_leaf;
        Corners<T> box;
        std::vector<std::int32_t> positions;
    };
    using AskingPoint = std::pair<std::int32_t, std::int32_t>; ///< component, position
    struct Request {
        EdgeRequest<T> sent;
        std::int64_t first_row; ///< of requesting_
        std::int64_t end_row;
    };

    void find_bounds();
    void find_groups(const Components& components, std::int64_t leaf, bool is_first, std::vector<Group>& groups);
    [[nodiscard]] Group group_of(std::span<const AskingPoint> points, std::int64_t leaf) const;
    void find_limits(Group& group) const;
    [[nodiscard]] bool find_reach(const Components& components, bool is_first, Group& group);
    void lower_reaches(const Components& components, const EdgePoints<T>& points);
    template <class Body>
    void each_component(const Components& components, const Body& body);
    void add_request(const Group& group, std::int64_t first_row, int bits, const Length& reach, std::int64_t component);
    std::vector<RankMessage> addressed();
    [[nodiscard]] const Frame<T>& frame() const { return shared_.points.frame; }
    [[nodiscard]] Corners<T> corners_at(std::int64_t position) const;
    [[nodiscard]] T core_at(std::int32_t position) const { return metric_.core(view_.points.indices[position]); }
    [[nodiscard]] T least(const Corners<T>& a, const Corners<T>& b) const {
        return BoxDistances<T>(frame(), a, b).least;
    }

    const SharedPoints<T>& shared_;
    const Metric& metric_;
    const TreeView<T> view_;
    ForeignBoxes<T> foreign_;
    Buffer<T> bounds_; ///< by row: no unknown edge between the point and another rank and component is shorter
    std::int64_t most_requests_ = 1; ///< of a component in this round
    std::vector<Group> groups_;
    std::vector<Request> requests_;
    std::vector<std::int32_t> requesting_;               ///< positions, request after request
    std::vector<std::vector<std::int32_t>> requests_to_; ///< by rank
};

} // namespace kith::detail
