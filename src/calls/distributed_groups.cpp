// The public groups and catalogs over ranks: checked on every rank, agreed on by all, dispatched once.
#include <kith/distributed.hpp>

#include "calls/one_rank.hpp"
#include "distributed/arguments.hpp"
#include "distributed/catalog.hpp"
#include "distributed/fof.hpp"
#include "distributed/ranks.hpp"
#include "groups/checks.hpp"
#include "halos/columns.hpp"
#include "support/context.hpp"
#include "support/dimension.hpp"

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace kith {

namespace detail {

namespace {

DistributedFofResult result_of(FofSummary&& summary, GroupsOverRanks&& groups) {
    return {static_cast<const ResolvedLengths&>(summary),
            std::move(groups.labels),
            summary.groups,
            std::move(groups.sizes),
            summary.box,
            summary.wrapped_points,
            std::move(summary.stages),
            {},
            std::move(groups.work)};
}

DistributedFofResult fof_over(Communicator& communicator, const PointsView& points, const LinkingLength& length,
                              const FofOptions& options, const RankOptions& of_ranks) {
    return on_all_ranks(communicator, [&](Ranks& ranks) {
        if (ranks.size() == 1 && of_ranks.ids.empty()) {
            return run_on_one_rank(ranks, options.execution, [&] {
                FofResult serial = fof(points, length, options);
                Context context(options.execution);
                GroupsOverRanks groups = as_over_ranks(context, serial.labels(), serial.sizes);
                return result_of(std::move(serial), std::move(groups));
            });
        }
        std::optional<Context> context;
        ranks.agreed([&] {
            check_length(length);
            check_view(points, "points");
            if (options.phase_space) {
                check_phase_space(*options.phase_space, points);
            }
            context.emplace(options.execution);
        });
        std::vector<Argument> arguments = shape_arguments(points, options.box);
        const VelocityLength psi = options.phase_space ? options.phase_space->length : VelocityLength::absolute(0);
        arguments.insert(arguments.end(), {{"linking length", length.value()},
                                           flag("relative linking length", length.is_relative()),
                                           {"linking length of velocities", psi.value()},
                                           flag("relative linking length of velocities", psi.is_relative()),
                                           flag("velocities", options.phase_space.has_value()),
                                           flag("masses", options.phase_space && options.phase_space->masses),
                                           flag("rebalance", of_ranks.rebalance)});
        require_same(ranks, RankFunction::fof, arguments);
        FofSummary summary;
        GroupsOverRanks groups = with_dtype(points.dtype(), [&]<Coordinate T>(T) {
            return fof_over_ranks<T>(ranks, *context, {points, length, options, of_ranks}, summary);
        });
        DistributedFofResult result = result_of(std::move(summary), std::move(groups));
        result.traffic = ranks.traffic();
        return result;
    });
}

/// Checks a call of catalog().
void check(Ranks& ranks, const CatalogOverRanks& call, std::optional<Context>& context) {
    const Particles& particles = call.particles;
    ranks.agreed([&] {
        context.emplace(call.options.execution);
        halos::check_particle_shapes(particles, std::ssize(call.labels), call.options, DeviceKind::cpu);
        check_sizes(call.sizes, call.groups);
    });
    std::vector<std::int64_t> sizes;
    for (const GroupsOfSize& of_size : call.sizes) {
        sizes.insert(sizes.end(), {of_size.size, of_size.groups});
    }
    std::vector<Argument> arguments = shape_arguments(particles.positions, call.box);
    arguments.insert(arguments.end(), {{"min_members", static_cast<double>(call.options.min_members)},
                                       flag("velocities", particles.velocities.has_value()),
                                       type("type of the velocities",
                                            particles.velocities ? particles.velocities->dtype() : DType::float32),
                                       flag("masses", particles.masses.has_value()),
                                       {"uniform_mass", particles.uniform_mass},
                                       {"number of groups", static_cast<double>(call.groups)},
                                       hash("sizes of groups", sizes)});
    require_same(ranks, RankFunction::catalog, arguments);
}

} // namespace

} // namespace detail

std::int64_t DistributedFofResult::groups_of_at_least(std::int64_t min_members) const {
    std::int64_t count = 0;
    for (const GroupsOfSize& of_size : sizes) {
        count += of_size.size >= min_members ? of_size.groups : 0;
    }
    return count;
}

DistributedFofResult fof(Communicator& communicator, const PointsView& points, LinkingLength linking_length,
                         const FofOptions& options, const RankOptions& of_ranks) {
    return detail::fof_over(communicator, points, linking_length, options, of_ranks);
}

DistributedCatalogResult catalog(Communicator& communicator, const DistributedFofResult& groups,
                                 const Particles& particles, const CatalogOptions& options,
                                 const RankOptions& of_ranks) {
    return detail::on_all_ranks(communicator, [&](detail::Ranks& ranks) {
        const detail::CatalogOverRanks call{groups.labels, groups.sizes, groups.groups, groups.box,
                                            particles,     options,      of_ranks};
        std::optional<detail::Context> context;
        detail::check(ranks, call, context);
        detail::CatalogPart part = detail::catalog_over_ranks(ranks, *context, call);
        DistributedCatalogResult result{std::move(part.catalog), part.groups,       part.first_group,
                                        std::move(part.members), part.first_member, {}};
        result.catalog.box = groups.box;
        result.catalog.lengths = groups;
        result.traffic = ranks.traffic();
        return result;
    });
}

} // namespace kith
