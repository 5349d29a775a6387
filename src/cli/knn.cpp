// kith knn: the k nearest neighbors of every point, into a file.
#include "cli/commands.hpp"
#include "cli/search_command.hpp"
#include "cli/snapshot_run.hpp"

#include <kith/io.hpp>
#include <kith/knn.hpp>

#include <fmt/format.h>

#include <limits>
#include <memory>
#include <vector>

namespace kith::cli {

namespace {

struct Arguments : SearchArguments {
    std::int64_t k = 0;
    double max_distance = std::numeric_limits<double>::infinity();
    bool squared = false;
    bool rebalance = false;
};

/// Every rank searches for its share; rank 0 writes the rows while the others send them.
SearchOutcome search(const Arguments& arguments, const SearchTask& task) {
    const KnnOptions options{.box = task.box,
                             .exclude_self = arguments.exclude_self,
                             .max_distance = arguments.max_distance,
                             .squared = arguments.squared,
                             .engine = arguments.engine,
                             .execution = execution_over(task.ranks, task.execution, arguments.rebalance)};
    const auto found = std::make_shared<const KnnResult>(
        task.call([](const auto&... given) { return knn(given...); }, arguments.k, options));
    task.clock->add(found->stages);
    SearchOutcome outcome;
    outcome.queries = sum_over(task.ranks, found->rows());
    outcome.warning = found->unresolved.warning();
    outcome.facts["k"] = arguments.k;
    outcome.facts["engine"] = name_of(found->engine);
    outcome.facts["device"] = name_of(arguments.common.device);
    outcome.report =
        fmt::format("k = {}, engine {}, on {}", arguments.k, name_of(found->engine), name_of(arguments.common.device));
    outcome.distribution = found->distribution;
    const IndexType type = index_type_of(task);
    outcome.funnel =
        std::make_shared<RankFunnel>(task.ranks, std::vector{indices_of(*found, type), distances_of(*found)});
    const io::NeighborSource source{*outcome.queries, arguments.k, type, found->dtype(),
                                    blocks_from(outcome.funnel, found)};
    outcome.write = [source](const std::filesystem::path& path, const io::Provenance& made_by) {
        (path.extension() == ".npz" ? io::stream_neighbors_npz : io::stream_neighbors_hdf5)(path, source, made_by);
    };
    return outcome;
}

void run(Arguments& arguments, const Invocation& invocation) {
    find_snapshot(arguments, invocation,
                  fmt::format(R"(kith knn "$file" -k {} -o "${{file%.*}}_neighbors.npz")", arguments.k));
    run_search(arguments, invocation,
               {.stages = {"read", "order", "tree", "search", "write"},
                .parameters = {{"k", fmt::format("{}", arguments.k)},
                               {"max_distance", fmt::format("{}", arguments.max_distance)},
                               {"squared", arguments.squared ? "true" : "false"}},
                .memory_remedy = fmt::format("ask for fewer neighbors (-k) or {} --queries",
                                             arguments.queries.empty() ? "search around a part of the points with"
                                                                       : "give fewer points at once with"),
                .run = [&](const SearchTask& task) { return search(arguments, task); },
                .try_out =
                    [&](const PointsView& none, const Execution& execution) {
                        (void)knn(none, 1, {.engine = arguments.engine, .execution = execution});
                    }});
}

} // namespace

Command knn_command(const Parser& program) {
    const auto arguments = std::make_shared<Arguments>();
    const Parser command = program.command("knn", "Find the k nearest neighbors of every point");
    add_snapshot_argument(command, "POINTS", arguments->files, "Snapshot or array of the points to search among");
    add_value(command, "-k", "K",
              "Neighbors of every query; where there are fewer, the rest is index -1 at distance infinity",
              arguments->k, parse_whole, 1, std::numeric_limits<std::int32_t>::max())
        .required();
    add_search_files(command, *arguments, "File to write, .npz or .hdf5: 'indices' and 'distances'");
    add_search_options(command, arguments, fmt::format("{}", fmt::join(engine_names, "|")));
    add_value(command, "--max-distance", "R", "Only neighbors within this distance, inclusive", arguments->max_distance,
              parse_length);
    command.flag("--squared", "Write squared distances", arguments->squared);
    add_rebalance_option(command, arguments->rebalance);
    add_execution_options(command, arguments->common);
    add_footer(command,
               "Indices count the points read, in file order: with --types 1 they are rows of type 1.\n"
               "Neighbors are ordered by distance, ties by index.",
               "  kith knn points.npy -k 16 -o neighbors.npz\n"
               "  kith knn snapshot.hdf5 -k 32 --exclude-self --types 0 -o neighbors.hdf5\n"
               "  kith knn stars.npy --queries places.npy -k 1 --box none --max-distance 0.5 -o nearest.npz");
    return {command, [arguments](const Invocation& invocation) { run(*arguments, invocation); }, true};
}

} // namespace kith::cli
