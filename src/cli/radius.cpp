// kith radius: all neighbors within a radius of every point, or their number, into a file.
#include "cli/commands.hpp"
#include "cli/search_command.hpp"
#include "cli/snapshot_run.hpp"
#include "cli/usage_error.hpp"

#include <kith/distributed.hpp>
#include <kith/io.hpp>
#include <kith/radius.hpp>

#include <fmt/format.h>

#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

namespace kith::cli {

namespace {

struct Arguments : SearchArguments {
    double radius = 0;
    bool only_counts = false;
    std::optional<RowOrder> order;
};

RowOrder parse_order(std::string_view text) {
    if (text != "distance" && text != "index") {
        throw UsageError(fmt::format("--sort is '{}'; it must be distance or index", text));
    }
    return text == "index" ? RowOrder::index : RowOrder::distance;
}

/// Rows, or else their lengths.
struct Found {
    std::optional<RadiusResult> rows;
    std::vector<std::int64_t> counts;

    [[nodiscard]] std::int64_t queries() const { return rows ? rows->rows() : std::ssize(counts); }
    [[nodiscard]] std::int64_t neighbors() const {
        return rows ? rows->size() : std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
    }
    void write(const std::filesystem::path& path, const io::Provenance& made_by) const {
        const bool as_npz = path.extension() == ".npz";
        if (rows) {
            (as_npz ? io::write_radius_neighbors_npz : io::write_radius_neighbors_hdf5)(path, *rows, made_by);
        } else {
            (as_npz ? io::write_radius_counts_npz : io::write_radius_counts_hdf5)(path, counts, made_by);
        }
    }
};

/// What is found, whether by one process or by several.
SearchOutcome outcome_of(const Arguments& arguments, std::int64_t neighbors, std::int64_t queries) {
    const double mean = static_cast<double>(neighbors) / static_cast<double>(queries);
    SearchOutcome outcome;
    outcome.queries = queries;
    outcome.facts["radius"] = arguments.radius;
    outcome.facts["neighbors"] = neighbors;
    outcome.report = fmt::format("R = {}: {} neighbors{}", arguments.radius, format_count(neighbors),
                                 queries > 0 ? fmt::format(", {:.1f} of each query", mean) : "");
    return outcome;
}

/// Every rank counts for its share; rank 0 writes what the others send.
SearchOutcome count_over_ranks(const Arguments& arguments, const SearchTask& task, RadiusOptions options) {
    RankTeam& ranks = *task.ranks;
    options.execution = over(ranks.communicator(), task.execution);
    const auto found = std::make_shared<RadiusCounts>(task.clock->time("count", [&] {
        return task.call([](const auto&... given) { return radius_count(given...); }, Radii(arguments.radius), options);
    }));
    const std::int64_t queries = ranks.sum(std::ssize(found->counts));
    const std::int64_t neighbors =
        ranks.sum(std::accumulate(found->counts.begin(), found->counts.end(), std::int64_t{0}));
    SearchOutcome outcome = outcome_of(arguments, neighbors, queries);
    outcome.traffic = found->distribution->traffic;
    outcome.funnel = std::make_shared<RankFunnel>(ranks, std::vector{std::as_bytes(std::span(found->counts))});
    outcome.write = [found, queries, funnel = outcome.funnel](const std::filesystem::path& path,
                                                              const io::Provenance& made_by) {
        Found all;
        all.counts.resize(queries);
        funnel->take(std::as_writable_bytes(std::span(all.counts)));
        all.write(path, made_by);
    };
    return outcome;
}

SearchOutcome search(const Arguments& arguments, const SearchTask& task) {
    const RadiusOptions options{.box = task.box,
                                .exclude_self = arguments.exclude_self,
                                .order = arguments.order.value_or(RowOrder::distance),
                                .engine = arguments.engine,
                                .execution = task.execution};
    if (task.ranks != nullptr) {
        return count_over_ranks(arguments, task, options);
    }
    const Radii radius = arguments.radius;
    const auto found = std::make_shared<Found>();
    if (arguments.only_counts) {
        found->counts = task.clock->time("count", [&] {
            return task.call([](const auto&... given) { return radius_count(given...); }, radius, options).counts;
        });
    } else {
        found->rows = task.call([](const auto&... given) { return radius_search(given...); }, radius, options);
        task.clock->add(found->rows->stages);
    }
    SearchOutcome outcome = outcome_of(arguments, found->neighbors(), found->queries());
    outcome.facts["device"] = name_of(arguments.common.device);
    if (found->rows) {
        outcome.facts["engine"] = name_of(found->rows->engine);
        outcome.warning = found->rows->unresolved.warning();
    }
    outcome.write = [found](const std::filesystem::path& path, const io::Provenance& made_by) {
        found->write(path, made_by);
    };
    return outcome;
}

void run(Arguments& arguments, const Invocation& invocation) {
    find_snapshot(arguments, invocation,
                  fmt::format(R"(kith radius "$file" -r {} -o "${{file%.*}}_radius.npz")", arguments.radius));
    agreed_over(invocation.ranks, [&] {
        if (arguments.only_counts && arguments.order) {
            throw UsageError("--sort is given with --count; counts have no order, so leave --sort out");
        }
        if (invocation.ranks != nullptr && !arguments.only_counts) {
            throw UsageError("kith radius writes counts alone over ranks; give --count, or start it without mpirun");
        }
    });
    Search how{.stages = {"read", "upload", "order", "tree", "count", "search", "download", "write"},
               .parameters = {{"radius", fmt::format("{}", arguments.radius)}},
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
                 [arguments](const std::string& text) { arguments->order = parse_order(text); });
    add_search_options(command, arguments, std::string(tree_or_brute) + "|kdtree");
    add_execution_options(command, arguments->common);
    add_footer(command,
               "The neighbors of query i are elements offsets[i] to offsets[i + 1] - 1 of indices and distances.\n"
               "Indices count the points read, in file order: with --types 1 they are rows of type 1.",
               "  kith radius points.npy -r 0.5 -o neighbors.npz\n"
               "  kith radius snapshot.hdf5 -r 100 --count --exclude-self -o counts.npz\n"
               "  kith radius galaxies.npy --queries places.npy -r 8 --sort index -o around.hdf5");
    return {command, [arguments](const Invocation& invocation) { run(*arguments, invocation); }, true};
}

} // namespace kith::cli
