// kith halos: bound halos of the friends-of-friends groups of a snapshot, in the files of Gadget-4 and AREPO.
#include "cli/catalog_help.hpp"
#include "cli/commands.hpp"
#include "cli/fof_catalog.hpp"
#include "cli/fof_groups.hpp"
#include "cli/fof_outputs.hpp"
#include "cli/fof_report.hpp"
#include "cli/halo_outputs.hpp"
#include "cli/linked_particles.hpp"
#include "cli/linking.hpp"
#include "cli/usage_error.hpp"

#include <kith/io.hpp>
#include <kith/kith.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

namespace kith::cli {

namespace {

void require_three_axes(const HaloArguments& arguments) {
    const int dimension = io::read_header(arguments.snapshot, arguments.columns).dimension;
    if (dimension != 3) {
        throw UsageError(
            fmt::format("'{}' has points in {} dimensions, but halos have 3; kith fof groups points of any",
                        arguments.snapshot, dimension));
    }
}

bool has_gas(const io::Snapshot& snapshot) {
    return std::find(snapshot.types.begin(), snapshot.types.end(), 0) != snapshot.types.end();
}

std::int64_t bound_in(const Halos& halos) {
    return std::accumulate(halos.count.begin(), halos.count.end(), std::int64_t{0});
}

Json json_of(const HaloArguments& arguments, const HaloRun& run) {
    Json json = json_of(static_cast<const FofArguments&>(arguments), run);
    const HaloOptions& options = run.halos.options;
    json["halos"] = run.halos.halos;
    json["bound"] = bound_in(run.halos);
    json["unbind"] = options.unbind;
    json["overdensities"] = names_of(options.overdensities);
    json["softening"] = options.softening->length;
    json["softening_kernel"] = kernel_name(options.softening->kernel);
    json["softening_from"] = run.gravity.softening_from;
    for (const auto& [name, number] : run.gravity.numbers()) {
        json[name] = number ? Json(*number) : Json(nullptr);
    }
    json["internal_energy"] = run.snapshot.internal_energies.has_value();
    return json;
}

void print_halos(const HaloArguments& arguments, const HaloRun& run) {
    print_groups(arguments, run);
    const HaloOptions& options = run.halos.options;
    std::string gravity;
    for (const auto& [name, number] : run.gravity.numbers()) {
        gravity += number ? fmt::format("{} = {:.6g}, ", name, *number) : name + " unknown, ";
    }
    print_line("gravity", fmt::format("{}a = {:.6g}", gravity, options.universe.scale_factor));
    print_line("", fmt::format("softening {:.6g} ({}), from {}", options.softening->length,
                               kernel_name(options.softening->kernel), run.gravity.softening_from));
    if (options.unbind && has_gas(run.overview())) {
        print_line("", run.snapshot.internal_energies ? "energies with the internal energy of gas"
                                                      : "energies without the internal energy of gas, which the file "
                                                        "does not have");
    }
    const std::int64_t bound = bound_in(run.halos);
    print_line("halos", options.unbind ? fmt::format("{} of {} or more bound members ({} of the {} members of groups)",
                                                     format_count(run.halos.halos), format_count(arguments.min_members),
                                                     format_count(bound), format_count(run.grouped(arguments)))
                                       : fmt::format("{}, each a whole group", format_count(run.halos.halos)));
}

void execute(HaloArguments& arguments, const Invocation& invocation) {
    find_snapshot(arguments, invocation, R"(kith halos "$file" -o "${file%.*}_halos.hdf5")");
    HaloRun run(arguments, {"read", "order", "tree", "link", "catalog", "unbind", "spheres", "map", "write"},
                invocation.ranks);
    run.agreed([&] {
        refuse_groups_over_ranks(arguments, run);
        plan_files(arguments, run.outputs);
        refuse_early(arguments, run);
        require_types_for_sorting(arguments);
        require_three_axes(arguments);
    });
    run.read({.types = types_to_read(arguments), .internal_energies = true, .columns = arguments.columns});
    run.is_secondary = secondaries_of(arguments, run.snapshot);
    run.resolve_box(arguments.box);
    require_slice(arguments, run);
    resolve_linking_length(arguments, run);

    const Execution execution = run.execution();
    run.keeps_tree = true;
    find_groups(arguments, run, execution);
    describe_groups(arguments, run, execution);
    find_halos(arguments, run, execution);
    project_points(arguments, run);
    const io::Provenance made_by = provenance_of(arguments, run, invocation);
    RankFunnel funnel(run.ranks(), arrays_of_outputs(arguments, run));
    run.write([&] { write_files(arguments, run, made_by, funnel); }, &funnel,
              [&] { write_sorted(arguments, run, made_by, execution.progress); });
    run.report(json_of(arguments, run), [&] { print_halos(arguments, run); });
}

} // namespace

Command halos_command(const Parser& program) {
    const auto arguments = std::make_shared<HaloArguments>();
    const Parser command = program.command("halos", "Find the bound halos of friends-of-friends groups");
    add_snapshot_argument(command, "SNAPSHOT", arguments->files);
    command.file("-o,--output", "Catalog of groups and halos to write, .hdf5 or .h5", arguments->output).required();
    command.file("--table", "Also write the halos as a table, one row a halo, .csv or .ecsv", arguments->table);
    const Option map = command.file(
        "--map", "Also draw the projected density with the largest halos circled at R200c, .png", arguments->map);
    add_slice_option(command, arguments->slice, map);
    add_linking_options(command, *arguments);
    add_gravity_options(command, *arguments);
    add_min_members_option(command, arguments->min_members);
    add_types_option(command, arguments->types);
    add_linked_particles_options(command, *arguments);
    add_columns_option(command, arguments->columns);
    add_box_option(command, arguments->box);
    command.file("--sorted-snapshot",
                 "Also write the whole snapshot in the order of groups, .hdf5: in each type first the members of group "
                 "0, the bound ones by energy before the others, then those of group 1 ..., then all other particles",
                 arguments->sorted_snapshot);
    add_options_over_ranks(command, arguments->common, true);
    command.footer("A halo is what is bound of its group by gravity, as SUBFIND finds it; its center is the member of "
                   "lowest potential.\n"
                   "The file has the names of Gadget-4 and AREPO: /Group has GroupPos (that center), GroupCM and the\n"
                   "spherical overdensities about GroupPos (Group_M_Crit200, Group_R_Crit200, ...), /Subhalo one row\n"
                   "per halo. Every dataset states its unit.\n\n" +
                   std::string(input_formats) + "\n\n" + halo_help() +
                   "\n"
                   "Examples:\n"
                   "  kith halos snapshot.hdf5 -o halos.hdf5 --table halos.ecsv --map halos.png\n"
                   "  kith halos snapshot_007.hdf5 -o out/fof_subhalo_tab_007.hdf5 --sorted-snapshot "
                   "out/snapshot_007.hdf5\n"
                   "  kith halos snapshot.dat --G 43009.2 --hubble 0.1 -o halos.hdf5\n"
                   "  kith halos snapshot.hdf5 --unbind no --overdensities 200c,vir -o halos.hdf5");
    return {command, [arguments](const Invocation& invocation) { execute(*arguments, invocation); }, true};
}

} // namespace kith::cli
