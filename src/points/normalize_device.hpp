// Checking points that are in memory of a device, and finding the frame in which they are worked on: frame.hpp's rules.
//
// One pass over the points on the device tells their bounds; the rest is the host's. Points that are refused are copied
// to the host, whose own check then throws: refusals may be slow, and read the same everywhere.
#pragma once

#include "points/bounds_device.hpp"
#include "points/frame.hpp"
#include "points/transfer.hpp"

#include <algorithm>
#include <limits>

namespace kith::detail::inline KITH_GPU {

template <Coordinate T, int D>
PointBounds<T> bounds_on_device(DeviceContext& context, const PointsView& view) {
    PointBounds<T> all;
    const DeviceBuffer<PointBounds<T>> found = bounds_of_parts<T, D>(context, view);
    if (found.size() == 0) {
        return all;
    }
    for (PointBounds<T> part : context.to_host(found.data(), found.size())) {
        std::fill(part.lower.begin() + D, part.lower.end(), std::numeric_limits<T>::infinity());
        std::fill(part.upper.begin() + D, part.upper.end(), -std::numeric_limits<T>::infinity());
        all.join(part);
    }
    return all;
}

/// normalize_sources for points of the device.
template <Coordinate T, int D>
NormalizedPoints<T> normalize_sources_on_device(DeviceContext& context, const PointsView& points, const Box& box) {
    const PointBounds<T> bounds = bounds_on_device<T, D>(context, points);
    if (bounds.first_not_finite != all_are_finite) {
        (void)normalize_sources<T>(HostCopy(context, points).view(), box);
    }
    NormalizedPoints<T> normalized = normalize_sources<T>(points, box, bounds);
    if (normalized.wraps) { // seldom, and counted by the host
        constexpr std::int64_t part = 1 << 22;
        for (std::int64_t first = 0; first < points.count(); first += part) {
            const HostCopy copy(context, points.subview(first, std::min(part, points.count() - first)));
            normalized.frame.outside += count_outside(copy.view(), normalized.frame);
        }
    }
    return normalized;
}

/// normalize_queries for queries of the device.
template <Coordinate T, int D>
NormalizedPoints<T> normalize_queries_on_device(DeviceContext& context, const PointsView& queries,
                                                const Frame<T>& frame) {
    const PointBounds<T> bounds = bounds_on_device<T, D>(context, queries);
    const NormalizedPoints<T> normalized = normalize_queries(queries, frame, bounds);
    if (bounds.first_not_finite != all_are_finite || axis_too_far(normalized) >= 0) {
        (void)normalize_queries<T>(HostCopy(context, queries).view(), frame);
    }
    return normalized;
}

} // namespace kith::detail::inline KITH_GPU
