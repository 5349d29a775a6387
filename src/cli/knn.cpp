// kith knn: the k nearest neighbors of every point, into a file.
#include "cli/commands.hpp"
#include "cli/interrupt.hpp"
#include "cli/options.hpp"
#include "cli/outputs.hpp"
#include "cli/progress_bar.hpp"
#include "cli/search_inputs.hpp"

#include <kith/io.hpp>
#include <kith/kith.hpp>

#include <fmt/format.h>

#include <limits>
#include <memory>

namespace kith::cli {

namespace {

struct Arguments {
    CommonOptions common;
    std::vector<std::string> files;
    std::string points; ///< the snapshot that the files are
    std::string queries;
    std::string output;
    std::int64_t k = 0;
    BoxChoice box;
    io::TypeSelection types;
    KnnOptions search;
};

io::Provenance provenance(const Arguments& arguments, const SearchInputs& inputs, const Box& box,
                          const Invocation& invocation) {
    io::Provenance provenance = provenance_of(invocation, arguments.points);
    auto& parameters = provenance.parameters;
    parameters["k"] = fmt::format("{}", arguments.k);
    parameters["box"] = describe(box, inputs.points.positions.columns);
    parameters["types"] = describe_types(inputs.points);
    parameters["queries"] = arguments.queries.empty() ? "the points themselves" : arguments.queries;
    parameters["exclude_self"] = arguments.search.exclude_self ? "true" : "false";
    parameters["max_distance"] = fmt::format("{}", arguments.search.max_distance);
    parameters["squared"] = arguments.search.squared ? "true" : "false";
    return provenance;
}

/// The library's remedies are calls; these are options.
Error with_shell_remedy(const Error& error, const SearchInputs& inputs) {
    const std::string_view text = error.what();
    return {error.kind(),
            fmt::format("{}; ask for fewer neighbors (-k) or {} --queries", text.substr(0, text.find("; ask for ")),
                        inputs.queries ? "give fewer points at once with" : "search around a part of the points with")};
}

KnnResult search(const Arguments& arguments, const SearchInputs& inputs, const Box& box, const Execution& execution) {
    const PointsView points = inputs.points.positions.view();
    KnnOptions options = arguments.search;
    options.box = box;
    options.execution = execution;
    try {
        return inputs.queries ? knn(points, inputs.queries->positions.view(), arguments.k, options)
                              : knn(points, arguments.k, options);
    } catch (const Error& error) {
        if (error.kind() == ErrorKind::out_of_memory) {
            throw with_shell_remedy(error, inputs);
        }
        throw with_search_context(error, arguments.points, arguments.queries, inputs);
    }
}

void run(const Arguments& arguments, const Invocation& invocation) {
    require_self(arguments.search.exclude_self, arguments.queries);
    OutputFiles outputs;
    outputs.plan("-o", arguments.output, {".npz", ".hdf5", ".h5"});
    outputs.reject_overwrite_of(arguments.points);
    if (!arguments.queries.empty()) {
        outputs.reject_overwrite_of(arguments.queries);
    }
    outputs.probe_directories();

    StageClock clock({"read", "order", "tree", "search", "catalog", "map", "write"});
    ProgressBar bar;
    bar.announce("reading");
    SearchInputs inputs =
        clock.time("read", [&] { return read_search_inputs(arguments.points, arguments.queries, arguments.types); });
    stop_if_interrupted();
    outputs.reject_overwrite_of_all(inputs.points.header.files);
    if (inputs.queries) {
        outputs.reject_overwrite_of_all(inputs.queries->header.files);
    }
    const io::RealArray& points = inputs.points.positions;
    const ResolvedBox resolved = resolve_box(arguments.box, inputs.points.header);
    add_box_warnings(inputs.warnings, arguments.box, inputs.points);

    const Execution execution = execution_of(arguments.common, bar.callback());
    const KnnResult result = search(arguments, inputs, resolved.box, execution);
    clock.add(result.stages);
    stop_if_interrupted();

    bar.announce("writing");
    {
        const WritingSection writing;
        clock.time("write", [&] {
            const auto target = outputs.staged(arguments.output);
            const io::Provenance made_by = provenance(arguments, inputs, resolved.box, invocation);
            const auto write = target.extension() == ".npz" ? io::write_neighbors_npz : io::write_neighbors_hdf5;
            outputs.write([&] { write(target, result, made_by); });
        });
        stop_if_interrupted();
        outputs.commit();
    }
    bar.erase();

    print_warnings(inputs.warnings);
    const std::string box_text = describe(resolved.box, points.columns);
    if (arguments.common.json) {
        Json json;
        json["n"] = points.rows();
        json["queries"] = result.rows();
        json["k"] = arguments.k;
        json["dimension"] = points.columns;
        json["dtype"] = name_of(points.dtype());
        json["box"] = box_text;
        json["engine"] = name_of(result.engine());
        json["device"] = name_of(arguments.common.device);
        json["input"] = arguments.points;
        json["types"] = describe_types(inputs.points);
        json["outputs"] = outputs.names();
        json["warnings"] = inputs.warnings;
        json["seconds"] = clock.json();
        json["stage_peak_bytes"] = clock.peaks_json();
        json["peak_rss_bytes"] = peak_rss_bytes();
        print_json(json);
        return;
    }
    const std::string types = describe_types(inputs.points);
    print_line("input", fmt::format("{}, {}", arguments.points, inputs.points.header.format));
    print_line("points", fmt::format("{}{} in {} dimensions, {}", format_count(points.rows()),
                                     types.empty() ? "" : " of " + types, points.columns, name_of(points.dtype())));
    print_line("queries", inputs.queries ? fmt::format("{} from {}", format_count(result.rows()), arguments.queries)
                                         : std::string(arguments.search.exclude_self ? "the points, themselves left out"
                                                                                     : "the points themselves"));
    print_line("box", fmt::format("{} ({})", box_text, resolved.origin));
    print_line("search", fmt::format("k = {}, engine {}, on {}", arguments.k, name_of(result.engine()),
                                     name_of(arguments.common.device)));
    print_line("wrote", arguments.output);
    print_line("time", clock.text());
    print_line("memory", memory_text(clock));
}

} // namespace

Command knn_command(CLI::App& program) {
    const auto arguments = std::make_shared<Arguments>();
    CLI::App& command = *program.add_subcommand("knn", "Find the k nearest neighbors of every point");
    add_snapshot_argument(command, "POINTS", arguments->files, "Snapshot or array of the points to search among");
    command
        .add_option_function<std::string>(
            "-k",
            [arguments](const std::string& text) {
                arguments->k = parse_whole("-k", text, 1, std::numeric_limits<std::int32_t>::max());
            },
            "Neighbors of every query; where there are fewer, the rest is index -1 at distance infinity")
        ->type_name("K")
        ->required();
    command.add_option("-o,--output", arguments->output, "File to write, .npz or .hdf5: 'indices' and 'distances'")
        ->type_name("OUT")
        ->required()
        ->check(file_name());
    command.add_option("--queries", arguments->queries, "Search around these points instead of around every point")
        ->type_name("FILE")
        ->check(file_name());
    add_box_option(command, arguments->box);
    add_types_option(command, arguments->types);
    command.add_flag("--exclude-self", arguments->search.exclude_self,
                     "Do not count a point as its own neighbor (by index, not by distance)");
    command
        .add_option_function<std::string>(
            "--max-distance",
            [arguments](const std::string& text) {
                arguments->search.max_distance = parse_length("--max-distance", text);
            },
            "Only neighbors within this distance, inclusive")
        ->type_name("R");
    command.add_flag("--squared", arguments->search.squared, "Write squared distances");
    command
        .add_option_function<std::string>(
            "--engine", [arguments](const std::string& text) { arguments->search.engine = parse_engine(text); },
            "Search algorithm: auto (the default), tree or brute; the answer is the same")
        ->type_name("auto|tree|brute");
    add_execution_options(command, arguments->common);
    add_json_option(command, arguments->common);
    command.footer("Indices count the points read, in file order: with --types 1 they are rows of type 1.\n"
                   "Neighbors are ordered by distance, ties by index.\n\n" +
                   std::string(input_formats) +
                   "\n\n"
                   "Examples:\n"
                   "  kith knn points.npy -k 16 -o neighbors.npz\n"
                   "  kith knn snapshot.hdf5 -k 32 --exclude-self --types 0 -o neighbors.hdf5\n"
                   "  kith knn stars.npy --queries places.npy -k 1 --box none --max-distance 0.5 -o nearest.npz");
    return {&command, [arguments](const Invocation& invocation) {
                arguments->points = only_snapshot(
                    arguments->files,
                    fmt::format(R"(kith knn "$file" -k {} -o "${{file%.*}}_neighbors.npz")", arguments->k));
                run(*arguments, invocation);
            }};
}

} // namespace kith::cli
