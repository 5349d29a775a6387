// The public groups and catalogs over ranks: checked on every rank, agreed on by all, dispatched once.
#include <kith/distributed.hpp>

#include "calls/one_rank.hpp"
#include "distributed/arguments.hpp"
#include "distributed/catalog.hpp"
#include "distributed/fof.hpp"
#include "distributed/given_ids.hpp"
#include "distributed/phase_space.hpp"
#include "distributed/rebalance.hpp"
#include "groups/checks.hpp"
#include "support/allocation_errors.hpp"
#include "support/context.hpp"
#include "support/dimension.hpp"
#include "support/parallel.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace kith {

namespace detail {

namespace {

DistributedFofResult as_distributed(FofResult&& serial, const Execution& execution) {
    Context context(execution);
    DistributedFofResult result;
    const std::span<const std::int32_t> labels = serial.labels();
    with_allocation_errors("the labels", [&] { result.labels.resize(labels.size()); });
    context.run([&] {
        parallel_for(0, std::ssize(labels), 1 << 16, [&](std::int64_t begin, std::int64_t end) {
            std::copy(labels.begin() + begin, labels.begin() + end, result.labels.begin() + begin);
        });
    });
    result.groups = serial.groups;
    result.sizes.assign(serial.sizes.runs().begin(), serial.sizes.runs().end());
    static_cast<ResolvedLengths&>(result) = serial;
    result.box = serial.box;
    result.wrapped_points = serial.wrapped_points;
    result.stages = std::move(serial.stages);
    return result;
}

template <Coordinate T>
void group_rebalanced(Ranks& ranks, Context& context, const SharedPoints<T>& shared, std::span<const std::int64_t> ids,
                      const ScalarsView& given_weights, DistributedFofResult& result) {
    const Rebalanced<T> here(ranks, context, shared, ids, given_weights);
    DistributedGroups<T>(ranks, context, here.points).run(result);
    result.stages = context.take_stages();
    result.work = here.moved.work(seconds_of(result.stages));
    std::vector<std::int64_t> labels;
    ranks.agreed([&] {
        here.ids->restore(result.labels);
        labels = std::exchange(result.labels, std::vector<std::int64_t>(shared.given.count()));
    });
    here.moved.bring_back(std::span<const std::int64_t>(labels), 1, std::span(result.labels));
}

DistributedFofResult fof_over(Communicator& communicator, const PointsView& points, const LinkingLength& length,
                              const FofOptions& options, const RankOptions& of_ranks) {
    return on_all_ranks(communicator, [&](Ranks& ranks) {
        if (ranks.size() == 1 && of_ranks.ids.empty()) {
            return alone(ranks, options.execution,
                         [&] { return as_distributed(fof(points, length, options), options.execution); });
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
        const GivenIds ids(ranks, of_ranks.ids, points.count());
        DistributedFofResult result;
        with_dtype(points.dtype(), [&]<Coordinate T>(T) {
            SharedPoints<T> shared = share_frame<T>(ranks, *context, points, options.box);
            ids.number(shared);
            resolve_length(ranks, shared, length, result);
            SharedPhaseSpace<T> in_phase_space;
            if (options.phase_space) {
                in_phase_space = share_phase_space(ranks, *context, shared, options.box, *options.phase_space, result);
            }
            SharedPoints<T>& linked = options.phase_space ? in_phase_space.points : shared;
            if (of_ranks.rebalance && ranks.size() > 1) {
                group_rebalanced(ranks, *context, linked, ids.given(), of_ranks.weights, result);
                return;
            }
            ranks.agreed([&] { ids.sort(linked); });
            DistributedGroups<T>(ranks, *context, linked).run(result);
            result.stages = context->take_stages();
            ranks.agreed([&] { ids.restore(result.labels); });
        });
        result.traffic = ranks.traffic();
        return result;
    });
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
        DistributedCatalogResult result;
        detail::describe_over_ranks(ranks, groups, particles, options, of_ranks, result);
        result.catalog.box = groups.box;
        result.catalog.lengths = groups;
        result.traffic = ranks.traffic();
        return result;
    });
}

} // namespace kith
