// kith dbscan: clusters of dense points, as a label for every row of the file.
#include "cli/commands.hpp"
#include "cli/file_rows.hpp"
#include "cli/interrupt.hpp"
#include "cli/options.hpp"
#include "cli/outputs.hpp"
#include "cli/progress_bar.hpp"

#include <kith/dbscan.hpp>
#include <kith/io.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>

namespace kith::cli {

namespace {

constexpr std::size_t largest_shown = 10;

struct Arguments {
    CommonOptions common;
    std::vector<std::string> files;
    std::string points; ///< the snapshot that the files are
    std::string output;
    double eps = 0;
    std::int64_t min_samples = 5;
    bool star = false;
    BoxChoice box;
    io::TypeSelection types;
    Engine engine = Engine::automatic;
};

struct Results {
    io::Snapshot points;
    ResolvedBox box;
    DbscanResult clusters;
    std::vector<std::string> warnings;

    [[nodiscard]] std::vector<std::int32_t> largest() const {
        std::vector<std::int32_t> sizes(std::min(largest_shown, clusters.sizes.size()));
        std::partial_sort_copy(clusters.sizes.begin(), clusters.sizes.end(), sizes.begin(), sizes.end(),
                               std::greater<>());
        return sizes;
    }
};

io::Provenance provenance(const Arguments& arguments, const Results& results, const Invocation& invocation) {
    io::Provenance provenance = provenance_of(invocation, arguments.points);
    auto& parameters = provenance.parameters;
    parameters["eps"] = format_length(results.clusters.eps, results.points.positions.dtype());
    parameters["min_samples"] = fmt::format("{}", arguments.min_samples);
    parameters["star"] = arguments.star ? "true" : "false";
    parameters["box"] = describe(results.box.box, results.points.positions.columns);
    parameters["types"] = describe_types(results.points);
    return provenance;
}

void write(const Arguments& arguments, const Results& results, const Invocation& invocation,
           const std::filesystem::path& target) {
    const DbscanResult& found = results.clusters;
    const std::vector<std::int32_t> labels =
        by_file_row(results.points, std::int32_t{-1}, [&](std::size_t i) { return found.labels[i]; });
    const std::string extension = target.extension().string();
    if (extension == ".npy") {
        io::write_npy(target, labels);
    } else if (extension == ".txt") {
        io::write_labels_text(target, labels);
    } else {
        const std::vector<std::uint8_t> is_core =
            by_file_row(results.points, std::uint8_t{0}, [&](std::size_t i) { return found.is_core[i]; });
        io::write_clusters_hdf5(target, labels, is_core, provenance(arguments, results, invocation));
    }
}

void print_json_of(const Arguments& arguments, const Results& results, const OutputFiles& outputs,
                   const StageClock& clock) {
    const DbscanResult& found = results.clusters;
    const io::RealArray& points = results.points.positions;
    Json json;
    json["n"] = points.rows();
    json["eps"] = found.eps;
    json["min_samples"] = arguments.min_samples;
    json["star"] = arguments.star;
    json["clusters"] = found.clusters;
    json["core_points"] = found.core_points;
    json["noise_points"] = found.noise_points;
    json["largest"] = results.largest();
    json["engine"] = name_of(found.engine);
    json["dimension"] = points.columns;
    json["dtype"] = name_of(points.dtype());
    json["box"] = describe(results.box.box, points.columns);
    json["input"] = arguments.points;
    json["format"] = results.points.header.format;
    json["types"] = describe_types(results.points);
    json["outputs"] = outputs.names();
    json["warnings"] = results.warnings;
    json["seconds"] = clock.json();
    json["stage_peak_bytes"] = clock.peaks_json();
    json["peak_rss_bytes"] = peak_rss_bytes();
    print_json(json);
}

void print_summary_of(const Arguments& arguments, const Results& results, const StageClock& clock) {
    const DbscanResult& found = results.clusters;
    const io::RealArray& points = results.points.positions;
    const std::string types = describe_types(results.points);
    print_line("input", fmt::format("{}, {}", arguments.points, results.points.header.format));
    print_line("points", fmt::format("{}{} in {} dimensions, {}", format_count(points.rows()),
                                     types.empty() ? "" : " of " + types, points.columns, name_of(points.dtype())));
    print_line("box", fmt::format("{} ({})", describe(results.box.box, points.columns), results.box.origin));
    print_line("density", fmt::format("{} or more points within {}{}", format_count(arguments.min_samples),
                                      format_length(found.eps, points.dtype()),
                                      arguments.star ? "; border points are noise (DBSCAN*)" : ""));
    print_line("clusters", fmt::format("{}, of {} core points and {} border points; {} points of noise",
                                       format_count(found.clusters), format_count(found.core_points),
                                       format_count(points.rows() - found.core_points - found.noise_points),
                                       format_count(found.noise_points)));
    print_line("largest", fmt::format("{}", fmt::join(results.largest(), ", ")));
    print_line("wrote", arguments.output);
    print_line("time", clock.text());
    print_line("memory", memory_text(clock));
}

void run(const Arguments& arguments, const Invocation& invocation) {
    OutputFiles outputs;
    outputs.plan("-o", arguments.output, {".npy", ".txt", ".hdf5", ".h5"});
    outputs.reject_overwrite_of(arguments.points);
    outputs.probe_directories();
    StageClock clock({"read", "order", "tree", "core", "link", "border", "write"});
    ProgressBar bar;
    bar.announce("reading");
    Results results;
    io::ReadOptions wanted{arguments.types};
    wanted.velocities = false;
    wanted.masses = false;
    wanted.ids = false;
    results.points = clock.time("read", [&] { return read_points(arguments.points, wanted); });
    stop_if_interrupted();
    outputs.reject_overwrite_of_all(results.points.header.files);
    results.warnings = results.points.header.warnings;
    results.box = resolve_box(arguments.box, results.points.header);
    add_box_warnings(results.warnings, arguments.box, results.points);
    try {
        results.clusters = dbscan(results.points.positions.view(), arguments.eps, arguments.min_samples,
                                  {.box = results.box.box,
                                   .star = arguments.star,
                                   .engine = arguments.engine,
                                   .execution = execution_of(arguments.common, bar.callback())});
    } catch (const Error& error) {
        throw with_file_context(error, arguments.points, results.points);
    }
    results.box.box = results.clusters.box;
    clock.add(results.clusters.stages);
    stop_if_interrupted();
    bar.announce("writing");
    {
        const WritingSection writing;
        clock.time("write", [&] {
            outputs.write([&] { write(arguments, results, invocation, outputs.staged(arguments.output)); });
        });
        stop_if_interrupted();
        outputs.commit();
    }
    bar.erase();

    print_warnings(results.warnings);
    if (arguments.common.json) {
        print_json_of(arguments, results, outputs, clock);
    } else {
        print_summary_of(arguments, results, clock);
    }
}

} // namespace

Command dbscan_command(CLI::App& program) {
    const auto arguments = std::make_shared<Arguments>();
    CLI::App& command = *program.add_subcommand("dbscan", "Find clusters of dense points with DBSCAN");
    add_snapshot_argument(command, "POINTS", arguments->files);
    command
        .add_option_function<std::string>(
            "--eps", [arguments](const std::string& text) { arguments->eps = parse_length("--eps", text); },
            "Radius of a neighborhood, inclusive, in the units of the points")
        ->type_name("E")
        ->required();
    command
        .add_option_function<std::string>(
            "--min-samples",
            [arguments](const std::string& text) {
                arguments->min_samples =
                    parse_whole("--min-samples", text, 1, std::numeric_limits<std::int64_t>::max());
            },
            "Points within E that make a core point, the point itself included; 5 by default")
        ->type_name("M");
    command.add_flag("--star", arguments->star, "DBSCAN*: border points, within E of a core point, are noise");
    command
        .add_option("-o,--output", arguments->output,
                    "File to write, one label for each row of the file (-1: noise, or not selected): .npy, .txt, or "
                    ".hdf5 or .h5 with 'labels' and 'is_core'")
        ->type_name("OUT")
        ->required()
        ->check(file_name());
    add_box_option(command, arguments->box);
    add_types_option(command, arguments->types);
    add_engine_option(command, arguments->engine);
    add_threads_option(command, arguments->common);
    add_json_option(command, arguments->common);
    command.footer("Clusters are numbered from 0 by their first core point in the file.\n\n" +
                   std::string(input_formats) +
                   "\n\n"
                   "Examples:\n"
                   "  kith dbscan points.npy --eps 0.5 -o labels.npy\n"
                   "  kith dbscan snapshot.hdf5 --eps 20 --min-samples 10 -o clusters.hdf5\n"
                   "  kith dbscan stars.csv --eps 1.5 --star -o labels.txt");
    return {&command, [arguments](const Invocation& invocation) {
                arguments->points = only_snapshot(
                    arguments->files,
                    fmt::format(R"(kith dbscan "$file" --eps {} -o "${{file%.*}}_labels.npy")", arguments->eps));
                run(*arguments, invocation);
            }};
}

} // namespace kith::cli
