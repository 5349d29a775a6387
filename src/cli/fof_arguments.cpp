#include "cli/fof_arguments.hpp"

#include "cli/linking.hpp"
#include "cli/phase_space.hpp"
#include "cli/usage_error.hpp"

#include <fmt/format.h>

#include <limits>
#include <string>

namespace kith::cli {

void add_sample_options(const Parser& command, FofArguments& arguments) {
    const Option sample =
        add_value(command, "--sample", "N",
                  "Group only N of the selected particles, drawn at random; the others are in no group "
                  "(-1), and -b and --min-overdensity refer to the sample",
                  arguments.sample, parse_whole, 1, std::numeric_limits<std::int32_t>::max());
    add_value(command, "--seed", "S", "Seed of --sample; 1 by default. The same seed draws the same particles",
              arguments.seed, parse_whole, 0, std::numeric_limits<std::int64_t>::max())
        .needs(sample);
    for (const char* const other : {"--sorted-snapshot", "--secondary-types", "--mean-separation"}) {
        command.option(other).excludes(sample);
    }
}

void add_linking_options(const Parser& command, FofArguments& arguments) {
    const auto [relative, absolute] = add_linking_length_options(command, arguments.linking_length);
    const Option overdensity =
        add_value(
            command, "--min-overdensity", "D",
            "Instead of -b, the linking length at which two points in a sphere of that radius are D times as dense as "
            "the mean: b = (3 / (2 pi D))^(1/3) in 3-D; 59.7 is b = 0.2",
            arguments.min_overdensity, parse_positive)
            .excludes(relative)
            .excludes(absolute);
    add_value(command, "--omega-sim", "W",
              "With --min-overdensity, mean density of the points in units of that of the universe, to which D then "
              "refers; 1 by default. Multiplies b by W^(1/3) in 3-D",
              arguments.omega_sim, parse_positive)
        .needs(overdensity);
    add_psi_options(command, arguments.psi, "Groups");
    command.text(
        "--engine", "auto|tree|brute|kdtree|spanning-tree",
        "Search algorithm: auto (the default), tree, brute (all pairs), kdtree, or spanning-tree (the minimum spanning "
        "tree, cut at the linking length). The groups do not depend on it",
        [&arguments](const std::string& text) {
            const std::optional<Engine> engine = engine_named(text);
            arguments.by_spanning_tree = text == spanning_tree_engine;
            arguments.engine = engine.value_or(Engine::automatic);
            if ((!engine || engine == Engine::clover) && !arguments.by_spanning_tree) {
                throw UsageError(fmt::format("--engine is '{}'; give one of: auto, tree, brute, kdtree, {}", text,
                                             spanning_tree_engine));
            }
        });
}

} // namespace kith::cli
