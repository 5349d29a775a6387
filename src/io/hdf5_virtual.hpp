// Snapshots whose datasets are virtual: values that lie in other files.
#pragma once

#include "io/hdf5_snapshot.hpp"

#include <vector>

namespace kith::io::hdf5 {

/// The parts of other files of which the virtual datasets of a snapshot are made, by type, then row; nothing if it has
/// values of its own. Throws Error(unsupported) where the parts are not whole datasets one after the other, or not the
/// same in each column of a type, and where some datasets are virtual and others are not.
[[nodiscard]] std::vector<MappedPart> mapped_parts(const SnapshotFile& snapshot);

/// Whether the values of a dataset lie in others.
[[nodiscard]] bool is_virtual(const Dataset& dataset);

/// The datasets of which a virtual one is made, whole and one after the other, open for reading. Throws
/// Error(unsupported) for other mappings, and Error(file) where they are missing.
[[nodiscard]] std::vector<Dataset> mapped_datasets(const Dataset& dataset);

} // namespace kith::io::hdf5
