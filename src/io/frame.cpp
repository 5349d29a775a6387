#include "io/frame.hpp"

#include "io/refuse.hpp"

#include <array>
#include <cmath>
#include <utility>

namespace kith::io {

namespace {

std::optional<double> unit(const std::map<std::string, double>& parameters, const char* name) {
    const std::optional<double> value = value_of(parameters, name);
    return value && std::isfinite(*value) && *value > 0 ? value : std::nullopt;
}

} // namespace

std::optional<double> value_of(const std::map<std::string, double>& parameters, const char* name) {
    const auto found = parameters.find(name);
    return found == parameters.end() ? std::nullopt : std::optional(found->second);
}

std::optional<double> scale_factor_of(const SnapshotHeader& header, std::optional<bool> says) {
    const double a = header.time.value_or(0);
    if (!says.value_or(true) || !std::isfinite(a) || a <= 0) {
        return std::nullopt;
    }
    if (!says) {
        constexpr double tolerance = 1e-6;
        const bool agree = header.redshift && std::abs(a * (1 + *header.redshift) - 1) < tolerance;
        const bool has_cosmology = value_of(header.parameters, "Omega0").value_or(0) > 0 &&
                                   value_of(header.parameters, "HubbleParam").value_or(0) > 0;
        if (!agree || !has_cosmology) {
            return std::nullopt;
        }
    }
    return a;
}

void warn_of_unknown_frame(SnapshotHeader& header) {
    constexpr double tolerance = 1e-6; // at redshift 0 comoving numbers are physical ones
    const double redshift = header.redshift.value_or(0);
    if (header.frame || !std::isfinite(redshift) || std::abs(redshift) <= tolerance) {
        return;
    }
    const double time = header.time.value_or(0);
    const bool agree = std::abs(time * (1 + redshift) - 1) < tolerance;
    header.warnings.push_back(
        message("the redshift is ", redshift,
                !header.time ? std::string(", but there is no scale factor")
                : agree      ? std::string(", but there is no cosmology: Omega0 and HubbleParam are not both above 0")
                             : message(", but the time, ", time, ", is not the scale factor 1/(1 + redshift)"),
                "; positions, velocities and masses are taken as stored, with no factors of a and h"));
}

void name_as_gadget_does(std::map<std::string, double>& parameters) {
    constexpr std::array<std::pair<const char*, const char*>, 12> names = {
        {{"Omega_m", "Omega0"},
         {"Omega_lambda", "OmegaLambda"},
         {"Omega_b", "OmegaBaryon"},
         {"h", "HubbleParam"},
         {"Unit length in cgs (U_L)", "UnitLength_in_cm"},
         {"Unit mass in cgs (U_M)", "UnitMass_in_g"},
         {"Omega_Matter", "Omega0"},
         {"Omega_Lambda", "OmegaLambda"},
         {"Omega_Baryon", "OmegaBaryon"},
         {"UnitLength_In_CGS", "UnitLength_in_cm"},
         {"UnitMass_In_CGS", "UnitMass_in_g"},
         {"UnitVelocity_In_CGS", "UnitVelocity_in_cm_per_s"}}};
    for (const auto& [found, name] : names) {
        if (const std::optional<double> value = value_of(parameters, found)) {
            parameters.emplace(name, *value);
        }
    }
    const std::optional<double> length = unit(parameters, "Unit length in cgs (U_L)");
    const std::optional<double> time = unit(parameters, "Unit time in cgs (U_t)");
    if (length && time) {
        parameters.emplace("UnitVelocity_in_cm_per_s", *length / *time);
    }
}

void set_units(Frame& frame, const std::map<std::string, double>& parameters) {
    frame.length.to_cgs = unit(parameters, "UnitLength_in_cm");
    frame.mass.to_cgs = unit(parameters, "UnitMass_in_g");
    frame.velocity.to_cgs = unit(parameters, "UnitVelocity_in_cm_per_s");
    if (const std::optional<double>& velocity = frame.velocity.to_cgs) {
        frame.internal_energy.to_cgs = *velocity * *velocity;
    }
}

} // namespace kith::io
