// kith pairs: how many pairs of points lie in each bin of distance, into a file.
#include "cli/commands.hpp"
#include "cli/search_command.hpp"
#include "cli/snapshot_run.hpp"
#include "cli/split_text.hpp"
#include "cli/usage_error.hpp"

#include <kith/error.hpp>
#include <kith/io.hpp>
#include <kith/pair_counts.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace kith::cli {

namespace {

struct Arguments : SearchArguments {
    std::vector<double> edges;
    std::vector<double> pi_edges;
    std::vector<double> mu_edges;
    std::string edges_text; ///< as given, for the provenance
    int line_of_sight = -1;
    bool weights = false;
    bool separations = false;
};

/// The masses of the particles as weights; none: the file has no masses.
std::optional<std::vector<double>> weights_of(const io::Snapshot& snapshot) {
    if (snapshot.masses) {
        return std::visit([](const auto& values) { return std::vector<double>(values.begin(), values.end()); },
                          snapshot.masses->values);
    }
    if (snapshot.uniform_mass) {
        return std::vector<double>(static_cast<std::size_t>(snapshot.positions.rows()), *snapshot.uniform_mass);
    }
    return std::nullopt;
}

/// The weights of both sets, and what is said of a set that has none.
struct Weights {
    std::optional<std::vector<double>> of_points;
    std::optional<std::vector<double>> of_others;
    std::string warning;

    Weights(const Arguments& arguments, const SearchTask& task) {
        if (!arguments.weights) {
            return;
        }
        of_points = weights_of(task.run.snapshot);
        of_others = task.of_queries != nullptr ? weights_of(*task.of_queries) : std::nullopt;
        if (!of_points && !of_others) {
            throw UsageError(
                fmt::format("--weights are the masses of the particles, but '{}' has none; in a table name "
                            "the column of the weights mass, or choose it with --columns x,y,z,mass=NAME",
                            arguments.snapshot));
        }
        if (task.of_queries != nullptr && (!of_points || !of_others)) {
            warning = fmt::format("'{}' has no masses; its points weigh 1 each",
                                  of_points ? arguments.queries : arguments.snapshot);
        }
    }
};

/// The table of bins: edges, counts, and what else was found, in columns aligned to the right. Files and JSON have all
/// bins and digits.
std::vector<std::string> table_of(const PairCounts& found, PairBinning binning) {
    constexpr std::size_t most_bins = 60; // of a screen
    const bool is_plane = !found.second_edges.empty();
    const bool is_mu = binning == PairBinning::s_mu;
    const std::string first = !is_plane ? "r" : is_mu ? "s" : "rp";
    const std::size_t columns = is_plane ? found.second_edges.size() - 1 : 1;
    const std::size_t shown = std::min(found.counts.size(), most_bins);
    std::vector<std::vector<std::string>> cells(shown + 1);
    const auto add = [&](const std::string& head, const auto& cell) {
        cells[0].push_back(head);
        for (std::size_t bin = 0; bin < shown; ++bin) {
            cells[bin + 1].push_back(cell(bin));
        }
    };
    const auto add_numbers = [&](const std::string& head, const std::vector<double>& numbers, const auto& index) {
        add(head, [&](std::size_t bin) { return fmt::format("{:.6g}", numbers[index(bin)]); });
    };
    const auto row = [&](std::size_t bin) { return bin / columns; };
    const auto column = [&](std::size_t bin) { return bin % columns; };
    add_numbers(first + " above", found.edges, row);
    add_numbers("to", found.edges, [&](std::size_t bin) { return row(bin) + 1; });
    if (is_plane) {
        add_numbers(is_mu ? "mu above" : "pi above", found.second_edges, column);
        add_numbers("to", found.second_edges, [&](std::size_t bin) { return column(bin) + 1; });
    }
    add("pairs", [&](std::size_t bin) { return format_count(found.counts[bin]); });
    if (!found.weighted.empty()) {
        add_numbers("weighted", found.weighted, std::identity());
    }
    if (!found.separations.empty()) {
        add_numbers("mean " + first, found.separations, std::identity());
    }
    std::vector<std::string> lines(cells.size());
    for (std::size_t k = 0; k < cells[0].size(); ++k) {
        std::size_t width = 0;
        for (const std::vector<std::string>& line : cells) {
            width = std::max(width, line[k].size());
        }
        for (std::size_t line = 0; line < cells.size(); ++line) {
            lines[line] += fmt::format("{:>{}}", cells[line][k], width + (k > 0 ? 2 : 0));
        }
    }
    if (found.counts.size() > shown) {
        lines.push_back(fmt::format("and {} more; -o writes all of them, --json prints them",
                                    format_count(static_cast<std::int64_t>(found.counts.size() - shown))));
    }
    return lines;
}

/// The last edge may be infinite: a bin of all pairs that are farther apart.
double parse_edge(std::string_view option, std::string_view text) {
    double edge = 0;
    return parse_all(text, edge) && edge == std::numeric_limits<double>::infinity() ? edge : parse_length(option, text);
}

/// "A:B:N", or "A:B:Nlog" for edges in equal ratios.
std::vector<double> parse_range(std::string_view option, std::string_view text) {
    const std::vector<std::string_view> parts = split_at(text, ':');
    const bool is_log = parts.size() == 3 && parts[2].ends_with("log");
    constexpr int most = 100'000;
    int bins = 0;
    if (parts.size() != 3 || !parse_all(parts[2].substr(0, parts[2].size() - (is_log ? 3 : 0)), bins) || bins < 1 ||
        bins > most) {
        throw UsageError(fmt::format("{} is '{}'; give FIRST:LAST:BINS (1 to {}), FIRST:LAST:BINSlog, or edges with "
                                     "commas between them",
                                     option, text, most));
    }
    const double first = parse_length(option, parts[0]);
    const double last = parse_edge(option, parts[1]);
    if (std::isinf(last)) {
        throw UsageError(
            fmt::format("{} is '{}'; bins of one width have a finite last edge: list the edges with commas, "
                        "where the last may be inf",
                        option, text));
    }
    if (!(last > first) || (is_log && first == 0)) {
        throw UsageError(fmt::format("{} is '{}'; the last edge must be above the first{}", option, text,
                                     is_log ? ", and the first above 0" : ""));
    }
    const double ratio = last / first;
    std::vector<double> edges;
    for (int k = 0; k <= bins; ++k) {
        const double fraction = static_cast<double>(k) / bins;
        if (!is_log) {
            edges.push_back(first + (last - first) * fraction);
        } else if (std::isfinite(ratio)) {
            edges.push_back(first * std::pow(ratio, fraction));
        } else { // too large for a double, unlike its logarithm
            edges.push_back(std::exp2(std::lerp(std::log2(first), std::log2(last), fraction)));
        }
    }
    edges.front() = first;
    edges.back() = last;
    return edges;
}

std::vector<double> parse_edges(std::string_view option, std::string_view text) {
    if (text.find(':') != std::string_view::npos) {
        return parse_range(option, text);
    }
    const std::size_t last = text.rfind(',') + 1; // 0 without a comma
    if (last == 0 || last == text.size()) {
        return parse_lengths(option, text);
    }
    std::vector<double> edges = parse_lengths(option, text.substr(0, last - 1));
    edges.push_back(parse_edge(option, text.substr(last)));
    return edges;
}

int parse_axis(const std::string& text) {
    constexpr std::string_view letters = "xyz";
    int axis = 0;
    if (text.size() == 1 && letters.find(text.front()) != std::string_view::npos) {
        return static_cast<int>(letters.find(text.front()));
    }
    if (!parse_all(text, axis) || axis < 0) {
        throw UsageError(
            fmt::format("--line-of-sight is '{}'; it must be x, y, z, or the number of an axis, from 0", text));
    }
    return axis;
}

PairCountOptions options_of(const Arguments& arguments) {
    PairCountOptions options{
        .line_of_sight = arguments.line_of_sight, .separations = arguments.separations, .engine = arguments.engine};
    if (!arguments.pi_edges.empty()) {
        options.binning = PairBinning::rp_pi;
        options.second_edges = arguments.pi_edges;
    } else if (!arguments.mu_edges.empty()) {
        options.binning = PairBinning::s_mu;
        options.second_edges = arguments.mu_edges;
    }
    return options;
}

/// Calls the library, whose refusals then name the options of bins.
template <class Call>
PairCounts named_by_options(const Call& call) {
    try {
        return call();
    } catch (const Error& error) {
        if (error.kind() == ErrorKind::invalid_argument) {
            const std::string_view text = error.what();
            const std::size_t begin = text.starts_with("rank ") ? text.find(": ") + 2 : 0; // over ranks
            for (const auto& [name, option] :
                 {std::pair("edges", "--edges"), {"pi_edges", "--pi"}, {"mu_edges", "--mu"}}) {
                std::string rest(text.substr(std::min(text.size(), begin + std::string_view(name).size())));
                if (text.substr(begin).starts_with(name) && (rest.starts_with('[') || rest.starts_with(' '))) {
                    constexpr std::string_view remedy = "leave separations out";
                    if (rest.ends_with(remedy)) {
                        rest.replace(rest.size() - remedy.size(), remedy.size(), "leave --separations out");
                    }
                    throw Error(error.kind(), fmt::format("{}{}{}", text.substr(0, begin), option, rest),
                                error.details());
                }
            }
        }
        throw;
    }
}

SearchOutcome search(const Arguments& arguments, const SearchTask& task) {
    PairCountOptions options = options_of(arguments);
    options.box = task.run.box.box;
    options.execution = task.run.execution_together();
    std::optional<Weights> weights;
    agreed_over(task.run.ranks(), [&] {
        const int axes = task.run.points().dimension();
        if (arguments.line_of_sight >= axes) {
            throw UsageError(
                fmt::format("--line-of-sight is {}, but the points have {} axes; it must be x, y, z, or the "
                            "number of an axis, 0 to {}",
                            arguments.line_of_sight, axes, axes - 1));
        }
        weights.emplace(arguments, task);
    });
    options.weights = weights->of_points;
    options.other_weights = weights->of_others;
    const auto found = std::make_shared<const PairCounts>(task.library([&] {
        return named_by_options([&] {
            return task.queries ? pair_counts(task.run.points(), *task.queries, arguments.edges, options)
                                : pair_counts(task.run.points(), arguments.edges, options);
        });
    }));
    task.run.clock.add(found->stages);
    const std::int64_t pairs = std::accumulate(found->counts.begin(), found->counts.end(), std::int64_t{0});
    const std::string binning(pair_binning_names[static_cast<std::size_t>(options.binning)]);
    SearchOutcome outcome;
    outcome.distribution = found->distribution;
    outcome.facts["pairs"] = pairs;
    outcome.facts["counts"] = found->counts;
    outcome.facts["edges"] = found->edges;
    if (arguments.weights) {
        outcome.facts["weighted"] = found->weighted;
        outcome.facts["vanished_weights"] = found->vanished_weights;
        outcome.parameters["weights"] = "masses of the particles";
    }
    if (arguments.separations) {
        outcome.facts["separations"] = found->separations;
    }
    outcome.warnings.push_back(weights->warning);
    if (found->vanished_weights > 0) {
        outcome.warnings.push_back(fmt::format("{} weight{} as 0: less than about 2^-31 of the largest one",
                                               format_count(found->vanished_weights),
                                               found->vanished_weights == 1 ? " counts" : "s count"));
    }
    if (!found->second_edges.empty()) {
        outcome.facts[arguments.pi_edges.empty() ? "mu_edges" : "pi_edges"] = found->second_edges;
        outcome.facts["line_of_sight"] = found->line_of_sight;
        outcome.parameters["line_of_sight"] = fmt::format("{}", found->line_of_sight);
    }
    outcome.facts["engine"] = name_of(found->engine);
    outcome.parameters["binning"] = binning;
    std::string sets;
    if (task.queries) {
        const std::int64_t others = sum_over(task.run.ranks(), task.queries->count());
        outcome.facts["n_with"] = others;
        outcome.parameters["with"] = arguments.queries;
        sets = fmt::format(" with the {} of '{}'", format_count(others), arguments.queries);
    }
    outcome.report = fmt::format("{} pairs{} in {} bin{} of {}", format_count(pairs), sets, found->counts.size(),
                                 found->counts.size() == 1 ? "" : "s", binning);
    outcome.table = table_of(*found, options.binning);
    outcome.write = [found](const std::filesystem::path& path, const io::Provenance& made_by) {
        (path.extension() == ".npz" ? io::write_pair_counts_npz : io::write_pair_counts_hdf5)(path, *found, made_by);
    };
    return outcome;
}

void run(Arguments& arguments, const Invocation& invocation) {
    find_snapshot(arguments, invocation,
                  fmt::format(R"(kith pairs "$file" --edges {} -o "${{file%.*}}_pairs.npz")", arguments.edges_text));
    agreed_over(invocation.ranks, [&] {
        if (!arguments.pi_edges.empty() && !arguments.mu_edges.empty()) {
            throw UsageError("--pi and --mu are both given; pairs are binned by (rp, pi) or by (s, mu)");
        }
        if (arguments.line_of_sight != -1 && arguments.pi_edges.empty() && arguments.mu_edges.empty()) {
            throw UsageError("--line-of-sight is given without --pi or --mu; leave it out");
        }
    });
    run_search(arguments, invocation,
               {.stages = {"read", "order", "tree", "count", "write"},
                .parameters = {{"edges", arguments.edges_text}},
                .with_masses = arguments.weights,
                .with_query_masses = arguments.weights,
                .has_rows = false,
                .second_set = "other points",
                .second_columns = "--with-columns",
                .run = [&](const SearchTask& task) { return search(arguments, task); },
                .try_out =
                    [&](const PointsView& none, const Execution& execution) {
                        PairCountOptions options = options_of(arguments);
                        options.line_of_sight = -1; // the dimension is not known yet
                        options.execution = execution;
                        (void)named_by_options([&] { return pair_counts(none, arguments.edges, options); });
                    }});
}

} // namespace

Command pairs_command(const Parser& program) {
    const auto arguments = std::make_shared<Arguments>();
    const Parser command =
        program.command("pairs", "Count the pairs of points in bins of distance (correlation functions)");
    add_snapshot_argument(command, "POINTS", arguments->files, "Snapshot or array of the points");
    command
        .text("--edges", "EDGES",
              "Edges of the distance, in the units of the points: FIRST:LAST:BINS, FIRST:LAST:BINSlog, or a list with "
              "commas, whose last may be inf",
              [arguments](const std::string& text) {
                  arguments->edges = parse_edges("--edges", text);
                  arguments->edges_text = text;
              })
        .required();
    command.text("--pi", "EDGES", "Bins of (rp, pi): edges along the line of sight; --edges are then those across it",
                 [arguments](const std::string& text) { arguments->pi_edges = parse_edges("--pi", text); });
    command.text("--mu", "EDGES",
                 "Bins of (s, mu): edges, from 0 to 1, of the cosine of the angle to the line of sight",
                 [arguments](const std::string& text) { arguments->mu_edges = parse_edges("--mu", text); });
    command.text("--line-of-sight", "AXIS", "Its axis: x, y, z or a number from 0 (default: the last one)",
                 [arguments](const std::string& text) { arguments->line_of_sight = parse_axis(text); });
    command.file(
        "-o,--output",
        "File to write, .npz or .hdf5: 'edges', 'second_edges' of pi or mu, 'counts', and if asked for 'weighted' "
        "and 'separations'; without it only the summary and the bins are printed",
        arguments->output);
    command.file("--with", "Count the pairs of a point and one of this file instead", arguments->queries, "FILE");
    add_columns_option(command, arguments->query_columns, "--with-columns",
                       "The same as --columns for --with (default: the names of --columns, if it has no numbers)");
    command.flag(
        "--weights",
        "Also sum the products of the weights of pairs: the masses of the particles, in a table a column named "
        "mass, or chosen with --columns x,y,z,mass=NAME",
        arguments->weights);
    command.flag("--separations", "Also find the mean separation of the pairs of each bin (of r, rp or s)",
                 arguments->separations);
    add_point_options(command, arguments, "auto|tree");
    add_options_over_ranks(command, arguments->common);
    add_footer(
        command,
        "A pair is in a bin if its distance is above the lower edge and not above the upper one; one at 0 is in\n"
        "the first bin if that starts at 0. Each pair of a set counts once. Distances are to the nearest image.",
        "  kith pairs snapshot.hdf5 --edges 0.1:10:15log -o pairs.npz\n"
        "  kith pairs galaxies.npy --edges 0.1:20:12log --pi 0:40:40 --box 500 -o rp_pi.npz\n"
        "  kith pairs galaxies.npy --with randoms.npy --edges 0:100:20 --json");
    return {command, [arguments](const Invocation& invocation) { run(*arguments, invocation); }, true};
}

} // namespace kith::cli
