// The points of a call: checks, and the way from the caller's points or kept tree to what the algorithms work on.
#pragma once

#include <kith/tree.hpp>

#include "calls/device_calls.hpp"
#include "points/as_given.hpp"
#include "points/coordinates.hpp"
#include "points/frame.hpp"
#include "points/point_set.hpp"
#include "points/unsorted_points.hpp"
#include "support/context.hpp"
#include "support/donated_memory.hpp"
#include "tree/plane_tree.hpp"

#include <optional>
#include <vector>

namespace kith::detail {

/// Checks points and box as far as possible without reading coordinates. Throws invalid_argument for a box
/// beside a tree, and for a tree on another device than the call's.
void check_points(const PointsOrTree& points, const Box& box, const Execution& execution);
/// The same for separate queries.
void check_queries(const PointsView& queries, const PointsOrTree& points, const Execution& execution);

/// A kept tree's shape, or that of a tree that is built for one call.
inline TreeShape shape_of(const PointsOrTree& points) {
    return points.tree() != nullptr ? points.tree()->data().shape : TreeShape{};
}

/// The points in working coordinates: a kept tree's, or the caller's, which are normalized at once, and sorted into a
/// tree or gathered when that is needed.
template <Coordinate T>
class WorkingPoints {
public:
    WorkingPoints(Context& context, const PointsOrTree& points, const Box& box)
        : kept_(points.tree() != nullptr ? &points.tree()->data().template as<T>() : nullptr) {
        if (kept_ == nullptr) {
            context.run([&] { normalized_ = normalize_sources<T>(points.points(), box); });
        }
    }

    [[nodiscard]] const Frame<T>& frame() const { return kept_ != nullptr ? kept_->points.frame : normalized_->frame; }

    /// The points as given, those of a kept tree perhaps wrapped.
    [[nodiscard]] PointsView as_given(Context& context) {
        if (kept_ == nullptr) {
            return normalized_->view;
        }
        if (!frame().has_tiny) { // then scaling has lost nothing
            context.run([&] { unscaled_ = unscaled_rows(frame(), kept_->points.view()); });
        }
        return {frame().has_tiny ? kept_->as_given : unscaled_, frame().dimension};
    }
    [[nodiscard]] LargestCoordinate largest(Context& context) {
        const PointsView given = as_given(context);
        return largest_coordinate(frame(), Coordinates<T>(given), given.count());
    }

    /// The kept tree, or one that is built now, with stages of its own.
    const PlaneTree<T>& tree(Context& context, const DonatedMemory& spare = {}) {
        return kept_ != nullptr ? *kept_ : built_.emplace(build_plane_tree<T>(context, *normalized_, {}, spare));
    }
    /// For an index of another engine.
    [[nodiscard]] UnsortedPoints<T> unsorted() const {
        return kept_ != nullptr ? UnsortedPoints<T>{&kept_->points} : UnsortedPoints<T>{nullptr, &*normalized_};
    }
    /// In any order: the kept tree's, or gathered now. Runs inside a stage.
    const PointSet<T>& in_any_order(Context& context) {
        return kept_ != nullptr ? kept_->points : gathered_.emplace(gather_points(context, *normalized_));
    }

private:
    const PlaneTree<T>* kept_;
    std::optional<NormalizedPoints<T>> normalized_;
    std::optional<PlaneTree<T>> built_;
    std::optional<PointSet<T>> gathered_;
    std::vector<T> unscaled_; ///< row-major, those of a kept tree
};

} // namespace kith::detail
