#include "cli/map_slice.hpp"

#include "cli/split_text.hpp"
#include "cli/usage_error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

namespace kith::cli {

bool MapSlice::holds(double z, double period) const {
    if (period > 0) {
        z = std::max(lower, z - period * std::floor((z - lower) / period)); // not below by rounding
    }
    return z >= lower && z < upper;
}

MapSlice parse_slice(std::string_view option, std::string_view text) {
    const std::vector<std::string_view> parts = split_at(text, ':');
    MapSlice slice;
    if (parts.size() != 2 || !parse_all(parts[0], slice.lower) || !parse_all(parts[1], slice.upper) ||
        !std::isfinite(slice.lower) || !std::isfinite(slice.upper) || !(slice.lower < slice.upper)) {
        throw UsageError(
            fmt::format("{} is '{}'; it must be LO:HI, two finite numbers, the lower one first", option, text));
    }
    return slice;
}

void add_slice_option(const Parser& command, std::optional<MapSlice>& slice, const Option& map) {
    command
        .text("--slice", "LO:HI",
              "Draw into --map only what lies from LO to HI along the third axis, in the units of the points; groups "
              "are those of all points",
              [&slice](const std::string& text) { slice = parse_slice("--slice", text); })
        .needs(map);
}

void require_axis_of(const std::optional<MapSlice>& slice, int axes) {
    if (slice && axes != 3) {
        throw UsageError(
            fmt::format("--slice is a range of the third axis, but the points have {} axes; leave it out", axes));
    }
}

void require_resolved(const std::optional<MapSlice>& slice, double period) {
    if (!slice || !(period > 0)) {
        return;
    }
    const double farthest = std::max(std::abs(slice->lower), std::abs(slice->upper));
    const double spacing = farthest - std::nextafter(farthest, 0.0);
    if (spacing >= period) {
        throw UsageError(
            fmt::format("--slice is {}:{}, but numbers there are {:.6g} apart, and the period of the third "
                        "axis is {:.6g}; give the range within the box",
                        slice->lower, slice->upper, spacing, period));
    }
}

std::int64_t count_in(const MapSlice& slice, const PointsView& points, double period) {
    if (points.dtype() == DType::float32) {
        period = static_cast<float>(period);
    }
    std::int64_t held = 0;
    for (std::int64_t i = 0; i < points.count(); ++i) {
        const double z = points.coordinate(i, 2);
        held += !std::isfinite(z) || slice.holds(z, period) ? 1 : 0; // the search refuses what is not finite
    }
    return held;
}

void require_any_in(const MapSlice& slice, std::int64_t held, const PointsView& extent) {
    if (held > 0 || extent.count() == 0) {
        return;
    }
    double least = extent.coordinate(0, 2);
    double greatest = least;
    for (std::int64_t i = 1; i < extent.count(); ++i) {
        least = std::min(least, extent.coordinate(i, 2));
        greatest = std::max(greatest, extent.coordinate(i, 2));
    }
    throw UsageError(fmt::format("--slice is {}:{}, but no point has a third coordinate in that range: they are from "
                                 "{:.6g} to {:.6g}",
                                 slice.lower, slice.upper, least, greatest));
}

SlicedParticles::SlicedParticles(const Particles& particles, const MapSlice& slice, double period)
    : has_masses_(particles.masses.has_value()) {
    const PointsView& points = particles.positions;
    for (std::int64_t i = 0; i < points.count(); ++i) {
        if (slice.holds(points.coordinate(i, 2), period)) {
            positions_.insert(positions_.end(), {points.coordinate(i, 0), points.coordinate(i, 1)});
            if (has_masses_) {
                masses_.push_back((*particles.masses)[i]);
            }
        }
    }
}

} // namespace kith::cli
