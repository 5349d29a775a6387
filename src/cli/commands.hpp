// The subcommands of the program. Each registers its options and returns what to do once they are parsed.
#pragma once

#include "cli/report.hpp"

#include <CLI/CLI.hpp>

#include <functional>

namespace kith::cli {

struct Command {
    CLI::App* parser = nullptr;
    std::function<void(const Invocation&)> run;
    bool runs_over_ranks = false; ///< in several processes together (rank_team.hpp)
};

[[nodiscard]] Command info_command(CLI::App& program);
[[nodiscard]] Command knn_command(CLI::App& program);
[[nodiscard]] Command radius_command(CLI::App& program);
[[nodiscard]] Command fof_command(CLI::App& program);
[[nodiscard]] Command dbscan_command(CLI::App& program);
[[nodiscard]] Command mst_command(CLI::App& program);
[[nodiscard]] Command hierarchy_command(CLI::App& program);
[[nodiscard]] Command bench_command(CLI::App& program);
[[nodiscard]] Command plan_command(CLI::App& program);

} // namespace kith::cli
