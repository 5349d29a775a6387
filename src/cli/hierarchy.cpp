// kith hierarchy: friends-of-friends groups of a snapshot at several linking lengths, and how they nest.
#include "cli/commands.hpp"
#include "cli/interrupt.hpp"
#include "cli/linking.hpp"
#include "cli/options.hpp"
#include "cli/outputs.hpp"
#include "cli/progress_bar.hpp"
#include "cli/usage_error.hpp"

#include <kith/hierarchy.hpp>
#include <kith/io.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <memory>

namespace kith::cli {

namespace {

struct Arguments {
    CommonOptions common;
    std::vector<std::string> files;
    std::string snapshot; ///< the one that the files are
    std::string output;
    std::vector<double> lengths = {0.05, 0.1, 0.2};
    bool are_relative = true;
    bool writes_labels = false;
    Engine engine = Engine::automatic;
    std::int64_t min_members = 20;
    BoxChoice box;
    io::TypeSelection types;

    [[nodiscard]] std::vector<LinkingLength> linking_lengths() const {
        std::vector<LinkingLength> result;
        for (const double length : lengths) {
            result.push_back(are_relative ? LinkingLength::relative(length) : LinkingLength::absolute(length));
        }
        return result;
    }
};

/// Everything one run finds out, for the writer and the summary.
struct Results {
    io::Snapshot snapshot;
    ResolvedBox box;
    FofLadder ladder;
    std::vector<std::string> warnings;

    [[nodiscard]] DType dtype() const { return snapshot.positions.dtype(); }
};

void require_ascending(const Arguments& arguments) {
    if (!std::is_sorted(arguments.lengths.begin(), arguments.lengths.end())) {
        throw UsageError(fmt::format("{} is '{}'; give the linking lengths in ascending order",
                                     arguments.are_relative ? "-b" : "--linking-length",
                                     fmt::join(arguments.lengths, ",")));
    }
}

std::vector<std::int32_t> largest_of(const FofLevel& level) {
    constexpr std::size_t largest_shown = 5;
    return {level.sizes.begin(),
            level.sizes.begin() + static_cast<std::ptrdiff_t>(std::min(largest_shown, level.sizes.size()))};
}

io::Provenance provenance(const Arguments& arguments, const Results& results, const Invocation& invocation) {
    io::Provenance provenance = provenance_of(invocation, arguments.snapshot);
    auto& parameters = provenance.parameters;
    if (arguments.are_relative) {
        const SpanningTree& tree = results.ladder.spanning_tree();
        parameters["b"] = fmt::format("{}", fmt::join(arguments.lengths, ","));
        parameters["volume"] = fmt::format("{}", tree.volume());
        parameters["volume_kind"] = name_of(tree.volume_kind());
    }
    parameters["box"] = describe(results.box.box, results.snapshot.positions.columns);
    parameters["types"] = describe_types(results.snapshot);
    parameters["min_members"] = fmt::format("{}", arguments.min_members);
    return provenance;
}

void write_output(const Arguments& arguments, const Results& results, const Execution& execution,
                  const io::Provenance& made_by, const std::filesystem::path& target) {
    io::LabelsOfLevel labels;
    if (arguments.writes_labels) {
        labels = [&](std::int64_t level) {
            const auto listed = std::ssize(results.ladder.levels()[static_cast<std::size_t>(level)].sizes);
            return labels_by_row(results.ladder.labels(level, execution), listed, results.snapshot);
        };
    }
    io::write_fof_ladder_hdf5(target, results.ladder, results.snapshot.file_rows, made_by, labels);
}

void print_json_of(const Arguments& arguments, const Results& results, const OutputFiles& outputs,
                   const StageClock& clock) {
    const SpanningTree& tree = results.ladder.spanning_tree();
    const bool relative = arguments.are_relative;
    Json json;
    json["n"] = results.snapshot.positions.rows();
    json["volume"] = relative ? Json(tree.volume()) : Json(nullptr);
    json["volume_kind"] = name_of(relative ? tree.volume_kind() : VolumeKind::none);
    json["min_members"] = arguments.min_members;
    json["levels"] = Json::array();
    for (std::size_t i = 0; i < results.ladder.levels().size(); ++i) {
        const FofLevel& level = results.ladder.levels()[i];
        Json of_level;
        of_level["linking_length"] = level.linking_length;
        of_level["b"] = relative ? Json(arguments.lengths[i]) : Json(nullptr);
        of_level["groups"] = level.sizes.size();
        of_level["groups_with_singles"] = level.groups;
        of_level["largest"] = largest_of(level);
        json["levels"].push_back(of_level);
    }
    json["dimension"] = results.snapshot.positions.columns;
    json["dtype"] = name_of(results.dtype());
    json["engine"] = name_of(tree.engine());
    json["box"] = describe(results.box.box, results.snapshot.positions.columns);
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

void print_summary_of(const Arguments& arguments, const Results& results, const OutputFiles& outputs,
                      const StageClock& clock) {
    const io::RealArray& points = results.snapshot.positions;
    const std::string types = describe_types(results.snapshot);
    print_line("input", fmt::format("{}, {}", arguments.snapshot, results.snapshot.header.format));
    print_line("points", fmt::format("{}{} in {} dimensions, {}", format_count(points.rows()),
                                     types.empty() ? "" : " of " + types, points.columns, name_of(points.dtype())));
    print_line("box", fmt::format("{} ({})", describe(results.box.box, points.columns), results.box.origin));
    if (arguments.are_relative) {
        const SpanningTree& tree = results.ladder.spanning_tree();
        print_line("linking", describe_relative("b in", tree.volume(), tree.volume_kind()));
    }
    for (std::size_t i = 0; i < results.ladder.levels().size(); ++i) {
        const FofLevel& level = results.ladder.levels()[i];
        const std::string b = arguments.are_relative ? fmt::format(" (b = {})", arguments.lengths[i]) : "";
        print_line(i == 0 ? "groups" : "",
                   fmt::format("{}{}: {} of {} or more members; {} with singles; largest {}",
                               format_length(level.linking_length, results.dtype()), b,
                               format_count(std::ssize(level.sizes)), format_count(arguments.min_members),
                               format_count(level.groups), fmt::join(largest_of(level), ", ")));
    }
    print_line("wrote", fmt::format("{}", fmt::join(outputs.names(), ", ")));
    print_line("time", clock.text());
    print_line("memory", memory_text(clock));
}

void run(const Arguments& arguments, const Invocation& invocation) {
    require_ascending(arguments);
    OutputFiles outputs;
    outputs.plan("-o", arguments.output, {".hdf5", ".h5"});
    outputs.reject_overwrite_of(arguments.snapshot);
    outputs.probe_directories();
    StageClock clock({"read", "order", "tree", "neighbors", "connect", "edges", "levels", "write"});
    ProgressBar bar;
    bar.announce("reading");
    Results results;
    results.snapshot = clock.time("read", [&] {
        return read_points(arguments.snapshot, {.types = arguments.types, .velocities = false, .ids = false});
    });
    stop_if_interrupted();
    outputs.reject_overwrite_of_all(results.snapshot.header.files);
    results.warnings = results.snapshot.header.warnings;
    results.box = resolve_box(arguments.box, results.snapshot.header);
    add_box_warnings(results.warnings, arguments.box, results.snapshot);
    add_mass_warning(results.warnings, arguments.are_relative, results.snapshot);

    const Execution execution = execution_of(arguments.common, bar.callback());
    try {
        results.ladder = fof_ladder(results.snapshot.positions.view(), arguments.linking_lengths(),
                                    {.box = results.box.box,
                                     .min_members = arguments.min_members,
                                     .engine = arguments.engine,
                                     .execution = execution});
    } catch (const Error& error) {
        throw with_file_context(error, arguments.snapshot, results.snapshot);
    }
    results.box.box = results.ladder.spanning_tree().box();
    clock.add(results.ladder.stages);
    stop_if_interrupted();

    bar.announce("writing");
    {
        const WritingSection writing;
        clock.time("write", [&] {
            const auto target = outputs.staged(arguments.output);
            const io::Provenance made_by = provenance(arguments, results, invocation);
            outputs.write([&] { write_output(arguments, results, execution, made_by, target); });
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

void add_linking_options(CLI::App& command, const std::shared_ptr<Arguments>& arguments) {
    const auto add = [&](const std::string& name, bool are_relative, const std::string& help) {
        return command
            .add_option_function<std::string>(
                name,
                [arguments, name, are_relative](const std::string& text) {
                    arguments->lengths = parse_lengths(name, text);
                    arguments->are_relative = are_relative;
                },
                help)
            ->type_name(are_relative ? "B,B,..." : "R,R,...");
    };
    CLI::Option* relative =
        add("-b", true,
            std::string("Linking lengths, ascending, separated by commas, ") + help_of_b + "; 0.05,0.1,0.2 by default");
    add("--linking-length", false, std::string("Linking lengths ") + help_of_linking_length)->excludes(relative);
}

} // namespace

Command hierarchy_command(CLI::App& program) {
    const auto arguments = std::make_shared<Arguments>();
    CLI::App& command = *program.add_subcommand(
        "hierarchy", "Find friends-of-friends groups at several linking lengths, and which lie within which");
    add_snapshot_argument(command, "SNAPSHOT", arguments->files);
    command.add_option("-o,--output", arguments->output, "File to write, .hdf5 or .h5")
        ->type_name("OUT")
        ->required()
        ->check(file_name());
    add_linking_options(command, arguments);
    add_min_members_option(command, arguments->min_members);
    add_types_option(command, arguments->types);
    add_box_option(command, arguments->box);
    command.add_flag("--with-labels", arguments->writes_labels,
                     "Also write the group of every row of the file at each level; -1: none, or not selected");
    add_engine_option(command, arguments->engine);
    add_threads_option(command, arguments->common);
    add_json_option(command, arguments->common);
    command.footer(
        "One minimum spanning tree serves all linking lengths. Groups of a level are numbered from 0 by\n"
        "decreasing size.\n"
        "Datasets written, one number for each level: linking_lengths, groups (all of them, single points included).\n"
        "One for each group of --min-members and more, those of level i from offsets[i] to offsets[i + 1] - 1: sizes,\n"
        "parents (the group of the next level that contains it; -1 at the last), first_rows (its first point, as a\n"
        "row of the file). With --with-labels: labels/0, labels/1, ... with the group of every row.\n\n" +
        std::string(input_formats) +
        "\n\n"
        "Examples:\n"
        "  kith hierarchy snapshot.hdf5 -b 0.05,0.1,0.2 -o levels.hdf5\n"
        "  kith hierarchy points.npy --linking-length 0.1,0.2,0.4 --min-members 5 --with-labels -o levels.hdf5");
    return {&command, [arguments](const Invocation& invocation) {
                arguments->snapshot =
                    only_snapshot(arguments->files, R"(kith hierarchy "$file" -o "${file%.*}_levels.hdf5")");
                run(*arguments, invocation);
            }};
}

} // namespace kith::cli
