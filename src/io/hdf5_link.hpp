// Links that lead nowhere.
//
// A name in an HDF5 file may be a link to another path (soft) or to an object of another file (external). The library
// says of one whose target is gone what it says of a name that is not there at all; a snapshot whose particles are
// linked would then hold none, or lose its masses, without a word.
#pragma once

#include <hdf5.h>

#include <string>

namespace kith::io::hdf5 {

/// If `path`, relative to `place`, or a group on the way to it is a link whose target is missing: "PartType1 is a link
/// to /PartType1 of gone.hdf5, which is missing; ..." with the remedy. Empty if everything up to the last name is
/// there, or if a name is missing that is no link.
[[nodiscard]] std::string describe_dangling(hid_t place, const std::string& path);

} // namespace kith::io::hdf5
