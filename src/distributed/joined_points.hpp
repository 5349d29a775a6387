// A rank's points and those that it fetched, as one kept tree in the frame of all ranks, by ascending number: the
// search of one process then gives complete rows in their order.
#pragma once

#include <kith/tree.hpp>

#include "distributed/pieces.hpp"
#include "distributed/shared_frame.hpp"
#include "points/as_given.hpp"
#include "points/coordinates.hpp"
#include "tree/plane_tree.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace kith::detail {

/// The number of each row. Global indices of own points follow each other, so they are not stored.
class JoinedNumbers {
public:
    JoinedNumbers() = default;
    /// Of `fetched` rows, and of so many own ones before the row `before` of them.
    JoinedNumbers(std::vector<std::int64_t> fetched, std::int64_t before, std::int64_t own, std::int64_t first_own)
        : stored_(std::move(fetched)), before_(before), own_(own), first_own_(first_own) {}
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

struct JoinedPoints {
    std::optional<Tree> tree;
    JoinedNumbers numbers; ///< by row of the tree

    /// The rows of the tree as UnresolvedCounter wants them: as passed where scaling may have made different ones
    /// equal.
    template <Coordinate T>
    [[nodiscard]] std::vector<T> as_given() const {
        const PlaneTree<T>& plane_tree = tree->data().template as<T>();
        const Frame<T>& frame = plane_tree.points.frame;
        return frame.has_tiny ? plane_tree.as_given : unscaled_rows(frame, plane_tree.points.view());
    }
};

template <Coordinate T>
JoinedPoints join_points(Context& context, const SharedPoints<T>& shared, FetchedPoints<T> fetched) {
    const PointsView& own = shared.points.view;
    const Frame<T>& frame = shared.points.frame;
    const bool are_given = shared.numbers.are_given();
    require_countable(own.count() + fetched.count());
    const std::int64_t before = are_given ? fetched.count() : fetched.position(shared.ownership.first());
    const auto second = fetched.rows.begin() + before * frame.dimension;
    std::vector<T> rows;
    rows.reserve((own.count() + fetched.count()) * frame.dimension);
    rows.insert(rows.end(), fetched.rows.begin(), second);
    const Coordinates<T> x(own);
    for (std::int64_t row = 0; row < own.count(); ++row) {
        for (int axis = 0; axis < frame.dimension; ++axis) {
            rows.push_back(x(row, axis));
        }
    }
    rows.insert(rows.end(), second, fetched.rows.end());
    fetched.rows = std::vector<T>(); // frees them
    JoinedPoints joined;
    if (are_given) {
        for (std::int64_t row = 0; row < own.count(); ++row) {
            fetched.numbers.push_back(shared.numbers[row]);
        }
        fetched.rows = std::move(rows);
        fetched.sort(frame.dimension);
        rows = std::move(fetched.rows);
        joined.numbers = JoinedNumbers(std::move(fetched.numbers));
    } else {
        joined.numbers = JoinedNumbers(std::move(fetched.numbers), before, own.count(), shared.ownership.first());
    }
    NormalizedPoints<T> points;
    context.run([&] { points = normalized(frame, PointsView(rows, frame.dimension)); });
    PlaneTree<T> tree = build_plane_tree<T>(context, points, {});
    if (frame.has_tiny) {
        tree.as_given = std::move(rows);
    }
    auto data = std::make_shared<TreeData>();
    data->dtype = dtype_of<T>;
    data->box = resolved_box(frame);
    data->wrapped_points = frame.outside;
    data->tree = std::move(tree);
    joined.tree.emplace(std::move(data));
    return joined;
}

} // namespace kith::detail
