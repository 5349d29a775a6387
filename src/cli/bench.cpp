// kith bench: how many points a second each stage takes on this machine. bench/compare.py in the sources measures kith
// beside others. With --engines, which engine is fastest (bench_engines.hpp); with --ranks, the constants of
// kith plan (rank_costs.hpp).
#include "cli/bench_engines.hpp"
#include "cli/commands.hpp"
#include "cli/interrupt.hpp"
#include "cli/options.hpp"
#include "cli/progress_bar.hpp"
#include "cli/rank_costs.hpp"
#include "cli/sample_points.hpp"
#include "cli/try_out.hpp"
#include "cli/usage_error.hpp"

#include <kith/io.hpp>
#include <kith/kith.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>

namespace kith::cli {

namespace {

struct Arguments {
    CommonOptions common;
    std::string points; ///< empty: sample points
    std::optional<SampleSet> set;
    std::optional<std::int64_t> count;
    std::optional<std::int64_t> dimension;
    bool float64 = false;
    BoxChoice box;
    io::TypeSelection types;
    std::vector<std::string> columns;
    std::optional<std::int64_t> neighbors;
    double b = 0.2;
    std::int64_t repetitions = 5;
    bool engines = false;
    bool ranks = false;

    [[nodiscard]] std::int64_t k() const { return neighbors.value_or(16); }
};

struct Input {
    io::RealArray points;
    Box box;
    std::string text;
    std::vector<std::string> warnings;
};

/// The seconds of the runs of one task, stage by stage; the whole task comes last, as "all".
struct Timings {
    Named<std::vector<double>> stages;

    void add_run(const StageReports& tree, const StageReports& search) {
        double sum = 0;
        for (const StageReports* reports : {&tree, &search}) {
            for (const StageReport& report : *reports) {
                value_of(stages, report.name).push_back(report.seconds);
                sum += report.seconds;
            }
        }
        value_of(stages, "all").push_back(sum);
    }
};

Input read_input(const Arguments& arguments) {
    Input input;
    if (arguments.points.empty()) {
        const SampleSet set = arguments.set.value_or(SampleSet::uniform);
        io::SnapshotHeader header;
        header.dimension = static_cast<int>(arguments.dimension.value_or(3));
        input.points = sample_points(set, arguments.count.value_or(1'000'000), header.dimension,
                                     arguments.float64 ? DType::float64 : DType::float32);
        input.box = resolve_box(arguments.box, header).box;
        input.text = fmt::format("{} sample points", name_of(set));
        return input;
    }
    if (arguments.set || arguments.count || arguments.dimension || arguments.float64) {
        throw UsageError(
            fmt::format("'{}' is given with -n, -d, --set or --float64, which describe sample points; give "
                        "one or the other",
                        arguments.points));
    }
    io::Snapshot snapshot = read_points(
        arguments.points,
        {.types = arguments.types, .velocities = false, .masses = false, .ids = false, .columns = arguments.columns});
    input.box = resolve_box(arguments.box, snapshot.header).box;
    input.points = std::move(snapshot.positions);
    input.text = fmt::format("{}, {}", arguments.points, snapshot.header.format);
    input.warnings = snapshot.header.warnings;
    return input;
}

/// Runs a task, which search(tree) completes, from unsorted points to results in input order. A first run that does
/// not count touches the memory.
template <class Search>
Timings time_runs(const Arguments& arguments, const Input& input, const Execution& execution, const Search& search) {
    Timings timings;
    for (std::int64_t run = 0; run <= arguments.repetitions; ++run) {
        const Tree tree(input.points.view(), {.box = input.box, .execution = execution});
        const StageReports searched = search(tree);
        stop_if_interrupted();
        if (run > 0) {
            timings.add_run(tree.stages(), searched);
        }
    }
    return timings;
}

Timings time_neighbors(const Arguments& arguments, const Input& input, const Execution& execution) {
    KnnResult rows(input.points.rows(), arguments.k(), IndexType::int32, input.points.dtype());
    return time_runs(arguments, input, execution, [&](const Tree& tree) {
        return knn_into(rows.rows_view(), tree, arguments.k(), {.engine = Engine::tree, .execution = execution}).stages;
    });
}

Timings time_groups(const Arguments& arguments, const Input& input, const Execution& execution) {
    return time_runs(arguments, input, execution, [&](const Tree& tree) {
        return fof(tree, LinkingLength::relative(arguments.b), {.engine = Engine::tree, .execution = execution}).stages;
    });
}

Json json_of(const Timings& timings, std::int64_t points) {
    Json stages = Json::object();
    for (const auto& [stage, seconds] : timings.stages) {
        const double middle = median(seconds);
        stages[stage] = {{"seconds", middle},
                         {"least", *std::min_element(seconds.begin(), seconds.end())},
                         {"most", *std::max_element(seconds.begin(), seconds.end())},
                         {"points_per_second", middle > 0 ? static_cast<double>(points) / middle : 0.0}};
    }
    return stages;
}

void print_timings(std::string_view task, const std::string& parameter, const Timings& timings, std::int64_t points) {
    print_line(task, fmt::format("{:<8}{:>10} {:>23} {:>18}", parameter, "median", "least to most", "points a second"));
    for (const auto& [stage, seconds] : timings.stages) {
        const double middle = median(seconds);
        const auto [least, most] = std::minmax_element(seconds.begin(), seconds.end());
        print_line("  " + stage,
                   fmt::format("{:<8}{:>10} {:>23} {:>18}", "", format_seconds(middle),
                               fmt::format("{} to {}", format_seconds(*least), format_seconds(*most)),
                               middle > 0
                                   ? format_count(static_cast<std::int64_t>(static_cast<double>(points) / middle))
                                   : std::string("-")));
    }
}

void run_engines(const Arguments& arguments) {
    if (!arguments.points.empty()) {
        throw UsageError(
            fmt::format("'{}' is given with --engines, which measures sample points of many sizes; give one "
                        "or the other",
                        arguments.points));
    }
    if (arguments.box.kind != BoxChoice::Kind::automatic) {
        throw UsageError("--box is given with --engines, which measures neighbors in open space; leave --box out");
    }
    EngineGrid grid = engine_grid(arguments.count.value_or(100'000));
    if (arguments.dimension) {
        grid.dimensions = {static_cast<int>(*arguments.dimension)};
    }
    if (arguments.set) {
        grid.sets = {*arguments.set};
    }
    if (arguments.neighbors) {
        grid.k = {*arguments.neighbors};
    }
    grid.dtype = arguments.float64 ? DType::float64 : DType::float32;
    grid.repetitions = arguments.repetitions;
    grid.execution = execution_of(arguments.common, {});
    const std::vector<EngineRow> rows = measure_engines(grid);
    if (!arguments.common.json) {
        print_engines(rows);
        return;
    }
    Json json;
    json["dtype"] = name_of(grid.dtype);
    json["threads"] = arguments.common.threads;
    json["device"] = name_of(arguments.common.device);
    json["repetitions"] = grid.repetitions;
    json["rows"] = json_of(rows);
    print_json(json);
}

void measure_ranks(const Arguments& arguments) {
    if (!arguments.points.empty() || arguments.set || arguments.engines ||
        arguments.box.kind != BoxChoice::Kind::automatic || arguments.common.device.kind != DeviceKind::cpu) {
        throw UsageError(
            "--ranks measures uniform sample points in a periodic box on the CPU; leave out the file, --set, "
            "--engines, --box and --device");
    }
    RankConstants wanted;
    wanted.dimension = static_cast<int>(arguments.dimension.value_or(3));
    wanted.dtype = arguments.float64 ? DType::float64 : DType::float32;
    wanted.k = arguments.k();
    wanted.b = arguments.b;
    wanted.points_per_rank = arguments.count.value_or(usual_points_per_rank);
    wanted.threads = arguments.common.threads;
    const RankConstants constants = measure_rank_constants(wanted, execution_of(arguments.common, {}));
    if (arguments.common.json) {
        print_json(json_of(constants));
        return;
    }
    print_line("points", fmt::format("{} on each of {} ranks, which are threads",
                                     format_count(constants.points_per_rank), constants.ranks));
    for (const auto& [name, cost] : {std::pair("knn", &constants.knn), std::pair("fof", &constants.fof)}) {
        print_line(name, fmt::format("fetches the points of others within {:.3g} mean separations", cost->layer));
        for (const auto& [stage, seconds] : cost->per_point) {
            print_line("", fmt::format("{:<14}{:>10.3g} ns for each point of a rank", stage, 1e9 * seconds));
        }
        for (const auto& [stage, seconds] : cost->per_layer_point) {
            print_line("", fmt::format("{:<14}{:>10.3g} ns for each fetched point", stage, 1e9 * seconds));
        }
        print_line("", fmt::format("{:<14}{:>10.3g} ns for each point of a rank, too", "ask", 1e9 * cost->ask_seconds));
        print_line("", fmt::format("{:.0f} bytes to every other rank, and {:.0f} for each of its top plane's nodes",
                                   cost->rank_bytes, constants.node_bytes()));
    }
}

void run(const Arguments& arguments) {
    if (arguments.points.empty() &&
        (arguments.types.kind != io::TypeSelection::Kind::automatic || !arguments.columns.empty())) {
        throw UsageError("--types and --columns choose what is read of a file, and none is given; leave them out");
    }
    if (arguments.ranks) {
        measure_ranks(arguments);
        return;
    }
    if (arguments.engines) {
        run_engines(arguments);
        return;
    }
    try_out(arguments.common, [](const PointsView& none, const Execution& execution) {
        (void)knn(none, 1, {.execution = execution});
        (void)fof(none, LinkingLength::absolute(1), {.execution = execution});
    });
    ProgressBar bar;
    bar.announce(arguments.points.empty() ? "making points" : "reading");
    const Input input = read_input(arguments);
    stop_if_interrupted();

    const std::int64_t points = input.points.rows();
    const std::string box = describe(input.box, input.points);
    const Execution execution = execution_of(arguments.common, bar.callback());
    const Timings neighbors = time_neighbors(arguments, input, execution);
    const Timings groups = time_groups(arguments, input, execution);
    bar.erase();

    print_warnings(input.warnings);
    if (arguments.common.json) {
        Json json;
        json["input"] = input.text;
        json["n"] = points;
        json["dimension"] = input.points.columns;
        json["dtype"] = name_of(input.points.dtype());
        json["box"] = box;
        json["threads"] = arguments.common.threads;
        json["device"] = name_of(arguments.common.device);
        json["repetitions"] = arguments.repetitions;
        json["k"] = arguments.k();
        json["knn"] = json_of(neighbors, points);
        json["b"] = arguments.b;
        json["fof"] = json_of(groups, points);
        json["peak_rss_bytes"] = peak_rss_bytes();
        print_json(json);
        return;
    }
    print_line("input", input.text);
    print_line("points", fmt::format("{} in {} dimensions, {}", format_count(points), input.points.columns,
                                     name_of(input.points.dtype())));
    print_line("box", box);
    print_line("device", name_of(arguments.common.device));
    print_line("threads", arguments.common.threads == 0 ? "all cores" : fmt::format("{}", arguments.common.threads));
    print_line("runs", fmt::format("{}, from unsorted points to results in input order", arguments.repetitions));
    print_timings("knn", fmt::format("k = {}", arguments.k()), neighbors, points);
    print_timings("fof", fmt::format("b = {}", arguments.b), groups, points);
}

} // namespace

Command bench_command(const Parser& program) {
    const auto arguments = std::make_shared<Arguments>();
    const Parser command = program.command("bench", "Measure how many points a second each stage takes here");
    command.file("POINTS", "Snapshot or array to measure with; without one, sample points", arguments->points, "FILE");
    constexpr std::int64_t max_points = std::numeric_limits<std::int32_t>::max();
    add_value(command, "-n", "N", "Number of sample points; 1000000 by default", arguments->count, parse_whole, 1,
              max_points);
    add_value(command, "-d", "D", "Their dimension; 3 by default", arguments->dimension, parse_whole, 2, max_dimension);
    command.text("--set", "uniform|clustered", "Their kind: uniform (the default), or clustered, most of them in halos",
                 [arguments](const std::string& text) { arguments->set = parse_sample_set(text); });
    command.flag("--float64", "Sample points in float64, not float32", arguments->float64);
    add_value(command, "-k", "K", "Neighbors of each; 16 by default", arguments->neighbors, parse_whole, 1, max_points);
    add_value(command, "-b", "B", "Linking length in mean separations; 0.2 by default", arguments->b, parse_length);
    add_value(command, "--repeat", "RUNS", "Runs that count; 5 by default", arguments->repetitions, parse_whole, 1,
              1000);
    command.flag(
        "--engines",
        "Compare the engines instead, for k nearest neighbors and within a radius that holds about as many (rows and "
        "counts; on the CPU), for several numbers of points (up to N, by default 100000) and queries, dimensions, "
        "sets and k, or for those given",
        arguments->engines);
    command.flag("--ranks",
                 "Measure instead what points distributed over ranks cost, for kith plan --constants; N is the number "
                 "of points per rank, 50000 by default",
                 arguments->ranks);
    add_box_option(command, arguments->box);
    add_types_option(command, arguments->types);
    add_columns_option(command, arguments->columns);
    add_execution_options(command, arguments->common);
    command.footer("Runs from unsorted points to results in input order; a first run does not count.\n\n"
                   "Examples:\n"
                   "  kith bench\n"
                   "  kith bench -n 10000000 --set clustered --box 1 --threads 1\n"
                   "  kith bench snapshot.hdf5 -k 32 -b 0.28\n"
                   "  kith bench --engines -n 10000 -d 3\n"
                   "  kith bench --ranks --json > node.json");
    return {command, [arguments](const Invocation&) { run(*arguments); }};
}

} // namespace kith::cli
