// Time and frame of an HDF5 snapshot.
//
// Gadget's and AREPO's Time is the scale factor of a cosmological run. SWIFT's is a physical time, and the scale factor
// stands beside it. Whether the run is cosmological is stated by ComovingIntegrationOn (Gadget-4, AREPO, GIZMO) or
// "Cosmological run" (SWIFT), or follows from time and redshift. The powers of a and h are those that the columns state
// in their own attributes, under the names of Gadget-4, SWIFT or EAGLE; columns without them follow the convention of
// their code.
#include "io/hdf5_frame.hpp"

#include "io/frame.hpp"
#include "io/refuse.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace kith::io::hdf5 {

namespace {

std::optional<bool> flag(hid_t object, const char* name) {
    const std::optional<double> value = number(object, name);
    return value ? std::optional(*value != 0) : std::nullopt;
}

bool is_swift(const AttributeGroups& groups) {
    return text(groups.header.get(), "Code").value_or("").starts_with("SWIFT") ||
           flag(groups.cosmology.get(), "Cosmological run");
}

void read_time(SnapshotHeader& header, const AttributeGroups& groups) {
    const hid_t attributes = groups.header.get();
    const std::optional<double> scale_factor = number(attributes, "Scale-factor");
    if (is_swift(groups) && scale_factor && flag(groups.cosmology.get(), "Cosmological run").value_or(true)) {
        SnapshotHeader candidate = header;
        candidate.time = scale_factor;
        if (scale_factor_of(candidate, flag(groups.cosmology.get(), "Cosmological run"))) {
            header.time = scale_factor;
            return;
        }
    }
    header.time = number(attributes, "Time");
    if (!header.time) {
        const std::optional<double> expansion = number(attributes, "ExpansionFactor");
        header.time = expansion ? expansion : scale_factor;
        if (header.time) {
            header.warnings.emplace_back("the header has no Time; its expansion factor is taken");
        }
    }
}

struct ScalingNames {
    const char* a_power;
    const char* h_power;
    const char* to_cgs;
};
constexpr std::array<ScalingNames, 3> scaling_names = {
    {{"a_scaling", "h_scaling", "to_cgs"},
     {"a-scale exponent", "h-scale exponent", "Conversion factor to CGS (not including cosmological corrections)"},
     {"aexp-scale-exponent", "h-scale-exponent", "CGSConversionFactor"}}};

// What the dataset states, and `convention` for the rest; nothing if it states no power.
std::optional<Scaling> stated_scaling(hid_t dataset, const Scaling& convention) {
    const auto stated = [&](const char* name) {
        const std::optional<double> value = number(dataset, name);
        return value && std::isfinite(*value) ? value : std::nullopt;
    };
    for (const ScalingNames& names : scaling_names) {
        const std::optional<double> a = stated(names.a_power);
        const std::optional<double> h = stated(names.h_power);
        if (!a && !h) {
            continue;
        }
        const double unit = stated(names.to_cgs).value_or(0); // Gadget-4 writes 0 for what has no unit
        return Scaling{a.value_or(convention.a_power), h.value_or(convention.h_power),
                       unit > 0 ? std::optional(unit) : convention.to_cgs};
    }
    return std::nullopt;
}

// What the first type says of the column that says anything. One number holds for all types that are read together.
void read_scaling(const SnapshotFile& snapshot, SnapshotHeader& header, std::initializer_list<const char*> names,
                  Scaling& scaling) {
    std::optional<std::pair<std::string, Scaling>> first;
    for (std::size_t type = 0; type < header.counts.size(); ++type) {
        const std::optional<Dataset> column = header.counts[type] == 0 ? std::nullopt : snapshot.describe(type, names);
        const std::optional<Scaling> stated = column ? stated_scaling(column->id.get(), scaling) : std::nullopt;
        if (stated && !first) {
            first.emplace(column->name, *stated);
        } else if (stated && (stated->a_power != first->second.a_power || stated->h_power != first->second.h_power)) {
            header.warnings.push_back(message(column->name, " states other powers of a and h (", stated->a_power, ", ",
                                              stated->h_power, ") than ", first->first, " (", first->second.a_power,
                                              ", ", first->second.h_power, "), which are taken for all types"));
        }
    }
    scaling = first ? first->second : scaling;
}

// In the units of positions, which may be physical. Gadget-4 has a class of softening for each type, and AREPO's names
// say type for class. SWIFT has one length for dark matter, and writes its parameters as texts.
void read_softening(SnapshotHeader& header, hid_t parameters) {
    const auto at_this_time = [&](double comoving, std::optional<double> most_physical) {
        double length = comoving;
        if (header.frame) {
            const double a = header.frame->scale_factor;
            length = std::min(comoving, most_physical.value_or(comoving * a) / a) *
                     std::pow(a, 1 - header.frame->length.a_power);
        }
        return std::isfinite(length) && length > 0 ? length : 0;
    };
    for (std::size_t type = 0; type < header.softening.size(); ++type) {
        for (const char* kind : {"Class", "Type"}) {
            const auto number_of_class = number(parameters, message("Softening", kind, "OfPartType", type).c_str());
            if (!number_of_class) {
                continue;
            }
            const std::string suffix = message(kind, static_cast<std::int64_t>(*number_of_class));
            if (const auto length = number(parameters, ("SofteningComoving" + suffix).c_str())) {
                header.softening[type] =
                    at_this_time(*length, number(parameters, ("SofteningMaxPhys" + suffix).c_str()));
            }
        }
    }
    if (const auto length = number(parameters, "Gravity:comoving_DM_softening")) {
        header.softening[1] = at_this_time(*length, number(parameters, "Gravity:max_physical_DM_softening"));
    }
}

} // namespace

void read_time_and_frame(const SnapshotFile& snapshot, SnapshotHeader& header, const AttributeGroups& groups) {
    read_time(header, groups);
    std::optional<bool> says;
    for (const auto& [group, name] :
         {std::pair(&groups.parameters, "ComovingIntegrationOn"), std::pair(&groups.header, "ComovingIntegrationOn"),
          std::pair(&groups.cosmology, "Cosmological run")}) {
        says = says ? says : flag(group->get(), name);
    }
    const std::optional<double> a = scale_factor_of(header, says);
    if (!a) {
        if (says.value_or(true)) {
            warn_of_unknown_frame(header);
        }
        read_softening(header, groups.parameters.get());
        return;
    }
    Frame frame = is_swift(groups) ? swift_frame(*a) : gadget_frame(*a);
    set_units(frame, header.parameters);
    read_scaling(snapshot, header, {"Coordinates"}, frame.length);
    read_scaling(snapshot, header, {"Masses", "Mass"}, frame.mass);
    read_scaling(snapshot, header, {"Velocities", "Velocity"}, frame.velocity);
    read_scaling(snapshot, header, {"InternalEnergy", "InternalEnergies"}, frame.internal_energy);
    header.frame = frame;
    read_softening(header, groups.parameters.get());
}

} // namespace kith::io::hdf5
