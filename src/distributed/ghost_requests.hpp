// Requests for ghost points: which points of other ranks the receivers of one rank need (ghost_points.hpp).
//
// Every rank sends all others the boxes of its top plane. A receiving leaf sends its own box and its bound to each rank
// that has such a box within the bound. Bounds of boxes use the operations of distances in their order; rounding is
// monotone, so they need no slack. A run of leaves at one position sends one request. Cost: the leaves times the ranks
// near each.
#pragma once

#include "distributed/ranks.hpp"
#include "distributed/top_planes.hpp"
#include "points/frame.hpp"
#include "support/context.hpp"
#include "tree/plane_tree.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <type_traits>
#include <vector>

namespace kith::detail {

/// The number of points of a request without a limit.
inline constexpr std::int64_t unlimited = std::numeric_limits<std::int64_t>::max();

/// A candidate of any rank (neighbors/candidate.hpp), or an upper bound of the answers.
template <Coordinate T>
struct GlobalCandidate {
    T distance = std::numeric_limits<T>::infinity(); ///< squared
    std::int64_t index = std::numeric_limits<std::int64_t>::max();

    friend bool operator<(const GlobalCandidate& a, const GlobalCandidate& b) noexcept {
        return a.distance < b.distance || (a.distance == b.distance && a.index < b.index);
    }
};

/// A receiving leaf requests the points of another rank within this bound of its box.
template <Coordinate T>
struct GhostRequest {
    Corners<T> box;
    GlobalCandidate<T> bound;

    [[nodiscard]] bool is_single_point() const {
        return std::equal(box.begin(), box.begin() + max_dimension, box.begin() + max_dimension);
    }
};

/// The requests of this rank's leaves, by receiving rank, and the points of this rank in requesting leaves.
template <Coordinate T>
struct GhostRequests {
    std::vector<std::vector<GhostRequest<T>>> to;
    Buffer<std::uint8_t> is_requesting; ///< by position
};

/// The largest bound of a leaf's points.
template <Coordinate T, class BoundOf>
GlobalCandidate<T> largest_bound(const TreeView<T>& tree, std::int64_t leaf, const BoundOf& bound_of) {
    GlobalCandidate<T> bound{T(-1), -1};
    const PlaneView<T>& leaves = tree.planes[0];
    for (std::int32_t i = leaves.first_point[leaf]; i < leaves.first_point[leaf + 1]; ++i) {
        bound = std::max(bound, bound_of(tree.points.indices[i]));
    }
    return bound;
}

/// The bound of each leaf.
template <Coordinate T>
using LeafBounds = std::type_identity_t<std::function<GlobalCandidate<T>(std::int64_t leaf)>>;
/// Whether this rank sends requests to another one.
using RequestsFrom = std::function<bool(int rank)>;

/// Collective. Requests the points within bound_of(leaf) of each receiving leaf, from the ranks r with
/// requests_from(r), or from all others. If only `wanted` points are needed, a bound is lowered to the distance within
/// which nodes hold as many.
template <Coordinate T>
GhostRequests<T> request_ghosts(Ranks& ranks, Context& context, const Frame<T>& frame, const TreeView<T>& sources,
                                const TreeView<T>& receivers, std::int64_t wanted, const LeafBounds<T>& bound_of,
                                const RequestsFrom& requests_from = {});

/// The same where the top planes of all ranks' sources are known. Runs inside a stage, without communication.
template <Coordinate T>
GhostRequests<T> requests_near(Context& context, const Frame<T>& frame, const TreeView<T>& receivers,
                               const TopPlanes<T>& tops, std::int64_t wanted, const LeafBounds<T>& bound_of,
                               const RequestsFrom& requests_from);

/// The requests as messages to the ranks that they are for.
template <Coordinate T>
std::vector<RankMessage> messages_of(const std::vector<std::vector<GhostRequest<T>>>& to, int dimension);

/// The requests in such a message.
template <Coordinate T>
std::vector<GhostRequest<T>> requests_of(const RankMessage& message, int dimension);

} // namespace kith::detail
