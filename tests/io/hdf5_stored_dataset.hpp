// HDF5 datasets for the tests, stored in every way: layouts, filters, chunks that are left out.
#pragma once

#include "io/hdf5_files.hpp"
#include "io/lzf_encoder.hpp"

#include <cstring>
#include <span>

namespace kith::test {

inline constexpr H5Z_filter_t lzf = 32000;

/// While it lives, the library of the test writes with this filter.
class WritingFilter {
public:
    using Encode = std::size_t (*)(unsigned flags, std::size_t parameter_count, const unsigned parameters[],
                                   std::size_t bytes, std::size_t* buffer_bytes, void** buffer);
    WritingFilter(H5Z_filter_t id, Encode encode) : id_(id) {
        const H5Z_class2_t made = {H5Z_CLASS_T_VERS, id, 1, 0, "of the test", nullptr, nullptr, encode};
        EXPECT_GE(H5Zregister(&made), 0);
    }
    WritingFilter(const WritingFilter&) = delete;
    WritingFilter& operator=(const WritingFilter&) = delete;
    ~WritingFilter() { H5Zunregister(id_); }

private:
    H5Z_filter_t id_;
};

/// Compresses as h5py does: chunks that would not shrink are stored as they are.
inline std::size_t apply_lzf(unsigned, std::size_t, const unsigned*, std::size_t bytes, std::size_t*, void** buffer) {
    const std::vector<std::byte> stream = encode_lzf({static_cast<const std::byte*>(*buffer), bytes});
    if (stream.size() >= bytes) {
        return 0;
    }
    std::memcpy(*buffer, stream.data(), stream.size());
    return stream.size();
}

struct StoredDataset {
    std::string name;
    hid_t type = H5T_IEEE_F64LE;
    std::vector<hsize_t> lengths;
    std::vector<hsize_t> chunk; ///< empty: in one piece
    bool is_extendible = false;
    bool shuffle = false;
    bool deflate = false;
    bool lzf = false;
    bool fletcher32 = false;
    std::vector<bool> is_missing = {}; ///< of each chunk, along the last axis first; empty: none

    /// Writes `values` without the missing chunks.
    void write(hid_t file, const std::vector<double>& values) const;
};

inline void StoredDataset::write(hid_t file, const std::vector<double>& values) const {
    const int rank = static_cast<int>(lengths.size());
    const std::vector<hsize_t> unlimited(lengths.size(), H5S_UNLIMITED);
    const hid_t space = H5Screate_simple(rank, lengths.data(), is_extendible ? unlimited.data() : nullptr);
    const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
    if (!chunk.empty()) {
        H5Pset_chunk(creation, rank, chunk.data());
        std::size_t bytes = H5Tget_size(type);
        for (const hsize_t length : chunk) {
            bytes *= length;
        }
        if (shuffle) {
            H5Pset_shuffle(creation);
        }
        if (deflate) {
            H5Pset_deflate(creation, 4);
        }
        if (lzf) {
            const unsigned parameters[3] = {4, 0x0105, static_cast<unsigned>(bytes)};
            H5Pset_filter(creation, test::lzf, H5Z_FLAG_OPTIONAL, 3, parameters);
        }
        if (fletcher32) {
            H5Pset_fletcher32(creation);
        }
    }
    const hid_t made = H5Dcreate2(file, name.c_str(), type, space, H5P_DEFAULT, creation, H5P_DEFAULT);
    EXPECT_GE(made, 0) << name;
    if (chunk.empty()) {
        EXPECT_GE(H5Dwrite(made, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0) << name;
    }
    // Chunk by chunk, as far as the dataset goes; the same place of the same shape in memory and in the file.
    std::vector<hsize_t> begin(chunk.size(), 0);
    for (std::size_t i = 0; !chunk.empty() && begin[0] < lengths[0]; ++i) {
        std::vector<hsize_t> count(chunk);
        for (std::size_t axis = 0; axis < chunk.size(); ++axis) {
            count[axis] = std::min(chunk[axis], lengths[axis] - begin[axis]);
        }
        if (is_missing.empty() || !is_missing[i]) {
            H5Sselect_hyperslab(space, H5S_SELECT_SET, begin.data(), nullptr, count.data(), nullptr);
            EXPECT_GE(H5Dwrite(made, H5T_NATIVE_DOUBLE, space, space, H5P_DEFAULT, values.data()), 0) << name;
        }
        for (std::size_t axis = chunk.size(); axis-- > 0;) {
            begin[axis] += chunk[axis];
            if (begin[axis] < lengths[axis] || axis == 0) {
                break;
            }
            begin[axis] = 0;
        }
    }
    H5Dclose(made);
    H5Pclose(creation);
    H5Sclose(space);
}

} // namespace kith::test
