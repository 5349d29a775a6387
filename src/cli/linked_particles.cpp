#include "cli/linked_particles.hpp"

#include "cli/linking.hpp"
#include "cli/usage_error.hpp"

#include <kith/snapshot_universe.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <string>
#include <string_view>
#include <variant>

namespace kith::cli {

namespace {

constexpr double tolerated = 0.01; ///< relative difference of two mean separations
constexpr std::string_view names_of_separations[] = {"box", "cosmology"};

bool is_linked(const FofRun& run, std::int64_t row) {
    return run.is_secondary.empty() || run.is_secondary[row] == 0;
}

std::int64_t linked_particles(const FofRun& run) {
    return run.rows_in_all() - std::count(run.is_secondary.begin(), run.is_secondary.end(), std::uint8_t{1});
}

/// Of the particles that are linked.
struct Matter {
    double mass = 0; ///< of all; 0 if each has the same, or none
    std::array<bool, max_types> has_type{};
};

Matter matter_here(const FofRun& run) {
    const io::Snapshot& snapshot = run.snapshot;
    Matter matter;
    if (snapshot.masses) {
        std::visit(
            [&](const auto& masses) {
                for (std::int64_t row = 0; row < std::ssize(masses); ++row) {
                    matter.mass += is_linked(run, row) ? static_cast<double>(masses[row]) : 0;
                }
            },
            snapshot.masses->values);
    }
    for (std::int64_t row = 0; row < std::ssize(snapshot.types); ++row) {
        bool& has_type = matter.has_type[snapshot.types[row]];
        has_type = has_type || is_linked(run, row);
    }
    return matter;
}

/// Collective. Of all processes.
Matter matter_of(const FofRun& run) {
    Matter matter = matter_here(run);
    if (run.ranks() != nullptr) {
        const std::vector<Matter> parts = run.ranks()->gather_values(matter);
        matter = {};
        for (const Matter& part : parts) { // added alike on all
            matter.mass += part.mass;
            std::transform(part.has_type.begin(), part.has_type.end(), matter.has_type.begin(), matter.has_type.begin(),
                           std::logical_or());
        }
    }
    return matter;
}

/// Collective.
io::MatterSeparation separation_in_universe(const FofRun& run) {
    const Matter matter = matter_of(run);
    std::vector<int> types;
    for (int type = 0; type < max_types; ++type) {
        if (matter.has_type[type]) {
            types.push_back(type);
        }
    }
    const double mass = run.snapshot.masses
                            ? matter.mass / static_cast<double>(std::max<std::int64_t>(linked_particles(run), 1))
                            : run.snapshot.uniform_mass.value_or(0);
    io::MatterSeparation found = io::matter_separation(run.snapshot.header, types, mass);
    if (mass == 0) {
        found.length = 0;
        found.not_known += fmt::format("{}the masses of the particles", found.not_known.empty() ? "" : ", ");
    }
    return found;
}

} // namespace

void add_linked_particles_options(const Parser& command, FofArguments& arguments) {
    const Option secondary = command.text(
        "--secondary-types", "0,4,...",
        "Particle types that are not linked: each particle joins the group of the nearest one of --types within the "
        "linking length. --min-members of kith fof counts those of --types alone",
        [&arguments](const std::string& text) { arguments.secondary_types = parse_types("--secondary-types", text); });
    for (const char* const other : {"--psi", "--psi-sigma"}) {
        secondary.excludes(command.option(other));
    }
    add_value(command, "--mean-separation", "box|cosmology",
              "What -b multiplies: the mean separation of the particles in the box (the default), or that in the "
              "universe, (m/rho)^(1/3), rho the mean density of matter, of dark matter alone if the file has gas but "
              "the linked types have not. They differ in zoom simulations",
              arguments.separation_in_universe,
              [](const std::string& option, const std::string& text) {
                  return parse_name(option, text, names_of_separations) == 1;
              })
        .excludes(command.option("--linking-length"));
}

io::TypeSelection types_to_read(const FofArguments& arguments) {
    if (!arguments.secondary_types) {
        return arguments.types;
    }
    const auto refuse = [](const std::string& why) { throw UsageError("--secondary-types " + why); };
    const io::TypeSelection& secondary = *arguments.secondary_types;
    if (secondary.kind != io::TypeSelection::Kind::listed) {
        refuse("takes numbers of types, such as 0,4");
    }
    if (!io::read_header(arguments.snapshot, arguments.columns).has_types) {
        refuse(fmt::format("is {}, but the particles of '{}' have no types; leave it out",
                           fmt::join(secondary.types, ","), arguments.snapshot));
    }
    if (arguments.by_spanning_tree) {
        refuse("works with every --engine but spanning-tree");
    }
    io::TypeSelection types = arguments.types;
    if (types.kind == io::TypeSelection::Kind::all) {
        refuse("is given, but --types all links all types alike; list the linked ones in --types");
    }
    if (types.kind == io::TypeSelection::Kind::automatic) {
        types = {io::TypeSelection::Kind::listed, {1}};
    }
    for (const int type : secondary.types) {
        if (std::find(types.types.begin(), types.types.end(), type) != types.types.end()) {
            refuse(fmt::format("lists type {0}, which --types links{1}; a type is one or the other", type,
                               arguments.types.kind == io::TypeSelection::Kind::automatic ? " by default" : ""));
        }
    }
    types.types.insert(types.types.end(), secondary.types.begin(), secondary.types.end());
    std::sort(types.types.begin(), types.types.end());
    return types;
}

std::vector<std::uint8_t> secondaries_of(const FofArguments& arguments, const io::Snapshot& snapshot) {
    std::vector<std::uint8_t> marks;
    if (arguments.secondary_types) {
        const std::vector<int>& types = arguments.secondary_types->types;
        marks.resize(snapshot.types.size());
        std::transform(snapshot.types.begin(), snapshot.types.end(), marks.begin(), [&](std::uint8_t type) {
            return std::find(types.begin(), types.end(), int{type}) != types.end() ? 1 : 0;
        });
        if (std::find(marks.begin(), marks.end(), std::uint8_t{1}) == marks.end()) {
            marks.clear(); // without secondary particles groups are those of the linked ones, single ones among them
        }
    }
    return marks;
}

void resolve_linking_length(FofArguments& arguments, FofRun& run) {
    if (arguments.min_overdensity) {
        arguments.linking_length =
            LinkingLength::overdensity(*arguments.min_overdensity, run.positions().columns, arguments.omega_sim);
    }
    if (!arguments.separation_in_universe) {
        if (run.is_secondary.empty()) {
            add_mass_warning(run.warnings, arguments.linking_length.is_relative(), run.overview());
        }
        return;
    }
    if (run.positions().columns != 3) {
        throw UsageError(fmt::format("--mean-separation is 'cosmology', but the points have {} dimensions; it is of 3",
                                     run.positions().columns));
    }
    const io::MatterSeparation separation = separation_in_universe(run);
    if (separation.length == 0) {
        throw UsageError(fmt::format("--mean-separation is 'cosmology', but the file does not state {}; give "
                                     "--linking-length, or leave it out",
                                     separation.not_known));
    }
    run.separation = separation.length;
}

LinkingLength linking_length_for(const FofArguments& arguments, const FofRun& run) {
    return run.separation ? LinkingLength::absolute(arguments.linking_length.value() * *run.separation)
                          : arguments.linking_length;
}

void add_separation_warning(const FofArguments& arguments, FofRun& run) {
    if (!arguments.linking_length.is_relative() || run.separation || arguments.sample ||
        run.groups.volume_kind != VolumeKind::box || run.positions().columns != 3 || arguments.omega_sim != 1) {
        return;
    }
    const double in_universe = separation_in_universe(run).length;
    const double in_box = std::cbrt(run.groups.volume / static_cast<double>(linked_particles(run)));
    if (in_universe > 0 && std::abs(in_box - in_universe) > tolerated * in_universe) {
        run.warnings.push_back(fmt::format(
            "the mean separation of the particles in the box, {:.6g}, of which the linking length is {}, is {:.3g} "
            "times that which their mean mass has in the universe, {:.6g}; --mean-separation cosmology takes the "
            "latter",
            in_box, arguments.linking_length.value(), in_box / in_universe, in_universe));
    }
}

} // namespace kith::cli
