// Groups found on a GPU in a working copy of the points in the order given: what its engines share.
#pragma once

#include "groups/link_device.hpp"
#include "points/gather_device.hpp"
#include "points/normalize_device.hpp"

#include <cstdint>
#include <span>

namespace kith::detail::inline KITH_GPU {

/// find(copy, labels on the device) returns the groups, at the length that has been resolved.
template <Coordinate T, int D, class Find>
void label_copies_on_device(DeviceContext& context, const PointsView& points, const Box& box, LinkingLength length,
                            std::span<std::int32_t> labels, FofSummary& result, const Find& find) {
    const PointsOnDevice there = points_on_device(context, points);
    const NormalizedPoints<T> normalized = normalize_sources_on_device<T, D>(context, there.view(), box);
    resolve_on_device(normalized.frame, points.count(), length, result, [&] { return host_rows<T>(context, points); });
    label_on_device(context, labels, result,
                    [&](std::int32_t* to) { return find(gather_on_device<T, D>(context, normalized), to); });
}

} // namespace kith::detail::inline KITH_GPU
