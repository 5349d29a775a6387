// Files of sums over neighbors whose numbers are made while they are written, such as those of several ranks. Part of
// kith::io.
#pragma once

#include <kith/io.hpp>
#include <kith/sum_neighbors.hpp>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace kith::io {

/// The columns of such a file, which it has with no rows, too.
struct DensitySource {
    struct Field {
        std::string name;
        FieldStatistics statistics;
    };
    std::int64_t rows = 0;
    std::int64_t dimension = 0; ///< numbers per row of a gradient
    bool reach = false;
    bool counts = false;
    bool density_gradient = false;
    std::vector<Field> fields = {};
    /// All of `density`, then of the columns above in their order, and of each field the statistics in their order:
    /// float64, `counts` int64.
    BlockSource next = {};
};

/// The files of write_densities_npz() and write_densities_hdf5(), byte for byte; or the density alone, as a NumPy
/// array.
/// Throws Error(file).
void stream_densities_npz(const std::filesystem::path& path, const DensitySource& densities,
                          const Provenance& provenance);
void stream_densities_hdf5(const std::filesystem::path& path, const DensitySource& densities,
                           const Provenance& provenance);
void stream_density_npy(const std::filesystem::path& path, const DensitySource& densities);

} // namespace kith::io
