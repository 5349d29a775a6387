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
#include <vector>

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

/// The mean separation of particles in the universe, not in the volume that a snapshot happens to have of it.
struct MatterSeparation {
    double length = 0;              ///< (m/rho)^(1/3) in the file's unit of length; 0 if it is not known
    std::string not_known;          ///< what the file does not state, as in SnapshotUniverse; empty: nothing is missing
    bool is_of_dark_matter = false; ///< rho is the mean density of dark matter, else of all matter
};

/// For particles of these types and that mean mass, as stored. rho leaves baryons out if the snapshot has gas or stars
/// (types 0, 4 and 5) but these particles are none. `types` is empty for files without types.
[[nodiscard]] MatterSeparation matter_separation(const SnapshotHeader& header, const std::vector<int>& types,
                                                 double mean_mass);

} // namespace kith::io
