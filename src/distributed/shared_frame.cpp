#include "distributed/shared_frame.hpp"

#include "points/coordinates.hpp"
#include "points/resolve_frame.hpp"

namespace kith::detail {

namespace {

/// What each rank tells all others.
template <Coordinate T>
struct OfRank {
    PointBounds<T> bounds;
    bool is_on_gpu = false;
    bool accepts_device_memory = false;
};

} // namespace

template <Coordinate T>
NormalizedPoints<T> normalized(const Frame<T>& frame, const PointsView& view) {
    return normalize_queries(view, frame, finite_bounds_of<T>(view, PointError::points_not_finite));
}

template <Coordinate T>
SharedPoints<T> share_frame(Ranks& ranks, Context& context, const PointsView& points, const Box& box,
                            const MakePartPoints<T>& on_gpu) {
    SharedPoints<T> shared;
    PointBounds<T> mine;
    ranks.agreed([&] {
        check_box<T>(box, points.dimension());
        shared.there = on_gpu ? on_gpu(context, points.dimension()) : std::make_shared<PartPoints<T>>(context);
        mine = shared.there->bounds(points, PointError::points_not_finite);
    });
    shared.ownership = Ownership(ranks, points.count());
    PointBounds<T> all;
    bool any_is_on_gpu = false;
    bool all_accept_it = true;
    for (const OfRank<T>& of_rank :
         ranks.gather(OfRank<T>{mine, shared.there->is_on_gpu(), ranks.accepts_device_memory()})) {
        all.join(of_rank.bounds);
        any_is_on_gpu = any_is_on_gpu || of_rank.is_on_gpu;
        all_accept_it = all_accept_it && of_rank.accepts_device_memory;
    }
    ranks.use_buffers(any_is_on_gpu && all_accept_it);
    if (shared.ownership.total() == 0) {
        all.lower.fill(0);
        all.upper.fill(0);
    }
    Frame<T> frame;
    Ranks::alike([&] {
        const int dimension = points.dimension();
        check(resolve_frame(PlainBox(box, dimension), dimension, all.lower, all.upper, frame));
    });
    frame.has_tiny = may_be_tiny(frame, all.nearest_to_zero);
    shared.points = normalize_queries(points, frame, mine);
    if (frame.periodic) {
        std::int64_t outside = 0;
        ranks.agreed([&] { outside = shared.points.wraps ? shared.there->outside(shared.points) : 0; });
        shared.points.frame.outside = ranks.sum(outside);
    }
    shared.given = points;
    shared.numbers = shared.given_numbers = PointNumbers(shared.ownership);
    shared.lower = all.lower;
    shared.upper = all.upper;
    return shared;
}

template <Coordinate T>
LargestCoordinate largest_of_all(Ranks& ranks, const SharedPoints<T>& shared) {
    const Frame<T>& frame = shared.points.frame;
    HeldPoints given;
    ranks.agreed([&] { given = shared.there->on_host(shared.given); });
    const Coordinates<T> points(given.view);
    LargestCoordinate mine{-1, -1, static_cast<double>(frame.largest)};
    for (std::int64_t row = 0; row < shared.given.count(); ++row) {
        for (int axis = 0; axis < frame.dimension; ++axis) {
            const T x = points(row, axis);
            const std::int64_t number = shared.given_numbers[row];
            if (magnitude_of(x) == frame.largest && (mine.point < 0 || number < mine.point)) {
                mine = {number, axis, static_cast<double>(x)};
            }
        }
    }
    LargestCoordinate first = mine;
    for (const LargestCoordinate& of_rank : ranks.gather(mine)) {
        if (of_rank.point >= 0 && (first.point < 0 || of_rank.point < first.point)) {
            first = of_rank;
        }
    }
    return first;
}

template NormalizedPoints<float> normalized(const Frame<float>&, const PointsView&);
template SharedPoints<float> share_frame(Ranks&, Context&, const PointsView&, const Box&, const MakePartPoints<float>&);
template LargestCoordinate largest_of_all(Ranks&, const SharedPoints<float>&);
template NormalizedPoints<double> normalized(const Frame<double>&, const PointsView&);
template SharedPoints<double> share_frame(Ranks&, Context&, const PointsView&, const Box&,
                                          const MakePartPoints<double>&);
template LargestCoordinate largest_of_all(Ranks&, const SharedPoints<double>&);

} // namespace kith::detail
