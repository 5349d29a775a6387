// kith hierarchy: friends-of-friends groups of a snapshot at several linking lengths, and how they nest.
#include "cli/commands.hpp"
#include "cli/linking.hpp"
#include "cli/options.hpp"
#include "cli/phase_space.hpp"
#include "cli/snapshot_run.hpp"
#include "cli/usage_error.hpp"

#include <kith/hierarchy.hpp>
#include <kith/io.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <memory>

namespace kith::cli {

namespace {

struct Arguments : SnapshotArguments {
    std::vector<double> lengths = {0.05, 0.1, 0.2};
    bool are_relative = true;
    bool writes_labels = false;
    std::optional<VelocityLength> psi; ///< at the longest of them
    Engine engine = Engine::automatic;
    std::int64_t min_members = 20;

    [[nodiscard]] std::vector<LinkingLength> linking_lengths() const {
        std::vector<LinkingLength> result;
        for (const double length : lengths) {
            result.push_back(are_relative ? LinkingLength::relative(length) : LinkingLength::absolute(length));
        }
        return result;
    }
};

void require_ascending(const Arguments& arguments) {
    if (!std::is_sorted(arguments.lengths.begin(), arguments.lengths.end())) {
        throw UsageError(fmt::format("{} is '{}'; give the linking lengths in ascending order",
                                     arguments.are_relative ? "-b" : "--linking-length",
                                     fmt::join(arguments.lengths, ",")));
    }
}

constexpr std::size_t largest_shown = 5;

/// What makes lengths physical, for pictures of the file; empty if the input does not state it.
std::string length_unit(const io::SnapshotHeader& header) {
    if (!header.frame || !header.frame->length.to_cgs) {
        return "";
    }
    const io::Scaling& length = header.frame->length;
    const auto h = header.parameters.find("HubbleParam");
    return fmt::format("{} cm a^{} h^{} (a = {}{})", *length.to_cgs, length.a_power, length.h_power,
                       header.frame->scale_factor,
                       h == header.parameters.end() ? "" : fmt::format(", h = {}", h->second));
}

/// In phase space.
ComparedVelocities compared_velocities(const Arguments& arguments, const SnapshotRun& run, const FofLadder& ladder) {
    const SpanningTreeFacts& facts = ladder.spanning_tree().facts();
    return {*arguments.psi, facts.velocity_length, facts.velocity_scale, run.snapshot.header};
}

io::Provenance provenance(const Arguments& arguments, const SnapshotRun& run, const FofLadder& ladder,
                          const Invocation& invocation) {
    std::map<std::string, std::string> parameters{{"min_members", fmt::format("{}", arguments.min_members)}};
    if (const std::string unit = length_unit(run.snapshot.header); !unit.empty()) {
        parameters["length_unit"] = unit;
    }
    if (arguments.are_relative) {
        const SpanningTree& tree = ladder.spanning_tree();
        parameters["b"] = fmt::format("{}", fmt::join(arguments.lengths, ","));
        parameters["volume"] = fmt::format("{}", tree.volume());
        parameters["volume_kind"] = name_of(tree.volume_kind());
    }
    if (arguments.psi) {
        compared_velocities(arguments, run, ladder).add_to(parameters);
    }
    return run.provenance(invocation, std::move(parameters));
}

void write_output(const Arguments& arguments, SnapshotRun& run, const FofLadder& ladder, const Execution& execution,
                  const io::Provenance& made_by) {
    io::LabelsOfLevel labels;
    if (arguments.writes_labels) {
        labels = [&](std::int64_t level) {
            const IndexArray of_points = ladder.labels(level, execution);
            const FileRows rows = file_rows_of(nullptr, run.snapshot);
            std::vector<std::int32_t> by_row(rows.end);
            labels_by_row(of_points, std::ssize(ladder.levels()[level].sizes), rows)
                .next(std::as_writable_bytes(std::span(by_row)));
            return by_row;
        };
    }
    io::write_fof_ladder_hdf5(run.outputs.staged(arguments.output), ladder, run.snapshot.file_rows, made_by, labels);
}

Json json_of(const Arguments& arguments, const SnapshotRun& run, const FofLadder& ladder) {
    const SpanningTree& tree = ladder.spanning_tree();
    const bool relative = arguments.are_relative;
    Json json;
    json["n"] = run.positions().rows();
    json["volume"] = relative ? Json(tree.volume()) : Json(nullptr);
    json["volume_kind"] = name_of(relative ? tree.volume_kind() : VolumeKind::none);
    json["min_members"] = arguments.min_members;
    json["levels"] = Json::array();
    for (std::size_t i = 0; i < ladder.levels().size(); ++i) {
        const FofLevel& level = ladder.levels()[i];
        Json of_level;
        of_level["linking_length"] = level.linking_length;
        of_level["b"] = relative ? Json(arguments.lengths[i]) : Json(nullptr);
        of_level["groups"] = level.sizes.size();
        of_level["groups_with_singles"] = level.groups;
        of_level["largest"] = largest_of(level.sizes, largest_shown);
        json["levels"].push_back(of_level);
    }
    if (arguments.psi) {
        compared_velocities(arguments, run, ladder).add_to(json);
    }
    json["engine"] = name_of(tree.engine());
    json["device"] = name_of(arguments.common.device);
    return json;
}

void print_levels(const Arguments& arguments, const SnapshotRun& run, const FofLadder& ladder) {
    const DType dtype = run.positions().dtype();
    if (arguments.are_relative) {
        const SpanningTree& tree = ladder.spanning_tree();
        print_line("linking", describe_relative("b in", tree.volume(), tree.volume_kind()));
    }
    if (arguments.psi) {
        print_line("space", "at the longest linking length " + compared_velocities(arguments, run, ladder).text());
    }
    for (std::size_t i = 0; i < ladder.levels().size(); ++i) {
        const FofLevel& level = ladder.levels()[i];
        const std::string b = arguments.are_relative ? fmt::format(" (b = {})", arguments.lengths[i]) : "";
        const std::string largest =
            level.sizes.empty() ? ""
                                : fmt::format("; largest {}", fmt::join(largest_of(level.sizes, largest_shown), ", "));
        print_line(i == 0 ? "groups" : "",
                   fmt::format("{}{}: {} of {} or more members; {} with singles{}",
                               format_length(level.linking_length, dtype), b, format_count(std::ssize(level.sizes)),
                               format_count(arguments.min_members), format_count(level.groups), largest));
    }
}

void execute(Arguments& arguments, const Invocation& invocation) {
    find_snapshot(arguments, invocation, R"(kith hierarchy "$file" -o "${file%.*}_levels.hdf5")");
    require_ascending(arguments);
    SnapshotRun run(arguments, {"read", "order", "tree", "neighbors", "connect", "edges", "levels", "write"});
    run.outputs.plan("-o", arguments.output, {".hdf5", ".h5"});
    run.try_out([&](const PointsView& none, const Execution& execution) {
        SpanningTreeOptions options{.engine = arguments.engine, .execution = execution};
        if (arguments.psi) {
            options.phase_space =
                PhaseSpaceAt{PhaseSpace{none, VelocityLength::absolute(1)}, LinkingLength::absolute(1)};
        }
        (void)spanning_tree(none, options);
    });
    run.read({.types = arguments.types,
              .velocities = arguments.psi.has_value(),
              .ids = false,
              .columns = arguments.columns});
    run.resolve_box(arguments.box);
    add_mass_warning(run.warnings, arguments.are_relative, run.snapshot);

    const std::vector<LinkingLength> lengths = arguments.linking_lengths();
    SpanningTreeOptions options{.box = run.box.box, .engine = arguments.engine, .execution = run.execution()};
    if (const auto phase_space = phase_space_of(arguments.psi, run.snapshot, arguments.snapshot)) {
        options.phase_space = PhaseSpaceAt{*phase_space, lengths.back()};
    }
    const Execution execution = cpu(options.execution.threads, options.execution.progress); // of all but the tree
    FofLadder ladder;
    run.in_context([&] {
        SpanningTree tree = spanning_tree(run.positions().view(), options);
        run.clock.add(tree.stages);
        ladder = fof_ladder(std::move(tree), lengths, {.min_members = arguments.min_members, .execution = execution});
    });
    run.box.box = ladder.spanning_tree().box();
    run.clock.add(ladder.stages);
    run.write([&] {
        run.clock.time("write", [&] {
            write_output(arguments, run, ladder, execution, provenance(arguments, run, ladder, invocation));
        });
    });
    run.report(json_of(arguments, run, ladder), [&] { print_levels(arguments, run, ladder); });
}

void add_linking_options(const Parser& command, Arguments& arguments) {
    const auto add = [&](const char* name, bool are_relative, const std::string& help) {
        return add_value(command, name, are_relative ? "B,B,..." : "R,R,...", help, arguments.lengths,
                         [&arguments, are_relative](const std::string& option, const std::string& text) {
                             arguments.are_relative = are_relative;
                             return parse_lengths(option, text);
                         });
    };
    const Option relative =
        add("-b", true,
            std::string("Linking lengths, ascending, separated by commas, ") + help_of_b + "; 0.05,0.1,0.2 by default");
    add("--linking-length", false, std::string("Linking lengths ") + help_of_linking_length).excludes(relative);
}

} // namespace

Command hierarchy_command(const Parser& program) {
    const auto arguments = std::make_shared<Arguments>();
    const Parser command = program.command(
        "hierarchy", "Find friends-of-friends groups at several linking lengths, and which lie within which");
    add_snapshot_argument(command, "SNAPSHOT", arguments->files);
    command.file("-o,--output", "File to write, .hdf5 or .h5", arguments->output).required();
    add_linking_options(command, *arguments);
    add_min_members_option(command, arguments->min_members);
    add_types_option(command, arguments->types);
    add_columns_option(command, arguments->columns);
    add_box_option(command, arguments->box);
    command.flag("--with-labels",
                 "Also write the group of every row of the file at each level; -1: none, or not selected",
                 arguments->writes_labels);
    add_engine_option(command, arguments->engine, tree_or_brute);
    add_psi_options(command, arguments->psi, "Groups");
    add_execution_options(command, arguments->common);
    add_footer(
        command,
        "One minimum spanning tree serves all linking lengths. Groups of a level are numbered from 0 by\n"
        "decreasing size. V of --psi and --psi-sigma belongs to the longest linking length; at a shorter one it is\n"
        "shorter by the same factor. On a GPU the tree is found, all else on the CPU.\n"
        "Datasets written, one number for each level: linking_lengths, groups (all of them, single points included).\n"
        "One for each group of --min-members and more, those of level i from offsets[i] to offsets[i + 1] - 1: sizes,\n"
        "parents (the group of the next level that contains it; -1 at the last), first_rows (its first point, as a\n"
        "row of the file). With --with-labels: labels/0, labels/1, ... with the group of every row. The attribute\n"
        "length_unit is the unit of lengths, if the snapshot states it.",
        "  kith hierarchy snapshot.hdf5 -b 0.05,0.1,0.2 -o levels.hdf5\n"
        "  kith hierarchy points.npy --linking-length 0.1,0.2,0.4 --min-members 5 --with-labels -o levels.hdf5");
    return {command, [arguments](const Invocation& invocation) { execute(*arguments, invocation); }};
}

} // namespace kith::cli
