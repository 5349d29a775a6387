// Looking up and registering filters (see hdf5_filters.hpp).
#include "io/hdf5_filters.hpp"

#include "io/lzf.hpp"
#include "io/refuse.hpp"

#include <algorithm>
#include <array>
#include <span>

namespace kith::io::hdf5 {

namespace {

struct FilterName {
    H5Z_filter_t id;
    std::string_view name;
};

// Numbers and names as registered with the HDF Group.
constexpr std::array filter_names = {FilterName{H5Z_FILTER_SZIP, "szip"},
                                     FilterName{305, "LZO"},
                                     FilterName{307, "bzip2"},
                                     FilterName{lzf_filter, "LZF"},
                                     FilterName{32001, "Blosc"},
                                     FilterName{32004, "LZ4"},
                                     FilterName{32008, "bitshuffle"},
                                     FilterName{32013, "ZFP"},
                                     FilterName{32014, "fpzip"},
                                     FilterName{32015, "Zstandard"},
                                     FilterName{32017, "SZ"},
                                     FilterName{32018, "FCIDECOMP"},
                                     FilterName{32024, "SZ3"},
                                     FilterName{32026, "Blosc2"}};

struct Filter {
    H5Z_filter_t id = 0;
    std::array<unsigned, 3> parameters{};
    std::size_t parameter_count = 0;
    std::array<char, 80> stored_name{};

    [[nodiscard]] std::string_view name() const {
        const auto* const known = std::find_if(filter_names.begin(), filter_names.end(),
                                               [this](const FilterName& each) { return each.id == id; });
        return known != filter_names.end() ? known->name : std::string_view(stored_name.data());
    }
};

Filter filter_of(const PropertyList& creation, unsigned place) {
    Filter filter;
    unsigned flags = 0;
    filter.parameter_count = filter.parameters.size();
    filter.id = H5Pget_filter2(creation.get(), place, &flags, &filter.parameter_count, filter.parameters.data(),
                               filter.stored_name.size() - 1, filter.stored_name.data(), nullptr);
    return filter;
}

bool can_decode(H5Z_filter_t filter) {
    unsigned can = 0;
    const bool known = H5Zfilter_avail(filter) > 0 && H5Zget_filter_info(filter, &can) >= 0;
    H5Eclear2(H5E_DEFAULT);
    return known && (can & H5Z_FILTER_CONFIG_DECODE_ENABLED) != 0;
}

// What the library calls for a chunk; 0 is failure. A chunk that decodes to less than the library expects is refused,
// because the library reads as many bytes as a chunk has.
std::size_t apply_lzf(unsigned flags, std::size_t parameter_count, const unsigned parameters[], std::size_t bytes,
                      std::size_t* buffer_bytes, void** buffer) {
    const std::span<const std::byte> stream(static_cast<const std::byte*>(*buffer), bytes);
    const std::optional<std::size_t> decoded =
        (flags & H5Z_FLAG_REVERSE) != 0 && parameter_count > 2 ? lzf_decoded_bytes(stream) : std::nullopt;
    if (!decoded || *decoded < parameters[2]) {
        return 0;
    }
    void* const out = H5allocate_memory(*decoded, false);
    if (out == nullptr || !decode_lzf(stream, {static_cast<std::byte*>(out), *decoded})) {
        H5free_memory(out);
        return 0;
    }
    H5free_memory(*buffer);
    *buffer = out;
    *buffer_bytes = *decoded;
    return *decoded;
}

// A registered filter replaces one of the same number, and h5py's can also encode: where it shares the library, it
// stays.
void know_lzf() {
    static constexpr H5Z_class2_t lzf = {H5Z_CLASS_T_VERS,        lzf_filter, 0,       1,
                                         "lzf (decoder of kith)", nullptr,    nullptr, apply_lzf};
    if (!can_decode(lzf_filter)) {
        H5Zregister(&lzf);
    }
}

// The chunk's size is the third parameter, on which apply_lzf relies. The other filters must keep sizes.
void require_sound_lzf(const PropertyList& creation, const Filter& lzf, std::size_t item_bytes, std::string_view name,
                       std::string_view file_name) {
    for (int i = 0; i < H5Pget_nfilters(creation.get()); ++i) {
        const Filter other = filter_of(creation, static_cast<unsigned>(i));
        if (other.id != lzf_filter && other.id != H5Z_FILTER_SHUFFLE && other.id != H5Z_FILTER_FLETCHER32) {
            refuse(file_name, "dataset ", name, " is compressed with LZF and filtered with ", other.name(),
                   " (HDF5 filter ", other.id,
                   "); LZF is read alone, with shuffle or with fletcher32: rewrite the "
                   "dataset with gzip");
        }
    }
    std::array<hsize_t, H5S_MAX_RANK> lengths{};
    const int rank = H5Pget_chunk(creation.get(), H5S_MAX_RANK, lengths.data());
    hsize_t bytes = item_bytes;
    for (int axis = 0; axis < rank; ++axis) {
        bytes *= lengths.at(static_cast<std::size_t>(axis));
    }
    if (lzf.parameter_count < 3 || lzf.parameters[2] != bytes) {
        refuse(file_name, "dataset ", name, " is compressed with LZF in chunks of ", bytes, " bytes, but the filter ",
               lzf.parameter_count < 3 ? "states no size" : message("states ", lzf.parameters[2]),
               "; the file is damaged, or rewrite the dataset with gzip");
    }
}

} // namespace

void require_filters(const PropertyList& creation, std::size_t item_bytes, std::string_view name,
                     std::string_view file_name) {
    for (int i = 0; i < H5Pget_nfilters(creation.get()); ++i) {
        const Filter filter = filter_of(creation, static_cast<unsigned>(i));
        if (filter.id == lzf_filter) {
            know_lzf();
            require_sound_lzf(creation, filter, item_bytes, name, file_name);
        }
        if (!can_decode(filter.id)) {
            refuse(
                file_name, "dataset ", name, " is compressed with ", filter.name(), " (HDF5 filter ", filter.id,
                "), which this HDF5 library does not have; name the folder of its plugin in the environment variable "
                "HDF5_PLUGIN_PATH (the Python package hdf5plugin has the usual ones in hdf5plugin.PLUGIN_PATH), or "
                "rewrite the file with gzip, where it can be read: h5repack -f GZIP=4 old.hdf5 new.hdf5");
        }
    }
}

} // namespace kith::io::hdf5
