// The ghost points (ghost_points.hpp) that the neighbors of this rank's receivers may be, by number or within radii.
//
// Of k nearest neighbors the bound is not known beforehand: each rank first searches its receivers among its own
// points, and the last neighbor of each row bounds what other ranks can add. Both give, together with the own points,
// all sources of complete rows. Where the last neighbor of a row is all that is wanted, only receivers that other ranks
// can add to are searched again, among both.
#pragma once

#include <kith/knn.hpp>
#include <kith/radius.hpp>

#include "distributed/ghost_points.hpp"
#include "distributed/receivers.hpp"
#include "distributed/shared_frame.hpp"
#include "support/context.hpp"

#include <cstdint>
#include <functional>
#include <type_traits>
#include <vector>

namespace kith::detail {

/// Those that may be neighbors of receivers, and of which receivers.
template <Coordinate T>
struct NearGhosts {
    GhostPoints<T> points;
    Buffer<std::uint8_t> is_requesting; ///< by position among the receivers; neighbors of the others are own points
};

/// Collective. Those that may be among the k nearest neighbors of a receiver. The points are by ascending number.
template <Coordinate T>
NearGhosts<T> fetch_nearest(Ranks& ranks, Context& context, const SharedPoints<T>& shared, const PartTrees<T>& trees,
                            std::int64_t k, const KnnOptions& options);

/// Collective. The squared distance of each point, by its row in the order of numbers, to its k-th nearest other of all
/// ranks, in working units; k is less than the number of all points. Cost: the search of the rank's own points, and
/// that of those near other ranks once more. Memory: O(1) for each own and fetched point, whatever k is.
template <Coordinate T>
std::vector<T> kth_squares_over_ranks(Ranks& ranks, Context& context, const SharedPoints<T>& shared, std::int64_t k);

/// The squared radius of a receiver, in working units.
template <Coordinate T>
using SquaredRadiusOf = std::type_identity_t<std::function<T(std::int32_t query)>>;

/// Collective. Those that may be within the radius of a receiver. Coordinates of points of both trees are not used.
template <Coordinate T>
NearGhosts<T> fetch_within(Ranks& ranks, Context& context, const SharedPoints<T>& shared, const TreeView<T>& sources,
                           const TreeView<T>& receivers, const SquaredRadiusOf<T>& squared_radius_of);

/// Points that are all at zero are all within every radius, also within one that cannot be squared beside them.
/// `queries` are null in a self-search.
template <Coordinate T>
bool are_all_at_zero(const SharedPoints<T>& shared, const PointsView* queries) {
    return queries == nullptr && shared.points.frame.largest == 0;
}

/// Collective. Throws invalid_argument for a radius whose square underflows. `smallest`: the query of this rank with
/// the smallest one above 0, or -1.
template <Coordinate T>
void refuse_unresolved(Ranks& ranks, const SharedPoints<T>& shared, const PointsView* queries, const Radii& radii,
                       std::int64_t smallest);

} // namespace kith::detail
