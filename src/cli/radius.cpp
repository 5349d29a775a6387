// kith radius: all neighbors within a radius of every point, or their number, into a file.
#include "cli/commands.hpp"
#include "cli/interrupt.hpp"
#include "cli/options.hpp"
#include "cli/outputs.hpp"
#include "cli/progress_bar.hpp"
#include "cli/search_inputs.hpp"
#include "cli/usage_error.hpp"

#include <kith/io.hpp>
#include <kith/radius.hpp>

#include <fmt/format.h>

#include <memory>
#include <numeric>
#include <optional>

namespace kith::cli {

namespace {

struct Arguments {
    CommonOptions common;
    std::vector<std::string> files;
    std::string points; ///< the snapshot that the files are
    std::string queries;
    std::string output;
    double radius = 0;
    bool only_counts = false;
    std::optional<RowOrder> order;
    BoxChoice box;
    io::TypeSelection types;
    RadiusOptions search;
};

/// Rows, or else their lengths.
struct Found {
    std::optional<RadiusResult> rows;
    std::vector<std::int64_t> counts;

    [[nodiscard]] std::int64_t queries() const {
        return rows ? rows->rows() : static_cast<std::int64_t>(counts.size());
    }
    [[nodiscard]] std::int64_t neighbors() const {
        return rows ? rows->size() : std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
    }
};

RowOrder parse_order(std::string_view text) {
    if (text != "distance" && text != "index") {
        throw UsageError(fmt::format("--sort is '{}'; it must be distance or index", text));
    }
    return text == "index" ? RowOrder::index : RowOrder::distance;
}

io::Provenance provenance(const Arguments& arguments, const SearchInputs& inputs, const Invocation& invocation) {
    io::Provenance provenance = provenance_of(invocation, arguments.points);
    auto& parameters = provenance.parameters;
    parameters["radius"] = fmt::format("{}", arguments.radius);
    parameters["box"] = describe(arguments.search.box, inputs.points.positions.columns);
    parameters["types"] = describe_types(inputs.points);
    parameters["queries"] = arguments.queries.empty() ? "the points themselves" : arguments.queries;
    parameters["exclude_self"] = arguments.search.exclude_self ? "true" : "false";
    if (!arguments.only_counts) {
        parameters["sort"] = arguments.search.order == RowOrder::index ? "index" : "distance";
    }
    return provenance;
}

/// The library's remedies are calls; these are options.
Error with_shell_remedy(const Error& error) {
    const std::string_view text = error.what();
    return {error.kind(), fmt::format("{}; take a smaller radius (-r), fewer points at once with --queries, or --count",
                                      text.substr(0, text.find("; take ")))};
}

Found search(const Arguments& arguments, const SearchInputs& inputs) {
    const PointsView points = inputs.points.positions.view();
    const auto call = [&](const auto& function) {
        return inputs.queries ? function(points, inputs.queries->positions.view(), arguments.radius, arguments.search)
                              : function(points, arguments.radius, arguments.search);
    };
    try {
        Found found;
        if (arguments.only_counts) {
            found.counts = call([](const auto&... given) { return radius_count(given...); });
        } else {
            found.rows = call([](const auto&... given) { return radius_search(given...); });
        }
        return found;
    } catch (const Error& error) {
        if (error.kind() == ErrorKind::out_of_memory) {
            throw with_shell_remedy(error);
        }
        throw with_search_context(error, arguments.points, arguments.queries, inputs);
    }
}

void write(const std::filesystem::path& path, const Found& found, const io::Provenance& provenance) {
    const bool as_npz = path.extension() == ".npz";
    if (found.rows) {
        (as_npz ? io::write_radius_neighbors_npz : io::write_radius_neighbors_hdf5)(path, *found.rows, provenance);
    } else {
        (as_npz ? io::write_radius_counts_npz : io::write_radius_counts_hdf5)(path, found.counts, provenance);
    }
}

Json summary(const Arguments& arguments, const SearchInputs& inputs, const Found& found, const OutputFiles& outputs,
             const StageClock& clock) {
    const io::RealArray& points = inputs.points.positions;
    Json json;
    json["n"] = points.rows();
    json["queries"] = found.queries();
    json["radius"] = arguments.radius;
    json["neighbors"] = found.neighbors();
    json["dimension"] = points.columns;
    json["dtype"] = name_of(points.dtype());
    json["box"] = describe(arguments.search.box, points.columns);
    if (found.rows) {
        json["engine"] = name_of(found.rows->engine());
    }
    json["input"] = arguments.points;
    json["types"] = describe_types(inputs.points);
    json["outputs"] = outputs.names();
    json["warnings"] = inputs.warnings;
    json["seconds"] = clock.json();
    json["stage_peak_bytes"] = clock.peaks_json();
    json["peak_rss_bytes"] = peak_rss_bytes();
    return json;
}

void print_summary(const Arguments& arguments, const SearchInputs& inputs, const Found& found,
                   std::string_view box_origin, const StageClock& clock) {
    const io::RealArray& points = inputs.points.positions;
    const std::string types = describe_types(inputs.points);
    print_line("input", fmt::format("{}, {}", arguments.points, inputs.points.header.format));
    print_line("points", fmt::format("{}{} in {} dimensions, {}", format_count(points.rows()),
                                     types.empty() ? "" : " of " + types, points.columns, name_of(points.dtype())));
    print_line("queries", inputs.queries ? fmt::format("{} from {}", format_count(found.queries()), arguments.queries)
                                         : std::string(arguments.search.exclude_self ? "the points, themselves left out"
                                                                                     : "the points themselves"));
    print_line("box", fmt::format("{} ({})", describe(arguments.search.box, points.columns), box_origin));
    const double queries = static_cast<double>(found.queries());
    print_line("search", fmt::format("R = {}: {} neighbors{}", arguments.radius, format_count(found.neighbors()),
                                     queries > 0 ? fmt::format(", {:.1f} of each query",
                                                               static_cast<double>(found.neighbors()) / queries)
                                                 : ""));
    print_line("wrote", arguments.output);
    print_line("time", clock.text());
    print_line("memory", memory_text(clock));
}

void run(Arguments arguments, const Invocation& invocation) {
    require_self(arguments.search.exclude_self, arguments.queries);
    if (arguments.only_counts && arguments.order) {
        throw UsageError("--sort is given with --count; counts have no order, so leave --sort out");
    }
    OutputFiles outputs;
    outputs.plan("-o", arguments.output, {".npz", ".hdf5", ".h5"});
    outputs.reject_overwrite_of(arguments.points);
    if (!arguments.queries.empty()) {
        outputs.reject_overwrite_of(arguments.queries);
    }
    outputs.probe_directories();

    StageClock clock({"read", "order", "tree", "count", "search", "write"});
    ProgressBar bar;
    bar.announce("reading");
    SearchInputs inputs =
        clock.time("read", [&] { return read_search_inputs(arguments.points, arguments.queries, arguments.types); });
    stop_if_interrupted();
    outputs.reject_overwrite_of_all(inputs.points.header.files);
    if (inputs.queries) {
        outputs.reject_overwrite_of_all(inputs.queries->header.files);
    }
    const ResolvedBox resolved = resolve_box(arguments.box, inputs.points.header);
    add_box_warnings(inputs.warnings, arguments.box, inputs.points);

    arguments.search.box = resolved.box;
    arguments.search.order = arguments.order.value_or(RowOrder::distance);
    arguments.search.execution = execution_of(arguments.common, bar.callback());
    const Found found = arguments.only_counts ? clock.time("count", [&] { return search(arguments, inputs); })
                                              : search(arguments, inputs);
    if (found.rows) {
        clock.add(found.rows->stages);
    }
    stop_if_interrupted();

    bar.announce("writing");
    {
        const WritingSection writing;
        clock.time("write", [&] {
            const auto target = outputs.staged(arguments.output);
            outputs.write([&] { write(target, found, provenance(arguments, inputs, invocation)); });
        });
        stop_if_interrupted();
        outputs.commit();
    }
    bar.erase();

    print_warnings(inputs.warnings);
    if (arguments.common.json) {
        print_json(summary(arguments, inputs, found, outputs, clock));
    } else {
        print_summary(arguments, inputs, found, resolved.origin, clock);
    }
}

} // namespace

Command radius_command(CLI::App& program) {
    const auto arguments = std::make_shared<Arguments>();
    CLI::App& command = *program.add_subcommand("radius", "Find all neighbors within a radius of every point");
    add_snapshot_argument(command, "POINTS", arguments->files, "Snapshot or array of the points to search among");
    command
        .add_option_function<std::string>(
            "-r,--radius", [arguments](const std::string& text) { arguments->radius = parse_length("-r", text); },
            "The radius, inclusive, in the units of the points")
        ->type_name("R")
        ->required();
    command
        .add_option("-o,--output", arguments->output,
                    "File to write, .npz or .hdf5: 'offsets', 'indices' and 'distances', or 'counts'")
        ->type_name("OUT")
        ->required()
        ->check(file_name());
    command.add_option("--queries", arguments->queries, "Search around these points instead of around every point")
        ->type_name("FILE")
        ->check(file_name());
    command.add_flag("--count", arguments->only_counts, "Write only how many neighbors there are: faster, and small");
    command
        .add_option_function<std::string>(
            "--sort", [arguments](const std::string& text) { arguments->order = parse_order(text); },
            "The order of a query's neighbors: distance (the default; ties by index) or index")
        ->type_name("distance|index");
    add_box_option(command, arguments->box);
    add_types_option(command, arguments->types);
    command.add_flag("--exclude-self", arguments->search.exclude_self,
                     "Do not count a point as its own neighbor (by index, not by distance)");
    command
        .add_option_function<std::string>(
            "--engine", [arguments](const std::string& text) { arguments->search.engine = parse_engine(text); },
            "Search algorithm: auto (the default), tree or brute; the answer is the same")
        ->type_name("auto|tree|brute");
    add_threads_option(command, arguments->common);
    add_json_option(command, arguments->common);
    command.footer("The neighbors of query i are elements offsets[i] to offsets[i + 1] - 1 of indices and distances.\n"
                   "Indices count the points read, in file order: with --types 1 they are rows of type 1.\n\n" +
                   std::string(input_formats) +
                   "\n\n"
                   "Examples:\n"
                   "  kith radius points.npy -r 0.5 -o neighbors.npz\n"
                   "  kith radius snapshot.hdf5 -r 100 --count --exclude-self -o counts.npz\n"
                   "  kith radius galaxies.npy --queries places.npy -r 8 --sort index -o around.hdf5");
    return {&command, [arguments](const Invocation& invocation) {
                arguments->points = only_snapshot(
                    arguments->files,
                    fmt::format(R"(kith radius "$file" -r {} -o "${{file%.*}}_radius.npz")", arguments->radius));
                run(*arguments, invocation);
            }};
}

} // namespace kith::cli
