#include "cli/search_command.hpp"

#include "cli/interrupt.hpp"
#include "cli/outputs.hpp"
#include "cli/progress_bar.hpp"
#include "cli/usage_error.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

#include <memory>
#include <string_view>
#include <variant>

namespace kith::cli {

namespace {

struct SearchInputs {
    io::Snapshot points;
    std::optional<io::Snapshot> queries;
    std::vector<std::string> warnings;
};

void widen(io::RealArray& array) {
    if (const auto* narrow = std::get_if<std::vector<float>>(&array.values)) {
        array.values = std::vector<double>(narrow->begin(), narrow->end());
    }
}

/// Where one file is float32 and the other float64, both become float64, with a warning.
SearchInputs read_inputs(const SearchArguments& arguments) {
    io::ReadOptions wanted;
    wanted.types = arguments.types;
    wanted.velocities = false;
    wanted.masses = false;
    wanted.ids = false;
    SearchInputs inputs;
    inputs.points = read_points(arguments.points, wanted);
    inputs.warnings = inputs.points.header.warnings;
    if (arguments.queries.empty()) {
        return inputs;
    }
    io::RealArray& sources = inputs.points.positions;
    const io::Snapshot& other = inputs.queries.emplace(read_points(arguments.queries, wanted));
    for (const std::string& warning : other.header.warnings) {
        inputs.warnings.push_back("queries: " + warning);
    }
    io::RealArray& centers = inputs.queries->positions;
    if (sources.columns != centers.columns) {
        throw UsageError(fmt::format("the points of '{}' have {} axes, the queries of '{}' {}; give queries of as many "
                                     "axes as the points have",
                                     arguments.points, sources.columns, arguments.queries, centers.columns));
    }
    if (sources.dtype() != centers.dtype()) {
        inputs.warnings.push_back(fmt::format("the points are {} and the queries {}; both are searched as float64",
                                              name_of(sources.dtype()), name_of(centers.dtype())));
        widen(sources);
        widen(centers);
    }
    return inputs;
}

/// The library's refusal, with the file that it is about; its remedies are calls, those of a shell are options.
Error with_context(const Error& error, const SearchArguments& arguments, const SearchInputs& inputs,
                   const Search& search) {
    const std::string_view text = error.what();
    if (error.kind() == ErrorKind::out_of_memory) {
        return {error.kind(), fmt::format("{}; {}", text.substr(0, text.find("; ")), search.memory_remedy)};
    }
    const bool of_queries = text.starts_with("queries");
    return with_file_context(error, of_queries ? arguments.queries : arguments.points,
                             of_queries ? *inputs.queries : inputs.points);
}

io::Provenance provenance(const SearchArguments& arguments, const SearchInputs& inputs, const Box& box,
                          const Invocation& invocation, const Search& search, const SearchOutcome& outcome) {
    io::Provenance provenance = provenance_of(invocation, arguments.points);
    auto& parameters = provenance.parameters;
    parameters["box"] = describe(box, inputs.points.positions.columns);
    parameters["types"] = describe_types(inputs.points);
    if (outcome.queries) {
        parameters["queries"] = arguments.queries.empty() ? "the points themselves" : arguments.queries;
        parameters["exclude_self"] = arguments.exclude_self ? "true" : "false";
    }
    parameters.insert(search.parameters.begin(), search.parameters.end());
    return provenance;
}

void print_summary(const SearchArguments& arguments, const SearchInputs& inputs, const SearchOutcome& outcome,
                   const std::string& box_text, std::string_view box_origin, const StageClock& clock) {
    const io::RealArray& points = inputs.points.positions;
    const std::string types = describe_types(inputs.points);
    print_line("input", fmt::format("{}, {}", arguments.points, inputs.points.header.format));
    print_line("points", fmt::format("{}{} in {} dimensions, {}", format_count(points.rows()),
                                     types.empty() ? "" : " of " + types, points.columns, name_of(points.dtype())));
    if (outcome.queries) {
        print_line("queries", inputs.queries
                                  ? fmt::format("{} from {}", format_count(*outcome.queries), arguments.queries)
                                  : std::string(arguments.exclude_self ? "the points, themselves left out"
                                                                       : "the points themselves"));
    }
    print_line("box", fmt::format("{} ({})", box_text, box_origin));
    print_line("search", outcome.report);
    if (!arguments.output.empty()) {
        print_line("wrote", arguments.output);
    }
    print_line("time", clock.text());
    print_line("memory", memory_text(clock));
}

} // namespace

void add_search_files(CLI::App& command, SearchArguments& arguments, const std::string& output_help) {
    command.add_option("-o,--output", arguments.output, output_help)->type_name("OUT")->required()->check(file_name());
    command.add_option("--queries", arguments.queries, "Search around these points instead of around every point")
        ->type_name("FILE")
        ->check(file_name());
}

void add_point_options(CLI::App& command, const std::shared_ptr<SearchArguments>& arguments) {
    add_box_option(command, arguments->box);
    add_types_option(command, arguments->types);
    add_engine_option(command, arguments->engine);
}

void add_search_options(CLI::App& command, const std::shared_ptr<SearchArguments>& arguments) {
    add_point_options(command, arguments);
    command.add_flag("--exclude-self", arguments->exclude_self,
                     "Do not count a point as its own neighbor (by index, not by distance)");
}

void run_search(const SearchArguments& arguments, const Invocation& invocation, const Search& search) {
    if (arguments.exclude_self && !arguments.queries.empty()) {
        throw UsageError("--exclude-self is given with --queries; separate queries are no points of the set, so leave "
                         "--exclude-self out");
    }
    OutputFiles outputs;
    if (!arguments.output.empty()) {
        outputs.plan("-o", arguments.output, {".npz", ".hdf5", ".h5"});
    }
    outputs.reject_overwrite_of(arguments.points);
    if (!arguments.queries.empty()) {
        outputs.reject_overwrite_of(arguments.queries);
    }
    outputs.probe_directories();

    StageClock clock(search.stages);
    ProgressBar bar;
    bar.announce("reading");
    SearchInputs inputs = clock.time("read", [&] { return read_inputs(arguments); });
    stop_if_interrupted();
    outputs.reject_overwrite_of_all(inputs.points.header.files);
    if (inputs.queries) {
        outputs.reject_overwrite_of_all(inputs.queries->header.files);
    }
    const ResolvedBox resolved = resolve_box(arguments.box, inputs.points.header);
    add_box_warnings(inputs.warnings, arguments.box, inputs.points);

    SearchTask task{
        inputs.points.positions.view(), {}, resolved.box, execution_of(arguments.common, bar.callback()), &clock};
    if (inputs.queries) {
        task.queries = inputs.queries->positions.view();
    }
    const SearchOutcome outcome = [&] {
        try {
            return search.run(task);
        } catch (const Error& error) {
            throw with_context(error, arguments, inputs, search);
        }
    }();
    stop_if_interrupted();
    if (!outcome.warning.empty()) {
        inputs.warnings.push_back(outcome.warning);
    }

    if (!arguments.output.empty()) {
        bar.announce("writing");
        const WritingSection writing;
        clock.time("write", [&] {
            const auto target = outputs.staged(arguments.output);
            const io::Provenance made_by = provenance(arguments, inputs, resolved.box, invocation, search, outcome);
            outputs.write([&] { outcome.write(target, made_by); });
        });
        stop_if_interrupted();
        outputs.commit();
    }
    bar.erase();

    print_warnings(inputs.warnings);
    const io::RealArray& points = inputs.points.positions;
    const std::string box_text = describe(resolved.box, points.columns);
    if (!arguments.common.json) {
        print_summary(arguments, inputs, outcome, box_text, resolved.origin, clock);
        return;
    }
    Json json;
    json["n"] = points.rows();
    if (outcome.queries) {
        json["queries"] = *outcome.queries;
    }
    json.update(outcome.facts);
    json["dimension"] = points.columns;
    json["dtype"] = name_of(points.dtype());
    json["box"] = box_text;
    json["input"] = arguments.points;
    json["types"] = describe_types(inputs.points);
    json["outputs"] = outputs.names();
    json["warnings"] = inputs.warnings;
    json["seconds"] = clock.json();
    json["stage_peak_bytes"] = clock.peaks_json();
    json["peak_rss_bytes"] = peak_rss_bytes();
    print_json(json);
}

} // namespace kith::cli
