#include "cli/search_command.hpp"

#include "cli/snapshot_run.hpp"
#include "cli/usage_error.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <limits>
#include <numeric>
#include <regex>
#include <string_view>
#include <variant>

namespace kith::cli {

namespace {

void widen(io::RealArray& array) {
    if (const auto* narrow = std::get_if<std::vector<float>>(&array.values)) {
        array.values = std::vector<double>(narrow->begin(), narrow->end());
    }
}

/// The queries, over ranks this rank's share of them.
struct Queries {
    io::Snapshot snapshot;
    std::optional<Shares> shares; ///< over ranks

    [[nodiscard]] const io::Snapshot& overview() const { return shares ? shares->overview() : snapshot; }
};

/// Whether columns can be chosen: names of --columns are also those of the queries, where they have any.
bool is_table(const std::string& path) {
    try {
        static_cast<void>(io::read_header(path, {"1", "2"}));
        return true;
    } catch (const Error& error) {
        return error.kind() != ErrorKind::invalid_argument;
    }
}

constexpr std::string_view as_mass = "mass="; // io::ReadOptions::columns

bool is_of_masses(std::string_view column) {
    return column.starts_with(as_mass);
}

Queries read_queries(const SearchArguments& arguments, const io::ReadOptions& options, const Search& search,
                     SnapshotRun& run) {
    const bool with_masses = search.with_query_masses;
    Queries queries;
    run.agreed([&] {
        io::ReadOptions mine = options;
        mine.velocities = mine.internal_energies = false;
        mine.masses = with_masses;
        const auto is_number = [](const std::string& column) {
            return column.find_first_not_of("0123456789", is_of_masses(column) ? as_mass.size() : 0) ==
                   std::string::npos;
        };
        if (!arguments.query_columns.empty()) {
            mine.columns = arguments.query_columns;
        } else if (arguments.queries != arguments.snapshot) {
            const bool are_numbers = std::any_of(mine.columns.begin(), mine.columns.end(), is_number);
            if (are_numbers && is_table(arguments.queries)) {
                run.warnings.push_back(fmt::format("the numbers of --columns are those of '{}'; of '{}' the columns "
                                                   "named x, y, z are read unless {} chooses others",
                                                   arguments.snapshot, arguments.queries, search.second_columns));
            }
            if (are_numbers || !is_table(arguments.queries)) {
                mine.columns.clear(); // a number may be another column there
            }
        }
        if (!with_masses) {
            std::erase_if(mine.columns, is_of_masses);
        }
        if (run.ranks() != nullptr) {
            mine.share = {run.ranks()->rank(), run.ranks()->size()};
        }
        queries.snapshot = run.clock.time("read", [&] { return read_points(arguments.queries, mine); });
        run.outputs.reject_overwrite_of_all(queries.snapshot.header.files);
        const int axes = run.positions().columns;
        if (queries.snapshot.positions.columns != axes) {
            throw UsageError(fmt::format("the points of '{}' have {} axes, the {} of '{}' {}; give {} of as many axes "
                                         "as the points have",
                                         arguments.snapshot, axes, search.second_set, arguments.queries,
                                         queries.snapshot.positions.columns, search.second_set));
        }
    });
    std::vector<std::string> warnings = queries.snapshot.header.warnings;
    if (run.ranks() != nullptr) {
        queries.shares.emplace(*run.ranks(), queries.snapshot);
        warnings = queries.shares->warnings();
    }
    for (const std::string& warning : warnings) {
        if (warning.find("BoxSize") == std::string::npos) { // the box is that of the points
            run.warnings.push_back(search.second_set + ": " + warning);
        }
    }
    return queries;
}

/// Where one file is float32 and the other float64, both become float64, with a warning.
void make_alike(io::RealArray& points, io::RealArray& queries, const std::string& second_set,
                std::vector<std::string>& warnings) {
    if (points.dtype() != queries.dtype()) {
        warnings.push_back(fmt::format("the points are {} and the {} {}; both are taken as float64",
                                       name_of(points.dtype()), second_set, name_of(queries.dtype())));
        widen(points);
        widen(queries);
    }
}

/// The library's refusal, with the file that it is about; its remedies are calls, those of a shell are options.
Error with_context(const Error& error, const SearchArguments& arguments, const SnapshotRun& run,
                   const std::optional<Queries>& queries, const Search& search) {
    const std::string text = error.what();
    if (error.kind() == ErrorKind::out_of_memory) {
        return {error.kind(), fmt::format("{}; {}", text.substr(0, text.find("; ")), search.memory_remedy)};
    }
    if (!queries) {
        return run.of_points(error);
    }
    const auto in_words_of_files = [](const Error& of_rows) {
        static const std::regex of_arguments("^other: | in other_weights(?= )");
        return Error(of_rows.kind(), std::regex_replace(of_rows.what(), of_arguments, ""), of_rows.details());
    };
    const Error of_queries = queries->shares ? queries->shares->of_all_rows(error) : error;
    const std::string_view about = of_queries.what();
    return about.starts_with("queries") || about.starts_with("other: ") || // kith::pair_counts
                   about.find(" in other_weights ") != std::string_view::npos
               ? with_file_context(in_words_of_files(of_queries), arguments.queries, queries->overview())
               : run.of_points(error);
}

/// What the indices of an output count where the points are not all rows of the file; else "".
std::string meaning_of_indices(const SnapshotRun& run) {
    const auto& counts = run.overview().header.counts;
    const std::int64_t rows = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
    return run.rows_in_all() < rows
               ? fmt::format("row numbers count the points read, in file order ({}), not the {} rows "
                             "of the file",
                             describe_types(run.overview()), format_count(rows))
               : "";
}

io::Provenance provenance(const SearchArguments& arguments, const SnapshotRun& run, const Invocation& invocation,
                          const Search& search, const SearchOutcome& outcome) {
    std::map<std::string, std::string> parameters = search.parameters;
    parameters.insert(outcome.parameters.begin(), outcome.parameters.end());
    if (outcome.queries) {
        parameters["queries"] = arguments.queries.empty() ? "the points themselves" : arguments.queries;
        parameters["exclude_self"] = arguments.exclude_self ? "true" : "false";
    }
    if (const std::string indices = meaning_of_indices(run); search.has_rows && !indices.empty()) {
        parameters["indices"] = indices;
    }
    return run.provenance(invocation, std::move(parameters));
}

std::string describe_queries(const SearchArguments& arguments, std::int64_t queries) {
    if (!arguments.queries.empty()) {
        return fmt::format("{} from {}", format_count(queries), arguments.queries);
    }
    return arguments.exclude_self ? "the points, themselves left out" : "the points themselves";
}

} // namespace

IndexType index_type_of(const SearchTask& task) {
    return sum_over(task.run.ranks(), task.run.points().count()) <= std::numeric_limits<std::int32_t>::max()
               ? IndexType::int32
               : IndexType::int64;
}

io::BlockSource blocks_from(std::shared_ptr<RankFunnel> funnel, std::shared_ptr<const void> found) {
    return [funnel, found = std::move(found), next = funnel->blocks()](std::span<std::byte> block) { next(block); };
}

void add_search_files(const Parser& command, SearchArguments& arguments, const std::string& output_help) {
    command.file("-o,--output", output_help, arguments.output).required();
    command.file("--queries", "Search around these points instead of around every point", arguments.queries, "FILE");
    add_columns_option(command, arguments.query_columns, "--query-columns",
                       "The same for --queries (default: the names of --columns, if it has no numbers)");
}

void add_point_options(const Parser& command, const std::shared_ptr<SearchArguments>& arguments,
                       const std::string& engines) {
    add_box_option(command, arguments->box);
    add_types_option(command, arguments->types);
    add_columns_option(command, arguments->columns);
    add_engine_option(command, arguments->engine, engines);
}

void add_search_options(const Parser& command, const std::shared_ptr<SearchArguments>& arguments,
                        const std::string& engines) {
    add_point_options(command, arguments, engines);
    command.flag("--exclude-self", "Do not count a point as its own neighbor (by index, not by distance)",
                 arguments->exclude_self);
}

void run_search(const SearchArguments& arguments, const Invocation& invocation, const Search& search) {
    SnapshotRun run(arguments, search.stages, invocation.ranks);
    run.agreed([&] {
        if (arguments.exclude_self && !arguments.queries.empty()) {
            throw UsageError("--exclude-self is given with --queries; separate queries are not points of the set, so "
                             "leave --exclude-self out");
        }
        if (!arguments.query_columns.empty() && arguments.queries.empty()) {
            throw UsageError(fmt::format("{} chooses columns of a second file, which is not given; leave it out",
                                         search.second_columns));
        }
        run.refuse_over_ranks(arguments.engine);
        run.refuse_over_ranks(!search.on_gpus_of_ranks && arguments.common.device.kind != DeviceKind::cpu,
                              "--device cuda");
        run.refuse_over_ranks(arguments.z_order, "--z-order");
        if (!arguments.output.empty()) {
            search.writes_npy ? run.outputs.plan("-o", arguments.output, {".npy", ".npz", ".hdf5", ".h5"})
                              : run.outputs.plan("-o", arguments.output, {".npz", ".hdf5", ".h5"});
        }
        run.outputs.plan("--picture", search.picture, {".png"});
        if (!arguments.queries.empty()) {
            run.outputs.reject_overwrite_of(arguments.queries);
        }
        run.try_out(search.try_out);
    });
    const io::ReadOptions options{.types = arguments.types,
                                  .velocities = search.in_phase_space || search.with_velocities,
                                  .masses = search.in_phase_space || search.with_masses,
                                  .ids = false,
                                  .internal_energies = search.with_internal_energies,
                                  .columns = arguments.columns};
    std::optional<Queries> queries;
    run.read(options);
    if (!arguments.queries.empty()) {
        queries = read_queries(arguments, options, search, run);
        run.agreed(
            [&] { make_alike(run.snapshot.positions, queries->snapshot.positions, search.second_set, run.warnings); });
    }
    run.resolve_box(arguments.box);
    if (queries) {
        add_query_box_warning(run.warnings, run.box, arguments.queries, queries->overview().header);
    }

    SearchTask task{run, [&](const Error& error) { return with_context(error, arguments, run, queries, search); }};
    if (queries) {
        task.of_queries = &queries->snapshot;
        task.queries = queries->snapshot.positions.view();
    }
    SearchOutcome outcome = search.run(task);
    run.add_traffic(outcome.distribution);
    std::ranges::copy_if(outcome.warnings, std::back_inserter(run.warnings),
                         [](const std::string& warning) { return !warning.empty(); });

    if (!arguments.output.empty() || !search.picture.empty()) {
        const io::Provenance made_by = provenance(arguments, run, invocation, search, outcome);
        const auto write = [&] {
            if (!arguments.output.empty()) {
                outcome.write(run.outputs.staged(arguments.output), made_by);
            }
            if (!search.picture.empty()) {
                outcome.draw(run.outputs.staged(search.picture), made_by);
            }
        };
        run.write([&] { run.clock.time("write", write); }, outcome.funnel.get());
    }
    Json facts;
    facts["n"] = run.rows_in_all();
    if (outcome.queries) {
        facts["queries"] = *outcome.queries;
    }
    facts.update(outcome.facts);
    run.report(facts, [&] {
        if (outcome.queries) {
            print_line("queries", describe_queries(arguments, *outcome.queries));
        }
        print_line("search", outcome.report);
        for (std::size_t row = 0; row < outcome.table.size(); ++row) {
            print_line(row == 0 ? "bins" : "", outcome.table[row]);
        }
        if (const std::string indices = meaning_of_indices(run); search.has_rows && !indices.empty()) {
            print_line("indices", indices);
        }
    });
}

} // namespace kith::cli
