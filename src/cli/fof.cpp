// kith fof: friends-of-friends groups of a snapshot, as a catalog, labels, Tipsy files and a picture.
#include "cli/catalog_help.hpp"
#include "cli/commands.hpp"
#include "cli/fof_arguments.hpp"
#include "cli/interrupt.hpp"
#include "cli/linking.hpp"
#include "cli/map.hpp"
#include "cli/peculiar_velocities.hpp"
#include "cli/snapshot_run.hpp"
#include "cli/usage_error.hpp"

#include <kith/catalog_file.hpp>
#include <kith/distributed.hpp>
#include <kith/io.hpp>
#include <kith/kith.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace kith::cli {

namespace {

constexpr std::size_t largest_shown = 10;

/// One run and what it finds out.
struct FofRun : SnapshotRun {
    using SnapshotRun::SnapshotRun;
    FofResult groups;
    Catalog catalog;
};

void plan(OutputFiles& outputs, const FofArguments& arguments) {
    outputs.plan("-o", arguments.catalog, {".hdf5", ".h5"});
    outputs.plan("--table", arguments.table, {".csv", ".ecsv"});
    outputs.plan("--labels", arguments.labels, {".npy"});
    outputs.plan("--grp", arguments.grp);
    outputs.plan("--gtp", arguments.gtp);
    outputs.plan("--map", arguments.map, {".png"});
    outputs.plan("--sorted-snapshot", arguments.sorted_snapshot, {".hdf5", ".h5"});
}

void require_axes_for_gtp(const FofArguments& arguments) {
    const int axes = arguments.gtp.empty() ? 3 : io::read_header(arguments.snapshot).dimension;
    if (axes != 3) {
        throw UsageError(fmt::format("--gtp is '{}', a Tipsy file, which holds points in 3 dimensions, but those of "
                                     "'{}' have {}; leave --gtp out (--grp and --labels take any)",
                                     arguments.gtp, arguments.snapshot, axes));
    }
}

void require_types_for_sorting(const FofArguments& arguments) {
    if (!arguments.sorted_snapshot.empty() && !io::read_header(arguments.snapshot).has_types) {
        throw UsageError(
            fmt::format("--sorted-snapshot is '{}', but '{}' is an array or a table without particle types, "
                        "and no snapshot to sort; leave --sorted-snapshot out (the catalog lists the rows "
                        "of each group in /Members/Index)",
                        arguments.sorted_snapshot, arguments.snapshot));
    }
}

/// Of the first rows.
std::optional<ScalarsView> masses_of(const io::Snapshot& snapshot, std::int64_t rows) {
    if (!snapshot.masses) {
        return std::nullopt;
    }
    return std::visit(
        [&](const auto& masses) { return ScalarsView(std::span(masses).first(static_cast<std::size_t>(rows))); },
        snapshot.masses->values);
}
std::optional<ScalarsView> masses_of(const io::Snapshot& snapshot) {
    return masses_of(snapshot, snapshot.positions.rows());
}

std::optional<PhaseSpace> phase_space_of(const FofArguments& arguments, const FofRun& run) {
    const io::Snapshot& snapshot = run.snapshot;
    const std::int64_t rows = run.points().count();
    if (!arguments.psi) {
        return std::nullopt;
    }
    if (!snapshot.velocities) {
        throw UsageError(fmt::format("'{}' has no velocities, but --psi and --psi-sigma are of velocities; leave them "
                                     "out",
                                     arguments.snapshot));
    }
    return PhaseSpace{snapshot.velocities->view().subview(0, rows),
                      arguments.psi->is_relative()
                          ? *arguments.psi
                          : VelocityLength::absolute(arguments.psi->value() / peculiar_factor(snapshot.header)),
                      masses_of(snapshot, rows)};
}

/// The groups, by the route that was asked for.
FofResult groups_of(const FofArguments& arguments, FofRun& run, const Execution& execution) {
    const PointsView points = run.positions().view();
    const std::optional<PhaseSpace> phase_space = phase_space_of(arguments, run);
    if (!arguments.route.by_spanning_tree) {
        return fof(
            points, arguments.linking_length,
            {.box = run.box.box, .engine = arguments.route.engine, .execution = execution, .phase_space = phase_space});
    }
    SpanningTreeOptions options{.box = run.box.box, .execution = execution};
    if (phase_space) {
        options.phase_space = PhaseSpaceAt{*phase_space, arguments.linking_length};
    }
    const SpanningTree tree = spanning_tree(points, options);
    run.clock.add(tree.stages);
    return fof(tree, arguments.linking_length, execution);
}

/// Over ranks: every rank labels its share, and rank 0 gets all labels.
FofResult groups_over_ranks(const FofArguments& arguments, FofRun& run, const Execution& execution) {
    RankTeam& ranks = *run.ranks();
    std::optional<PhaseSpace> phase_space;
    ranks.agreed([&] { phase_space = phase_space_of(arguments, run); });
    const DistributedFofResult found = RankTeam::collective([&] {
        return run.in_context([&] {
            return fof(ranks.communicator(), run.points(), arguments.linking_length,
                       {.box = run.box.box, .execution = execution, .phase_space = phase_space},
                       {.rebalance = arguments.rebalance});
        });
    });
    run.traffic = found.traffic;
    FofResult groups;
    std::vector<std::int32_t> mine;
    ranks.agreed([&] {
        if (run.rows_in_all() > std::numeric_limits<std::int32_t>::max()) {
            throw Error(ErrorKind::too_large, fmt::format("'{}': {} points; a catalog can have 2147483647 at most",
                                                          arguments.snapshot, run.rows_in_all()));
        }
        mine.assign(found.labels.begin(), found.labels.end());
        groups.groups = found.groups;
        if (run.is_first()) { // which alone describes and writes
            for (const GroupsOfSize& of_size : found.sizes) {
                groups.sizes.insert(groups.sizes.end(), static_cast<std::size_t>(of_size.groups),
                                    static_cast<std::int32_t>(of_size.size));
            }
            groups.labels.resize(static_cast<std::size_t>(run.rows_in_all()));
        }
    });
    groups.linking_length = found.linking_length;
    groups.volume = found.volume;
    groups.volume_kind = found.volume_kind;
    groups.velocity_length = found.velocity_length;
    groups.velocity_scale = found.velocity_scale;
    groups.box = found.box;
    groups.stages = found.stages;
    RankFunnel labels(ranks, {std::as_bytes(std::span(mine))});
    if (run.is_first()) {
        labels.take(std::as_writable_bytes(std::span(groups.labels)));
    }
    labels.finish();
    return groups;
}

void find_groups(const FofArguments& arguments, FofRun& run, const Execution& execution) {
    if (run.ranks() != nullptr) {
        run.groups = groups_over_ranks(arguments, run, execution);
        run.box.box = run.groups.box;
        run.clock.add(run.groups.stages);
        return;
    }
    run.in_context([&] { run.groups = groups_of(arguments, run, execution); });
    run.box.box = run.groups.box;
    run.clock.add(run.groups.stages);
}

void describe_groups(const FofArguments& arguments, FofRun& run, const Execution& execution) {
    const io::Snapshot& snapshot = run.snapshot;
    Particles particles;
    particles.positions = snapshot.positions.view();
    if (snapshot.velocities) {
        particles.velocities = snapshot.velocities->view();
    }
    particles.masses = masses_of(snapshot);
    particles.uniform_mass = snapshot.uniform_mass.value_or(1);
    particles.types = snapshot.types;
    try {
        run.catalog = catalog(run.groups, particles, {.min_members = arguments.min_members, .execution = execution});
    } catch (const Error& error) {
        // The options were checked; what is refused here is a mass or a velocity of the file.
        if (error.kind() == ErrorKind::invalid_argument) {
            throw Error(ErrorKind::file, fmt::format("'{}': {}", arguments.snapshot, error.what()));
        }
        throw;
    }
    run.clock.add(run.catalog.stages);
    const auto ambiguous =
        std::count(run.catalog.is_ambiguous.begin(), run.catalog.is_ambiguous.end(), std::uint8_t{1});
    if (ambiguous > 0) {
        run.warnings.push_back(fmt::format("{} of the groups are wider than half the box: their centers and radii "
                                           "mean little; try a shorter linking length",
                                           ambiguous));
    }
}

std::string linking_length_of(const FofRun& run) {
    return format_length(run.groups.linking_length, run.snapshot.positions.dtype());
}

/// Of groups in phase space, as a peculiar velocity.
double psi_of(const FofArguments& arguments, const FofRun& run) {
    return arguments.psi->is_relative() ? run.groups.velocity_length * peculiar_factor(run.snapshot.header)
                                        : arguments.psi->value();
}

io::Provenance provenance(const FofArguments& arguments, const FofRun& run, const Invocation& invocation) {
    io::Provenance provenance = run.provenance(invocation);
    auto& parameters = provenance.parameters;
    parameters["linking_length"] = linking_length_of(run);
    if (arguments.linking_length.is_relative()) {
        parameters["b"] = fmt::format("{}", arguments.linking_length.value());
        parameters["volume"] = fmt::format("{}", run.groups.volume);
        parameters["volume_kind"] = name_of(run.groups.volume_kind);
    }
    if (arguments.min_overdensity) {
        parameters["min_overdensity"] = fmt::format("{}", *arguments.min_overdensity);
    }
    if (arguments.sample) {
        parameters["sample"] = fmt::format("{}", run.snapshot.positions.rows());
        parameters["seed"] = fmt::format("{}", arguments.seed);
    }
    if (arguments.psi) {
        parameters["psi"] = fmt::format("{}", psi_of(arguments, run));
        parameters["velocity_scale"] = fmt::format("{}", run.groups.velocity_scale);
        if (arguments.psi->is_relative()) {
            parameters["psi_sigma"] = fmt::format("{}", arguments.psi->value());
        }
    }
    parameters["min_members"] = fmt::format("{}", arguments.min_members);
    return provenance;
}

void write_map(const FofArguments& arguments, const FofRun& run, const io::Provenance& made_by,
               const std::filesystem::path& target) {
    const std::int64_t groups = run.catalog.groups;
    const std::string length = fmt::format("{:.4g}", run.groups.linking_length);
    MapSubject subject;
    subject.points = run.snapshot.positions.view();
    subject.masses = masses_of(run.snapshot);
    subject.box = run.box.box;
    subject.groups = &run.catalog;
    const auto& files = run.snapshot.header.files;
    const std::filesystem::path named = files.size() == 1 ? files.front() : std::filesystem::path(arguments.snapshot);
    subject.title = named.filename().string();
    subject.subtitle = fmt::format("{} group{} of {} or more", format_count(groups), groups == 1 ? "" : "s",
                                   format_count(arguments.min_members));
    if (groups > max_circles) {
        subject.subtitle += fmt::format(", the {} largest circled", max_circles);
    }
    subject.caption = fmt::format("{} points, linking length {}", format_count(subject.points.count()), length);
    if (arguments.linking_length.is_relative()) {
        subject.caption += fmt::format(" (b = {:.6g})", arguments.linking_length.value());
    }
    if (arguments.psi) {
        subject.caption += fmt::format(", of velocities {:.4g}", psi_of(arguments, run));
    }
    std::vector<std::pair<std::string, std::string>> notes = {
        {"Software", made_by.program}, {"Command", made_by.command}, {"Source", made_by.input}};
    notes.insert(notes.end(), made_by.parameters.begin(), made_by.parameters.end());
    draw_map(subject).write_png(target, notes);
}

void write_outputs(const FofArguments& arguments, FofRun& run, const Invocation& invocation) {
    const OutputFiles& outputs = run.outputs;
    const io::Provenance made_by = provenance(arguments, run, invocation);
    if (!arguments.map.empty()) {
        run.bar.announce("drawing the map");
        run.clock.time("map", [&] { write_map(arguments, run, made_by, outputs.staged(arguments.map)); });
        stop_if_interrupted();
    }
    run.bar.announce("writing");
    run.clock.time("write", [&] {
        const io::CatalogFileOptions beside{std::filesystem::path(arguments.sorted_snapshot).filename().string()};
        io::write_catalog_hdf5(outputs.staged(arguments.catalog), run.catalog, run.snapshot, run.box.box, made_by,
                               beside);
        if (!arguments.table.empty()) {
            const bool is_csv = std::filesystem::path(arguments.table).extension() == ".csv";
            io::write_catalog_table(outputs.staged(arguments.table),
                                    is_csv ? io::TableFormat::csv : io::TableFormat::ecsv, run.catalog, run.snapshot,
                                    made_by);
        }
        if (!arguments.labels.empty() || !arguments.grp.empty()) {
            const std::vector<std::int32_t> labels = labels_by_row(run.groups.labels, run.catalog.groups, run.snapshot);
            if (!arguments.labels.empty()) {
                io::write_npy(outputs.staged(arguments.labels), labels);
            }
            if (!arguments.grp.empty()) {
                io::write_grp(outputs.staged(arguments.grp), labels);
            }
        }
        if (!arguments.gtp.empty()) {
            io::write_gtp(outputs.staged(arguments.gtp), run.catalog, run.snapshot.header.time.value_or(0));
        }
    });
}

void write_sorted(const FofArguments& arguments, FofRun& run, const Invocation& invocation, const Progress& progress) {
    if (arguments.sorted_snapshot.empty()) {
        return;
    }
    const std::vector<std::string> left_out = run.clock.time("write", [&] {
        return io::write_sorted_snapshot(run.outputs.staged(arguments.sorted_snapshot), run.catalog, run.snapshot,
                                         provenance(arguments, run, invocation), progress);
    });
    run.warnings.insert(run.warnings.end(), left_out.begin(), left_out.end());
}

std::vector<std::int32_t> largest_of(const FofResult& groups) {
    const std::size_t shown = std::min(largest_shown, groups.sizes.size());
    return {groups.sizes.begin(), groups.sizes.begin() + static_cast<std::ptrdiff_t>(shown)};
}

/// JSON has no infinity, so that is a text, which readers of numbers take, too.
Json json_of_length(double length) {
    return std::isinf(length) ? Json("inf") : Json(length);
}

Json json_of(const FofArguments& arguments, const FofRun& run) {
    Json json;
    const bool relative = arguments.linking_length.is_relative();
    json["n"] = run.rows_in_all();
    json["linking_length"] = run.groups.linking_length;
    json["b"] = relative ? Json(arguments.linking_length.value()) : Json(nullptr);
    json["volume"] = relative ? Json(run.groups.volume) : Json(nullptr);
    json["volume_kind"] = name_of(run.groups.volume_kind);
    json["min_overdensity"] = arguments.min_overdensity ? Json(*arguments.min_overdensity) : Json(nullptr);
    json["sample"] = arguments.sample ? Json(run.positions().rows()) : Json(nullptr);
    json["seed"] = arguments.sample ? Json(arguments.seed) : Json(nullptr);
    json["psi"] = arguments.psi ? json_of_length(psi_of(arguments, run)) : Json(nullptr);
    json["psi_sigma"] = arguments.psi && arguments.psi->is_relative() ? Json(arguments.psi->value()) : Json(nullptr);
    json["velocity_scale"] = arguments.psi ? Json(run.groups.velocity_scale) : Json(nullptr);
    json["min_members"] = arguments.min_members;
    json["groups"] = run.catalog.groups;
    json["groups_with_singles"] = run.groups.sizes.size();
    json["grouped"] = run.catalog.members.size();
    json["largest"] = largest_of(run.groups);
    json["route"] = arguments.route.by_spanning_tree ? spanning_tree_route : name_of(run.groups.engine);
    json["device"] = name_of(arguments.common.device);
    return json;
}

void print_linking(const FofArguments& arguments, const FofRun& run) {
    if (arguments.sample) {
        print_line("sample", fmt::format("drawn at random, seed {}; lengths in mean separations are in those of this "
                                         "sample",
                                         arguments.seed));
    }
    std::string linking = linking_length_of(run);
    if (arguments.linking_length.is_relative()) {
        linking += " = " + describe_relative(fmt::format("{}", arguments.linking_length.value()), run.groups.volume,
                                             run.groups.volume_kind);
        linking += arguments.min_overdensity ? fmt::format("; overdensity {}", *arguments.min_overdensity) : "";
    }
    print_line("linking", linking);
    if (arguments.psi) {
        const bool is_relative = arguments.psi->is_relative();
        print_line("", fmt::format("psi = {:.6g}{}, of peculiar velocities; the file's times {:.6g} are lengths",
                                   psi_of(arguments, run),
                                   is_relative ? fmt::format(" = {} dispersions", arguments.psi->value()) : "",
                                   run.groups.velocity_scale));
    }
}

void print_groups(const FofArguments& arguments, const FofRun& run) {
    if (!run.snapshot.masses && !run.snapshot.uniform_mass) {
        print_line("masses", "none given: every particle counts 1");
    }
    print_line("groups", fmt::format("{} of {} or more members ({} of the points); {} with singles",
                                     format_count(run.catalog.groups), format_count(arguments.min_members),
                                     format_count(static_cast<std::int64_t>(run.catalog.members.size())),
                                     format_count(static_cast<std::int64_t>(run.groups.sizes.size()))));
    const std::vector<std::int32_t> largest = largest_of(run.groups);
    if (run.catalog.groups == 0 && !largest.empty()) {
        print_line("", fmt::format("the largest has {} member{}, so the catalog is empty; a smaller --min-members or "
                                   "a longer linking length would fill it",
                                   format_count(largest.front()), largest.front() == 1 ? "" : "s"));
    }
    if (!largest.empty()) {
        print_line("largest", fmt::format("{}", fmt::join(largest, ", ")));
    }
}

void execute(FofArguments arguments, const Invocation& invocation) {
    FofRun run(arguments.common, arguments.snapshot, {"read", "order", "tree", "link", "catalog", "map", "write"},
               invocation.ranks);
    run.agreed([&] {
        run.refuse_over_ranks(arguments.route.by_spanning_tree || (arguments.route.engine != Engine::automatic &&
                                                                   arguments.route.engine != Engine::tree),
                              "a --route other than tree");
        plan(run.outputs, arguments);
        require_axes_for_gtp(arguments);
        require_types_for_sorting(arguments);
    });
    const bool in_phase_space = arguments.psi.has_value();
    run.read({.types = arguments.types, .velocities = in_phase_space, .masses = in_phase_space, .ids = false},
             io::ReadOptions{arguments.types});
    if (arguments.min_overdensity) {
        arguments.linking_length = LinkingLength::overdensity(*arguments.min_overdensity, run.positions().columns);
    }
    if (arguments.sample) {
        run.keep_sample(*arguments.sample, static_cast<std::uint64_t>(arguments.seed));
    }
    run.resolve_box(arguments.box);
    add_mass_warning(run.warnings, arguments.linking_length.is_relative(), run.snapshot);

    const Execution execution = run.execution();
    find_groups(arguments, run, execution);
    run.agreed([&] {
        if (run.is_first()) {
            describe_groups(arguments, run, execution);
        }
    });
    run.write([&] {
        write_outputs(arguments, run, invocation);
        write_sorted(arguments, run, invocation, execution.progress);
    });
    run.report(json_of(arguments, run), [&] {
        print_linking(arguments, run);
        print_groups(arguments, run);
    });
}

} // namespace

Command fof_command(CLI::App& program) {
    const auto arguments = std::make_shared<FofArguments>();
    CLI::App& command = *program.add_subcommand("fof", "Find friends-of-friends groups and describe them");
    add_snapshot_argument(command, "SNAPSHOT", arguments->files);
    command.add_option("-o,--output", arguments->catalog, "Catalog to write, .hdf5 or .h5")
        ->type_name("OUT")
        ->required()
        ->check(file_name());
    command.add_option("--table", arguments->table, "Also write the groups as a table, one row a group, .csv or .ecsv")
        ->type_name("OUT")
        ->check(file_name());
    add_linking_options(command, *arguments);
    add_min_members_option(command, arguments->min_members);
    add_types_option(command, arguments->types);
    add_box_option(command, arguments->box);
    command
        .add_option("--labels", arguments->labels,
                    "Also write the group of every row of the file, .npy, int32; -1: none, or not selected")
        ->type_name("OUT")
        ->check(file_name());
    command.add_option("--grp", arguments->grp, "Also write the groups as a Tipsy array (label + 1; 0: none)")
        ->type_name("OUT")
        ->check(file_name());
    command.add_option("--gtp", arguments->gtp, "Also write a Tipsy file with a star at every group's center")
        ->type_name("OUT")
        ->check(file_name());
    command
        .add_option("--map", arguments->map, "Also draw the projected density with the largest groups circled, .png")
        ->type_name("OUT")
        ->check(file_name());
    command
        .add_option(
            "--sorted-snapshot", arguments->sorted_snapshot,
            "Also write the whole snapshot in group order, .hdf5: in each type first the members of group 0, then "
            "of group 1 ..., then all other particles. Readers of Gadget-4 and AREPO catalogs need it to find "
            "the members of a group. HDF5 input keeps all its columns; Gadget-2 binary and Tipsy keep "
            "positions, velocities, masses and ids")
        ->type_name("OUT")
        ->check(file_name());
    add_sample_options(command, *arguments);
    add_rebalance_option(command, arguments->rebalance);
    add_execution_options(command, arguments->common);
    add_json_option(command, arguments->common);
    command.footer("Groups are numbered from 0 by decreasing size.\n\n" + std::string(input_formats) + "\n\n" +
                   catalog_help() +
                   "\n"
                   "Examples:\n"
                   "  kith fof snapshot.hdf5 -o groups.hdf5 --map groups.png\n"
                   "  kith fof snapshot_007.hdf5 -o out/fof_subhalo_tab_007.hdf5 --sorted-snapshot "
                   "out/snapshot_007.hdf5\n"
                   "  kith fof snapshot.hdf5 -o groups.hdf5 --table groups.ecsv\n"
                   "  kith fof halo.std --box 1 -b 0.2 -o groups.hdf5 --grp groups.grp\n"
                   "  kith fof snapshot.hdf5 -b 0.2 --psi-sigma 0.5 -o streams.hdf5\n"
                   "  kith fof points.npy --linking-length 0.1 --min-members 5 -o groups.hdf5 --labels labels.npy");
    return {&command,
            [arguments](const Invocation& invocation) {
                agreed_over(invocation.ranks, [&] {
                    arguments->snapshot =
                        only_snapshot(arguments->files, R"(kith fof "$file" -o "${file%.*}_groups.hdf5")");
                });
                execute(*arguments, invocation);
            },
            true};
}

} // namespace kith::cli
