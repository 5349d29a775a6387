// kith mst: the minimum spanning tree of the points, into a file.
#include "cli/commands.hpp"
#include "cli/linking.hpp"
#include "cli/phase_space.hpp"
#include "cli/search_command.hpp"
#include "cli/snapshot_run.hpp"
#include "cli/usage_error.hpp"

#include <kith/io.hpp>
#include <kith/spanning_tree.hpp>

#include <fmt/format.h>

#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

namespace kith::cli {

namespace {

struct Lengths {
    double total = 0;
    double longest = 0;
};

/// Collective. The sum is taken in the order of all edges, so that its bits are those of one process.
template <Coordinate T>
Lengths lengths_of(std::span<const T> weights, RankTeam* ranks) {
    Lengths lengths;
    for (int rank = 0; rank < (ranks != nullptr ? ranks->size() : 1); ++rank) {
        if (ranks == nullptr || ranks->rank() == rank) {
            lengths.total = std::accumulate(weights.begin(), weights.end(), lengths.total);
            lengths.longest = weights.empty() ? lengths.longest : static_cast<double>(weights.back());
        }
        if (ranks != nullptr) {
            lengths = ranks->gather_values(lengths)[static_cast<std::size_t>(rank)];
        }
    }
    return lengths;
}

/// The arrays of the file: of all edges, or over ranks of consecutive ones.
std::vector<RankArray> arrays_of(const SpanningTree& tree, IndexType type) {
    const bool is_wide = tree.dtype() == DType::float64;
    const auto narrow = [](std::span<const SpanningEdge64> edges) {
        return array_of(std::ssize(edges), [edges](std::int64_t i) {
            return SpanningEdge{static_cast<std::int32_t>(edges[i].smaller),
                                static_cast<std::int32_t>(edges[i].larger)};
        });
    };
    return {!tree.distribution         ? array_of(std::as_bytes(tree.edges()))
            : type == IndexType::int64 ? array_of(std::as_bytes(tree.edges64()))
                                       : narrow(tree.edges64()),
            array_of(is_wide ? std::as_bytes(tree.weights<double>()) : std::as_bytes(tree.weights<float>())),
            array_of(is_wide ? std::as_bytes(tree.heights<double>()) : std::as_bytes(tree.heights<float>()))};
}

struct Arguments : SearchArguments {
    std::optional<VelocityLength> psi;
    std::optional<LinkingLength> linking_length; ///< at which psi is given
};

/// The length at which a tree in phase space is found.
LinkingLength length_of(const Arguments& arguments) {
    return arguments.linking_length.value_or(LinkingLength::relative(0.2));
}

SearchOutcome search(const Arguments& arguments, const SearchTask& task) {
    SpanningTreeOptions options{
        .box = task.run.box.box, .engine = arguments.engine, .execution = task.run.execution_together()};
    const auto phase_space =
        task.library([&] { return phase_space_of(arguments.psi, task.run.snapshot, arguments.snapshot); });
    if (phase_space) {
        options.phase_space = PhaseSpaceAt{*phase_space, length_of(arguments)};
    }
    const auto found = task.library([&] { return spanning_tree(task.run.points(), options); });
    task.run.clock.add(found.stages);
    const auto tree = std::make_shared<const SpanningTree>(
        task.run.ranks() == nullptr ? found : task.library([&] { return edges_in_order(found, options.execution); }));
    SearchOutcome outcome;
    if (task.run.ranks() != nullptr) {
        task.run.clock.add(tree->stages);
        outcome.distribution = found.distribution;
        outcome.distribution->traffic.bytes_received += tree->distribution->traffic.bytes_received;
        outcome.distribution->traffic.messages_sent += tree->distribution->traffic.messages_sent;
    }
    const Lengths lengths = tree->dtype() == DType::float32 ? lengths_of(tree->weights<float>(), task.run.ranks())
                                                            : lengths_of(tree->weights<double>(), task.run.ranks());
    const std::int64_t edges = sum_over(task.run.ranks(), tree->count());
    outcome.facts["edges"] = edges;
    outcome.facts["total_length"] = lengths.total;
    outcome.facts["longest_edge"] = lengths.longest;
    outcome.facts["engine"] = name_of(tree->engine());
    outcome.facts["device"] = name_of(arguments.common.device);
    outcome.warnings.push_back(found.unresolved.warning());
    outcome.report = fmt::format("{} edges, total length {:.6g}, the longest {:.6g}", format_count(edges),
                                 lengths.total, lengths.longest);
    if (arguments.psi) {
        const SpanningTreeFacts& facts = tree->facts();
        const ComparedVelocities velocities{*arguments.psi, facts.velocity_length, facts.velocity_scale,
                                            task.run.snapshot.header};
        velocities.add_to(outcome.facts);
        velocities.add_to(outcome.parameters);
        outcome.facts["linking_length"] = facts.linking_length;
        add_mass_warning(outcome.warnings, length_of(arguments).is_relative(), task.run.overview());
        outcome.parameters["linking_length"] = format_length(facts.linking_length, tree->dtype());
        outcome.report += fmt::format(", in phase space at the linking length {}; {}",
                                      outcome.parameters["linking_length"], velocities.text());
    }
    const IndexType type = index_type_of(task);
    outcome.funnel = std::make_shared<RankFunnel>(task.run.ranks(), arrays_of(*tree, type));
    const io::SpanningTreeSource source{edges, type, tree->dtype(), blocks_from(outcome.funnel, tree)};
    outcome.write = [source](const std::filesystem::path& path, const io::Provenance& made_by) {
        (path.extension() == ".npz" ? io::stream_spanning_tree_npz : io::stream_spanning_tree_hdf5)(path, source,
                                                                                                    made_by);
    };
    return outcome;
}

void run(Arguments& arguments, const Invocation& invocation) {
    find_snapshot(arguments, invocation, R"(kith mst "$file" -o "${file%.*}_tree.npz")");
    agreed_over(invocation.ranks, [&] {
        if (arguments.linking_length && !arguments.psi) {
            throw UsageError(
                fmt::format("{} is given without --psi or --psi-sigma; the tree of positions serves all linking "
                            "lengths, so leave it out",
                            arguments.linking_length->is_relative() ? "-b" : "--linking-length"));
        }
    });
    run_search(arguments, invocation,
               {.stages = {"read", "upload", "order", "tree", "neighbors", "connect", "download", "edges", "write"},
                .parameters = {},
                .in_phase_space = arguments.psi.has_value(),
                .run = [&](const SearchTask& task) { return search(arguments, task); },
                .try_out =
                    [&](const PointsView& none, const Execution& execution) {
                        try_spanning_tree(none, arguments.engine, arguments.psi.has_value(), execution);
                    }});
}

} // namespace

Command mst_command(const Parser& program) {
    const auto arguments = std::make_shared<Arguments>();
    const Parser command = program.command("mst", "Find the minimum spanning tree of the points (single linkage)");
    add_snapshot_argument(command, "POINTS", arguments->files, "Snapshot or array of the points to connect");
    command.file("-o,--output",
                 "File to write, .npz or .hdf5: 'edges', 'weights' and 'heights', shortest edge first; without it "
                 "only the summary is printed",
                 arguments->output);
    add_point_options(command, arguments, tree_or_brute);
    add_psi_options(command, arguments->psi, "The tree");
    add_linking_length_options(command, arguments->linking_length);
    add_options_over_ranks(command, arguments->common);
    add_footer(
        command,
        "A row of edges holds the indices of two points, the smaller one first; its weight is their distance.\n"
        "Its height is the smallest linking length at which 'kith fof' makes friends of them: the edges of\n"
        "heights up to a length connect its groups. Indices count the points read, in file order: with\n"
        "--types 1 they are rows of type 1.\n"
        "With --psi or --psi-sigma velocities times R/V count as lengths, and the edges of heights up to R connect\n"
        "the groups of 'kith fof' with the same options; R is given by -b (0.2 by default) or --linking-length.",
        "  kith mst points.npy -o tree.npz\n"
        "  kith mst snapshot.hdf5 --types 1 -o tree.hdf5\n"
        "  kith mst snapshot.hdf5 -b 0.2 --psi-sigma 0.5 -o streams.hdf5\n"
        "  kith mst stars.npy --box none --json");
    return {command, [arguments](const Invocation& invocation) { run(*arguments, invocation); }, true};
}

} // namespace kith::cli
