// The points of one rank in the frame of all ranks' points.
//
// A frame (points/frame.hpp) depends on the points through their bounds alone: least and greatest coordinates, and the
// one nearest to zero. Bounds are joined by minimum and maximum, which are exact and know no order, so every rank finds
// the frame, and thus the working coordinates, that one process would with all points.
#pragma once

#include "distributed/ownership.hpp"
#include "distributed/point_numbers.hpp"
#include "distributed/ranks.hpp"
#include "points/as_given.hpp"
#include "points/frame.hpp"
#include "points/part_points.hpp"
#include "support/context.hpp"
#include "support/joined_stages.hpp"

#include <array>
#include <cstdint>
#include <memory>

namespace kith::detail {

template <Coordinate T>
struct SharedPoints {
    NormalizedPoints<T> points; ///< this rank's in the order of their numbers, with bounds of their own
    PointsView given;           ///< the same as they were passed
    Ownership ownership;
    PointNumbers numbers;
    PointNumbers given_numbers;           ///< of the points as they were passed
    std::shared_ptr<const void> memory;   ///< of these, unless it is the caller's
    HeldPoints in_order;                  ///< the points, if they were not passed in the order of their numbers
    std::shared_ptr<PartPoints<T>> there; ///< reads the points
    std::array<T, max_dimension> lower{}; ///< least coordinates of the points of all ranks, raw units
    std::array<T, max_dimension> upper{};
};

/// Points of the host that came from elsewhere, ready for work.
template <Coordinate T>
NormalizedPoints<T> normalized(const Frame<T>& frame, const PointsView& view);

/// Checks the points of all ranks and the box, which is the same on all. Points are read by what on_gpu() makes, if
/// there is such a function, else they are the host's.
template <Coordinate T>
SharedPoints<T> share_frame(Ranks& ranks, Context& context, const PointsView& points, const Box& box,
                            const MakePartPoints<T>& on_gpu = {});

/// Collective. Adds what a GPU took to read points to the account of a call, once it reads no more of them. A stage
/// that ran for each rank that requested points is one report.
template <Coordinate T>
void account_for(Ranks& ranks, PartPoints<T>& points, StageReports& stages) {
    ranks.count_from_device(points.bytes_to_host());
    ranks.agreed([&] {
        const StageReports of_gpu = joined_stages(points.take_stages());
        stages.insert(stages.end(), of_gpu.begin(), of_gpu.end());
    });
}

/// Of all ranks' points the first, by number, with a coordinate as large as the largest (points/as_given.hpp).
template <Coordinate T>
LargestCoordinate largest_of_all(Ranks& ranks, const SharedPoints<T>& shared);

} // namespace kith::detail
