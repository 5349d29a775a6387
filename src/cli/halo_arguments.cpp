#include "cli/halo_arguments.hpp"

#include "cli/split_text.hpp"
#include "cli/usage_error.hpp"

#include <kith/halo_file.hpp>
#include <kith/snapshot_universe.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

namespace kith::cli {

namespace {

std::vector<Overdensity> parse_overdensities(const std::string& option, const std::string& text) {
    std::vector<Overdensity> parsed;
    for (const std::string_view part : split_at(text, ',')) {
        const std::optional<Overdensity> overdensity = io::overdensity_named(part);
        if (!overdensity) {
            throw UsageError(fmt::format("{}: '{}' is no overdensity; give vir, or a number above 0 with m (times the "
                                         "mean density of matter) or c (times the critical one), such as 200c",
                                         option, part));
        }
        if (std::find(parsed.begin(), parsed.end(), *overdensity) != parsed.end()) {
            throw UsageError(fmt::format("{}: {} is given twice", option, part));
        }
        parsed.push_back(*overdensity);
    }
    return parsed;
}

Softening parse_softening(const std::string& option, const std::string& text) {
    const std::vector<std::string_view> parts = split_at(text, ',');
    constexpr std::array<std::string_view, 2> kernels = {"spline", "plummer"}; // in the order of the kernels
    if (parts.size() > 2) {
        throw UsageError(
            fmt::format("{} is '{}'; give a length, or a length and a kernel: 0.01,plummer", option, text));
    }
    return {parts.size() == 1 ? SofteningKernel::spline
                              : static_cast<SofteningKernel>(parse_name(option, parts[1], kernels)),
            parse_positive(option, parts[0])};
}

bool parse_yes_or_no(const std::string& option, const std::string& text) {
    constexpr std::array<std::string_view, 2> words = {"no", "yes"};
    return parse_name(option, text, words) == 1;
}

/// What is not known, for which reason, and what to pass.
struct LeftOut {
    std::vector<std::string> what;
    std::string why;
};

std::string warning_of(const std::vector<LeftOut>& all) {
    std::vector<std::string> texts;
    for (const LeftOut& each : all) {
        texts.push_back(fmt::format("{} ({})", fmt::join(each.what, ", "), each.why));
    }
    return fmt::format("left out: {}", fmt::join(texts, "; "));
}

/// Removes the spheres whose density is not known, and adds them to what is left out.
void remove_spheres(HaloOptions& options, bool of_matter_alone, std::vector<std::string>& left_out) {
    const auto begin = std::stable_partition(
        options.overdensities.begin(), options.overdensities.end(), [&](const Overdensity& overdensity) {
            return of_matter_alone && overdensity.reference == DensityReference::critical;
        });
    const std::vector<Overdensity> removed(begin, options.overdensities.end());
    options.overdensities.erase(begin, options.overdensities.end());
    if (!removed.empty()) {
        left_out.push_back(fmt::format("the radii and masses of {}", fmt::join(names_of(removed), ", ")));
    }
}

/// Decides what is unbound, and which spheres are found. `no_gravity` says why G is not known; empty: it is.
std::vector<LeftOut> leave_out(const HaloArguments& arguments, bool has_velocities, const std::string& no_gravity,
                               const io::SnapshotUniverse& stated, HaloOptions& options) {
    const auto whole_groups = [&](const std::string& why) -> std::string {
        if (arguments.unbind) {
            throw UsageError(fmt::format("--unbind is 'yes', but what is bound is unknown: {}; or leave --unbind out, "
                                         "for whole groups",
                                         why));
        }
        options.unbind = false;
        return "unbinding, so that each halo is its whole group";
    };
    std::vector<LeftOut> all;
    options.unbind = arguments.unbind.value_or(true);
    if (options.unbind && !has_velocities) {
        const std::string why = "the input has no velocities";
        all.push_back({{whole_groups(why)}, why + "; --unbind no asks for that"});
    }
    const bool knows_hubble = arguments.hubble || stated.no_hubble.empty();
    LeftOut of_universe;
    if (!no_gravity.empty()) {
        of_universe.why =
            fmt::format("{}; pass --G{}", no_gravity, knows_hubble ? "" : ", --hubble and --omega-matter");
        if (options.unbind) {
            of_universe.what.push_back(whole_groups(of_universe.why));
        }
        of_universe.what.emplace_back("SubhaloVmax");
        remove_spheres(options, false, of_universe.what);
    } else if (!knows_hubble) {
        of_universe.why = fmt::format("the file does not state {}; pass --hubble and --omega-matter", stated.no_hubble);
        if (options.unbind) {
            of_universe.what.emplace_back("the expansion in energies");
        }
        remove_spheres(options, false, of_universe.what);
    } else if (options.universe.hubble == 0) {
        of_universe.why = "--hubble is 0, and there is no density to compare with";
        remove_spheres(options, false, of_universe.what);
    } else if (!arguments.omega_matter && !stated.no_omega_matter.empty()) {
        of_universe.why = fmt::format("the file does not state {}; pass --omega-matter", stated.no_omega_matter);
        remove_spheres(options, true, of_universe.what);
    }
    if (!of_universe.what.empty()) {
        all.push_back(std::move(of_universe));
    }
    return all;
}

} // namespace

std::vector<std::string> names_of(const std::vector<Overdensity>& overdensities) {
    std::vector<std::string> names;
    std::transform(overdensities.begin(), overdensities.end(), std::back_inserter(names), io::short_name);
    return names;
}

std::vector<std::pair<std::string, std::optional<double>>> Gravity::numbers() const {
    const auto known = [](double number, bool certain) { return certain ? std::optional(number) : std::nullopt; };
    const Universe& universe = options.universe;
    return {{"G", known(universe.gravity, is_known)},
            {"H", known(universe.hubble, is_hubble_known)},
            {"omega_matter", known(universe.omega_matter, universe.omega_matter > 0)}};
}

void add_gravity_options(const Parser& command, HaloArguments& arguments) {
    add_value(command, "--unbind", "yes|no",
              "Whether a halo is what is bound of its group (yes, the default) or the whole group", arguments.unbind,
              parse_yes_or_no);
    add_value(command, "--overdensities", "LIST",
              "Spheres about each halo, by mean density: 200m (times the mean density of matter), 500c (times the "
              "critical one), vir (Bryan and Norman 1998); 200m,200c,500c,2500c,vir by default",
              arguments.overdensities, parse_overdensities);
    command.flag("--outermost", "Spheres end where their density is crossed for the last time, not for the first",
                 arguments.outermost);
    command.flag("--bound-only", "Spheres and circular velocities of the bound members, not of all particles",
                 arguments.bound_only);
    add_value(command, "--softening", "LENGTH[,KERNEL]",
              "Of gravity, in the units of the file, Plummer equivalent, with the kernel spline (the default) or "
              "plummer. Default: what the file states (Gadget-4, AREPO, SWIFT), else 1/30 of the mean separation",
              arguments.softening, parse_softening);
    add_value(
        command, "--G", "G",
        "Gravitational constant, in the file's units of length, mass and (peculiar) velocity, where the file does "
        "not state these; 43009.2 for kpc, 1e10 solar masses and km/s, with h or without",
        arguments.gravity, parse_positive);
    add_value(
        command, "--hubble", "H",
        "Expansion rate at the time of the file, in its unit of velocity per (physical) unit of length, where the "
        "file does not state it; 0 for none",
        arguments.hubble, parse_length);
    add_value(command, "--omega-matter", "W",
              "Density of matter over the critical one at the time of the file, where the file does not state it",
              arguments.omega_matter, parse_positive);
}

Gravity gravity_of(const HaloArguments& arguments, const io::Snapshot& snapshot, const io::Snapshot& overview,
                   std::vector<std::string>& warnings) {
    const io::SnapshotUniverse stated = io::universe_of(snapshot.header);
    Gravity gravity;
    gravity.velocity_factor = stated.velocity_factor;
    gravity.energy_factor = stated.energy_factor;
    HaloOptions& options = gravity.options;
    options.universe = stated.universe;
    options.universe.gravity = arguments.gravity.value_or(stated.universe.gravity);
    options.universe.hubble = arguments.hubble.value_or(stated.universe.hubble);
    options.universe.omega_matter = arguments.omega_matter.value_or(stated.universe.omega_matter);
    options.min_members = arguments.min_members;
    options.outermost = arguments.outermost;
    options.bound_only = arguments.bound_only;
    options.overdensities = arguments.overdensities.value_or(options.overdensities);

    const bool has_masses = snapshot.masses || snapshot.uniform_mass;
    std::string no_gravity;
    if (!arguments.gravity && !stated.no_gravity.empty()) {
        no_gravity = fmt::format("the file does not state {}", stated.no_gravity);
    } else if (!arguments.gravity && !has_masses) {
        no_gravity = "the input has no masses, and each particle counts as mass 1";
    }
    gravity.is_known = no_gravity.empty();
    gravity.is_hubble_known = arguments.hubble || stated.no_hubble.empty();
    if (!gravity.is_known) {
        options.universe.gravity = 1;
    }
    const std::vector<LeftOut> left_out =
        leave_out(arguments, snapshot.velocities.has_value(), no_gravity, stated, options);
    if (!left_out.empty()) {
        warnings.push_back(warning_of(left_out));
    }
    options.softening = arguments.softening;
    if (const std::optional<double> length = io::softening_of(overview); length && !options.softening) {
        options.softening = Softening{SofteningKernel::spline, *length};
    }
    gravity.softening_from = arguments.softening ? "--softening"
                             : options.softening ? "the file"
                                                 : "1/30 of the mean separation";
    return gravity;
}

} // namespace kith::cli
