// Snapshots whose datasets are virtual: values that lie in other files.
#pragma once

#include "io/hdf5_snapshot.hpp"

#include <vector>

namespace kith::io::hdf5 {

/// The parts of other files of which the virtual Coordinates of a snapshot are made, by type, then row; nothing if it
/// has values of its own. Throws Error(unsupported) where the parts are not whole datasets one after the other, and
/// where some types are virtual and others are not.
[[nodiscard]] std::vector<MappedPart> mapped_parts(const SnapshotFile& snapshot);

} // namespace kith::io::hdf5
