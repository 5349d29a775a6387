// Bound halos: the bound members of each group, their centers, masses and sizes.
//
// A group's members are unbound as SUBFIND does it (Springel, White, Tormen, Kauffmann 2001, MNRAS 328, 726), in the
// gravity of the group alone; what is left is a halo, about its member of lowest potential. Spherical overdensities
// follow SOAP. docs/semantics.md, "Bound halos", has every definition. No number depends on threads; what is undefined
// is NaN. Cost: O(N log N); memory: a tree of all particles, and 12 bytes per member.
#pragma once

#include <kith/catalog.hpp>
#include <kith/cosmology.hpp>
#include <kith/execution.hpp>
#include <kith/fof.hpp>
#include <kith/index_array.hpp>
#include <kith/progress.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace kith {

enum class SofteningKernel : std::uint8_t {
    spline, ///< Gadget's; reaches 2.8 times the length
    plummer,
};

/// Of the gravity between two particles. The potential of a mass m at itself is -G m/length.
struct Softening {
    SofteningKernel kernel = SofteningKernel::spline;
    double length = 0; ///< in the units of the positions, above 0
};

struct HaloOptions {
    Universe universe = {};
    /// Absent: a spline of 1/30 of the mean separation of the particles in their box, or in their extent.
    std::optional<Softening> softening = {};
    bool unbind = true; ///< false: all members of a group are its halo, by potential; velocities are not needed
    std::int64_t min_members = 20; ///< bound members, 1 or more; groups with fewer have no halo
    std::vector<Overdensity> overdensities = {overdensities::mean_200, overdensities::critical_200,
                                              overdensities::critical_500, overdensities::critical_2500,
                                              overdensities::virial};
    bool outermost = false;  ///< spheres end at the last crossing of their density instead of the first
    bool bound_only = false; ///< spheres and circular velocities of the bound members alone
    /// Circular velocities are those at this radius or beyond; absent: at the softening's length.
    std::optional<double> least_radius = {};
    Execution execution = {};
};

struct HaloSummary {
    std::int64_t groups = 0; ///< that have as many members as a halo needs: the first labels; over ranks of this part
    std::int64_t halos = 0;
    HaloOptions options; ///< with softening and least radius resolved
    Box box;             ///< in which the groups were found
    ResolvedLengths lengths;
    StageReports stages;
};

/// One row per halo, by label of its group; a group's first halo is what is bound to the whole group. (Halos within it,
/// which will follow it with a `parent`, are not found yet.) Columns of several numbers are row-major. In the units of
/// the input; lengths are comoving.
struct Halos : HaloSummary {
    /// Input rows of the groups' members, over ranks global indices: those of group g are elements group_offset[g] to
    /// group_offset[g + 1] - 1, first the bound ones by energy, then the others by index.
    IndexArray member_array;
    std::vector<double> energies;             ///< of the members per unit of mass; 0 for those that are not bound
    std::vector<std::int64_t> group_offset;   ///< groups + 1
    std::vector<std::int64_t> first_of_group; ///< of each group, its first halo; -1 if nothing is bound

    std::vector<std::int64_t> group;         ///< label
    std::vector<std::int64_t> parent;        ///< halo of which this is a part; -1: none
    std::vector<std::int64_t> offset;        ///< of the bound members in `members`
    std::vector<std::int64_t> count;         ///< bound members
    std::vector<std::int64_t> count_by_type; ///< halos x max_types
    std::vector<std::int64_t> center_row;    ///< member of lowest potential
    std::vector<double> center;              ///< its position, inside the box: halos x 3
    std::vector<double> center_of_mass;      ///< of the bound members, inside the box: halos x 3
    std::vector<double> center_offset;       ///< distance between the two
    std::vector<double> mass;                ///< of the bound members
    std::vector<double> group_mass;          ///< of all members of the group
    std::vector<double> unbound_fraction;    ///< of the group's mass; 0 if that is 0
    std::vector<double> half_mass_radius;    ///< of the bound members
    std::vector<double> b_to_a;              ///< axis ratios of the bound members; NaN: fewer than 20 are within
    std::vector<double> c_to_a;
    std::vector<double> major_axis;           ///< direction of their longest axis: halos x 3
    std::vector<double> sphere_radius;        ///< halos x overdensities; 0 if no sphere has the density
    std::vector<double> sphere_mass;          ///< halos x overdensities
    std::vector<double> sphere_concentration; ///< halos x overdensities, by the mean distance; NaN unless 1 to 1000
    std::vector<double> peak_concentration;   ///< halos x overdensities, by the largest circular velocity
    std::vector<double> max_velocity;         ///< largest circular velocity, physical: sqrt(G M/(a r))
    std::vector<double> max_velocity_radius;

    /// Of the bound members about their center of mass; these five are empty if there are no velocities.
    std::vector<double> velocity;            ///< mean by mass: halos x 3
    std::vector<double> velocity_dispersion; ///< along an axis, with the Hubble flow
    std::vector<double> spin;                ///< angular momentum per mass, physical, with the Hubble flow: halos x 3
    std::vector<double> bullock_spin;        ///< spin parameter at the virial radius; NaN if that is not known
    std::vector<double> peebles_spin;        ///< spin parameter by the energy

    std::vector<std::uint8_t> is_wide;   ///< 1 if bound members or spheres reach over more than half a period
    std::vector<std::uint8_t> is_bridge; ///< 1 if the bound members have less than half of the group's mass

    /// If the call was made over ranks: of the halos, whose parts in the order of ranks are those of one process. The
    /// groups are those of this rank's part of a catalog with the same min_members. `group` is a label of all ranks;
    /// group_offset and offset refer to the members of the part, first_of_group and parent to its halos.
    std::optional<Distribution> distribution = {};
    std::int64_t first_group = 0;  ///< label of the first group of this part
    std::int64_t first_member = 0; ///< number of members on lower ranks

    /// The members. Throw Error: invalid_argument (member_array holds the other width).
    [[nodiscard]] std::span<const std::int32_t> members() const { return member_array.as_int32(); }
    [[nodiscard]] std::span<const std::int64_t> members64() const { return member_array.as_int64(); }
};

/// The bound halos of the groups, which were found among all particles. Particles have three dimensions; velocities are
/// peculiar, and all units belong together with options.universe. Over ranks each has the labels of its own particles,
/// and gets a part of the halos: a group is unbound on the rank that has most of its members, which needs memory for
/// those of other ranks, and spheres are collected from all. With kith::cuda(), in one process, halos are found on the
/// GPU; labels and particles are the host's, and so are the results, which are the same. Throws Error: invalid_argument
/// (what catalog() refuses; no velocities where members are unbound; another dimension; a softening, scale factor or G
/// that is not above 0; an H, density parameter, factor or least radius that is negative or not finite; no softening
/// for groups of particles without a volume; a particles.tree of another number, dimension or type of points than the
/// positions, or in another box than the groups; coordinates are not compared), unsupported (particles in memory of a
/// GPU; a GPU over ranks, or in a build without CUDA; a particles.tree on a GPU, of another engine than the tree, or
/// over ranks), and as catalog().
[[nodiscard]] Halos halos(const FofResult& groups, const Particles& particles, const HaloOptions& options = {});

/// The same for labels in the caller's memory, as written by fof_into(), in one process.
[[nodiscard]] Halos halos(std::span<const std::int32_t> labels, const FofSummary& groups, const Particles& particles,
                          const HaloOptions& options = {});

} // namespace kith
