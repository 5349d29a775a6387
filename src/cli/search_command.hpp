// What kith knn, radius, density and mst share: options, reading points and queries, writing one file, the report.
#pragma once

#include "cli/options.hpp"
#include "cli/rank_team.hpp"
#include "cli/report.hpp"
#include "cli/snapshot_run.hpp"
#include "cli/try_out.hpp"

#include <kith/distributed.hpp>
#include <kith/error.hpp>
#include <kith/io.hpp>

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace kith::cli {

struct SearchArguments : SnapshotArguments {
    std::string queries;
    std::vector<std::string> query_columns; ///< of a text table
    bool exclude_self = false;
    Engine engine = Engine::automatic;
    bool z_order = false; ///< of kith knn
};

/// Adds -o, whose help is given, and --queries.
void add_search_files(const Parser& command, SearchArguments& arguments, const std::string& output_help);
/// Adds --box, --types and --engine, whose help lists `engines`, such as tree_or_brute.
void add_point_options(const Parser& command, const std::shared_ptr<SearchArguments>& arguments,
                       const std::string& engines);
/// The same and --exclude-self.
void add_search_options(const Parser& command, const std::shared_ptr<SearchArguments>& arguments,
                        const std::string& engines);

/// What a search works on, and how.
struct SearchTask {
    SnapshotRun& run; ///< with the points
    std::function<Error(const Error&)> with_context;
    const io::Snapshot* of_queries = nullptr;         ///< null: there are none
    std::optional<PointsView> queries = std::nullopt; ///< over ranks this rank's share, as of the points

    /// Runs body(), one call of the library, which fails on all ranks or on none. Its errors name the files.
    template <class Body>
    decltype(auto) library(const Body& body) const {
        return run.in_context(body, with_context);
    }
    /// Calls function(points, [queries,] ...) of the library.
    template <class Function, class... Others>
    decltype(auto) call(const Function& function, const Others&... others) const {
        return library(
            [&] { return queries ? function(run.points(), *queries, others...) : function(run.points(), others...); });
    }
};

/// The smallest type that holds all indices.
[[nodiscard]] IndexType index_type_of(const SearchTask& task);

/// The bytes of what a search found on this rank, indices in that type.
template <class Result>
[[nodiscard]] RankArray indices_of(const Result& found, IndexType type) {
    if (found.index_type() == type) {
        return array_of(type == IndexType::int64 ? std::as_bytes(found.indices64()) : std::as_bytes(found.indices()));
    }
    const std::span<const std::int64_t> wide = found.indices64();
    return array_of(std::ssize(wide), [wide](std::int64_t i) { return static_cast<std::int32_t>(wide[i]); });
}
template <class Result>
[[nodiscard]] RankArray distances_of(const Result& found) {
    return array_of(found.dtype() == DType::float64 ? std::as_bytes(found.template distances<double>())
                                                    : std::as_bytes(found.template distances<float>()));
}

/// What a search found, ready to be written and reported.
struct SearchOutcome {
    std::optional<std::int64_t> queries;           ///< none: the search is about the points alone
    Json facts;                                    ///< for the JSON summary, besides what all searches report
    std::map<std::string, std::string> parameters; ///< for the file's provenance, besides those of the Search
    std::string report;                            ///< for the line "search"
    std::vector<std::string> table;                ///< the lines below it, the first one with the heads of columns
    std::vector<std::string> warnings;             ///< empty ones are none
    std::function<void(const std::filesystem::path&, const io::Provenance&)> write; ///< on rank 0
    std::function<void(const std::filesystem::path&, const io::Provenance&)> draw;  ///< the picture of the Search
    std::shared_ptr<RankFunnel> funnel;       ///< from which it takes the rows of all ranks
    std::optional<Distribution> distribution; ///< over ranks
};

/// What the funnel brings to rank 0 while it writes. `found` holds the arrays of this rank.
[[nodiscard]] io::BlockSource blocks_from(std::shared_ptr<RankFunnel> funnel, std::shared_ptr<const void> found);

/// Parts of a search that differ from command to command.
struct Search {
    std::vector<std::string> stages;
    std::map<std::string, std::string> parameters; ///< for the file's provenance, besides what all searches record
    bool in_phase_space = false;                   ///< velocities and masses are read, too
    bool with_masses = false;                      ///< masses are
    bool with_query_masses = false;                ///< and those of the queries
    bool with_velocities = false;
    bool with_internal_energies = false;
    bool has_rows = true;                           ///< results are of points, or name them by their rows
    bool writes_npy = false;                        ///< besides .npz and HDF5
    bool on_gpus_of_ranks = false;                  ///< over ranks, each can search on a GPU
    std::string picture = {};                       ///< file to draw, .png; may be empty
    std::string second_set = "queries";             ///< what messages call the points of the other file
    std::string second_columns = "--query-columns"; ///< the option that chooses its columns
    /// Which options to change if a result does not fit.
    std::string memory_remedy = "choose fewer points, with --types or another file";
    std::function<SearchOutcome(const SearchTask&)> run;
    CallOnNoPoints try_out; ///< refuses early (try_out.hpp)
};

/// Reads, searches, writes and reports, over the ranks of the invocation. Nothing is written if anything fails, or no
/// output is named.
void run_search(const SearchArguments& arguments, const Invocation& invocation, const Search& search);

} // namespace kith::cli
