// .npy files: a header, then the caller's values as they lie in memory. No copy is made.
#include "io/npy_format.hpp"
#include "io/output_file.hpp"

#include <kith/io.hpp>

#include <type_traits>

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

} // namespace kith::io
