// kith knn: the k nearest neighbors of every point, into a file.
#include "cli/commands.hpp"
#include "cli/few_points.hpp"
#include "cli/search_command.hpp"
#include "cli/snapshot_run.hpp"
#include "cli/usage_error.hpp"

#include <kith/io.hpp>
#include <kith/knn.hpp>
#include <kith/tree.hpp>

#include <fmt/format.h>

#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace kith::cli {

namespace {

struct Arguments : SearchArguments {
    std::int64_t k = 0;
    double max_distance = std::numeric_limits<double>::infinity();
    bool squared = false;
    std::optional<CloverOptions> clover; ///< none: those of every call
};

/// Options of CLOVER are those of an index; without them, the call builds its own.
std::optional<Tree> index_of(const Arguments& arguments, const PointsView& points, const Box& box,
                             const Execution& execution) {
    if (!arguments.clover) {
        return std::nullopt;
    }
    if (arguments.engine != Engine::clover) {
        throw UsageError(
            "--clover, --hubs, --hub-selection and --seed are options of --engine clover; give it, or leave "
            "them out");
    }
    return Tree(points, {.box = box, .engine = Engine::clover, .clover = *arguments.clover, .execution = execution});
}

/// Those of CLOVER that were in use, for files and the JSON summary.
Json describe(const CloverOptions& options) {
    Json facts;
    facts["clover"] = clover_form_names[static_cast<std::size_t>(options.form)];
    if (options.form == CloverForm::flat) {
        facts["hubs"] = options.hubs;
        facts["hub_selection"] = hub_selection_names[static_cast<std::size_t>(options.hub_selection)];
    }
    facts["seed"] = options.seed;
    return facts;
}

/// Every rank searches for its share; rank 0 writes the rows while the others send them.
SearchOutcome search(const Arguments& arguments, const SearchTask& task) {
    std::optional<Tree> index;
    if (arguments.clover) {
        index = task.library(
            [&] { return index_of(arguments, task.run.points(), task.run.box.box, task.run.execution()); });
        task.run.clock.add(index->stages());
    }
    const KnnOptions options{.box = index ? Box{} : task.run.box.box,
                             .exclude_self = arguments.exclude_self,
                             .max_distance = arguments.max_distance,
                             .squared = arguments.squared,
                             .engine = arguments.engine,
                             .z_order = arguments.z_order,
                             .execution = task.run.execution_together()};
    const auto found = std::make_shared<const KnnResult>(
        task.call([&](const PointsView& points,
                      const auto&... given) { return index ? knn(*index, given...) : knn(points, given...); },
                  arguments.k, options));
    task.run.clock.add(found->stages);
    SearchOutcome outcome;
    outcome.queries = sum_over(task.run.ranks(), found->rows());
    outcome.warnings.push_back(found->unresolved.warning());
    outcome.warnings.push_back(warning_of_short_rows(arguments.k, arguments.exclude_self,
                                                     sum_over(task.run.ranks(), task.run.points().count()),
                                                     *outcome.queries, "rows end with the index -1, at infinity"));
    outcome.facts["k"] = arguments.k;
    outcome.facts["engine"] = name_of(found->engine);
    outcome.facts["device"] = name_of(arguments.common.device);
    if (arguments.clover) {
        const Json facts = describe(*arguments.clover);
        outcome.facts.update(facts);
        for (const auto& [name, value] : facts.items()) {
            outcome.parameters[name] = value.is_string() ? value.get<std::string>() : value.dump();
        }
    }
    if (arguments.z_order) {
        outcome.parameters["z_order"] = "true";
    }
    outcome.report =
        fmt::format("k = {}, engine {}, on {}", arguments.k, name_of(found->engine), name_of(arguments.common.device));
    outcome.distribution = found->distribution;
    const IndexType type = index_type_of(task);
    outcome.funnel =
        std::make_shared<RankFunnel>(task.run.ranks(), std::vector{indices_of(*found, type), distances_of(*found),
                                                                   array_of(std::as_bytes(found->query_indices()))});
    const io::NeighborSource source{
        *outcome.queries, arguments.k, type, found->dtype(), blocks_from(outcome.funnel, found), arguments.z_order};
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
                .on_gpus_of_ranks = true,
                .memory_remedy = fmt::format("ask for fewer neighbors (-k) or {} --queries",
                                             arguments.queries.empty() ? "search around a part of the points with"
                                                                       : "give fewer points at once with"),
                .run = [&](const SearchTask& task) { return search(arguments, task); },
                .try_out =
                    [&](const PointsView& none, const Execution& execution) {
                        (void)index_of(arguments, none, {}, execution);
                        (void)knn(none, 1,
                                  {.engine = arguments.engine, .z_order = arguments.z_order, .execution = execution});
                    }});
}

void add_clover_options(const Parser& command, std::optional<CloverOptions>& clover) {
    const auto given = [&clover]() -> CloverOptions& { return clover ? *clover : clover.emplace(); };
    command.text("--clover", fmt::format("{}", fmt::join(clover_form_names, "|")),
                 "Form of --engine clover: hubs on several levels, the default, or flat, as published: one level, and "
                 "edges between all cells",
                 [given](const std::string& text) {
                     given().form = static_cast<CloverForm>(parse_name("--clover", text, clover_form_names));
                 });
    command.text("--hubs", "N", "Hubs of --clover flat; 1024 by default", [given](const std::string& text) {
        given().hubs = parse_whole("--hubs", text, 1, std::numeric_limits<std::int32_t>::max());
    });
    command.text(
        "--hub-selection", fmt::format("{}", fmt::join(hub_selection_names, "|")),
        "How --clover flat selects hubs among the points; random by default", [given](const std::string& text) {
            given().hub_selection = static_cast<HubSelection>(parse_name("--hub-selection", text, hub_selection_names));
        });
    command.text("--seed", "S", "Seed of the hubs of --engine clover", [given](const std::string& text) {
        given().seed =
            static_cast<std::uint64_t>(parse_whole("--seed", text, 0, std::numeric_limits<std::int64_t>::max()));
    });
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
    add_search_files(command, *arguments,
                     "File to write, .npz or .hdf5: 'indices' and 'distances', with --z-order also 'query_indices'");
    add_search_options(command, arguments, fmt::format("{}", fmt::join(engine_names, "|")));
    add_clover_options(command, arguments->clover);
    add_value(command, "--max-distance", "R", "Only neighbors within this distance, inclusive", arguments->max_distance,
              parse_length);
    command.flag("--squared", "Write squared distances", arguments->squared);
    command.flag("--z-order", "Leave rows along the z-order curve of their queries, in one process",
                 arguments->z_order);
    add_options_over_ranks(command, arguments->common, true);
    add_footer(command,
               "Indices count the points read, in file order: with --types 1 they are rows of type 1.\n"
               "Neighbors are ordered by distance, ties by index.",
               "  kith knn points.npy -k 16 -o neighbors.npz\n"
               "  kith knn snapshot.hdf5 -k 32 --exclude-self --types 0 -o neighbors.hdf5\n"
               "  kith knn stars.npy --queries places.npy -k 1 --box none --max-distance 0.5 -o nearest.npz");
    return {command, [arguments](const Invocation& invocation) { run(*arguments, invocation); }, true};
}

} // namespace kith::cli
