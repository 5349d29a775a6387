// The subcommands of the program. Each registers its options and returns what to do once they are parsed.
#pragma once

#include "cli/parser.hpp"
#include "cli/report.hpp"

#include <functional>

namespace kith::cli {

struct Command {
    Parser parser;
    std::function<void(const Invocation&)> run;
    bool runs_over_ranks = false; ///< in several processes together (rank_team.hpp)
};

[[nodiscard]] Command info_command(const Parser& program);
[[nodiscard]] Command knn_command(const Parser& program);
[[nodiscard]] Command radius_command(const Parser& program);
[[nodiscard]] Command density_command(const Parser& program);
[[nodiscard]] Command fof_command(const Parser& program);
[[nodiscard]] Command halos_command(const Parser& program);
[[nodiscard]] Command dbscan_command(const Parser& program);
[[nodiscard]] Command hdbscan_command(const Parser& program);
[[nodiscard]] Command mst_command(const Parser& program);
[[nodiscard]] Command pairs_command(const Parser& program);
[[nodiscard]] Command hierarchy_command(const Parser& program);
[[nodiscard]] Command bench_command(const Parser& program);
[[nodiscard]] Command plan_command(const Parser& program);

} // namespace kith::cli
