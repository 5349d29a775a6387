// Labels as text; as .npy they are an array like others (npy_writer.cpp), as HDF5 in hdf5_neighbors.cpp.
#include "io/number_lines.hpp"
#include "io/output_file.hpp"

#include <kith/io.hpp>

namespace kith::io {

void write_labels_text(const std::filesystem::path& path, std::span<const std::int32_t> labels) {
    OutputFile file(path);
    write_number_lines(file, "", labels, 0);
    file.commit();
}

} // namespace kith::io
