// A rank's own points and its ghost points, as one kept tree in the frame of all ranks, by ascending number: the
// search of one process then gives complete rows in their order.
#pragma once

#include <kith/tree.hpp>

#include "distributed/ghost_points.hpp"
#include "distributed/shared_frame.hpp"
#include "engines/kept_index.hpp"
#include "points/as_given.hpp"

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace kith::detail {

/// The number of each row. Global indices of own points follow each other, so they are not stored.
class JoinedNumbers {
public:
    JoinedNumbers() = default;
    /// Of the ghost points, and of `own` points that stand before the ghost point `before`.
    JoinedNumbers(std::vector<std::int64_t> ghosts, std::int64_t before, std::int64_t own, std::int64_t first_own)
        : stored_(std::move(ghosts)), before_(before), own_(own), first_own_(first_own) {}
    /// Of all rows.
    explicit JoinedNumbers(std::vector<std::int64_t> all) : stored_(std::move(all)), before_(std::ssize(stored_)) {}

    [[nodiscard]] std::int64_t operator[](std::int64_t row) const {
        const std::int64_t past = row - before_;
        if (past >= 0 && past < own_) {
            return first_own_ + past;
        }
        return stored_[past < 0 ? row : row - own_];
    }

private:
    std::vector<std::int64_t> stored_;
    std::int64_t before_ = 0;
    std::int64_t own_ = 0;
    std::int64_t first_own_ = 0;
};

/// Coordinates as passed, on the GPU if own or fetched points are there, and numbers of own points and ghost points, by
/// ascending number.
struct JoinedRows {
    HeldPoints rows;
    JoinedNumbers numbers;
};

template <Coordinate T>
JoinedRows join_rows(const SharedPoints<T>& shared, GhostPoints<T> ghosts);

struct JoinedPoints {
    std::optional<Tree> tree;
    JoinedNumbers numbers; ///< by row of the tree

    /// The rows of the tree as UnresolvedCounter wants them: as passed where scaling may have made different ones
    /// equal.
    template <Coordinate T>
    [[nodiscard]] std::vector<T> as_given() const {
        const PlaneTree<T>& plane_tree = tree->data().template as<T>().tree;
        const Frame<T>& frame = plane_tree.points.frame;
        return frame.has_tiny ? plane_tree.as_given : unscaled_rows(frame, plane_tree.points.view(), tree->size());
    }
};

template <Coordinate T>
JoinedPoints join_points(Context& context, const SharedPoints<T>& shared, GhostPoints<T> ghosts);

} // namespace kith::detail
