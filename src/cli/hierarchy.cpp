// kith hierarchy: friends-of-friends groups of a snapshot at several linking lengths, and how they nest.
#include "cli/commands.hpp"
#include "cli/file_rows.hpp"
#include "cli/linking.hpp"
#include "cli/options.hpp"
#include "cli/phase_space.hpp"
#include "cli/snapshot_run.hpp"
#include "cli/usage_error.hpp"

#include <kith/distributed.hpp>
#include <kith/hierarchy.hpp>
#include <kith/io.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <span>

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

/// What is reported of a level.
struct LevelFacts : FofLevelLength {
    std::int64_t listed = 0;
    std::vector<std::int64_t> largest;
};

/// Collective.
std::vector<LevelFacts> facts_of(const FofLadder& ladder, RankTeam* ranks) {
    std::vector<LevelFacts> facts;
    const auto add = [&](const auto& level, std::int64_t listed, const auto& sizes) {
        facts.push_back({{level}, listed, {}});
        for (const auto size : largest_of(sizes, largest_shown)) {
            facts.back().largest.push_back(size);
        }
    };
    if (ranks == nullptr) {
        for (const FofLevel& level : ladder.levels()) {
            add(level, std::ssize(level.sizes), level.sizes);
        }
    } else {
        for (const FofLevel64& level : ladder.levels64()) {
            const std::span<const std::int64_t> mine(level.sizes);
            add(level, level.listed, ranks->gather_all(mine.first(std::min(mine.size(), largest_shown))));
        }
    }
    return facts;
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

/// What rank 0 takes from all ranks while it writes.
struct LadderOfRanks {
    std::vector<std::vector<std::int64_t>> first_rows; ///< of the groups of each level on this rank
    std::vector<std::vector<std::int32_t>> labels;     ///< of this rank's points, if they are written
    io::FofLevelsSource source;                        ///< without its blocks
    std::vector<RankArray> arrays;
};

/// Collective. The arrays refer to the ladder and the snapshot.
std::unique_ptr<LadderOfRanks> arrays_of(const Arguments& arguments, const SnapshotRun& run, const FofLadder& ladder,
                                         const Execution& execution) {
    auto found = std::make_unique<LadderOfRanks>();
    RankTeam& ranks = *run.ranks();
    const FileRows rows = file_rows_of(&ranks, run.snapshot);
    const bool is_wide = ladder.spanning_tree().points() > std::numeric_limits<std::int32_t>::max();
    found->source.index_type = is_wide ? IndexType::int64 : IndexType::int32;
    const auto add = [&](std::span<const std::int64_t> numbers) {
        found->arrays.push_back(is_wide ? array_of(std::as_bytes(numbers))
                                        : array_of(std::ssize(numbers), [numbers](std::int64_t i) {
                                              return static_cast<std::int32_t>(numbers[i]);
                                          }));
    };
    const std::span<const FofLevel64> levels = ladder.levels64();
    for (const FofLevel64& level : levels) {
        found->source.levels.push_back(level);
        found->source.listed.push_back(level.listed);
        add(level.sizes);
    }
    for (const FofLevel64& level : levels.first(levels.size() - 1)) {
        add(level.parents);
    }
    const auto without_parents = std::ssize(levels.back().sizes);
    found->arrays.push_back(is_wide ? array_of(without_parents, [](std::int64_t) { return std::int64_t{-1}; })
                                    : array_of(without_parents, [](std::int64_t) { return std::int32_t{-1}; }));
    for (const FofLevel64& level : levels) {
        found->first_rows.push_back(gather(ranks.communicator(), level.first_members, run.snapshot.file_rows));
    }
    for (const std::vector<std::int64_t>& first_rows : found->first_rows) {
        found->arrays.push_back(array_of(std::as_bytes(std::span(first_rows))));
    }
    for (std::int64_t level = 0; arguments.writes_labels && level < std::ssize(levels); ++level) {
        const std::vector<std::int64_t> labels = ladder.labels64(level, execution);
        std::vector<std::int32_t>& narrow = found->labels.emplace_back(labels.size());
        std::ranges::transform(labels, narrow.begin(), [listed = levels[level].listed](std::int64_t label) {
            return label < listed ? static_cast<std::int32_t>(label) : -1;
        });
        found->source.rows = rows_of_file(run.snapshot);
    }
    for (const std::vector<std::int32_t>& labels : found->labels) {
        found->arrays.push_back(by_file_row(rows, std::int32_t{-1},
                                            [of_points = std::span(labels)](std::size_t i) { return of_points[i]; }));
    }
    return found;
}

void write_together(const Arguments& arguments, SnapshotRun& run, const FofLadder& ladder, const Execution& execution,
                    const io::Provenance& made_by) {
    const auto found = RankTeam::collective([&] { return arrays_of(arguments, run, ladder, execution); });
    RankFunnel funnel(run.ranks(), found->arrays);
    run.write(
        [&] {
            run.clock.time("write", [&] {
                found->source.next = funnel.blocks();
                io::stream_fof_ladder_hdf5(run.outputs.staged(arguments.output), found->source, made_by);
            });
        },
        &funnel);
}

Json json_of(const Arguments& arguments, const SnapshotRun& run, const FofLadder& ladder,
             const std::vector<LevelFacts>& levels) {
    const SpanningTree& tree = ladder.spanning_tree();
    const bool relative = arguments.are_relative;
    Json json;
    json["n"] = run.rows_in_all();
    json["volume"] = relative ? Json(tree.volume()) : Json(nullptr);
    json["volume_kind"] = name_of(relative ? tree.volume_kind() : VolumeKind::none);
    json["min_members"] = arguments.min_members;
    json["levels"] = Json::array();
    for (std::size_t i = 0; i < levels.size(); ++i) {
        const LevelFacts& level = levels[i];
        Json of_level;
        of_level["linking_length"] = level.linking_length;
        of_level["b"] = relative ? Json(arguments.lengths[i]) : Json(nullptr);
        of_level["groups"] = level.listed;
        of_level["groups_with_singles"] = level.groups;
        of_level["largest"] = level.largest;
        json["levels"].push_back(of_level);
    }
    if (arguments.psi) {
        compared_velocities(arguments, run, ladder).add_to(json);
    }
    json["engine"] = name_of(tree.engine());
    json["device"] = name_of(arguments.common.device);
    return json;
}

void print_levels(const Arguments& arguments, const SnapshotRun& run, const FofLadder& ladder,
                  const std::vector<LevelFacts>& levels) {
    const DType dtype = run.positions().dtype();
    if (arguments.are_relative) {
        const SpanningTree& tree = ladder.spanning_tree();
        print_line("linking", describe_relative("b in", tree.volume(), tree.volume_kind()));
    }
    if (arguments.psi) {
        print_line("space", "at the longest linking length " + compared_velocities(arguments, run, ladder).text());
    }
    for (std::size_t i = 0; i < levels.size(); ++i) {
        const LevelFacts& level = levels[i];
        const std::string b = arguments.are_relative ? fmt::format(" (b = {})", arguments.lengths[i]) : "";
        const std::string largest =
            level.largest.empty() ? "" : fmt::format("; largest {}", fmt::join(level.largest, ", "));
        print_line(i == 0 ? "groups" : "",
                   fmt::format("{}{}: {} of {} or more members; {} with singles{}",
                               format_length(level.linking_length, dtype), b, format_count(level.listed),
                               format_count(arguments.min_members), format_count(level.groups), largest));
    }
}

void execute(Arguments& arguments, const Invocation& invocation) {
    find_snapshot(arguments, invocation, R"(kith hierarchy "$file" -o "${file%.*}_levels.hdf5")");
    SnapshotRun run(arguments, {"read", "order", "tree", "neighbors", "connect", "edges", "levels", "write"},
                    invocation.ranks);
    run.agreed([&] {
        require_ascending(arguments);
        run.refuse_over_ranks(arguments.common.device.kind != DeviceKind::cpu, "--device cuda");
        run.refuse_over_ranks(arguments.engine);
        run.outputs.plan("-o", arguments.output, {".hdf5", ".h5"});
        run.try_out([&](const PointsView& none, const Execution& execution) {
            try_spanning_tree(none, arguments.engine, arguments.psi.has_value(), execution);
        });
    });
    run.read({.types = arguments.types,
              .velocities = arguments.psi.has_value(),
              .ids = false,
              .columns = arguments.columns});
    run.resolve_box(arguments.box);
    add_mass_warning(run.warnings, arguments.are_relative, run.overview());

    const std::vector<LinkingLength> lengths = arguments.linking_lengths();
    SpanningTreeOptions options{.box = run.box.box, .engine = arguments.engine, .execution = run.execution_together()};
    Execution execution = cpu(options.execution.threads, options.execution.progress); // of all but the tree
    execution.team = options.execution.team;
    FofLadder ladder;
    run.in_context([&] {
        if (const auto phase_space = phase_space_of(arguments.psi, run.snapshot, arguments.snapshot)) {
            options.phase_space = PhaseSpaceAt{*phase_space, lengths.back()};
        }
        SpanningTree tree = spanning_tree(run.points(), options);
        run.add_traffic(tree.distribution);
        ladder = fof_ladder(std::move(tree), lengths, {.min_members = arguments.min_members, .execution = execution});
    });
    run.box.box = ladder.spanning_tree().box();
    run.clock.add(ladder.stages);
    run.add_traffic(ladder.distribution);
    const io::Provenance made_by = provenance(arguments, run, ladder, invocation);
    if (run.ranks() != nullptr) {
        write_together(arguments, run, ladder, execution, made_by);
    } else {
        run.write([&] { run.clock.time("write", [&] { write_output(arguments, run, ladder, execution, made_by); }); });
    }
    const std::vector<LevelFacts> levels = facts_of(ladder, run.ranks());
    run.report(json_of(arguments, run, ladder, levels), [&] { print_levels(arguments, run, ladder, levels); });
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
    add_options_over_ranks(command, arguments->common);
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
    return {command, [arguments](const Invocation& invocation) { execute(*arguments, invocation); }, true};
}

} // namespace kith::cli
