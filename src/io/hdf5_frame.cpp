// Time and frame of an HDF5 snapshot.
//
// Gadget's and AREPO's Time is the scale factor of a cosmological run. SWIFT's is a physical time, and the scale factor
// stands beside it. Whether the run is cosmological is stated by ComovingIntegrationOn (Gadget-4, AREPO, GIZMO) or
// "Cosmological run" (SWIFT), or follows from time and redshift. The powers of a and h are those that the columns state
// in their own attributes, under the names of Gadget-4, SWIFT or EAGLE; columns without them follow the convention of
// their code.
#include "io/hdf5_frame.hpp"

#include "io/frame.hpp"

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

std::optional<Scaling> stated_scaling(hid_t dataset) {
    for (const ScalingNames& names : scaling_names) {
        const std::optional<double> a = number(dataset, names.a_power);
        const std::optional<double> h = number(dataset, names.h_power);
        if (!a || !h || !std::isfinite(*a) || !std::isfinite(*h)) {
            continue;
        }
        Scaling scaling{*a, *h, number(dataset, names.to_cgs)};
        if (!(scaling.to_cgs.value_or(0) > 0)) { // Gadget-4 writes 0 for what has no unit
            scaling.to_cgs.reset();
        }
        return scaling;
    }
    return std::nullopt;
}

// What the first type that has the column says of it, if that type says anything.
void read_scaling(const SnapshotFile& snapshot, const SnapshotHeader& header, std::initializer_list<const char*> names,
                  Scaling& scaling) {
    for (std::size_t type = 0; type < header.counts.size(); ++type) {
        const std::optional<Dataset> column = header.counts[type] == 0 ? std::nullopt : snapshot.find(type, names);
        if (!column) {
            continue;
        }
        if (const std::optional<Scaling> stated = stated_scaling(column->id.get())) {
            const std::optional<double> unit = scaling.to_cgs;
            scaling = *stated;
            scaling.to_cgs = scaling.to_cgs ? scaling.to_cgs : unit;
        }
        return;
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
        return;
    }
    Frame frame = is_swift(groups) ? swift_frame(*a) : gadget_frame(*a);
    set_units(frame, header.parameters);
    read_scaling(snapshot, header, {"Coordinates"}, frame.length);
    read_scaling(snapshot, header, {"Masses", "Mass"}, frame.mass);
    read_scaling(snapshot, header, {"Velocities", "Velocity"}, frame.velocity);
    header.frame = frame;
}

} // namespace kith::io::hdf5
