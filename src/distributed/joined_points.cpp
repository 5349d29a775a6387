#include "distributed/joined_points.hpp"

#include "points/coordinates.hpp"

#include <memory>

namespace kith::detail {

template <Coordinate T>
JoinedRows<T> join_rows(const SharedPoints<T>& shared, GhostPoints<T> ghosts) {
    const PointsView& own = shared.points.view;
    const Frame<T>& frame = shared.points.frame;
    const bool are_given = shared.numbers.are_given();
    require_countable(own.count() + ghosts.count());
    const std::int64_t before = are_given ? ghosts.count() : ghosts.position(shared.ownership.first());
    const auto second = ghosts.rows.begin() + before * frame.dimension;
    std::vector<T> rows;
    rows.reserve((own.count() + ghosts.count()) * frame.dimension);
    rows.insert(rows.end(), ghosts.rows.begin(), second);
    const Coordinates<T> x(own);
    for (std::int64_t row = 0; row < own.count(); ++row) {
        for (int axis = 0; axis < frame.dimension; ++axis) {
            rows.push_back(x(row, axis));
        }
    }
    rows.insert(rows.end(), second, ghosts.rows.end());
    ghosts.rows = std::vector<T>(); // frees them
    if (are_given) {
        for (std::int64_t row = 0; row < own.count(); ++row) {
            ghosts.numbers.push_back(shared.numbers[row]);
        }
        ghosts.rows = std::move(rows);
        ghosts.sort(frame.dimension);
        return {std::move(ghosts.rows), JoinedNumbers(std::move(ghosts.numbers))};
    }
    return {std::move(rows), JoinedNumbers(std::move(ghosts.numbers), before, own.count(), shared.ownership.first())};
}

template <Coordinate T>
JoinedPoints join_points(Context& context, const SharedPoints<T>& shared, GhostPoints<T> ghosts) {
    const Frame<T>& frame = shared.points.frame;
    JoinedPoints joined;
    JoinedRows<T> all = join_rows(shared, std::move(ghosts));
    joined.numbers = std::move(all.numbers);
    NormalizedPoints<T> points;
    context.run([&] { points = normalized(frame, PointsView(all.rows, frame.dimension)); });
    PlaneTree<T> tree = build_plane_tree<T>(context, points, {});
    if (frame.has_tiny) {
        tree.as_given = std::move(all.rows);
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

template JoinedRows<float> join_rows(const SharedPoints<float>&, GhostPoints<float>);
template JoinedRows<double> join_rows(const SharedPoints<double>&, GhostPoints<double>);
template JoinedPoints join_points(Context&, const SharedPoints<float>&, GhostPoints<float>);
template JoinedPoints join_points(Context&, const SharedPoints<double>&, GhostPoints<double>);

} // namespace kith::detail
