// kith radius: all neighbors within a radius of every point, or their number, into a file.
#include "cli/commands.hpp"
#include "cli/search_command.hpp"
#include "cli/snapshot_run.hpp"
#include "cli/usage_error.hpp"

#include <kith/io.hpp>
#include <kith/radius.hpp>

#include <fmt/format.h>

#include <array>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace kith::cli {

namespace {

struct Arguments : SearchArguments {
    double radius = 0;
    bool only_counts = false;
    std::optional<RowOrder> order;
};

constexpr std::array<std::string_view, 2> order_names = {"distance", "index"}; // in the order of RowOrder

/// What is found, rows or their lengths; of this rank.
SearchOutcome outcome_of(const Arguments& arguments, const SearchTask& task, std::int64_t neighbors_here,
                         std::int64_t queries_here, const SearchSummary& found) {
    const std::int64_t neighbors = sum_over(task.run.ranks(), neighbors_here);
    const std::int64_t queries = sum_over(task.run.ranks(), queries_here);
    const double mean = static_cast<double>(neighbors) / static_cast<double>(queries);
    SearchOutcome outcome;
    outcome.queries = queries;
    outcome.facts["radius"] = arguments.radius;
    outcome.facts["neighbors"] = neighbors;
    outcome.facts["device"] = name_of(arguments.common.device);
    outcome.report = fmt::format("R = {}: {} neighbors{}", arguments.radius, format_count(neighbors),
                                 queries > 0 ? fmt::format(", {:.1f} of each query", mean) : "");
    outcome.distribution = found.distribution;
    return outcome;
}

SearchOutcome search_counts(const Arguments& arguments, const SearchTask& task, const RadiusOptions& options) {
    const auto found = std::make_shared<const RadiusCounts>(task.run.clock.time("count", [&] {
        return task.call([](const auto&... given) { return radius_count(given...); }, Radii(arguments.radius), options);
    }));
    const std::vector<std::int64_t>& counts = found->counts;
    const std::int64_t neighbors = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
    SearchOutcome outcome = outcome_of(arguments, task, neighbors, std::ssize(counts), *found);
    outcome.funnel =
        std::make_shared<RankFunnel>(task.run.ranks(), std::vector{array_of(std::as_bytes(std::span(counts)))});
    const io::NumberSource source{*outcome.queries, blocks_from(outcome.funnel, found)};
    outcome.write = [source](const std::filesystem::path& path, const io::Provenance& made_by) {
        (path.extension() == ".npz" ? io::stream_radius_counts_npz : io::stream_radius_counts_hdf5)(path, source,
                                                                                                    made_by);
    };
    return outcome;
}

/// The offsets of this rank's rows among the neighbors of all ranks. The first rank has one more, which is 0.
RankArray offsets_of(const RadiusResult& found, RankTeam* ranks) {
    std::int64_t before = 0;
    std::int64_t left_out = 0;
    if (ranks != nullptr) {
        left_out = ranks->is_first() ? 0 : 1;
        const std::vector<std::int64_t> sizes = ranks->gather_values(found.size());
        before = std::accumulate(sizes.begin(), sizes.begin() + ranks->rank(), std::int64_t{0});
    }
    return array_of(found.rows() + 1 - left_out, [offsets = found.offsets().subspan(left_out), before](std::int64_t i) {
        return before + offsets[i];
    });
}

SearchOutcome search_rows(const Arguments& arguments, const SearchTask& task, const RadiusOptions& options) {
    const auto found = std::make_shared<const RadiusResult>(
        task.call([](const auto&... given) { return radius_search(given...); }, Radii(arguments.radius), options));
    task.run.clock.add(found->stages);
    SearchOutcome outcome = outcome_of(arguments, task, found->size(), found->rows(), *found);
    outcome.facts["engine"] = name_of(found->engine);
    outcome.warnings.push_back(found->unresolved.warning());
    const IndexType type = index_type_of(task);
    outcome.funnel =
        std::make_shared<RankFunnel>(task.run.ranks(), std::vector{offsets_of(*found, task.run.ranks()),
                                                                   indices_of(*found, type), distances_of(*found)});
    const io::RadiusSource source{*outcome.queries, outcome.facts["neighbors"].get<std::int64_t>(), type,
                                  found->dtype(), blocks_from(outcome.funnel, found)};
    outcome.write = [source](const std::filesystem::path& path, const io::Provenance& made_by) {
        (path.extension() == ".npz" ? io::stream_radius_neighbors_npz : io::stream_radius_neighbors_hdf5)(path, source,
                                                                                                          made_by);
    };
    return outcome;
}

/// Every rank searches for its share; rank 0 writes what the others send.
SearchOutcome search(const Arguments& arguments, const SearchTask& task) {
    const RadiusOptions options{.box = task.run.box.box,
                                .exclude_self = arguments.exclude_self,
                                .order = arguments.order.value_or(RowOrder::distance),
                                .engine = arguments.engine,
                                .execution = task.run.execution_together()};
    return (arguments.only_counts ? search_counts : search_rows)(arguments, task, options);
}

void run(Arguments& arguments, const Invocation& invocation) {
    find_snapshot(arguments, invocation,
                  fmt::format(R"(kith radius "$file" -r {} -o "${{file%.*}}_radius.npz")", arguments.radius));
    agreed_over(invocation.ranks, [&] {
        if (arguments.only_counts && arguments.order) {
            throw UsageError("--sort is given with --count; counts have no order, so leave --sort out");
        }
    });
    Search how{.stages = {"read", "upload", "order", "tree", "count", "search", "download", "write"},
               .parameters = {{"radius", fmt::format("{}", arguments.radius)}},
               .on_gpus_of_ranks = true,
               .memory_remedy = "take a smaller radius (-r), fewer points at once with --queries, or --count",
               .run = [&](const SearchTask& task) { return search(arguments, task); },
               .try_out =
                   [&](const PointsView& none, const Execution& execution) {
                       (void)radius_count(none, 1.0, {.engine = arguments.engine, .execution = execution});
                   }};
    if (!arguments.only_counts) {
        how.parameters["sort"] = arguments.order == RowOrder::index ? "index" : "distance";
    }
    run_search(arguments, invocation, how);
}

} // namespace

Command radius_command(const Parser& program) {
    const auto arguments = std::make_shared<Arguments>();
    const Parser command = program.command("radius", "Find all neighbors within a radius of every point");
    add_snapshot_argument(command, "POINTS", arguments->files, "Snapshot or array of the points to search among");
    add_value(command, "-r,--radius", "R", "The radius, inclusive, in the units of the points", arguments->radius,
              parse_length)
        .required();
    add_search_files(command, *arguments,
                     "File to write, .npz or .hdf5: 'offsets', 'indices' and 'distances', or 'counts'");
    command.flag("--count", "Write only how many neighbors there are: faster, and small", arguments->only_counts);
    command.text("--sort", "distance|index",
                 "The order of a query's neighbors: distance (the default; ties by index) or index",
                 [arguments](const std::string& text) {
                     arguments->order = static_cast<RowOrder>(parse_name("--sort", text, order_names));
                 });
    add_search_options(command, arguments, std::string(tree_or_brute) + "|kdtree");
    add_options_over_ranks(command, arguments->common, true);
    add_footer(command,
               "The neighbors of query i are elements offsets[i] to offsets[i + 1] - 1 of indices and distances.\n"
               "Indices count the points read, in file order: with --types 1 they are rows of type 1.",
               "  kith radius points.npy -r 0.5 -o neighbors.npz\n"
               "  kith radius snapshot.hdf5 -r 100 --count --exclude-self -o counts.npz\n"
               "  kith radius galaxies.npy --queries places.npy -r 8 --sort index -o around.hdf5");
    return {command, [arguments](const Invocation& invocation) { run(*arguments, invocation); }, true};
}

} // namespace kith::cli
