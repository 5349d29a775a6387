// kith fof: friends-of-friends groups of a snapshot, as a catalog, labels, Tipsy files and a picture.
#include "cli/catalog_help.hpp"
#include "cli/commands.hpp"
#include "cli/fof_catalog.hpp"
#include "cli/fof_groups.hpp"
#include "cli/fof_outputs.hpp"
#include "cli/fof_report.hpp"
#include "cli/linked_particles.hpp"
#include "cli/linking.hpp"
#include "cli/usage_error.hpp"

#include <kith/io.hpp>
#include <kith/kith.hpp>

#include <fmt/format.h>

#include <cstdint>
#include <memory>
#include <string>

namespace kith::cli {

namespace {

void require_axes_for_gtp(const FofArguments& arguments) {
    const int axes = arguments.gtp.empty() ? 3 : io::read_header(arguments.snapshot, arguments.columns).dimension;
    if (axes != 3) {
        throw UsageError(fmt::format("--gtp is '{}', a Tipsy file, which holds points in 3 dimensions, but those of "
                                     "'{}' have {}; leave --gtp out (--grp and --labels take any)",
                                     arguments.gtp, arguments.snapshot, axes));
    }
}

void execute(FofArguments& arguments, const Invocation& invocation) {
    find_snapshot(arguments, invocation, R"(kith fof "$file" -o "${file%.*}_groups.hdf5")");
    FofRun run(arguments, {"read", "order", "tree", "link", "catalog", "map", "write"}, invocation.ranks);
    run.agreed([&] {
        refuse_groups_over_ranks(arguments, run);
        plan_outputs(run.outputs, arguments);
        refuse_early(arguments, run);
        require_axes_for_gtp(arguments);
        require_types_for_sorting(arguments);
    });
    run.read({.types = types_to_read(arguments), .columns = arguments.columns});
    run.is_secondary = secondaries_of(arguments, run.snapshot);
    if (arguments.sample) {
        run.keep_sample(*arguments.sample, static_cast<std::uint64_t>(arguments.seed));
    }
    run.resolve_box(arguments.box);
    require_slice(arguments, run);
    resolve_linking_length(arguments, run);

    const Execution execution = run.execution();
    find_groups(arguments, run, execution);
    describe_groups(arguments, run, execution);
    project_points(arguments, run);
    RankFunnel funnel(run.ranks(), arrays_of_outputs(arguments, run));
    run.write([&] { write_outputs(arguments, run, invocation, funnel); }, &funnel,
              [&] { write_sorted(arguments, run, provenance(arguments, run, invocation), execution.progress); });
    run.report(json_of(arguments, run), [&] { print_groups(arguments, run); });
}

} // namespace

Command fof_command(const Parser& program) {
    const auto arguments = std::make_shared<FofArguments>();
    const Parser command = program.command("fof", "Find friends-of-friends groups and describe them");
    add_snapshot_argument(command, "SNAPSHOT", arguments->files);
    command.file("-o,--output", "Catalog to write, .hdf5 or .h5", arguments->output).required();
    command.file("--table", "Also write the groups as a table, one row a group, .csv or .ecsv", arguments->table);
    add_linking_options(command, *arguments);
    add_min_members_option(command, arguments->min_members);
    add_types_option(command, arguments->types);
    add_linked_particles_options(command, *arguments);
    add_columns_option(command, arguments->columns);
    add_box_option(command, arguments->box);
    command.file("--labels", "Also write the group of every row of the file, .npy, int32; -1: none, or not selected",
                 arguments->labels);
    command.file("--grp", "Also write the groups as a Tipsy array (label + 1; 0: none)", arguments->grp);
    command.file("--gtp", "Also write a Tipsy file with a star at every group's center", arguments->gtp);
    const Option map =
        command.file("--map", "Also draw the projected density with the largest groups circled, .png", arguments->map);
    add_slice_option(command, arguments->slice, map);
    command.file("--sorted-snapshot",
                 "Also write the whole snapshot in group order, .hdf5: in each type first the members of group 0, then "
                 "of group 1 ..., then all other particles. Readers of Gadget-4 and AREPO catalogs need it to find "
                 "the members of a group. HDF5 input keeps all its columns; Gadget-2 binary and Tipsy keep "
                 "positions, velocities, masses and ids. A name in .std or .tipsy sorts a binary Tipsy file as "
                 "Tipsy, with all its columns",
                 arguments->sorted_snapshot);
    add_sample_options(command, *arguments);
    add_options_over_ranks(command, arguments->common, true);
    command.footer("Groups are numbered from 0 by decreasing size.\n\n" + std::string(input_formats) + "\n\n" +
                   catalog_help() +
                   "\n"
                   "Examples:\n"
                   "  kith fof snapshot.hdf5 -o groups.hdf5 --map groups.png --slice 40:60\n"
                   "  kith fof snapshot_007.hdf5 -o out/fof_subhalo_tab_007.hdf5 --sorted-snapshot "
                   "out/snapshot_007.hdf5\n"
                   "  kith fof snapshot.hdf5 -o groups.hdf5 --table groups.ecsv\n"
                   "  kith fof halo.std --box 1 -b 0.2 -o groups.hdf5 --grp groups.grp\n"
                   "  kith fof snapshot.hdf5 -b 0.2 --psi-sigma 0.5 -o streams.hdf5\n"
                   "  kith fof points.npy --linking-length 0.1 --min-members 5 -o groups.hdf5 --labels labels.npy");
    return {command, [arguments](const Invocation& invocation) { execute(*arguments, invocation); }, true};
}

} // namespace kith::cli
