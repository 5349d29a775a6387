// kith hdbscan: clusters of different densities, with their tree, into a file.
#include "cli/commands.hpp"
#include "cli/few_points.hpp"
#include "cli/icicles.hpp"
#include "cli/search_command.hpp"
#include "cli/snapshot_run.hpp"
#include "cli/usage_error.hpp"

#include <kith/cluster_file.hpp>
#include <kith/hdbscan.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace kith::cli {

namespace {

struct Arguments : SearchArguments {
    std::int64_t min_cluster_size = 5;
    std::int64_t min_samples = 0; ///< min_cluster_size
    bool leaves = false;
    double epsilon = 0;
    std::int64_t max_cluster_size = 0; ///< any
    bool allow_single_cluster = false;
    std::string picture;
};

HdbscanOptions options_of(const Arguments& arguments) {
    return {.min_samples = arguments.min_samples,
            .selection = arguments.leaves ? ClusterSelection::leaf : ClusterSelection::excess_of_mass,
            .selection_epsilon = arguments.epsilon,
            .max_cluster_size = arguments.max_cluster_size,
            .allow_single_cluster = arguments.allow_single_cluster,
            .engine = arguments.engine};
}

/// Collective. Brings what each rank has of its points to rank 0, which writes the files.
void gather(RankTeam* ranks, HdbscanResult& found) {
    const auto bring = [&](auto&... columns) { ((columns = on_first(ranks, std::move(columns))), ...); };
    bring(found.labels, found.probabilities, found.outlier_scores, found.core_distances,
          found.condensed_tree.last_clusters, found.condensed_tree.lambdas);
}

SearchOutcome search(const Arguments& arguments, const SearchTask& task) {
    HdbscanOptions options = options_of(arguments);
    options.box = task.run.box.box;
    options.execution = task.run.execution_together();
    const auto found = std::make_shared<HdbscanResult>(
        task.library([&] { return hdbscan(task.run.points(), arguments.min_cluster_size, options); }));
    task.run.clock.add(found->stages);
    if (task.run.ranks() != nullptr && !(arguments.output.empty() && arguments.picture.empty())) {
        gather(task.run.ranks(), *found);
    }
    std::vector<std::int64_t> largest = found->sizes;
    std::sort(largest.begin(), largest.end(), std::greater<>());
    largest.resize(std::min<std::size_t>(largest.size(), 10));
    SearchOutcome outcome;
    outcome.distribution = found->distribution;
    outcome.facts["min_cluster_size"] = found->min_cluster_size;
    outcome.facts["min_samples"] = found->min_samples;
    outcome.facts["clusters"] = found->clusters();
    outcome.facts["noise_points"] = found->noise_points;
    outcome.facts["largest"] = largest;
    outcome.facts["condensed_clusters"] = found->condensed_tree.clusters.size();
    outcome.facts["engine"] = name_of(found->engine);
    outcome.facts["device"] = name_of(arguments.common.device);
    outcome.parameters["min_samples"] = fmt::format("{}", found->min_samples);
    outcome.warnings.push_back(found->unresolved.warning());
    const std::int64_t points = sum_over(task.run.ranks(), task.run.points().count());
    std::string of_few = warning_of_few_points(arguments.min_samples, points);
    if (of_few.empty() && found->clusters() == 0) {
        of_few = warning_of_small_set(arguments.min_cluster_size, points);
    }
    outcome.warnings.push_back(std::move(of_few));
    outcome.report = fmt::format("{} cluster{} of {} or more points, {} noise point{}", format_count(found->clusters()),
                                 found->clusters() == 1 ? "" : "s", format_count(found->min_cluster_size),
                                 format_count(found->noise_points), found->noise_points == 1 ? "" : "s");
    outcome.write = [found](const std::filesystem::path& path, const io::Provenance& made_by) {
        (path.extension() == ".npz" ? io::write_density_clusters_npz : io::write_density_clusters_hdf5)(path, *found,
                                                                                                        made_by);
    };
    outcome.draw = [found, title = std::filesystem::path(arguments.snapshot).filename().string(),
                    subtitle = outcome.report](const std::filesystem::path& path, const io::Provenance& made_by) {
        std::vector<std::pair<std::string, std::string>> notes = {
            {"Software", made_by.program}, {"Command", made_by.command}, {"Source", made_by.input}};
        notes.insert(notes.end(), made_by.parameters.begin(), made_by.parameters.end());
        draw_icicles({&found->condensed_tree, title, subtitle}).write_png(path, notes);
    };
    return outcome;
}

void run(Arguments& arguments, const Invocation& invocation) {
    find_snapshot(arguments, invocation, R"(kith hdbscan "$file" -o "${file%.*}_clusters.npz")");
    agreed_over(invocation.ranks, [&] {
        if (arguments.leaves && arguments.max_cluster_size > 0) {
            throw UsageError("--max-cluster-size limits the clusters that excess of mass selects, and --leaves selects "
                             "the smallest ones whatever their size; leave one of them out");
        }
        if (arguments.max_cluster_size > 0 && arguments.max_cluster_size < arguments.min_cluster_size &&
            !arguments.allow_single_cluster) {
            throw UsageError(fmt::format("--max-cluster-size is {}, less than the smallest cluster, {} "
                                         "(--min-cluster-size), so that none could be selected; change one of them",
                                         arguments.max_cluster_size, arguments.min_cluster_size));
        }
    });
    run_search(arguments, invocation,
               {.stages = {"read", "upload", "order", "tree", "search", "neighbors", "connect", "ask", "select", "join",
                           "download", "edges", "merge", "clusters", "write"},
                .parameters = {{"min_cluster_size", fmt::format("{}", arguments.min_cluster_size)},
                               {"selection", arguments.leaves ? "leaf" : "excess of mass"},
                               {"epsilon", fmt::format("{}", arguments.epsilon)},
                               {"max_cluster_size", fmt::format("{}", arguments.max_cluster_size)},
                               {"allow_single_cluster", arguments.allow_single_cluster ? "true" : "false"}},
                .picture = arguments.picture,
                .run = [&](const SearchTask& task) { return search(arguments, task); },
                .try_out =
                    [&](const PointsView& none, const Execution& execution) {
                        HdbscanOptions options = options_of(arguments);
                        options.execution = execution;
                        (void)hdbscan(none, arguments.min_cluster_size, options);
                    }});
}

} // namespace

Command hdbscan_command(const Parser& program) {
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
    const auto arguments = std::make_shared<Arguments>();
    const Parser command = program.command("hdbscan", "Find clusters of different densities with HDBSCAN*");
    add_snapshot_argument(command, "POINTS", arguments->files);
    add_value(command, "--min-cluster-size", "M", "Smallest cluster; 5 by default", arguments->min_cluster_size,
              parse_whole, 2, most);
    add_value(command, "--min-samples", "N",
              "Points that make a core point, the point itself included: the more, the more noise; M by default",
              arguments->min_samples, parse_whole, 1, most);
    command.flag("--leaves", "Select the smallest clusters of the tree, not those of the largest excess of mass",
                 arguments->leaves);
    add_value(command, "--epsilon", "E", "Join clusters that are born at distances below E, in the units of the points",
              arguments->epsilon, parse_length);
    add_value(command, "--max-cluster-size", "L",
              "Largest cluster that excess of mass selects, M or more unless --allow-single-cluster; not with --leaves",
              arguments->max_cluster_size, parse_whole, 1, most);
    command.flag("--allow-single-cluster", "All points may be one cluster", arguments->allow_single_cluster);
    command.file("-o,--output",
                 "File to write, .npz or .hdf5: 'labels' (-1: noise), 'probabilities', 'outlier_scores', the spanning "
                 "tree and the condensed tree; without it only the summary is printed",
                 arguments->output);
    command.file("--picture", "Also draw the condensed tree with the selected clusters in color, .png",
                 arguments->picture);
    add_point_options(command, arguments, tree_or_brute);
    add_options_over_ranks(command, arguments->common);
    add_footer(command,
               "Rows count the points read, in file order: with --types 1 they are rows of type 1. Clusters are\n"
               "numbered from 0 by their first member.",
               "  kith hdbscan points.npy -o clusters.npz\n"
               "  kith hdbscan snapshot.hdf5 --min-cluster-size 50 --min-samples 10 -o clusters.hdf5\n"
               "  kith hdbscan points.npy --min-cluster-size 50 --picture clusters.png\n"
               "  kith hdbscan stars.csv --leaves --json");
    return {command, [arguments](const Invocation& invocation) { run(*arguments, invocation); }, true};
}

} // namespace kith::cli
