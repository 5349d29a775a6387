// Groups found on a GPU in a working copy of the points in the order given: what its engines share.
#pragma once

#include "groups/link_device.hpp"
#include "points/gather_device.hpp"
#include "points/normalize_device.hpp"

#include <cstdint>
#include <span>

namespace kith::detail::inline KITH_GPU {

/// find(copy, label) calls label(points, link) for the points as it has ordered them, of which indices and number
/// count, and link as of label_groups(); and returns what that returns.
template <Coordinate T, int D, class Find>
void label_copies_on_device(DeviceContext& context, const PointsView& points, const Box& box, LinkingLength length,
                            std::span<std::int32_t> labels, FofSummary& result, const Find& find) {
    const PointsOnDevice there = points_on_device(context, points);
    const NormalizedPoints<T> normalized = normalize_sources_on_device<T, D>(context, there.view(), box);
    const Frame<T>& frame = normalized.frame;
    label_on_device(
        context, frame, points.count(), length, labels, result, [&] { return host_rows<T>(context, points); },
        [&](std::int32_t* to) {
            return find(gather_on_device<T, D>(context, normalized),
                        [&](const PointSetView<T>& ordered, const auto& link) {
                            return label_groups(context, ordered, frame.working_period,
                                                frame.squared_radius(result.linking_length), to, link);
                        });
        });
}

} // namespace kith::detail::inline KITH_GPU
