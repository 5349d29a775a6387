#include "halos/bound_halos.hpp"

#include <kith/catalog_columns.hpp>

#include "halos/distance_sort.hpp"
#include "halos/halo_describer.hpp"
#include "halos/mass_bound.hpp"
#include "halos/shell_search.hpp"
#include "halos/sphere_search.hpp"
#include "support/parallel_in_turn.hpp"
#include "support/per_thread.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <vector>

namespace kith::detail::halos {

namespace {

/// Memory of one thread.
struct ShellScratch {
    ShellPoints shell;
    DistanceSort sort;
    std::vector<Crossing> crossings;
};

template <Coordinate T>
double largest_side(const TreeView<T>& tree) {
    double side = 0;
    for (int axis = 0; tree.top >= 0 && axis < 3; ++axis) {
        const PlaneView<T>& plane = tree.planes[tree.top];
        side = std::max(side,
                        static_cast<double>(*std::max_element(plane.upper(axis), plane.upper(axis) + plane.nodes)) -
                            static_cast<double>(*std::min_element(plane.lower(axis), plane.lower(axis) + plane.nodes)));
    }
    return side;
}

/// Hands shells of the tree to the search until it has all.
template <Coordinate T>
void collect(const TreeView<T>& tree, const MassPoints<T>& particles, const BoundExtent& extent, SphereSearch& search,
             ShellScratch& scratch) {
    ShellPoints& shell = scratch.shell;
    do {
        find_in_shell(Shell<T>{&tree, extent.center, search.inner(), search.outer()}, shell);
        for (std::int64_t i = 0; i < shell.size; ++i) {
            shell.places[i] = tree.points.indices[shell.places[i]];
        }
        scratch.sort.for_each(
            shell.squares.data(), shell.size, [&](std::int64_t i) { return shell.places[i]; },
            [&](std::int64_t i) { search.add(std::sqrt(shell.squares[i]), particles.mass(shell.places[i])); });
    } while (search.next_shell());
}

/// What Halos has beside its columns.
struct WithoutColumns : HaloSummary {
    IndexArray member_array;
    std::vector<double> energies;
    std::vector<std::int64_t> group_offset;
    std::vector<std::int64_t> first_of_group;
    std::vector<std::int64_t> offset;
    std::optional<Distribution> distribution;
    std::int64_t first_group;
    std::int64_t first_member;
};
constexpr auto fields = std::count_if(halo_columns.begin(), halo_columns.end(),
                                      [](const HaloColumn& column) { return !column.field.empty(); });
static_assert(sizeof(Halos) == sizeof(WithoutColumns) + fields * sizeof(std::vector<double>),
              "a member of Halos has no row in halo_columns, or a row no member");

} // namespace

void make_rows(const GroupMembers& groups, const BoundMembers& bound, Halos& halos) {
    halos.first_of_group.assign(static_cast<std::size_t>(groups.groups()), -1);
    for (std::int64_t group = 0; group < groups.groups(); ++group) {
        if (bound.count[group] > 0) {
            halos.first_of_group[group] = halos.halos++;
            halos.group.push_back(group);
            halos.offset.push_back(groups.offset[group]);
            halos.count.push_back(bound.count[group]);
            halos.center_row.push_back(bound.deepest[group]);
        }
    }
    halos.parent.assign(static_cast<std::size_t>(halos.halos), -1);
    for_each_field(halos, [&](const HaloColumn& column, auto& values) {
        const std::int64_t spheres = std::ssize(halos.options.overdensities);
        values.resize(static_cast<std::size_t>(column.size(halos.halos, 3, !bound.motions.empty(), spheres)));
    });
    for (auto* const column : {&halos.sphere_concentration, &halos.peak_concentration}) {
        std::fill(column->begin(), column->end(), std::numeric_limits<double>::quiet_NaN()); // without that density
    }
}

void write_motions(const BoundMembers& bound, Halos& halos) {
    const Universe& universe = halos.options.universe;
    for (std::int64_t halo = 0; !bound.motions.empty() && halo < halos.halos; ++halo) {
        const Motion& motion = bound.motions[halos.group[halo]];
        std::copy_n(motion.velocity.begin(), 3, halos.velocity.begin() + 3 * halo);
        std::copy_n(motion.spin.begin(), 3, halos.spin.begin() + 3 * halo);
        halos.velocity_dispersion[halo] = motion.dispersion;
        halos.bullock_spin[halo] = bullock_parameter(motion, halos.mass[halo], universe);
        halos.peebles_spin[halo] = peebles_parameter(motion, halos.mass[halo], universe);
    }
}

template <Coordinate T>
void describe_halos(Context& context, const ParticleTree<T>& particles, const GroupMembers& groups,
                    const BoundMembers& bound, Halos& halos) {
    make_rows(groups, bound, halos);
    const HaloOptions& options = halos.options;
    const TreeView<T> tree = particles.tree->view();
    const Frame<T>& frame = particles.tree->points.frame;
    const MassPoints<T> points{&frame, Coordinates<T>(particles.positions), particles.masses, particles.uniform_mass};
    const SphereRequest request(options, frame.exponent, largest_side(tree), tree.points.count);
    const SearchRequest& shared = request.search();
    std::optional<MassBound<T>> mass_bound;
    if (request.needs_bounds() && !options.bound_only && tree.top >= 0) {
        mass_bound.emplace(context, tree, [&](std::int32_t place) { return points.mass(tree.points.indices[place]); });
    }
    HaloDescriber<T> describer(points, particles.types, request, options);
    PerThread<ShellScratch> scratch;
    context.expect(halos.halos);
    parallel_in_turn(halos.halos, [&](std::int64_t halo) {
        const std::span<const std::int32_t> members = GroupMembers{bound.rows, groups.offset}.of(halos.group[halo]);
        const BoundExtent extent = describer.describe_members(members, halo, halos);
        if (!options.bound_only) {
            ShellScratch& own = scratch.local();
            own.crossings.assign(static_cast<std::size_t>(shared.densities), {});
            SphereSearch search(shared, extent,
                                mass_bound ? mass_bound->largest_radius(extent.center, shared.lowest_ball_mass) : 0,
                                own.crossings.data());
            collect(tree, points, extent, search, own);
            describer.write_spheres(extent, search.profile(), halo, halos);
        }
        context.done(1);
    });
    write_motions(bound, halos);
}

template void describe_halos(Context&, const ParticleTree<float>&, const GroupMembers&, const BoundMembers&, Halos&);
template void describe_halos(Context&, const ParticleTree<double>&, const GroupMembers&, const BoundMembers&, Halos&);

} // namespace kith::detail::halos
