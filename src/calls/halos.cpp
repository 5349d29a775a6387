// Bound halos in four steps: bring members into the order of groups, unbind them, sort all particles into a tree, walk
// about each halo's center.
#include <kith/error.hpp>
#include <kith/halos.hpp>

#include "calls/device_calls.hpp"
#include "calls/rank_calls.hpp"
#include "calls/sources.hpp"
#include "halos/bound_halos.hpp"
#include "halos/columns.hpp"
#include "halos/group_order.hpp"
#include "halos/resolve_softening.hpp"
#include "halos/unbind.hpp"
#include "support/context.hpp"
#include "support/dimension.hpp"
#include "support/message.hpp"
#include "support/number_types.hpp"
#include "support/one_process.hpp"

#include <cmath>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace kith {

namespace detail {

namespace {

void refuse(const char* name, double value, const char* rule) {
    throw error(ErrorKind::invalid_argument, of_value(value), name, " is ", value, "; it must be ", rule);
}
void require_positive(const char* name, double value) {
    if (!(value > 0 && std::isfinite(value))) {
        refuse(name, value, "above 0 and finite");
    }
}
void require_not_negative(const char* name, double value) {
    if (!(value >= 0 && std::isfinite(value))) {
        refuse(name, value, "0 or more and finite");
    }
}

} // namespace

void check_halos(const Particles& particles, const HaloOptions& options) {
    if (particles.tree != nullptr && options.execution.team != nullptr) {
        throw Error(ErrorKind::unsupported, "particles.tree belongs to one process; leave it out over ranks");
    }
    if (particles.positions.dimension() != 3) {
        throw error(ErrorKind::invalid_argument, "positions: the dimension is ", particles.positions.dimension(),
                    "; halos have 3");
    }
    if (options.unbind && !particles.velocities) {
        throw Error(ErrorKind::invalid_argument,
                    "velocities are missing; what is bound depends on them: pass particles.velocities, or take whole "
                    "groups with unbind = false");
    }
    require_positive("universe.gravity", options.universe.gravity);
    require_positive("universe.scale_factor", options.universe.scale_factor);
    require_not_negative("universe.hubble", options.universe.hubble);
    require_not_negative("universe.omega_matter", options.universe.omega_matter);
    if (options.softening) {
        require_positive("softening.length", options.softening->length);
    }
    if (options.least_radius) {
        require_not_negative("least_radius", *options.least_radius);
    }
    for (const Overdensity& overdensity : options.overdensities) {
        require_not_negative("the factor of an overdensity", overdensity.factor);
    }
}

namespace {

/// Particles are the host's wherever the call runs.
void require_on_host(const Particles& particles) {
    const auto check = [](const char* what, const PointsView& view) {
        if (view.device().kind != DeviceKind::cpu) {
            throw error(ErrorKind::unsupported, what, " are in the memory of GPU ", view.device().index,
                        "; halos() takes particles of the host, with kith::cuda(), too; copy them to the host");
        }
    };
    check("positions", particles.positions);
    if (particles.velocities) {
        check("velocities", *particles.velocities);
    }
}

/// What can be seen without looking at coordinates.
void check_tree(const Particles& particles, const Box& box) {
    if (particles.tree == nullptr) {
        return;
    }
    const Tree& tree = *particles.tree;
    if (tree.engine() != Engine::tree || tree.device().kind != DeviceKind::cpu) {
        throw error(ErrorKind::unsupported, "particles.tree is an index of the engine '", name_of(tree.engine()), "'",
                    tree.device().kind != DeviceKind::cpu ? " on a GPU" : "",
                    "; halos() needs one of the engine 'tree' on the CPU, or none");
    }
    const PointsView& positions = particles.positions;
    if (tree.size() != positions.count() || tree.dimension() != positions.dimension() ||
        tree.dtype() != positions.dtype()) {
        throw error(ErrorKind::invalid_argument, "particles.tree has ", tree.size(), " points of ", tree.dimension(),
                    "-D ", name_of(tree.dtype()), ", the positions are ", positions.count(), " of ",
                    positions.dimension(), "-D ", name_of(positions.dtype()), "; pass their tree, or none");
    }
    if (!(tree.box() == box)) {
        throw Error(ErrorKind::invalid_argument,
                    "particles.tree has another box than the groups; find them in the tree, "
                    "or pass none");
    }
}

} // namespace

} // namespace detail

namespace {

template <Coordinate T>
void find_on_host(detail::Context& host, std::span<const std::int32_t> labels, const Particles& particles,
                  const detail::halos::Columns& columns, Halos& found) {
    namespace halos = detail::halos;
    const PointsOrTree given =
        particles.tree != nullptr ? PointsOrTree(*particles.tree) : PointsOrTree(particles.positions);
    detail::WorkingPoints<T> points(host, given, found.box);
    halos::resolve_softening(found.options, points.frame(), particles.positions.count(), found.groups);

    std::vector<std::int32_t> rows(labels.size());
    found.group_offset.resize(static_cast<std::size_t>(found.groups) + 1);
    host.stage("members", [&] { (void)halos::order_by_group(host, labels, rows, found.group_offset); });
    rows.resize(static_cast<std::size_t>(found.group_offset.back()));
    halos::BoundMembers bound;
    host.stage("unbind", [&] { bound = halos::find_bound(host, columns, {rows, found.group_offset}, found.options); });

    const detail::PlaneTree<T>* tree = points.planes(host, Engine::tree);
    host.stage("spheres", [&] {
        halos::describe_halos<T>(host,
                                 {tree, particles.positions, particles.masses, particles.uniform_mass, columns.types},
                                 {bound.rows, found.group_offset}, bound, found);
    });
    found.member_array = std::move(bound.rows);
    found.energies = std::move(bound.energies);
}

} // namespace

Halos halos(const FofResult& groups, const Particles& particles, const HaloOptions& options) {
    if (options.execution.team != nullptr) {
        return detail::halos_over_team(groups, particles, options);
    }
    detail::require_groups_of(groups, 0);
    return halos(groups.labels(), groups, particles, options);
}

Halos halos(std::span<const std::int32_t> labels, const FofSummary& groups, const Particles& particles,
            const HaloOptions& options) {
    detail::require_one_process(options.execution);
    detail::check_halos(particles, options);
    detail::require_groups_of(groups, 0);
    detail::check_tree(particles, groups.box);
    detail::require_on_host(particles);
    if (detail::is_on_gpu(options.execution)) {
        detail::on_gpu().require_dimension(particles.positions.dimension());
    }
    detail::Context context(cpu(options.execution.threads, options.execution.progress));
    Halos found;
    found.options = options;
    found.box = groups.box;
    found.lengths = groups;
    found.groups = groups.groups_of_at_least(options.min_members);
    std::vector<std::uint8_t> memory_of_types;
    Particles plain = particles;
    detail::halos::Columns columns;
    context.run([&] {
        const detail::halos::LabeledGroups labeled{labels, groups.sizes};
        const CatalogOptions shapes{options.min_members, options.execution};
        detail::halos::check_shapes(labeled, particles, shapes, DeviceKind::cpu);
        plain = detail::halos::with_plain_types(particles, memory_of_types);
        columns = detail::halos::checked_columns(labeled, plain, groups.box, shapes);
    });
    if (detail::is_on_gpu(options.execution)) {
        detail::on_gpu().halos(context, labels, plain, columns, found);
    } else {
        detail::with_dtype(particles.positions.dtype(),
                           [&]<Coordinate T>(T) { find_on_host<T>(context, labels, particles, columns, found); });
    }
    const StageReports on_host = context.take_stages();
    found.stages.insert(found.stages.end(), on_host.begin(), on_host.end());
    return found;
}

} // namespace kith
