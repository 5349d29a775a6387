// Properties of each group: the halo catalog.
//
// Source: jz-tree paper, section IV-B (arXiv:2604.05885). Sums are accumulated in fixed point as offsets from the
// group's lowest-index member (nearest image), so no value depends on thread count, order or partition. Cost: O(N)
// time, and one index per member of memory in addition to the catalog itself.
#pragma once

#include <kith/execution.hpp>
#include <kith/fof.hpp>
#include <kith/index_array.hpp>
#include <kith/points.hpp>
#include <kith/progress.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace kith {

/// Number of particle types, 0 to 6.
inline constexpr int max_types = 7;

/// The particles, in the order of the labels. Only positions are required.
struct Particles {
    PointsView positions;
    std::optional<PointsView> velocities = {}; ///< same count and dimension as the positions
    std::optional<ScalarsView> masses = {};    ///< one per particle; absent: every particle has uniform_mass
    double uniform_mass = 1;
    /// 0 to 6 per particle; empty: all are type 1. In memory of a GPU: contiguous std::uint8_t.
    IntegersView types = {};
    /// Per unit of mass, one per particle, 0 for all but gas; in units of velocities squared. Only halos() uses them.
    std::optional<ScalarsView> internal_energies = {};
    /// A tree of the positions, in the box of the groups, on the CPU and of Engine::tree: halos() then builds none.
    /// Only halos() of one process uses it, on the CPU (a GPU builds its own), and only until it returns.
    const Tree* tree = nullptr;
};

struct CatalogOptions {
    std::int64_t min_members = 20; ///< 1 or more; smaller groups are left out
    Execution execution = {};
};

struct CatalogSummary {
    std::int64_t groups = 0;
    int dimension = 0;
    std::int64_t min_members = 0;
    Box box;                 ///< in which the groups were found, with the origins of all periodic axes
    ResolvedLengths lengths; ///< at which they were found
    StageReports stages;
};

/// One entry per group, in label order. Columns with d numbers per group are row-major, groups x d. Lengths are in the
/// units of the positions, velocities and masses in those of the input. <kith/catalog_columns.hpp> lists the columns.
struct Catalog : CatalogSummary {
    /// Input rows of all members, over ranks global indices: those of group g are elements offset[g] to offset[g] +
    /// count[g] - 1, by type, then ascending index.
    IndexArray member_array;
    std::vector<std::int64_t> offset;
    std::vector<std::int64_t> count;
    std::vector<std::int64_t> count_by_type; ///< groups x max_types
    std::vector<double> mass;
    std::vector<double> mass_by_type;        ///< groups x max_types
    std::vector<double> center;              ///< center of mass, groups x d, inside the box
    std::vector<double> velocity;            ///< mass-weighted mean, groups x d; empty without velocities
    std::vector<double> rms_radius;          ///< sqrt(sum m r^2 / M), r from the center of mass
    std::vector<double> velocity_dispersion; ///< sqrt(sum m |v - mean|^2 / (d M)); empty without velocities
    std::vector<double> max_radius;          ///< distance of the farthest member from the center of mass
    std::vector<double> lower;               ///< bounding box, groups x d, as offset from the center of mass
    std::vector<double> upper;               ///< the same
    std::vector<std::uint8_t> is_ambiguous;  ///< 1 if the group is wider than half a period: its offsets are ambiguous

    /// If the catalog was made over ranks: of the groups, whose parts in the order of ranks are the catalog of one
    /// process. `groups` counts those of this part, and `offset` refers to its members.
    std::optional<Distribution> distribution = {};
    std::int64_t first_member = 0; ///< number of members on lower ranks

    /// The members. Throw Error: invalid_argument (member_array holds the other width).
    [[nodiscard]] std::span<const std::int32_t> members() const { return member_array.as_int32(); }
    [[nodiscard]] std::span<const std::int64_t> members64() const { return member_array.as_int64(); }
};

/// Computes the properties of the groups with at least min_members members, in the box in which they were found.
/// Members of a group without mass (all masses zero) have equal weights. Throws Error: invalid_argument (lengths that
/// differ, labels and sizes that do not match, a type above 6, min_members < 1, a negative, NaN or infinite mass, a NaN
/// or infinite velocity; names the first such row; columns in memory of a GPU for a call on the CPU), too_large (more
/// than 2^31 - 1 rows), invalid_points (a position of a member that is not finite; if groups.coordinates_below is 0, as
/// for labels of your own, any that is not finite, and an extent over twice the period), out_of_memory, unsupported,
/// device, canceled.
[[nodiscard]] Catalog catalog(const FofResult& groups, const Particles& particles, const CatalogOptions& options = {});

/// The same for labels in the caller's memory, as written by fof_into(). If the call runs on a GPU, labels and columns
/// may be in its memory; the catalog is in host memory (device_catalog.hpp leaves it on the GPU). Throws as above.
[[nodiscard]] Catalog catalog(std::span<const std::int32_t> labels, const FofSummary& groups,
                              const Particles& particles, const CatalogOptions& options = {});

} // namespace kith
