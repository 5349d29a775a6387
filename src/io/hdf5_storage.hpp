// Whether a dataset's values are all in the file.
//
// HDF5 makes a dataset before its values are written, and reads those that never were as the fill value, without a
// word: zeros, which are points at the origin. A writer that stops half way leaves such datasets, as a whole or, if
// they are stored in chunks, in part. Chunks are counted; only where one is missing they are looked at one by one. The
// library can count them since 1.10.5; before, only in datasets without filters, by the bytes that they take. What
// cannot be seen: rows that were never written within a chunk, and chunks that were allocated when the dataset was
// made.
#pragma once

#include "io/hdf5_handle.hpp"

#include <cstdint>
#include <string_view>

namespace kith::io::hdf5 {

/// Throws Error(file) for a dataset some of whose chunks were never written, naming the first missing rows. One without
/// any, and one that is not stored in chunks, passes.
void require_all_chunks(hid_t dataset, const PropertyList& creation, std::string_view name, std::string_view file_name);

/// Throws Error(file) for a dataset whose values were never written or are not all in the file, or whose filters cannot
/// be undone; Error(unsupported) for virtual datasets.
void require_values(const Dataset& dataset);

} // namespace kith::io::hdf5
