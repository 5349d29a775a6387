// kith dbscan: clusters of dense points, as a label for every row of the file.
#include "cli/commands.hpp"
#include "cli/few_points.hpp"
#include "cli/file_rows.hpp"
#include "cli/linking.hpp"
#include "cli/options.hpp"
#include "cli/snapshot_run.hpp"

#include <kith/dbscan.hpp>
#include <kith/io.hpp>

#include <fmt/format.h>

#include <filesystem>
#include <limits>
#include <memory>
#include <string>
#include <utility>

namespace kith::cli {

namespace {

struct Arguments : SnapshotArguments {
    double eps = 0;
    std::int64_t min_samples = 5;
    bool star = false;
    Engine engine = Engine::automatic;
};

/// What write() takes from all ranks: labels, then whether points are core points, for each row of the file.
std::vector<RankArray> arrays_of(const SnapshotRun& run, const DbscanResult& found) {
    const FileRows rows = file_rows_of(run.ranks(), run.snapshot);
    return {labels_by_row(found.label_array, found.clusters, rows),
            by_file_row(rows, std::uint8_t{0}, [&](std::size_t i) { return found.is_core[i]; })};
}

void write(const Arguments& arguments, const SnapshotRun& run, const DbscanResult& found, const Invocation& invocation,
           RankFunnel& funnel) {
    const std::filesystem::path target = run.outputs.staged(arguments.output);
    const io::NumberSource labels{rows_of_file(run.snapshot), funnel.blocks()};
    const std::string extension = target.extension().string();
    if (extension == ".npy") {
        io::stream_labels_npy(target, labels);
    } else if (extension == ".txt") {
        io::stream_labels_text(target, labels);
    } else {
        io::stream_clusters_hdf5(target, labels,
                                 run.provenance(invocation, {{"eps", format_length(found.eps, run.positions().dtype())},
                                                             {"min_samples", fmt::format("{}", arguments.min_samples)},
                                                             {"star", arguments.star ? "true" : "false"}}));
    }
}

Json json_of(const Arguments& arguments, const SnapshotRun& run, const DbscanResult& found) {
    Json json;
    json["n"] = run.rows_in_all();
    json["eps"] = found.eps;
    json["min_samples"] = arguments.min_samples;
    json["star"] = arguments.star;
    json["clusters"] = found.clusters;
    json["core_points"] = found.core_points;
    json["noise_points"] = found.noise_points;
    json["largest"] = largest_of(found.sizes);
    json["engine"] = name_of(found.engine);
    json["device"] = name_of(arguments.common.device);
    return json;
}

void print_clusters(const Arguments& arguments, const SnapshotRun& run, const DbscanResult& found) {
    print_line("density", fmt::format("{} or more points within {}{}", format_count(arguments.min_samples),
                                      format_length(found.eps, run.positions().dtype()),
                                      arguments.star ? "; border points are noise (DBSCAN*)" : ""));
    print_line("clusters", fmt::format("{}, of {} core points and {} border points; {} noise point{}",
                                       format_count(found.clusters), format_count(found.core_points),
                                       format_count(run.rows_in_all() - found.core_points - found.noise_points),
                                       format_count(found.noise_points), found.noise_points == 1 ? "" : "s"));
    if (found.clusters > 0) {
        print_line("largest", fmt::format("{}", fmt::join(largest_of(found.sizes), ", ")));
    }
}

void execute(Arguments& arguments, const Invocation& invocation) {
    find_snapshot(arguments, invocation,
                  fmt::format(R"(kith dbscan "$file" --eps {} -o "${{file%.*}}_labels.npy")", arguments.eps));
    SnapshotRun run(arguments, {"read", "upload", "order", "tree", "core", "link", "border", "download", "write"},
                    invocation.ranks);
    run.agreed([&] {
        run.refuse_over_ranks(arguments.engine);
        run.outputs.plan("-o", arguments.output, {".npy", ".txt", ".hdf5", ".h5"});
        run.try_out([&](const PointsView& none, const Execution& execution) {
            (void)dbscan(none, 1, 1, {.engine = arguments.engine, .execution = execution});
        });
    });
    run.read(
        {.types = arguments.types, .velocities = false, .masses = false, .ids = false, .columns = arguments.columns});
    run.resolve_box(arguments.box);
    const DbscanResult found = run.in_context([&] {
        return dbscan(run.points(), arguments.eps, arguments.min_samples,
                      {.box = run.box.box,
                       .star = arguments.star,
                       .engine = arguments.engine,
                       .execution = run.execution_together()});
    });
    run.box.box = found.box;
    run.clock.add(found.stages);
    run.add_traffic(found.distribution);
    if (std::string warning = warning_of_few_points(arguments.min_samples, run.rows_in_all()); !warning.empty()) {
        run.warnings.push_back(std::move(warning));
    }
    RankFunnel funnel(run.ranks(), arrays_of(run, found));
    run.write([&] { run.clock.time("write", [&] { write(arguments, run, found, invocation, funnel); }); }, &funnel);
    run.report(json_of(arguments, run, found), [&] { print_clusters(arguments, run, found); });
}

} // namespace

Command dbscan_command(const Parser& program) {
    const auto arguments = std::make_shared<Arguments>();
    const Parser command = program.command("dbscan", "Find clusters of dense points with DBSCAN");
    add_snapshot_argument(command, "POINTS", arguments->files);
    add_value(command, "--eps", "E", "Radius of a neighborhood, inclusive, in the units of the points", arguments->eps,
              parse_length)
        .required();
    add_value(command, "--min-samples", "M",
              "Points within E that make a core point, the point itself included; 5 by default", arguments->min_samples,
              parse_whole, 1, std::numeric_limits<std::int64_t>::max());
    command.flag("--star", "DBSCAN*: border points, within E of a core point, are noise", arguments->star);
    command
        .file("-o,--output",
              "File to write, one label for each row of the file (-1: noise, or not selected): .npy, .txt, or "
              ".hdf5 or .h5 with 'labels' and 'is_core'",
              arguments->output)
        .required();
    add_box_option(command, arguments->box);
    add_types_option(command, arguments->types);
    add_columns_option(command, arguments->columns);
    add_engine_option(command, arguments->engine, tree_or_brute);
    add_options_over_ranks(command, arguments->common, true);
    add_footer(command, "Clusters are numbered from 0 by their first core point in the file.",
               "  kith dbscan points.npy --eps 0.5 -o labels.npy\n"
               "  kith dbscan snapshot.hdf5 --eps 20 --min-samples 10 -o clusters.hdf5\n"
               "  kith dbscan stars.csv --eps 1.5 --star -o labels.txt");
    return {command, [arguments](const Invocation& invocation) { execute(*arguments, invocation); }, true};
}

} // namespace kith::cli
