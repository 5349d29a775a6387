#include "cli/halo_arguments.hpp"

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

std::vector<std::string> parts_of(const std::string& text) {
    std::vector<std::string> parts(1);
    for (const char c : text) {
        if (c == ',') {
            parts.emplace_back();
        } else {
            parts.back() += c;
        }
    }
    return parts;
}

Overdensity parse_overdensity(const std::string& option, const std::string& text) {
    if (text == "vir") {
        return overdensities::virial;
    }
    const char kind = text.empty() ? ' ' : text.back();
    if (kind != 'm' && kind != 'c') {
        throw UsageError(fmt::format("{}: '{}' is no overdensity; give vir, or a number with m (times the mean density "
                                     "of matter) or c (times the critical one), such as 200c",
                                     option, text));
    }
    return {kind == 'm' ? DensityReference::matter : DensityReference::critical,
            parse_positive(option, text.substr(0, text.size() - 1))};
}

std::vector<Overdensity> parse_overdensities(const std::string& option, const std::string& text) {
    std::vector<Overdensity> parsed;
    for (const std::string& part : parts_of(text)) {
        const Overdensity overdensity = parse_overdensity(option, part);
        if (std::find(parsed.begin(), parsed.end(), overdensity) != parsed.end()) {
            throw UsageError(fmt::format("{}: {} is given twice", option, part));
        }
        parsed.push_back(overdensity);
    }
    return parsed;
}

Softening parse_softening(const std::string& option, const std::string& text) {
    const std::vector<std::string> parts = parts_of(text);
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

/// The softening of the lightest kind of matter is that of its type; of several types the largest counts.
std::optional<Softening> softening_in(const io::Snapshot& snapshot) {
    double length = 0;
    for (std::size_t type = 0; type < snapshot.header.softening.size(); ++type) {
        const auto is_of_type = [type](std::uint8_t of_row) { return of_row == type; };
        if (std::any_of(snapshot.types.begin(), snapshot.types.end(), is_of_type)) {
            length = std::max(length, snapshot.header.softening[type]);
        }
    }
    return length > 0 ? std::optional(Softening{SofteningKernel::spline, length}) : std::nullopt;
}

std::string names_of(const std::vector<Overdensity>& overdensities) {
    std::vector<std::string> names;
    std::transform(overdensities.begin(), overdensities.end(), std::back_inserter(names), io::short_name);
    return fmt::format("{}", fmt::join(names, ", "));
}

/// Leaves out the spheres whose density is not known.
void keep_known_spheres(HaloOptions& options, const std::string& missing, bool is_matter_alone,
                        std::vector<std::string>& warnings) {
    const auto begin = std::stable_partition(
        options.overdensities.begin(), options.overdensities.end(), [&](const Overdensity& overdensity) {
            return is_matter_alone && overdensity.reference == DensityReference::critical;
        });
    const std::vector<Overdensity> left_out(begin, options.overdensities.end());
    options.overdensities.erase(begin, options.overdensities.end());
    if (!left_out.empty()) {
        warnings.push_back(fmt::format("the radii and masses of {} are left out: {}", names_of(left_out), missing));
    }
}

/// Unbinding needs velocities and G.
void decide_on_unbinding(const HaloArguments& arguments, const io::Snapshot& snapshot, const std::string& no_gravity,
                         Gravity& gravity, std::vector<std::string>& warnings) {
    gravity.options.unbind = arguments.unbind.value_or(true);
    std::string missing;
    if (!snapshot.velocities) {
        missing = "the input has no velocities";
    } else if (!gravity.is_known) {
        missing = fmt::format("{}; pass --G", no_gravity);
    }
    if (missing.empty() || !gravity.options.unbind) {
        return;
    }
    if (arguments.unbind) {
        throw UsageError(
            fmt::format("--unbind is 'yes', but what is bound is unknown: {}, or leave --unbind out", missing));
    }
    gravity.options.unbind = false;
    warnings.push_back(
        fmt::format("members are not unbound, and each halo is its whole group: {} (--unbind no asks for "
                    "that, and says nothing)",
                    missing));
}

} // namespace

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

Gravity gravity_of(const HaloArguments& arguments, const io::Snapshot& snapshot, std::vector<std::string>& warnings) {
    const io::SnapshotUniverse stated = io::universe_of(snapshot.header);
    Gravity gravity;
    gravity.velocity_factor = stated.velocity_factor;
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
    const std::string no_gravity = !stated.no_gravity.empty()
                                       ? fmt::format("the file does not state {}", stated.no_gravity)
                                   : !has_masses ? "the input has no masses, and each particle counts as mass 1"
                                                 : "";
    gravity.is_known = arguments.gravity || no_gravity.empty();
    decide_on_unbinding(arguments, snapshot, no_gravity, gravity, warnings);
    if (!gravity.is_known) {
        options.universe.gravity = 1;
        warnings.push_back(fmt::format("SubhaloVmax is left out: {}; pass --G", no_gravity));
    }
    if (!gravity.is_known) {
        const bool expands = arguments.hubble || stated.no_hubble.empty();
        keep_known_spheres(options,
                           fmt::format("{}; pass --G{}", no_gravity, expands ? "" : ", --hubble and --omega-matter"),
                           false, warnings);
    } else if (!arguments.hubble && !stated.no_hubble.empty()) {
        keep_known_spheres(options, fmt::format("the file does not state {}; pass --hubble", stated.no_hubble), false,
                           warnings);
        if (options.unbind) {
            warnings.push_back(fmt::format("members are unbound as if nothing expanded: the file does not state {}; "
                                           "pass --hubble",
                                           stated.no_hubble));
        }
    } else if (options.universe.hubble == 0) {
        keep_known_spheres(options, "nothing expands", false, warnings);
    } else if (!arguments.omega_matter && !stated.no_omega_matter.empty()) {
        keep_known_spheres(options,
                           fmt::format("the file does not state {}; pass --omega-matter", stated.no_omega_matter), true,
                           warnings);
    }
    options.softening = arguments.softening ? arguments.softening : softening_in(snapshot);
    gravity.softening_from = arguments.softening ? "--softening"
                             : options.softening ? "the file"
                                                 : "1/30 of the mean separation";
    return gravity;
}

} // namespace kith::cli
