// The projected density of points on a grid of pixels, smooth where points are few and sharp where they are many.
//
// Every point is spread over about the size of the cell in which it has eight neighbors. Cells come from a pyramid
// of grids, each twice as coarse as the one below: a point is shared between the two grids whose cells hold just fewer
// and just more than that number, and the coarse grids are then added to the finer ones, smoothed on the way by
// quadratic B-splines (Chaikin's weights 3/4 and 1/4). Sums over points are integers: counts, and masses in fixed
// point, so that the picture is the same for any order of the points and any number of ranks. Cost: O(points + pixels x
// levels); mass is kept, except what is smoothed over an open edge.
#pragma once

#include "cli/rank_team.hpp"

#include <kith/catalog.hpp>
#include <kith/points.hpp>

#include <array>
#include <cmath>
#include <cstddef>
#include <optional>
#include <vector>

namespace kith::cli {

/// The part of the plane of the first two axes that a picture shows.
struct View {
    std::array<double, 2> lower{};
    std::array<double, 2> span{};
    std::array<double, 2> origin{}; ///< of the box, where an axis has a period
    std::array<double, 2> period{}; ///< 0: open

    /// Whether the picture's opposite edges are the same place.
    [[nodiscard]] bool repeats(std::size_t axis) const { return period[axis] > 0 && span[axis] == period[axis]; }

    /// Where a coordinate is in the view: 0 at its lower edge, 1 at its upper.
    [[nodiscard]] double position(std::size_t axis, double x) const {
        const double wrapped = period[axis] > 0 ? x - period[axis] * std::floor((x - origin[axis]) / period[axis]) : x;
        return (wrapped - lower[axis]) / span[axis];
    }
};

inline constexpr int density_levels = 7;
inline constexpr int density_grain = 1 << (density_levels - 1); ///< widths and heights are multiples of it

struct Density {
    int width = 0;
    int height = 0;
    std::vector<float> values; ///< row by row from the lower edge; mass in the pixel
    double mean = 0;           ///< of all pixels

    [[nodiscard]] float at(int x, int y) const { return values[static_cast<std::size_t>(y) * width + x]; }
};

/// Without masses every point counts 1. Points outside of the view are left out. Masses are not negative. With ranks
/// collective: each passes its own points, and all get the density of all points.
[[nodiscard]] Density project(const PointsView& points, const std::optional<ScalarsView>& masses, const View& view,
                              int width, int height, RankTeam* ranks = nullptr);

} // namespace kith::cli
