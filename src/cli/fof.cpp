// kith fof: friends-of-friends groups of a snapshot, as a catalog, labels, Tipsy files and a picture.
#include "cli/catalog_help.hpp"
#include "cli/commands.hpp"
#include "cli/fof_arguments.hpp"
#include "cli/interrupt.hpp"
#include "cli/linking.hpp"
#include "cli/map.hpp"
#include "cli/options.hpp"
#include "cli/outputs.hpp"
#include "cli/progress_bar.hpp"
#include "cli/subset.hpp"
#include "cli/usage_error.hpp"

#include <kith/catalog_file.hpp>
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

namespace kith::cli {

namespace {

constexpr std::size_t largest_shown = 10;

/// Everything one run finds out, for the writers and the summary.
struct Results {
    io::Snapshot snapshot;
    ResolvedBox box; ///< origins resolved once the groups are found
    FofResult groups;
    Catalog catalog;
    std::vector<std::string> warnings;
};

void plan(OutputFiles& outputs, const FofArguments& arguments) {
    outputs.plan("-o", arguments.catalog, {".hdf5", ".h5"});
    outputs.plan("--table", arguments.table, {".csv", ".ecsv"});
    outputs.plan("--labels", arguments.labels, {".npy"});
    outputs.plan("--grp", arguments.grp);
    outputs.plan("--gtp", arguments.gtp);
    outputs.plan("--map", arguments.map, {".png"});
    outputs.plan("--sorted-snapshot", arguments.sorted_snapshot, {".hdf5", ".h5"});
    outputs.reject_overwrite_of(arguments.snapshot);
    outputs.probe_directories();
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

std::optional<ScalarsView> masses_of(const io::Snapshot& snapshot) {
    if (!snapshot.masses) {
        return std::nullopt;
    }
    return std::visit([](const auto& masses) { return ScalarsView(masses); }, snapshot.masses->values);
}

/// What velocities of a file are multiplied by to be peculiar.
double peculiar_factor(const io::SnapshotHeader& header) {
    if (!header.frame) {
        return 1;
    }
    const io::Scaling& velocity = header.frame->velocity;
    const auto h = header.parameters.find("HubbleParam");
    const bool has_h = velocity.h_power != 0 && h != header.parameters.end();
    return std::pow(header.frame->scale_factor, velocity.a_power) * (has_h ? std::pow(h->second, velocity.h_power) : 1);
}

std::optional<PhaseSpace> phase_space_of(const FofArguments& arguments, const io::Snapshot& snapshot) {
    if (!arguments.psi) {
        return std::nullopt;
    }
    if (!snapshot.velocities) {
        throw UsageError(fmt::format("'{}' has no velocities, but --psi and --psi-sigma are of velocities; leave them "
                                     "out",
                                     arguments.snapshot));
    }
    return PhaseSpace{snapshot.velocities->view(),
                      arguments.psi->is_relative()
                          ? *arguments.psi
                          : VelocityLength::absolute(arguments.psi->value() / peculiar_factor(snapshot.header)),
                      masses_of(snapshot)};
}

void find_groups(const FofArguments& arguments, Results& results, const Execution& execution, StageClock& clock) {
    try {
        results.groups = fof(results.snapshot.positions.view(), arguments.linking_length,
                             {.box = results.box.box,
                              .engine = arguments.engine,
                              .execution = execution,
                              .phase_space = phase_space_of(arguments, results.snapshot)});
        results.box.box = results.groups.box;
        clock.add(results.groups.stages);
    } catch (const Error& error) {
        throw with_file_context(error, arguments.snapshot, results.snapshot);
    }
}

void describe_groups(const FofArguments& arguments, Results& results, const Execution& execution, StageClock& clock) {
    const io::Snapshot& snapshot = results.snapshot;
    Particles particles;
    particles.positions = snapshot.positions.view();
    if (snapshot.velocities) {
        particles.velocities = snapshot.velocities->view();
    }
    particles.masses = masses_of(snapshot);
    particles.uniform_mass = snapshot.uniform_mass.value_or(1);
    particles.types = snapshot.types;
    try {
        results.catalog =
            catalog(results.groups, particles, {.min_members = arguments.min_members, .execution = execution});
    } catch (const Error& error) {
        // The options were checked; what is refused here is a mass or a velocity of the file.
        if (error.kind() == ErrorKind::invalid_argument) {
            throw Error(ErrorKind::file, fmt::format("'{}': {}", arguments.snapshot, error.what()));
        }
        throw;
    }
    clock.add(results.catalog.stages);
    const auto ambiguous =
        std::count(results.catalog.is_ambiguous.begin(), results.catalog.is_ambiguous.end(), std::uint8_t{1});
    if (ambiguous > 0) {
        results.warnings.push_back(fmt::format("{} of the groups are wider than half the box: their centers and radii "
                                               "mean little; a shorter linking length would part them",
                                               ambiguous));
    }
}

std::string linking_length_of(const Results& results) {
    return format_length(results.groups.linking_length, results.snapshot.positions.dtype());
}

/// Of groups in phase space, as a peculiar velocity.
double psi_of(const FofArguments& arguments, const Results& results) {
    return arguments.psi->is_relative() ? results.groups.velocity_length * peculiar_factor(results.snapshot.header)
                                        : arguments.psi->value();
}

io::Provenance provenance(const FofArguments& arguments, const Results& results, const Invocation& invocation) {
    io::Provenance provenance = provenance_of(invocation, arguments.snapshot);
    auto& parameters = provenance.parameters;
    parameters["linking_length"] = linking_length_of(results);
    if (arguments.linking_length.is_relative()) {
        parameters["b"] = fmt::format("{}", arguments.linking_length.value());
        parameters["volume"] = fmt::format("{}", results.groups.volume);
        parameters["volume_kind"] = name_of(results.groups.volume_kind);
    }
    if (arguments.min_overdensity) {
        parameters["min_overdensity"] = fmt::format("{}", *arguments.min_overdensity);
    }
    if (arguments.sample) {
        parameters["sample"] = fmt::format("{}", results.snapshot.positions.rows());
        parameters["seed"] = fmt::format("{}", arguments.seed);
    }
    if (arguments.psi) {
        parameters["psi"] = fmt::format("{}", psi_of(arguments, results));
        parameters["velocity_scale"] = fmt::format("{}", results.groups.velocity_scale);
        if (arguments.psi->is_relative()) {
            parameters["psi_sigma"] = fmt::format("{}", arguments.psi->value());
        }
    }
    parameters["box"] = describe(results.box.box, results.snapshot.positions.columns);
    parameters["types"] = describe_types(results.snapshot);
    parameters["min_members"] = fmt::format("{}", arguments.min_members);
    return provenance;
}

void write_map(const FofArguments& arguments, const Results& results, const io::Provenance& made_by,
               const std::filesystem::path& target) {
    const std::int64_t groups = results.catalog.groups;
    const std::string length = fmt::format("{:.4g}", results.groups.linking_length);
    MapSubject subject;
    subject.points = results.snapshot.positions.view();
    subject.masses = masses_of(results.snapshot);
    subject.box = results.box.box;
    subject.groups = &results.catalog;
    const auto& files = results.snapshot.header.files;
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
        subject.caption += fmt::format(", of velocities {:.4g}", psi_of(arguments, results));
    }
    std::vector<std::pair<std::string, std::string>> notes = {
        {"Software", made_by.program}, {"Command", made_by.command}, {"Source", made_by.input}};
    notes.insert(notes.end(), made_by.parameters.begin(), made_by.parameters.end());
    draw_map(subject).write_png(target, notes);
}

void write_outputs(const FofArguments& arguments, const Results& results, const Invocation& invocation,
                   const OutputFiles& outputs, StageClock& clock, ProgressBar& bar) {
    const io::Provenance made_by = provenance(arguments, results, invocation);
    if (!arguments.map.empty()) {
        bar.announce("drawing the map");
        clock.time("map", [&] { write_map(arguments, results, made_by, outputs.staged(arguments.map)); });
        stop_if_interrupted();
    }
    bar.announce("writing");
    clock.time("write", [&] {
        const io::CatalogFileOptions beside{std::filesystem::path(arguments.sorted_snapshot).filename().string()};
        io::write_catalog_hdf5(outputs.staged(arguments.catalog), results.catalog, results.snapshot, results.box.box,
                               made_by, beside);
        if (!arguments.table.empty()) {
            const bool is_csv = std::filesystem::path(arguments.table).extension() == ".csv";
            io::write_catalog_table(outputs.staged(arguments.table),
                                    is_csv ? io::TableFormat::csv : io::TableFormat::ecsv, results.catalog,
                                    results.snapshot, made_by);
        }
        if (!arguments.labels.empty() || !arguments.grp.empty()) {
            const std::vector<std::int32_t> labels =
                labels_by_row(results.groups.labels, results.catalog.groups, results.snapshot);
            if (!arguments.labels.empty()) {
                io::write_npy(outputs.staged(arguments.labels), labels);
            }
            if (!arguments.grp.empty()) {
                io::write_grp(outputs.staged(arguments.grp), labels);
            }
        }
        if (!arguments.gtp.empty()) {
            io::write_gtp(outputs.staged(arguments.gtp), results.catalog, results.snapshot.header.time.value_or(0));
        }
    });
}

void write_sorted(const FofArguments& arguments, Results& results, const Invocation& invocation,
                  const OutputFiles& outputs, StageClock& clock, const Progress& progress) {
    if (arguments.sorted_snapshot.empty()) {
        return;
    }
    const std::vector<std::string> left_out = clock.time("write", [&] {
        return io::write_sorted_snapshot(outputs.staged(arguments.sorted_snapshot), results.catalog, results.snapshot,
                                         provenance(arguments, results, invocation), progress);
    });
    results.warnings.insert(results.warnings.end(), left_out.begin(), left_out.end());
}

std::vector<std::int32_t> largest_of(const FofResult& groups) {
    const std::size_t shown = std::min(largest_shown, groups.sizes.size());
    return {groups.sizes.begin(), groups.sizes.begin() + static_cast<std::ptrdiff_t>(shown)};
}

void print_json_of(const FofArguments& arguments, const Results& results, const OutputFiles& outputs,
                   const StageClock& clock) {
    Json json;
    const bool relative = arguments.linking_length.is_relative();
    json["n"] = results.snapshot.positions.rows();
    json["linking_length"] = results.groups.linking_length;
    json["b"] = relative ? Json(arguments.linking_length.value()) : Json(nullptr);
    json["volume"] = relative ? Json(results.groups.volume) : Json(nullptr);
    json["volume_kind"] = name_of(results.groups.volume_kind);
    json["min_overdensity"] = arguments.min_overdensity ? Json(*arguments.min_overdensity) : Json(nullptr);
    json["sample"] = arguments.sample ? Json(results.snapshot.positions.rows()) : Json(nullptr);
    json["seed"] = arguments.sample ? Json(arguments.seed) : Json(nullptr);
    json["psi"] = arguments.psi ? Json(psi_of(arguments, results)) : Json(nullptr);
    json["psi_sigma"] = arguments.psi && arguments.psi->is_relative() ? Json(arguments.psi->value()) : Json(nullptr);
    json["velocity_scale"] = arguments.psi ? Json(results.groups.velocity_scale) : Json(nullptr);
    json["min_members"] = arguments.min_members;
    json["groups"] = results.catalog.groups;
    json["groups_with_singles"] = results.groups.sizes.size();
    json["grouped"] = results.catalog.members.size();
    json["largest"] = largest_of(results.groups);
    json["dimension"] = results.snapshot.positions.columns;
    json["dtype"] = name_of(results.snapshot.positions.dtype());
    json["box"] = describe(results.box.box, results.snapshot.positions.columns);
    json["engine"] = name_of(results.groups.engine);
    json["device"] = name_of(arguments.common.device);
    json["input"] = arguments.snapshot;
    json["format"] = results.snapshot.header.format;
    json["types"] = describe_types(results.snapshot);
    json["outputs"] = outputs.names();
    json["warnings"] = results.warnings;
    json["seconds"] = clock.json();
    json["stage_peak_bytes"] = clock.peaks_json();
    json["peak_rss_bytes"] = peak_rss_bytes();
    print_json(json);
}

void print_summary_of(const FofArguments& arguments, const Results& results, const OutputFiles& outputs,
                      const StageClock& clock) {
    const io::RealArray& points = results.snapshot.positions;
    const std::string types = describe_types(results.snapshot);
    print_line("input", fmt::format("{}, {}", arguments.snapshot, results.snapshot.header.format));
    print_line("points", fmt::format("{}{} in {} dimensions, {}", format_count(points.rows()),
                                     types.empty() ? "" : " of " + types, points.columns, name_of(points.dtype())));
    if (arguments.sample) {
        print_line("", fmt::format("drawn at random, seed {}; lengths in mean separations are in those of this sample",
                                   arguments.seed));
    }
    print_line("box", fmt::format("{} ({})", describe(results.box.box, points.columns), results.box.origin));
    std::string linking = linking_length_of(results);
    if (arguments.linking_length.is_relative()) {
        linking += " = " + describe_relative(fmt::format("{}", arguments.linking_length.value()), results.groups.volume,
                                             results.groups.volume_kind);
        linking += arguments.min_overdensity ? fmt::format("; overdensity {}", *arguments.min_overdensity) : "";
    }
    print_line("linking", linking);
    if (arguments.psi) {
        const bool is_relative = arguments.psi->is_relative();
        print_line("", fmt::format("psi = {:.6g}{}, of peculiar velocities; the file's times {:.6g} are lengths",
                                   psi_of(arguments, results),
                                   is_relative ? fmt::format(" = {} dispersions", arguments.psi->value()) : "",
                                   results.groups.velocity_scale));
    }
    if (!results.snapshot.masses && !results.snapshot.uniform_mass) {
        print_line("masses", "none given: every particle counts 1");
    }
    print_line("groups", fmt::format("{} of {} or more members ({} of the points); {} with singles",
                                     format_count(results.catalog.groups), format_count(arguments.min_members),
                                     format_count(static_cast<std::int64_t>(results.catalog.members.size())),
                                     format_count(static_cast<std::int64_t>(results.groups.sizes.size()))));
    const std::vector<std::int32_t> largest = largest_of(results.groups);
    if (results.catalog.groups == 0 && !largest.empty()) {
        print_line("", fmt::format("the largest has {} member{}, so the catalog is empty; a smaller --min-members or "
                                   "a longer linking length would fill it",
                                   format_count(largest.front()), largest.front() == 1 ? "" : "s"));
    }
    print_line("largest", fmt::format("{}", fmt::join(largest, ", ")));
    print_line("wrote", fmt::format("{}", fmt::join(outputs.names(), ", ")));
    print_line("time", clock.text());
    print_line("memory", memory_text(clock));
}

void run(FofArguments arguments, const Invocation& invocation) {
    OutputFiles outputs;
    plan(outputs, arguments);
    require_axes_for_gtp(arguments);
    require_types_for_sorting(arguments);
    StageClock clock({"read", "order", "tree", "link", "catalog", "map", "write"});
    ProgressBar bar;
    bar.announce("reading");
    Results results;
    results.snapshot = clock.time("read", [&] { return read_points(arguments.snapshot, {arguments.types}); });
    if (arguments.min_overdensity) {
        arguments.linking_length =
            LinkingLength::overdensity(*arguments.min_overdensity, results.snapshot.positions.columns);
    }
    if (arguments.sample) {
        keep_random_rows(results.snapshot, *arguments.sample, static_cast<std::uint64_t>(arguments.seed));
    }
    stop_if_interrupted();
    outputs.reject_overwrite_of_all(results.snapshot.header.files);
    results.warnings = results.snapshot.header.warnings;
    results.box = resolve_box(arguments.box, results.snapshot.header);
    add_box_warnings(results.warnings, arguments.box, results.snapshot);
    add_mass_warning(results.warnings, arguments.linking_length.is_relative(), results.snapshot);

    const Execution execution = execution_of(arguments.common, bar.callback());
    find_groups(arguments, results, execution, clock);
    describe_groups(arguments, results, execution, clock);
    stop_if_interrupted();
    {
        const WritingSection writing;
        outputs.write([&] {
            write_outputs(arguments, results, invocation, outputs, clock, bar);
            write_sorted(arguments, results, invocation, outputs, clock, execution.progress);
        });
        stop_if_interrupted();
        outputs.commit();
    }
    bar.erase();

    print_warnings(results.warnings);
    if (arguments.common.json) {
        print_json_of(arguments, results, outputs, clock);
    } else {
        print_summary_of(arguments, results, outputs, clock);
    }
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
    return {&command, [arguments](const Invocation& invocation) {
                arguments->snapshot =
                    only_snapshot(arguments->files, R"(kith fof "$file" -o "${file%.*}_groups.hdf5")");
                run(*arguments, invocation);
            }};
}

} // namespace kith::cli
