#include "distributed/joined_points.hpp"

#include "points/as_given.hpp"

#include <memory>

namespace kith::detail {

template <Coordinate T>
JoinedRows join_rows(const SharedPoints<T>& shared, GhostPoints<T> ghosts) {
    const PointsView& own = shared.points.view;
    require_countable(own.count() + ghosts.count());
    const bool are_given = shared.numbers.are_given();
    const std::int64_t before = are_given ? ghosts.count() : ghosts.position(shared.ownership.first());
    std::vector<std::int32_t> rows; // of own points, and -1 - row of ghost points
    rows.reserve(own.count() + ghosts.count());
    const auto add = [&](std::int64_t count, const auto& row_of) {
        for (std::int64_t i = 0; i < count; ++i) {
            rows.push_back(static_cast<std::int32_t>(row_of(i)));
        }
    };
    add(before, [](std::int64_t i) { return -1 - i; });
    add(own.count(), [](std::int64_t row) { return row; });
    add(ghosts.count() - before, [&](std::int64_t i) { return -1 - before - i; });
    if (are_given) {
        for (std::int64_t row = 0; row < own.count(); ++row) {
            ghosts.numbers.push_back(shared.numbers[row]);
        }
        const std::vector<std::int64_t> order = order_of<std::int64_t>(ghosts.numbers);
        rows = rows_in_order<std::int32_t>(rows, 1, order);
        ghosts.numbers = rows_in_order<std::int64_t>(ghosts.numbers, 1, order);
    }
    HeldPoints joined = shared.there->joined(own, rows, ghosts.rows.view);
    ghosts.rows = {}; // frees them
    return {std::move(joined),
            are_given ? JoinedNumbers(std::move(ghosts.numbers))
                      : JoinedNumbers(std::move(ghosts.numbers), before, own.count(), shared.ownership.first())};
}

template <Coordinate T>
JoinedPoints join_points(Context& context, const SharedPoints<T>& shared, GhostPoints<T> ghosts) {
    const Frame<T>& frame = shared.points.frame;
    JoinedPoints joined;
    JoinedRows all = join_rows(shared, std::move(ghosts));
    joined.numbers = std::move(all.numbers);
    const NormalizedPoints<T> points = shared.there->in_frame(all.rows.view, frame);
    PlaneTree<T> tree = build_plane_tree<T>(context, points, {});
    if (frame.has_tiny) {
        tree.as_given = packed<T>(all.rows.view);
    }
    auto data = std::make_shared<TreeData>();
    data->size = tree.points.count;
    data->dimension = frame.dimension;
    data->dtype = dtype_of<T>;
    data->box = resolved_box(frame);
    data->wrapped_points = frame.outside;
    data->kept = KeptIndex<T>{std::move(tree), nullptr};
    joined.tree.emplace(std::move(data));
    return joined;
}

template JoinedRows join_rows(const SharedPoints<float>&, GhostPoints<float>);
template JoinedRows join_rows(const SharedPoints<double>&, GhostPoints<double>);
template JoinedPoints join_points(Context&, const SharedPoints<float>&, GhostPoints<float>);
template JoinedPoints join_points(Context&, const SharedPoints<double>&, GhostPoints<double>);

} // namespace kith::detail
