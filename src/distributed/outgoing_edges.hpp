// Edges between the points of this rank and those of others, as far as the spanning tree may need them.
//
// Each point has a bound: no unknown edge to another rank is shorter. At first that is its distance from the boxes of
// the other ranks' top planes. Where the bound is within the length of the least known edge out of the point's
// component, a shorter one may exist: the points of a component in a leaf, with their box, are a request. The ranks with
// boxes within reach answer with their points of other components. Of all edges among the requesting points and those
// that arrive, only those of their own spanning tree can be edges of the whole (the cycle property), so that few are
// left. What is not in the answers is beyond the new bound.
//
// In the first round the components of a leaf ask together, as wide as it takes for several rounds. A point of another
// component at the box's greatest distance from it is an edge out of the component, so that no answer reaches farther.
// A component without a known edge asks each rank for the points nearest to one of its points. The edge that is found
// may be much longer than the least one: of the requests of a component the nearest come first, 2 in the first round,
// 16 in the second.
#pragma once

#include "distributed/ranks.hpp"
#include "distributed/shared_frame.hpp"
#include "distributed/top_planes.hpp"
#include "support/context.hpp"
#include "tree/plane_tree.hpp"

#include <cstdint>
#include <limits>
#include <optional>
#include <tuple>
#include <vector>

namespace kith::detail {

/// An edge of the whole tree by the numbers of its ends, in the order of edges; and the ranks of these points.
template <Coordinate T>
struct RankEdge {
    T squared; ///< in working units
    std::int64_t smaller;
    std::int64_t larger;
    std::int32_t smaller_rank;
    std::int32_t larger_rank;

    friend bool operator<(const RankEdge& a, const RankEdge& b) noexcept {
        return std::tie(a.squared, a.smaller, a.larger) < std::tie(b.squared, b.smaller, b.larger);
    }
};

/// An edge that may be one of the tree, and the components of its ends, by their names.
template <Coordinate T>
struct OpenEdge {
    RankEdge<T> edge;
    std::int64_t components[2];
};

/// Components with points of this rank.
template <Coordinate T>
struct OwnComponents {
    static constexpr std::int32_t none = -1;

    Buffer<std::int32_t> of_row;     ///< number in the lists below; none: a point that coincides with one before it
    std::vector<std::int64_t> names; ///< the same on all ranks
    std::vector<T> nearest;          ///< squared length of the least edge out of it that any rank knows, or infinity
};

template <Coordinate T>
class OutgoingEdges {
public:
    /// Collective. Of the points of the tree, which has no planes if there are none.
    OutgoingEdges(Ranks& ranks, Context& context, const SharedPoints<T>& shared, const PlaneTree<T>& tree);

    /// By row: a squared length that no unknown edge between the point and another rank is shorter than.
    [[nodiscard]] const Buffer<T>& bounds() const { return bounds_; }

    /// Collective. Edges out of this rank's components, to points of other ranks and components. Then the least edge of
    /// a component is shorter than all its points' bounds, unless it had none, or more requests than a round allows.
    std::vector<OpenEdge<T>> find(const OwnComponents<T>& components, bool is_first);

private:
    struct Request {
        Corners<T> box;
        T bound;
        std::int64_t component; ///< name, or any
        std::int64_t first_row; ///< of requesting_
        std::int64_t end_row;
    };
    struct Ghosts {
        std::vector<T> rows;
        std::vector<std::int64_t> numbers;
        std::vector<std::int64_t> components; ///< names
        std::vector<std::int32_t> ranks;
    };
    static constexpr std::int64_t nothing = -1; ///< instead of the name of the component in a node
    static constexpr std::int64_t several = -2;
    static constexpr std::int64_t any = -3; ///< of a request: all its components are those of one rank

    class Walk;

    void find_bounds();
    void make_requests(const OwnComponents<T>& components, bool is_first);
    void request(const OwnComponents<T>& components, std::int64_t leaf, bool is_first);
    void keep_nearest_requests();
    void add_probes(const OwnComponents<T>& components);
    void add_request(std::int64_t first_row, T bound, std::int64_t component);
    void address_requests();
    std::vector<RankMessage> answers_to(std::vector<RankMessage> requests, const OwnComponents<T>& components);
    Ghosts take_answers(std::vector<RankMessage> answers);
    std::vector<OpenEdge<T>> edges_among(const OwnComponents<T>& components, Ghosts ghosts);
    [[nodiscard]] const Frame<T>& frame() const { return shared_.points.frame; }
    [[nodiscard]] Corners<T> corners_at(std::int64_t position) const;

    Ranks& ranks_;
    Context& context_;
    const SharedPoints<T>& shared_;
    const TreeView<T> view_;
    TopPlanes<T> tops_;
    Buffer<T> bounds_;
    std::int64_t most_requests_ = 2; ///< of a component in a round
    std::vector<Request> requests_;
    std::vector<std::int32_t> requesting_;               ///< positions, request after request
    std::vector<std::vector<std::int32_t>> requests_to_; ///< by rank
};

} // namespace kith::detail
