// The box of a run, of which the BoxSize of its files may be only the unit.
#pragma once

#include "io/hdf5_handle.hpp"

#include <array>
#include <span>
#include <string>
#include <vector>

namespace kith::io::hdf5 {

enum class RunCode { gadget4, arepo, swift, other };

/// The code that wrote a snapshot or catalog, as far as its attributes tell.
[[nodiscard]] RunCode code_of(hid_t file);

struct RunBox {
    std::array<double, 3> periods{}; ///< 0: open
    std::string fault;               ///< an option without meaning, and why; the periods are then not those of the run
    std::vector<std::string> warnings; ///< one line each, for axes that are open although there is a BoxSize
};

/// What the options of the run, in /Config and /Parameters, make of BoxSize: one number for all axes, or one for each.
[[nodiscard]] RunBox box_of_run(hid_t file, std::span<const double> box_size);

} // namespace kith::io::hdf5
