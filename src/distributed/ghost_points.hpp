// Ghost points: the points of other ranks that the receivers of this rank may need.
//
// A rank walks down its tree for each request (ghost_requests.hpp) and marks the points within the bound. It sends the
// points marked for any leaf, each with a number. Coordinates are sent as given, so that both ranks have the same
// working coordinates and can distinguish tiny ones. Source: jz-tree paper, section III-C, with leaves instead of all
// planes: bounds are known beforehand, so one round suffices.
//
// A leaf whose points coincide needs at most as many points as an answer has, however many coincide with it.
//
// If the points are a GPU's, the walk ends at the leaves that a request reaches. The GPU finds which of their points
// are within the bound, and sends the host a squared distance for each of these points (points/part_points.hpp). How
// points travel: ghost_answers.hpp.
#pragma once

#include "distributed/ghost_requests.hpp"
#include "distributed/shared_frame.hpp"
#include "support/context.hpp"
#include "support/message.hpp"
#include "tree/plane_tree.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <vector>

namespace kith::detail {

/// Throws too_large if a rank has more own and ghost points than one process can number.
inline void require_countable(std::int64_t points) {
    if (points > std::numeric_limits<std::int32_t>::max()) {
        throw detail::error(ErrorKind::too_large, "this rank's points are near ", points,
                            " points, more than 2147483647; distribute the points so that "
                            "those of a rank are near each other");
    }
}

/// Coordinates as given, by ascending number.
template <Coordinate T>
struct GhostPoints {
    HeldPoints rows;                   ///< row-major, in memory of the host or of this rank's GPU
    std::vector<std::int64_t> numbers; ///< a global index for each

    [[nodiscard]] std::int64_t count() const { return std::ssize(numbers); }
    /// The position of the point with this number, if numbers are global indices, which ascend.
    [[nodiscard]] std::int64_t position(std::int64_t number) const {
        return std::ranges::lower_bound(numbers, number) - numbers.begin();
    }
};

/// The number that is sent with each point.
struct SentNumbers {
    std::function<std::int64_t(std::int32_t row)> of;
    bool are_local; ///< the receiver adds the first global index of the sender
};
/// Whether one point of a node suffices if the whole node is within reach of the whole box of a request.
using IsWhole = std::function<bool(int level, std::int32_t node)>;

/// Collective. Answers the requests of other ranks, and returns the answers to its own. meanwhile() is local work, done
/// while requests travel. A request whose box is a point needs `most` points, or is unlimited. Of points that this rank
/// requests from itself only the numbers are returned, no rows.
template <Coordinate T>
GhostPoints<T> fetch_ghosts(Ranks& ranks, Context& context, const SharedPoints<T>& shared, const TreeView<T>& tree,
                            const std::vector<std::vector<GhostRequest<T>>>& to, std::int64_t most,
                            const std::function<void()>& meanwhile, const IsWhole& is_whole,
                            const SentNumbers& numbers);

/// Collective. As above, with the points' own numbers, by which the answer is sorted.
template <Coordinate T>
GhostPoints<T> fetch_numbered_ghosts(Ranks& ranks, Context& context, const SharedPoints<T>& shared,
                                     const TreeView<T>& tree, const std::vector<std::vector<GhostRequest<T>>>& to,
                                     std::int64_t most, const std::function<void()>& meanwhile);

/// The tree of ghost points of the host.
template <Coordinate T>
PlaneTree<T> tree_of_ghosts(Context& context, const SharedPoints<T>& shared, const GhostPoints<T>& ghosts);

} // namespace kith::detail
