// .npy files: a header, then the caller's values as they lie in memory, of which no copy is made, or as a source makes
// them.
#include "io/npy_format.hpp"
#include "io/output_file.hpp"

#include <kith/density_file.hpp>
#include <kith/io.hpp>

#include <algorithm>
#include <type_traits>
#include <utility>
#include <vector>

namespace kith::io {

namespace {

template <class T>
void write_array(const std::filesystem::path& path, std::span<const T> values, std::int64_t columns) {
    const std::int64_t rows = npy_rows(values.size(), columns);
    OutputFile file(path);
    file.write(make_npy_header(std::is_floating_point_v<T> ? 'f' : 'i', sizeof(T), rows, columns));
    file.write(std::as_bytes(values));
    file.commit();
}

} // namespace

void write_npy(const std::filesystem::path& path, std::span<const std::int32_t> values, std::int64_t columns) {
    write_array(path, values, columns);
}
void write_npy(const std::filesystem::path& path, std::span<const std::int64_t> values, std::int64_t columns) {
    write_array(path, values, columns);
}
void write_npy(const std::filesystem::path& path, std::span<const float> values, std::int64_t columns) {
    write_array(path, values, columns);
}
void write_npy(const std::filesystem::path& path, std::span<const double> values, std::int64_t columns) {
    write_array(path, values, columns);
}

void stream_density_npy(const std::filesystem::path& path, const DensitySource& densities) {
    constexpr std::int64_t most = 1 << 16;
    OutputFile file(path);
    file.write(make_npy_header('f', sizeof(double), densities.rows, 0));
    std::vector<double> block;
    for (std::int64_t left = densities.rows; left > 0; left -= std::ssize(block)) {
        block.resize(static_cast<std::size_t>(std::min(most, left)));
        densities.next(std::as_writable_bytes(std::span(block)));
        file.write(std::as_bytes(std::span(std::as_const(block))));
    }
    file.commit();
}

} // namespace kith::io
