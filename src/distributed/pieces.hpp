// The points of other ranks that the receivers of this rank can want.
//
// A rank walks its tree down for each request that it gets (piece_requests.hpp) and marks the points that are not
// beyond the bound; what it has marked for any leaf, it sends: coordinates as given, so that both ranks have the same
// working coordinates and can tell tiny ones apart, and a number each. Source: jz-tree paper, section III-C, with
// leaves in place of all planes: a bound is known beforehand, so that one round does.
//
// A leaf whose points are all at one place wants no more points than its answers have, however many lie there.
#pragma once

#include "distributed/piece_requests.hpp"
#include "distributed/shared_frame.hpp"
#include "support/context.hpp"
#include "support/message.hpp"
#include "tree/plane_tree.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

namespace kith::detail {

/// Throws too_large if a rank must work on more points of its own and of others than one process can number.
inline void require_countable(std::int64_t points) {
    if (points > std::numeric_limits<std::int32_t>::max()) {
        throw detail::error(ErrorKind::too_large, "this rank's points are near ", points,
                            " points, more than 2147483647; distribute the points so that "
                            "those of a rank are near each other");
    }
}

/// Points of other ranks, as given, by ascending number.
template <Coordinate T>
struct FetchedPoints {
    std::vector<T> rows;               ///< row-major
    std::vector<std::int64_t> numbers; ///< a global index for each

    [[nodiscard]] std::int64_t count() const { return std::ssize(numbers); }
    /// Where the point of that number is, if numbers are global indices, which ascend.
    [[nodiscard]] std::int64_t position(std::int64_t number) const {
        return std::ranges::lower_bound(numbers, number) - numbers.begin();
    }

    /// Of several ranks, each by ascending number.
    void sort(int dimension) {
        if (std::ranges::is_sorted(numbers)) {
            return;
        }
        const std::vector<std::int64_t> order = order_of<std::int64_t>(numbers);
        rows = rows_in_order<T>(rows, dimension, order);
        numbers = rows_in_order<std::int64_t>(numbers, 1, order);
    }
};

/// The number that is sent with each point.
struct SentNumbers {
    std::function<std::int64_t(std::int32_t row)> of;
    bool are_local; ///< whoever gets them adds the first global index of the rank that sends them
};
/// Whether one point of a node will do if all of it is within reach of all of a request's box.
using IsWhole = std::function<bool(int level, std::int32_t node)>;

/// Answers the requests of all ranks and gets the answers to this rank's own; meanwhile() is work of this rank alone,
/// done while requests travel. A request of one place wants `most` points at most, or is unlimited.
template <Coordinate T>
FetchedPoints<T> fetch_pieces(Ranks& ranks, Context& context, const SharedPoints<T>& shared, const TreeView<T>& tree,
                              const std::vector<std::vector<PieceRequest<T>>>& to, std::int64_t most,
                              const std::function<void()>& meanwhile, const IsWhole& is_whole,
                              const SentNumbers& numbers);

/// The same with the points' own numbers, by which the answer is sorted.
template <Coordinate T>
FetchedPoints<T> fetch_points(Ranks& ranks, Context& context, const SharedPoints<T>& shared, const TreeView<T>& tree,
                              const std::vector<std::vector<PieceRequest<T>>>& to, std::int64_t most,
                              const std::function<void()>& meanwhile);

} // namespace kith::detail
