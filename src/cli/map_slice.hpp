// The slice of three-dimensional points that a map shows: those within a range of the third axis.
//
// A range holds lower <= z < upper; in a periodic box z is that of the first image that is not below it, so that a
// range may go on beyond the box, and slices next to each other divide all points, but for rounding of images.
#pragma once

#include "cli/parser.hpp"

#include <kith/catalog.hpp>
#include <kith/points.hpp>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace kith::cli {

struct MapSlice {
    double lower = 0;
    double upper = 0;

    /// `period`: of the axis; 0: open.
    [[nodiscard]] bool holds(double z, double period) const;
};

/// "LO:HI". Throws UsageError.
[[nodiscard]] MapSlice parse_slice(std::string_view option, std::string_view text);

/// Adds --slice, which needs the option of the map.
void add_slice_option(const Parser& command, std::optional<MapSlice>& slice, const Option& map);

/// Throws UsageError if points of that many axes have no such slice.
void require_axis_of(const std::optional<MapSlice>& slice, int axes);

/// Throws UsageError if numbers at the limits are as far apart as images in a box of this period; 0: open.
void require_resolved(const std::optional<MapSlice>& slice, double period);

/// The number of points in a slice, with those whose third coordinate is not finite. The period is rounded to the type
/// of the points, as searches do.
[[nodiscard]] std::int64_t count_in(const MapSlice& slice, const PointsView& points, double period);

/// Throws UsageError if a slice holds none of the points. `extent` holds points with the extent of all; none if there
/// are no points.
void require_any_in(const MapSlice& slice, std::int64_t held, const PointsView& extent);

/// The first two coordinates and the masses of the particles in a slice, in memory of their own.
class SlicedParticles {
public:
    SlicedParticles(const Particles& particles, const MapSlice& slice, double period);

    [[nodiscard]] PointsView positions() const { return PointsView(positions_, 2); }
    [[nodiscard]] std::optional<ScalarsView> masses() const {
        return has_masses_ ? std::optional(ScalarsView(masses_)) : std::nullopt;
    }

private:
    std::vector<double> positions_;
    std::vector<double> masses_;
    bool has_masses_;
};

} // namespace kith::cli
