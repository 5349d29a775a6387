// Catalogs and halos over ranks: their arguments, and what must be the same on all ranks.
#include "calls/calls.hpp"
#include "calls/device_calls.hpp"
#include "calls/over_team.hpp"
#include "calls/rank_calls.hpp"
#include "distributed/arguments.hpp"
#include "distributed/catalog.hpp"
#include "distributed/halos.hpp"
#include "halos/columns.hpp"
#include "support/message.hpp"

#include <bit>
#include <cstdint>
#include <string>
#include <vector>

namespace kith::detail {

namespace {

/// How a rank's GPU describes groups; no function if the execution is on a CPU.
halos::MakePartDescriber part_describers(const Execution& execution) {
    if (!is_on_gpu(execution)) {
        return {};
    }
    return [&execution] { return on_gpu().describe_part(execution); };
}

/// What reads their positions and velocities there.
MakePartVectors part_vectors(const Execution& execution) {
    if (!is_on_gpu(execution)) {
        return {};
    }
    return [&execution](Context& host, int dimension) {
        return PartVectors{part_maker(execution, &PartCalls<float>::read)(host, dimension),
                           part_maker(execution, &PartCalls<double>::read)(host, dimension)};
    };
}

std::vector<Argument> arguments_of(const CatalogOverRanks& call) {
    const Particles& particles = call.particles;
    std::vector<std::int64_t> sizes;
    for (const GroupsOfSize& of_size : call.groups.sizes.runs()) {
        sizes.insert(sizes.end(), {of_size.size, of_size.groups});
    }
    return arguments_about(
        particles.positions, call.groups.box,
        {{"min_members", static_cast<double>(call.options.min_members)},
         given("velocities", particles.velocities.has_value()),
         type("type of the velocities", particles.velocities ? particles.velocities->dtype() : DType::float32),
         given("masses", particles.masses.has_value()),
         {"uniform_mass", particles.uniform_mass},
         {"number of groups", static_cast<double>(call.groups.groups)},
         {"coordinates_below", call.groups.coordinates_below},
         hash("sizes of groups", sizes)});
}

std::vector<Argument> arguments_of(const HalosOverRanks& call) {
    const HaloOptions& options = call.options;
    const Universe& universe = options.universe;
    const Softening softening = options.softening.value_or(Softening());
    std::vector<std::int64_t> overdensities;
    for (const Overdensity& overdensity : options.overdensities) {
        overdensities.insert(overdensities.end(), {static_cast<std::int64_t>(overdensity.reference),
                                                   std::bit_cast<std::int64_t>(overdensity.factor)});
    }
    std::vector<Argument> arguments =
        arguments_of(CatalogOverRanks{call.groups, call.particles, {options.min_members}, call.of_ranks});
    arguments.insert(arguments.end(), {given("internal_energies", call.particles.internal_energies.has_value()),
                                       {"universe.gravity", universe.gravity},
                                       {"universe.scale_factor", universe.scale_factor},
                                       {"universe.hubble", universe.hubble},
                                       {"universe.omega_matter", universe.omega_matter},
                                       given("softening", options.softening.has_value()),
                                       flag("softening of Plummer", softening.kernel == SofteningKernel::plummer),
                                       {"softening.length", softening.length},
                                       flag("unbind", options.unbind),
                                       hash("overdensities", overdensities),
                                       flag("outermost", options.outermost),
                                       flag("bound_only", options.bound_only),
                                       given("least_radius", options.least_radius.has_value()),
                                       {"least_radius", options.least_radius.value_or(0)},
                                       flag("rebalance", call.of_ranks.rebalance),
                                       {"imbalance", call.of_ranks.imbalance}});
    return arguments;
}

} // namespace

void require_groups_of(const FofSummary& groups, int ranks) {
    const int found_over = groups.distribution ? groups.distribution->ranks : 0;
    if (found_over != ranks) {
        const auto over_how_many = [](int count) {
            return count == 0 ? std::string("by one process")
                              : message("over ", count, count == 1 ? " rank" : " ranks");
        };
        throw error(ErrorKind::invalid_argument, "the groups were found ", over_how_many(found_over),
                    ", but are described ", over_how_many(ranks), "; find and describe them in the same way");
    }
}

namespace {

void check_described(const FofResult& groups, const Particles& particles, const CatalogOptions& options, int ranks) {
    require_groups_of(groups, ranks);
    const Device device = options.execution.device;
    halos::check_particle_shapes(particles, groups.label_array.size(), options, device.kind);
    require_readable_by(device, particles.positions, "positions");
    if (particles.velocities) {
        require_readable_by(device, *particles.velocities, "velocities");
    }
    if (groups.groups != groups.sizes.size()) {
        throw error(ErrorKind::invalid_argument, "groups: sizes are those of ", groups.sizes.size(),
                    " groups, but there are ", groups.groups, "; pass sizes and groups of the same result");
    }
}

} // namespace

Catalog catalog_over_team(const FofResult& groups, const Particles& particles, const CatalogOptions& options) {
    const Team& team = *options.execution.team;
    return over_team(
        options,
        [&] {
            if (is_on_gpu(options.execution)) {
                on_gpu().require_dimension(particles.positions.dimension());
            }
            check_described(groups, particles, options, team.communicator.size());
        },
        nullptr,
        [&](Ranks& ranks, Context& context, const CatalogOptions& here, const RankOptions& of_ranks) {
            const CatalogOverRanks call{groups, particles, here, of_ranks};
            require_same(ranks, RankFunction::catalog, arguments_of(call));
            return catalog_over_ranks(ranks, context, call, part_describers(here.execution),
                                      part_vectors(here.execution));
        },
        [](const Catalog& catalog) { return catalog.groups; });
}

Halos halos_over_team(const FofResult& groups, const Particles& particles, const HaloOptions& options) {
    const Team& team = *options.execution.team;
    return over_team(
        options,
        [&] {
            require_host(options.execution, "halos");
            check_halos(particles, options);
            check_described(groups, particles, {options.min_members}, team.communicator.size());
        },
        nullptr,
        [&](Ranks& ranks, Context& context, const HaloOptions& here, const RankOptions& of_ranks) {
            const HalosOverRanks call{groups, particles, here, of_ranks};
            require_same(ranks, RankFunction::halos, arguments_of(call));
            return halos_over_ranks(ranks, context, call);
        },
        [](const Halos& halos) { return halos.halos; });
}

} // namespace kith::detail
