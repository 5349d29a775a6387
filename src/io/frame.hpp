// Which snapshots are known to be of cosmological runs, and what Gadget calls their cosmology and units.
#pragma once

#include <kith/io.hpp>

#include <optional>

namespace kith::io {

/// The parameter of that name, if there is one.
[[nodiscard]] std::optional<double> value_of(const std::map<std::string, double>& parameters, const char* name);

/// The scale factor, which is the time of a cosmological snapshot; nothing if it is not known to be one. What the file
/// `says` decides. If it says nothing, time and redshift must agree to 1e-6 and Omega0 and HubbleParam be positive.
[[nodiscard]] std::optional<double> scale_factor_of(const SnapshotHeader& header, std::optional<bool> says = {});

/// Warns of a redshift that lets a cosmological run be expected where `frame` is absent. Not for files that state that
/// their run is none.
void warn_of_unknown_frame(SnapshotHeader& header);

/// Puts what SWIFT and GIZMO state under Gadget's names in addition, unless these are taken.
void name_as_gadget_does(std::map<std::string, double>& parameters);

/// Sets to_cgs from UnitLength_in_cm, UnitMass_in_g and UnitVelocity_in_cm_per_s.
void set_units(Frame& frame, const std::map<std::string, double>& parameters);

} // namespace kith::io
