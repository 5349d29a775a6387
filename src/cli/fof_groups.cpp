#include "cli/fof_groups.hpp"

#include "cli/linked_particles.hpp"
#include "cli/phase_space.hpp"

#include <kith/kith.hpp>

#include <optional>

namespace kith::cli {

namespace {

SpanningTreeOptions tree_options(const Box& box, const std::optional<PhaseSpace>& phase_space,
                                 const FofArguments& arguments, const Execution& execution) {
    SpanningTreeOptions options{.box = box, .execution = execution};
    if (phase_space) {
        options.phase_space = PhaseSpaceAt{*phase_space, arguments.linking_length};
    }
    return options;
}

/// The groups, by the engine that was asked for.
FofResult groups_of(const FofArguments& arguments, FofRun& run, const Execution& execution) {
    const PointsView points = run.points();
    const std::optional<PhaseSpace> phase_space = phase_space_of(arguments.psi, run.snapshot, arguments.snapshot);
    const LinkingLength length = linking_length_for(arguments, run);
    const FofOptions options{
        .box = run.box.box, .engine = arguments.engine, .execution = execution, .phase_space = phase_space};
    if (!run.is_secondary.empty()) {
        return fof_with_secondaries(points, run.is_secondary, length, arguments.min_members, options);
    }
    if (!arguments.by_spanning_tree) {
        const bool is_tree = arguments.engine == Engine::automatic || arguments.engine == Engine::tree;
        if (!run.keeps_tree || !is_tree || phase_space || execution.team != nullptr ||
            execution.device.kind != DeviceKind::cpu) {
            return fof(points, length, options);
        }
        run.tree.emplace(points, TreeOptions{.box = run.box.box, .execution = execution});
        run.clock.add(run.tree->stages());
        return fof(*run.tree, length, {.execution = execution});
    }
    const SpanningTree tree = spanning_tree(points, tree_options(run.box.box, phase_space, arguments, execution));
    run.clock.add(tree.stages);
    run.add_traffic(tree.distribution);
    Execution of_cut = cpu(execution.threads, execution.progress);
    of_cut.team = execution.team;
    return fof(tree, length, of_cut);
}

} // namespace

void refuse_groups_over_ranks(const FofArguments& arguments, const FofRun& run) {
    run.refuse_over_ranks(arguments.engine, "an --engine other than tree and spanning-tree");
    run.refuse_over_ranks(arguments.by_spanning_tree && arguments.common.device.kind != DeviceKind::cpu,
                          "--device cuda with --engine spanning-tree");
    run.refuse_over_ranks(arguments.secondary_types.has_value(), "--secondary-types");
    run.refuse_over_ranks(arguments.separation_in_universe, "--mean-separation cosmology");
}

// Neither length matters to that.
void refuse_early(const FofArguments& arguments, FofRun& run) {
    run.try_out([&](const PointsView& none, const Execution& execution) {
        FofOptions options{.engine = arguments.engine, .execution = execution};
        if (arguments.psi) {
            options.phase_space = PhaseSpace{none, VelocityLength::absolute(1)};
        }
        if (arguments.by_spanning_tree) {
            (void)spanning_tree(none, tree_options({}, options.phase_space, arguments, execution));
        } else {
            (void)fof(none, LinkingLength::absolute(1), options);
        }
    });
}

void find_groups(const FofArguments& arguments, FofRun& run, const Execution& execution) {
    const Execution over_ranks = execution_over(run.ranks(), execution, arguments.common.rebalance);
    run.in_context([&] { run.groups = groups_of(arguments, run, over_ranks); });
    run.add_traffic(run.groups.distribution);
    run.box.box = run.groups.box;
    run.clock.add(run.groups.stages);
    add_separation_warning(arguments, run);
}

} // namespace kith::cli
