// kith mst: the minimum spanning tree of the points, into a file.
#include "cli/commands.hpp"
#include "cli/search_command.hpp"
#include "cli/snapshot_run.hpp"

#include <kith/io.hpp>
#include <kith/spanning_tree.hpp>

#include <fmt/format.h>

#include <memory>
#include <numeric>

namespace kith::cli {

namespace {

struct Lengths {
    double total = 0;
    double longest = 0;
};

template <Coordinate T>
Lengths lengths_of(std::span<const T> weights) {
    return {std::accumulate(weights.begin(), weights.end(), 0.0),
            weights.empty() ? 0 : static_cast<double>(weights.back())};
}

SearchOutcome search(const SearchArguments& arguments, const SearchTask& task) {
    const auto tree = std::make_shared<SpanningTree>(task.library([&] {
        return spanning_tree(task.points, {.box = task.box, .engine = arguments.engine, .execution = task.execution});
    }));
    task.clock->add(tree->stages);
    const Lengths lengths =
        tree->dtype() == DType::float32 ? lengths_of(tree->weights<float>()) : lengths_of(tree->weights<double>());
    SearchOutcome outcome;
    outcome.facts["edges"] = tree->count();
    outcome.facts["total_length"] = lengths.total;
    outcome.facts["longest_edge"] = lengths.longest;
    outcome.facts["engine"] = name_of(tree->engine());
    outcome.facts["device"] = name_of(arguments.common.device);
    outcome.warning = tree->unresolved.warning();
    outcome.report = fmt::format("{} edges, total length {:.6g}, the longest {:.6g}", format_count(tree->count()),
                                 lengths.total, lengths.longest);
    outcome.write = [tree](const std::filesystem::path& path, const io::Provenance& made_by) {
        (path.extension() == ".npz" ? io::write_spanning_tree_npz : io::write_spanning_tree_hdf5)(path, *tree, made_by);
    };
    return outcome;
}

void run(SearchArguments& arguments, const Invocation& invocation) {
    find_snapshot(arguments, invocation, R"(kith mst "$file" -o "${file%.*}_tree.npz")");
    run_search(arguments, invocation,
               {.stages = {"read", "upload", "order", "tree", "neighbors", "connect", "download", "edges", "write"},
                .parameters = {},
                .memory_remedy = "choose fewer points, with --types or another file",
                .run = [&](const SearchTask& task) { return search(arguments, task); },
                .try_out =
                    [&](const PointsView& none, const Execution& execution) {
                        (void)spanning_tree(none, {.engine = arguments.engine, .execution = execution});
                    }});
}

} // namespace

Command mst_command(const Parser& program) {
    const auto arguments = std::make_shared<SearchArguments>();
    const Parser command = program.command("mst", "Find the minimum spanning tree of the points (single linkage)");
    add_snapshot_argument(command, "POINTS", arguments->files, "Snapshot or array of the points to connect");
    command.file("-o,--output",
                 "File to write, .npz or .hdf5: 'edges', 'weights' and 'heights', shortest edge first; without it "
                 "only the summary is printed",
                 arguments->output);
    add_point_options(command, arguments, tree_or_brute);
    add_execution_options(command, arguments->common);
    add_footer(command,
               "A row of edges holds the indices of two points, the smaller one first; its weight is their distance.\n"
               "Its height is the smallest linking length at which 'kith fof' makes friends of them: the edges of\n"
               "heights up to a length connect its groups. Indices count the points read, in file order: with\n"
               "--types 1 they are rows of type 1.",
               "  kith mst points.npy -o tree.npz\n"
               "  kith mst snapshot.hdf5 --types 1 -o tree.hdf5\n"
               "  kith mst stars.npy --box none --json");
    return {command, [arguments](const Invocation& invocation) { run(*arguments, invocation); }};
}

} // namespace kith::cli
