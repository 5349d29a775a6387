// Files of results in HDF5, recognized where they are opened as something else.
#pragma once

#include <kith/io.hpp>

#include <hdf5.h>

#include <optional>
#include <string>

namespace kith::io::hdf5 {

/// What kith wrote into this open file; nothing if it did not, or if it is a catalog or snapshot.
[[nodiscard]] std::optional<ResultFile> describe_result_in(hid_t file, const std::string& file_name);

} // namespace kith::io::hdf5
