// Which points of a rank ask other ranks for edges out of their components, and how far (outgoing_edges.hpp).
//
// Each point has a bound: no unknown edge to another rank is shorter. At first that is its distance from the boxes of
// the other ranks' top planes. Where the bound is within the length of the least known edge out of the point's
// component, a shorter one may exist: the points of a component in a leaf, with their box, are a request.
//
// In the first round the components of a leaf ask together, as wide as it takes for several rounds. A component without
// a known edge asks each rank for the points nearest to one of its points. The edge that is found may be much longer
// than the least one: of the requests of a component the nearest come first, 2 in the first round, 16 in the second.
#pragma once

#include "distributed/open_edges.hpp"
#include "distributed/ranks.hpp"
#include "distributed/shared_frame.hpp"
#include "distributed/top_planes.hpp"
#include "support/context.hpp"
#include "tree/view.hpp"

#include <cstdint>
#include <vector>

namespace kith::detail {

/// As a rank sends it: asks for the points of other components within a bound of a box.
template <Coordinate T>
struct EdgeRequest {
    static constexpr std::int64_t any = -3; ///< component: all of the asking rank's

    Corners<T> box;
    T bound;                ///< squared
    std::int64_t component; ///< name, or any
};

template <Coordinate T>
class EdgeRequests {
public:
    /// Collective. Of the points of the tree, which has no planes if there are none.
    EdgeRequests(Ranks& ranks, Context& context, const SharedPoints<T>& shared, const TreeView<T>& view);

    /// By row: a squared length that no unknown edge between the point and another rank is shorter than.
    [[nodiscard]] const Buffer<T>& bounds() const { return bounds_; }
    /// Positions of the points that ask in this round, request after request.
    [[nodiscard]] const std::vector<std::int32_t>& requesting() const { return requesting_; }

    /// The requests of a round.
    std::vector<RankMessage> make(const OwnComponents<T>& components, bool is_first);
    /// Those that another rank has made.
    static std::vector<EdgeRequest<T>> taken(const RankMessage& message, int dimension);
    /// Reads the bounds to which a rank has answered this rank's requests.
    void take_bounds(int rank, MessageReader& reader);
    /// After all answers: what is not in them is beyond the bounds.
    void raise_bounds();

private:
    struct Request {
        EdgeRequest<T> sent;
        std::int64_t first_row; ///< of requesting_
        std::int64_t end_row;
    };

    void find_bounds();
    void request(const OwnComponents<T>& components, std::int64_t leaf, bool is_first);
    void keep_nearest_requests();
    void add_probes(const OwnComponents<T>& components);
    void add_request(std::int64_t first_row, T bound, std::int64_t component);
    void address_requests();
    [[nodiscard]] const Frame<T>& frame() const { return shared_.points.frame; }
    [[nodiscard]] Corners<T> corners_at(std::int64_t position) const;

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
