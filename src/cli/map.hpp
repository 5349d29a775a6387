// The picture of a group finding: the projected density of the points with the largest groups or halos circled.
//
// Drawn on the first two axes. Circles continue on the other side of a periodic edge.
#pragma once

#include "cli/canvas.hpp"
#include "cli/density.hpp"

#include <kith/points.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kith::cli {

/// Of more groups or halos than these only the largest are circled.
inline constexpr std::int64_t max_circles = 40;

/// The projected points of a map, which need not be in memory to draw it.
struct MapDensity {
    View view;
    Density density;
};

/// The density of points with two axes or more, in 1088 pixels along the longer axis. The origins of the box are
/// resolved. With ranks collective: each passes its own points, and all get the density of all points.
[[nodiscard]] MapDensity project_map(const PointsView& points, const std::optional<ScalarsView>& masses, const Box& box,
                                     RankTeam* ranks = nullptr);

struct MapCircle {
    std::array<double, 2> center; ///< on the first two axes
    double radius;
};

struct MapSubject {
    const MapDensity* points = nullptr;
    std::vector<MapCircle> circles; ///< the first are drawn last, and the most clearly
    std::string title;              ///< above the map, at the left
    std::string subtitle;           ///< above the map, at the right
    std::string caption;            ///< below the map
    std::string unit;               ///< of lengths; may be empty
};

/// The view of a map: the box on periodic axes, but where the points are on open ones and where they fill less than
/// half a period; widened until it is not too slim. With ranks as project_map().
[[nodiscard]] View choose_view(const PointsView& points, const Box& box, RankTeam* ranks = nullptr);

/// 1200 pixels wide or high, whichever is longer.
[[nodiscard]] Canvas draw_map(const MapSubject& subject);

} // namespace kith::cli
