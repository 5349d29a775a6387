#include "io/frame.hpp"

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

void name_as_gadget_does(std::map<std::string, double>& parameters) {
    constexpr std::array<std::pair<const char*, const char*>, 6> names = {
        {{"Omega_m", "Omega0"},
         {"Omega_lambda", "OmegaLambda"},
         {"Omega_b", "OmegaBaryon"},
         {"h", "HubbleParam"},
         {"Unit length in cgs (U_L)", "UnitLength_in_cm"},
         {"Unit mass in cgs (U_M)", "UnitMass_in_g"}}};
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
}

} // namespace kith::io
