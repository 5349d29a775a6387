// The filters of HDF5 datasets: those that can be undone, and what to do about the others.
//
// The library itself has gzip, shuffle, fletcher32, n-bit, scale-offset and, in some builds, szip. LZF, which h5py
// offers, is decoded by kith (lzf.hpp). Everything else is a plugin: the library looks for it in the folders of
// HDF5_PLUGIN_PATH, and where there is none its message names a folder, neither the filter nor a remedy.
#pragma once

#include "io/hdf5_handle.hpp"

#include <string_view>

namespace kith::io::hdf5 {

inline constexpr H5Z_filter_t lzf_filter = 32000; // as registered with the HDF Group

/// Throws Error(file), naming filter and remedy, for a dataset whose chunks cannot be decoded. Makes LZF known to the
/// library if the dataset needs it and nobody else has.
void require_filters(const PropertyList& creation, std::size_t item_bytes, std::string_view name,
                     std::string_view file_name);

} // namespace kith::io::hdf5
