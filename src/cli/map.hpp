// The picture of a group finding: the projected density of the points with the largest groups circled.
//
// Drawn on the first two axes. Circles have the radius of the group's farthest member and continue on the other side of
// a periodic edge.
#pragma once

#include "cli/canvas.hpp"
#include "cli/density.hpp"

#include <kith/catalog.hpp>
#include <kith/points.hpp>

#include <optional>
#include <string>

namespace kith::cli {

/// Of more groups than these only the largest are circled.
inline constexpr std::int64_t max_circles = 40;

struct MapSubject {
    PointsView points;
    std::optional<ScalarsView> masses;
    Box box; ///< origins resolved
    const Catalog* groups = nullptr;
    std::string title;    ///< above the map, at the left
    std::string subtitle; ///< above the map, at the right
    std::string caption;  ///< below the map
    std::string unit;     ///< of lengths; may be empty
};

/// The view of a map: the box on periodic axes, but where the points are on open ones and where they fill less than
/// half a period; widened until it is not too slim.
[[nodiscard]] View choose_view(const PointsView& points, const Box& box);

/// 1200 pixels wide or high, whichever is longer. Points have two axes or more.
[[nodiscard]] Canvas draw_map(const MapSubject& subject);

} // namespace kith::cli
