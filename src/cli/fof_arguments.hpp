// What kith fof is asked for, and its options of how particles are linked and which of them.
#pragma once

#include "cli/map_slice.hpp"
#include "cli/options.hpp"

#include <kith/fof.hpp>
#include <kith/io.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace kith::cli {

struct FofArguments : SnapshotArguments {
    std::string table;
    std::string labels;
    std::string grp;
    std::string gtp;
    std::string map;
    std::optional<MapSlice> slice; ///< what the map shows; none: all
    std::string sorted_snapshot;
    LinkingLength linking_length = LinkingLength::relative(0.2);
    std::optional<double> min_overdensity; ///< what the linking length is given by
    double omega_sim = 1;                  ///< to which min_overdensity refers
    bool separation_in_universe = false;   ///< to which a relative linking length refers, not to that in the box
    std::optional<io::TypeSelection> secondary_types; ///< which are not linked, but join
    std::optional<VelocityLength> psi;                ///< in peculiar velocities, or in dispersions
    std::optional<std::int64_t> sample;               ///< particles to take at random
    std::int64_t seed = 1;
    std::int64_t min_members = 20;
    Engine engine = Engine::automatic;
    bool by_spanning_tree = false; ///< of the engine automatic, which is cut at the linking length
};

/// The name of that as an engine.
inline constexpr const char* spanning_tree_engine = "spanning-tree";

/// Add options to a command; the arguments must outlive it. Those of samples come last of all of fof.
void add_linking_options(const Parser& command, FofArguments& arguments);
void add_sample_options(const Parser& command, FofArguments& arguments);

} // namespace kith::cli
