// Friends-of-friends groups.
//
// Two points are friends if they are within the linking length of each other, inclusive; the connected components of
// friendship are the groups. Source: jz-tree paper, section IV-A (arXiv:2604.05885). Cost: close to O(N) at the usual
// linking lengths.
#pragma once

#include <kith/communicator.hpp>
#include <kith/execution.hpp>
#include <kith/group_sizes.hpp>
#include <kith/index_array.hpp>
#include <kith/points.hpp>
#include <kith/progress.hpp>
#include <kith/tree.hpp>

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

namespace kith {

/// A linking length, in the units of the points or relative to their mean separation; finite, 0 or more.
class LinkingLength {
public:
    static LinkingLength absolute(double length) { return {length, false}; }
    /// b times (V / N)^(1/d): N points, V the product over axes of the period, or of the points' extent on an open
    /// axis.
    static LinkingLength relative(double b) { return {b, true}; }
    /// The relative length at which two points in a sphere of that radius are `density` times as dense as the mean:
    /// b = (3 omega_sim / (2 pi density))^(1/3) in three dimensions. Roughly the density at the edge of a group. The
    /// mean is that of the universe: omega_sim is the mean density of the points in units of it, 1 for a box that
    /// stands for the universe, above 1 for a zoom on a dense region. Source: GPU halo-finding thesis, equation 3.1.
    /// Throws Error: invalid_argument unless density and omega_sim are above 0 and finite, and dimension 1 to 8.
    static LinkingLength overdensity(double density, int dimension = 3, double omega_sim = 1);
    /// A plain number does not compile.
    template <class Number>
        requires(std::is_arithmetic_v<Number>)
    LinkingLength(Number) { // NOLINT(google-explicit-constructor)
        static_assert(detail::never<Number>,
                      "a linking length is kith::LinkingLength::absolute(l), in the units of the "
                      "points, or relative(b), of their mean separation");
    }

    [[nodiscard]] double value() const noexcept { return value_; }
    [[nodiscard]] bool is_relative() const noexcept { return relative_; }

private:
    LinkingLength(double value, bool relative) : value_(value), relative_(relative) {}
    double value_;
    bool relative_;
};

/// A linking length of velocities, psi, in their units or relative to their dispersion; above 0.
class VelocityLength {
public:
    /// May be infinite: velocities then make no difference.
    static VelocityLength absolute(double psi) { return {psi, false}; }
    /// `factor` times the dispersion of all points, sqrt(sum m |v - mean|^2 / sum m) over all components; finite.
    static VelocityLength sigmas(double factor) { return {factor, true}; }

    [[nodiscard]] double value() const noexcept { return value_; }
    [[nodiscard]] bool is_relative() const noexcept { return relative_; }

private:
    VelocityLength(double value, bool relative) : value_(value), relative_(relative) {}
    double value_;
    bool relative_;
};

/// Groups in phase space: two points are friends if |dx|^2 / l^2 + |dv|^2 / psi^2 <= 1, where l is the linking length.
/// docs/semantics.md says how this is computed. Positions may have 2 to 4 dimensions, and twice as many must be built.
/// Velocities are in host memory, or in that of the GPU on which the call runs.
/// Source: GPU halo-finding thesis, equation 3.3, here inclusive.
struct PhaseSpace {
    PointsView velocities; ///< of every point: as many components as the points have coordinates
    VelocityLength length; ///< psi
    /// For VelocityLength::sigmas(), in host memory; absent: all alike.
    std::optional<ScalarsView> masses = {};
};

/// Phase space at one linking length, for spanning trees. Lengths are in the units of the positions; a velocity v
/// counts as a length of v times velocity_scale = linking length / psi, both as fof() resolves them.
struct PhaseSpaceAt {
    PhaseSpace phase_space;
    LinkingLength linking_length;
};

/// The volume of a relative linking length.
enum class VolumeKind : std::uint8_t {
    none,   ///< the length was absolute
    box,    ///< periods on every axis
    extent, ///< the points' extent on every axis
    mixed,  ///< periods on some axes, extent on the others
};

struct FofOptions {
    Box box = {};                      ///< of the points; a tree has its own
    Engine engine = Engine::automatic; ///< search algorithm
    Execution execution = {};          ///< must name the tree's device if the points are a tree
    /// Optional: groups in phase space, of points, not of a Tree.
    std::optional<PhaseSpace> phase_space = {};
};

/// The lengths at which points are friends, in their own units.
struct ResolvedLengths {
    /// The linking length used, rounded to the points' type.
    double linking_length = 0;
    double volume = 0; ///< the V of a relative linking length, else 0
    VolumeKind volume_kind = VolumeKind::none;
    /// The psi of groups in phase space, in the units of the velocities, and what velocities were multiplied by:
    /// linking_length / psi. Infinity and 0 if the groups are those of positions alone.
    double velocity_length = std::numeric_limits<double>::infinity();
    double velocity_scale = 0;
};

/// Groups are numbered from 0 by decreasing size, ties by their smallest member index, single points included.
struct FofSummary : ResolvedLengths {
    std::int64_t groups = 0;      ///< number of groups, including single points
    GroupSizes sizes;             ///< members of each group, including single points
    Engine engine = Engine::tree; ///< algorithm used, not automatic
    /// The box in which the groups were found, with the origins of all periodic axes resolved. A catalog uses it.
    Box box;
    /// Number of points outside the box, which were wrapped into it (box.hpp).
    std::int64_t wrapped_points = 0;
    /// Of points that were linked here, which are finite: a power of two above every coordinate and period, or 2^1023
    /// where there is none. 0 if this is not known, as for labels of your own. A catalog uses it.
    double coordinates_below = 0;
    StageReports stages;
    std::optional<Distribution> distribution = {}; ///< of the labels, if the groups were found over ranks

    /// Number of groups with at least min_members members: labels 0 to this number minus one.
    [[nodiscard]] std::int64_t groups_of_at_least(std::int64_t min_members) const noexcept {
        return sizes.of_at_least(min_members);
    }
};

struct FofResult : FofSummary {
    IndexArray label_array; ///< group of every point, in input order

    /// The same. Throw Error: invalid_argument (label_array holds the other width).
    [[nodiscard]] std::span<const std::int32_t> labels() const { return label_array.as_int32(); }
    [[nodiscard]] std::span<const std::int64_t> labels64() const { return label_array.as_int64(); }
};

/// The scalars of FofSummary, for asynchronous calls (async.hpp).
struct DeviceFofSummary {
    std::int64_t groups = 0;   ///< number of groups, including single points
    double linking_length = 0; ///< this and the following: as in ResolvedLengths
    double volume = 0;
    VolumeKind volume_kind = VolumeKind::none;
};

/// The groups of points, which may be in GPU memory if the call runs there. Throws Error: invalid_argument (a negative,
/// NaN or infinite length; a relative length with a volume of zero; a length that the points' type cannot express, or
/// one above 0 so small that its square underflows relative to the largest coordinate or period; an invalid box; a box
/// in addition to a tree; a tree on another device; in phase space also a tree, velocities or masses of another shape,
/// a psi that is not above 0, no dispersion, a length of 0, a negative or infinite mass), invalid_points (a point or
/// velocity that is not finite, extent over twice the period), too_large (more than 2^31 - 1 points), unsupported
/// (dimension or CUDA not built), out_of_memory, device, canceled.
[[nodiscard]] FofResult fof(const PointsOrTree& points, LinkingLength linking_length, const FofOptions& options = {});

/// The same, writing one label per point to the caller's memory: host memory, or memory of the GPU on which the call
/// runs. If the call throws, the contents of labels are unspecified. Also throws invalid_argument unless there is one
/// label per point.
FofSummary fof_into(std::span<std::int32_t> labels, const PointsOrTree& points, LinkingLength linking_length,
                    const FofOptions& options = {});

/// The groups of the primary points, with the secondary ones joined to them, those for which `is_secondary` is not 0:
/// each to the group of its nearest primary within the linking length, ties by lowest index. A relative length refers
/// to the primaries alone. Groups of fewer than `min_primaries` primaries are left out; the others are numbered by
/// decreasing number of all members, ties by smallest index. Points of no group have the label -1; `sizes` count all
/// members. The box is that of the primaries. Also throws invalid_argument (another number of marks than of points,
/// min_primaries below 1), unsupported (a GPU, ranks, phase space). Cost: that of fof() and of one neighbor for each
/// secondary; a copy of the positions.
[[nodiscard]] FofResult fof_with_secondaries(const PointsView& points, std::span<const std::uint8_t> is_secondary,
                                             LinkingLength linking_length, std::int64_t min_primaries,
                                             const FofOptions& options = {});

} // namespace kith
