// The particles' columns as the catalog reads them: checked, in double precision, in any layout.
//
// Positions and velocities are read through views with strides, float32 or float64. Differences of two coordinates must
// not overflow, so columns that reach beyond 2^900 are read times 2^-64; the results are scaled back. Periods and
// origins come from the frame that the searches use, so the catalog's box is the box of the groups to the last bit.
// Checks happen here, before any work; the first offending row is named. Only the positions of groups that were linked
// here have been checked: the passes over members see whether each is below what the search left, and if one is not,
// the frame is found from all positions. Cost: one pass over each other column.
#pragma once

#include <kith/catalog.hpp>

#include "points/coordinates.hpp"
#include "points/frame.hpp"

#include <cstdint>
#include <iterator>
#include <limits>
#include <optional>
#include <span>
#include <vector>

namespace kith::detail::halos {

/// Rows of a view, each number times a power of two.
class VectorColumn {
public:
    VectorColumn() = default;
    VectorColumn(const PointsView& view, double scale) : view_(view), scale_(scale) {}

    /// One axis of some rows.
    void read(std::span<const std::int32_t> rows, int axis, double* out) const noexcept {
        if (view_.dtype() == DType::float32) {
            read_as<float>(rows, axis, out);
        } else {
            read_as<double>(rows, axis, out);
        }
    }
    /// What numbers derived from this column are multiplied by to be in the caller's units.
    [[nodiscard]] double unit() const noexcept { return 1 / scale_; }

private:
    template <Coordinate T>
    void read_as(std::span<const std::int32_t> rows, int axis, double* out) const noexcept {
        const Coordinates<T> coordinates(view_);
        for (std::size_t i = 0; i < rows.size(); ++i) {
            out[i] = scale_ * static_cast<double>(coordinates(rows[i], axis));
        }
    }

    PointsView view_;
    double scale_ = 1;
};

struct Columns {
    int dimension = 0;
    VectorColumn positions;
    std::optional<VectorColumn> velocities;
    std::optional<ScalarsView> masses;
    double uniform_mass = 1;
    std::span<const std::uint8_t> types;
    std::optional<ScalarsView> internal_energies;
    Frame<double> box; ///< periods and origins only, scaled like the positions
    double positions_below = std::numeric_limits<double>::infinity(); ///< see PositionFrame

    [[nodiscard]] std::uint8_t type(std::int32_t row) const noexcept {
        return types.empty() ? std::uint8_t{1} : types[row];
    }
};

/// How positions are read: what they are multiplied by, and the box in these units (periods and origins only).
struct PositionFrame {
    double scale = 1;
    Frame<double> box;
    /// In these units. The frame is that of the positions if the absolute values of all are below; infinity: they are.
    double below = std::numeric_limits<double>::infinity();
};
template <Coordinate T>
PositionFrame position_frame(const Frame<T>& frame);
/// From a look at all positions, the host's, which checks them and the box.
PositionFrame frame_of_all(const PointsView& positions, const Box& box);
/// What the search left of the points that it linked. Checks the box.
std::optional<PositionFrame> known_frame(const FofSummary& groups, const PointsView& positions);

/// Whether the absolute values of all coordinates of rows with labels from 0 to groups - 1 are below a number.
bool members_are_below(std::span<const std::int64_t> labels, std::int64_t groups, const PointsView& positions,
                       double below);

/// What numbers whose absolute value is at most so large are read times.
double scale_for(double largest);

/// Groups that are to be described.
struct LabeledGroups {
    std::span<const std::int32_t> labels; ///< one for each row
    const GroupSizes& sizes;              ///< by label

    [[nodiscard]] std::int64_t groups() const noexcept { return sizes.size(); }
    [[nodiscard]] std::int64_t rows() const noexcept { return std::ssize(labels); }
};

/// The checks of the particles' columns that need no particle. `device_kind` is where the call runs.
void check_particle_shapes(const Particles& particles, std::int64_t rows, const CatalogOptions& options,
                           DeviceKind device_kind);
/// The particles with types as contiguous bytes, in `memory` unless they are so already. The host's; shapes have been
/// checked. Throws for a type that does not exist. All below takes only such particles.
Particles with_plain_types(const Particles& particles, std::vector<std::uint8_t>& memory);
inline std::span<const std::uint8_t> plain_types(const Particles& particles) {
    return particles.types.as_span<std::uint8_t>();
}
/// Throws if a mass is negative or not finite.
void check_masses(const ScalarsView& masses);
/// Checks masses, internal energies, types and velocities. Returns the largest absolute velocity.
double check_particle_values(const Particles& particles);
/// Of particles that have been checked.
Columns columns_of(const Particles& particles, double largest_velocity, const PositionFrame& frame);

/// The checks that need no particle: all that can be said of the arguments' sizes. `device_kind` is where the call
/// runs.
void check_shapes(const LabeledGroups& groups, const Particles& particles, const CatalogOptions& options,
                  DeviceKind device_kind);

/// Checks everything that a catalog is asked for but the positions. Returns the largest absolute velocity.
double check_values(const LabeledGroups& groups, const Particles& particles, const CatalogOptions& options);
/// Checks everything that a catalog is asked for, and throws as <kith/catalog.hpp> says. Runs inside a stage.
Columns checked_columns(const LabeledGroups& groups, const Particles& particles, const Box& box,
                        const CatalogOptions& options);

} // namespace kith::detail::halos
