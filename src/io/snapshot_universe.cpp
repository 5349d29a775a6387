// Universe of a snapshot. With U_L, U_M and U_V the units of length, mass and velocity, G = G_cgs U_M/(U_L U_V^2) and
// H = H_cgs U_L/U_V suit lengths that are multiplied by a^p, p their power of a. So that is the scale factor of the
// result.
#include <kith/snapshot_universe.hpp>

#include "io/frame.hpp"
#include "io/refuse.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string_view>

namespace kith::io {

namespace {

constexpr double cm_per_m = 100;
constexpr double g_per_kg = 1000;

/// What is missing, in the order found.
class Missing {
public:
    template <class Value>
    Value take(const std::optional<Value>& value, std::string_view name, Value otherwise) {
        if (!value && text_.find(name) == std::string::npos) {
            text_ += message(text_.empty() ? "" : ", ", name);
        }
        return value.value_or(otherwise);
    }
    [[nodiscard]] const std::string& text() const { return text_; }

private:
    std::string text_;
};

std::optional<double> positive(const std::map<std::string, double>& parameters, const char* name) {
    const std::optional<double> value = value_of(parameters, name);
    return value && std::isfinite(*value) && *value > 0 ? value : std::nullopt;
}

double unit_of_length(const Frame& frame, Missing& missing) {
    return missing.take(frame.length.to_cgs, "the unit of length (UnitLength_in_cm)", 1.0);
}
double unit_of_velocity(const Frame& frame, Missing& missing) {
    return missing.take(frame.velocity.to_cgs, "the unit of velocity (UnitVelocity_in_cm_per_s)", 1.0);
}

/// h to the power that is left: in Gadget's convention it cancels in both G and H.
double power_of_h(double power, const SnapshotHeader& header, Missing& missing) {
    const auto h = power == 0 ? std::optional(1.0) : positive(header.parameters, "HubbleParam");
    return std::pow(missing.take(h, "HubbleParam", 1.0), power);
}

double gravity_of(const Frame& frame, const SnapshotHeader& header, Missing& missing) {
    constexpr double in_cgs = constants::gravitational_constant * (cm_per_m * cm_per_m * cm_per_m) / g_per_kg;
    const double mass = missing.take(frame.mass.to_cgs, "the unit of mass (UnitMass_in_g)", 1.0) *
                        std::pow(frame.scale_factor, frame.mass.a_power);
    const double length = unit_of_length(frame, missing);
    const double velocity = unit_of_velocity(frame, missing);
    const double h =
        power_of_h(frame.mass.h_power - frame.length.h_power - 2 * frame.velocity.h_power, header, missing);
    return in_cgs * mass * h / (length * velocity * velocity);
}

/// E^2 and the share of matter in it.
struct Expansion {
    double rate_squared;
    double matter;
};

Expansion expansion_of(double a, double omega_matter, const std::map<std::string, double>& parameters) {
    const double radiation = value_of(parameters, "Omega_r").value_or(0);
    const double lambda = value_of(parameters, "OmegaLambda").value_or(0);
    const double w0 = value_of(parameters, "w_0").value_or(-1);
    const double wa = value_of(parameters, "w_a").value_or(0);
    const double curvature = 1 - omega_matter - radiation - lambda;
    const double matter = omega_matter / (a * a * a);
    const double dark_energy = lambda * std::pow(a, -3 * (1 + w0 + wa)) * std::exp(-3 * wa * (1 - a));
    return {matter + radiation / (a * a * a * a) + curvature / (a * a) + dark_energy, matter};
}

double hubble_of(const Frame& frame, const Expansion& expansion, const SnapshotHeader& header, Missing& missing) {
    constexpr double per_second = 1e7 / (1e8 * constants::parsec); // 100 km/s/Mpc, in cm
    const double length = unit_of_length(frame, missing);
    const double velocity = unit_of_velocity(frame, missing);
    const double h = power_of_h(1 + frame.length.h_power - frame.velocity.h_power, header, missing);
    return per_second * h * std::sqrt(expansion.rate_squared) * length / velocity;
}

/// Velocities keep their power of h, which energies therefore have twice. Where the file does not state both units,
/// they are taken as consistent.
double energy_factor_of(const Frame& frame, const SnapshotHeader& header) {
    const Scaling& energy = frame.internal_energy;
    const Scaling& velocity = frame.velocity;
    Missing missing;
    const double h = power_of_h(energy.h_power - 2 * velocity.h_power, header, missing);
    const double unit = energy.to_cgs && velocity.to_cgs ? *energy.to_cgs / (*velocity.to_cgs * *velocity.to_cgs) : 1;
    return std::pow(frame.scale_factor, energy.a_power) * h * unit;
}

/// Of a file that is not known to be cosmological: its units, at the time they hold.
Frame static_frame(const SnapshotHeader& header) {
    Frame frame;
    set_units(frame, header.parameters);
    return frame;
}

} // namespace

SnapshotUniverse universe_of(const SnapshotHeader& header) {
    SnapshotUniverse found;
    const Frame frame = header.frame.value_or(static_frame(header));
    found.universe.scale_factor = std::pow(frame.scale_factor, frame.length.a_power);
    found.velocity_factor = std::pow(frame.scale_factor, frame.velocity.a_power);
    found.energy_factor = energy_factor_of(frame, header);

    Missing of_gravity;
    const double gravity = gravity_of(frame, header, of_gravity);
    found.no_gravity = of_gravity.text();
    found.universe.gravity = found.no_gravity.empty() ? gravity : 1;

    Missing of_hubble;
    Missing of_matter;
    const std::optional<double> omega = positive(header.parameters, "Omega0");
    of_hubble.take(header.frame, "the scale factor of a cosmological run", frame);
    const double matter = of_hubble.take(omega, "Omega0", 1.0);
    const Expansion expansion = expansion_of(frame.scale_factor, matter, header.parameters);
    const double hubble = hubble_of(frame, expansion, header, of_hubble);
    found.no_hubble = of_hubble.text();
    found.universe.hubble = found.no_hubble.empty() ? hubble : 0;

    of_matter.take(header.frame, "the scale factor of a cosmological run", frame);
    of_matter.take(omega, "Omega0", 1.0);
    found.no_omega_matter = of_matter.text();
    found.universe.omega_matter = found.no_omega_matter.empty() ? expansion.matter / expansion.rate_squared : 0;
    return found;
}

std::optional<double> softening_of(const Snapshot& snapshot) {
    const std::array<double, max_types>& of_types = snapshot.header.softening;
    double largest = 0;
    for (const std::uint8_t type : snapshot.types) {
        largest = std::max(largest, of_types[type]);
    }
    return largest > 0 ? std::optional(largest) : std::nullopt;
}

MatterSeparation matter_separation(const SnapshotHeader& header, const std::vector<int>& types, double mean_mass) {
    constexpr std::array<int, 3> of_baryons = {0, 4, 5};
    MatterSeparation found;
    const SnapshotUniverse stated = universe_of(header);
    Missing missing;
    for (const std::string* const text : {&stated.no_gravity, &stated.no_hubble, &stated.no_omega_matter}) {
        for (std::size_t from = 0; from < text->size();) { // names that several of them list are taken once
            const std::size_t end = std::min(text->find(", ", from), text->size());
            missing.take<bool>(std::nullopt, std::string_view(*text).substr(from, end - from), true);
            from = end + 2;
        }
    }
    const auto is_present = [&](int type) { return header.counts[type] > 0; };
    const auto is_linked = [&](int type) { return std::find(types.begin(), types.end(), type) != types.end(); };
    found.is_of_dark_matter = !types.empty() && std::any_of(of_baryons.begin(), of_baryons.end(), is_present) &&
                              std::none_of(of_baryons.begin(), of_baryons.end(), is_linked);
    double share = 1;
    if (found.is_of_dark_matter) {
        const double baryons = missing.take(value_of(header.parameters, "OmegaBaryon"), "OmegaBaryon", 0.0);
        share -= baryons / value_of(header.parameters, "Omega0").value_or(1);
    }
    found.not_known = missing.text();
    const double density = share * stated.universe.omega_matter * critical_density(stated.universe);
    if (found.not_known.empty() && density > 0) {
        found.length = std::cbrt(mean_mass / density);
    }
    return found;
}

} // namespace kith::io
