// Gravity, expansion and softening in the units of a snapshot, as far as its header states them.
//
// G and H follow from the units of length, mass and velocity, the powers of a and h of each (Frame), and the cosmology:
// H = H_0 E(a), E^2 = Omega_0/a^3 + Omega_r/a^4 + Omega_k/a^2 + Omega_Lambda a^(-3(1 + w0 + wa)) exp(-3 wa (1 - a)).
// G is CODATA's, units are those of the file in cgs, a parsec is the IAU's.
#pragma once

#include <kith/cosmology.hpp>
#include <kith/io.hpp>

#include <optional>
#include <string>

namespace kith::io {

/// For positions and masses as stored and for velocities as stored times velocity_factor. What the file does not state
/// has the value for a static universe with G = 1, and a text says what is missing, such as "the unit of mass
/// (UnitMass_in_g)"; empty: nothing is.
struct SnapshotUniverse {
    Universe universe;          ///< its scale factor turns the file's lengths into physical ones
    double velocity_factor = 1; ///< stored velocities times this are peculiar, in the file's unit of velocity
    double energy_factor = 1;   ///< stored internal energies times this are in that unit squared
    std::string no_gravity;
    std::string no_hubble;
    std::string no_omega_matter;
};

[[nodiscard]] SnapshotUniverse universe_of(const SnapshotHeader& header);

/// The largest softening that the header states for the types of the particles, Plummer equivalent; nothing if it
/// states none.
[[nodiscard]] std::optional<double> softening_of(const Snapshot& snapshot);

} // namespace kith::io
