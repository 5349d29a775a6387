// NumPy's .npy files, as much of the format as the benchmarks exchange: little-endian, row-major, one or two axes.
// Format: NEP 1, versions 1 and 2.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace bench {

static_assert(std::endian::native == std::endian::little, "the .npy files of the benchmarks are little-endian");

template <class T>
constexpr const char* npy_type() {
    static_assert(std::is_same_v<T, float> || std::is_same_v<T, double> || std::is_same_v<T, std::int32_t>);
    return std::is_same_v<T, float> ? "<f4" : std::is_same_v<T, double> ? "<f8" : "<i4";
}

/// Points as they lie in the file: count x dimension scalars of one type, row-major.
struct PointsFile {
    std::string type; ///< "<f4" or "<f8"
    std::int64_t count = 0;
    int dimension = 0;
    std::vector<std::byte> bytes;

    template <class T>
    [[nodiscard]] const T* rows() const {
        return reinterpret_cast<const T*>(bytes.data());
    }
};

inline PointsFile read_points(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    char start[8] = {};
    if (!file.read(start, sizeof start) || std::memcmp(start, "\x93NUMPY", 6) != 0) {
        throw std::runtime_error(path + " cannot be read or is no .npy file");
    }
    std::uint32_t length = 0;
    file.read(reinterpret_cast<char*>(&length), start[6] == 1 ? 2 : 4);
    std::string header(length, ' ');
    file.read(header.data(), length);

    PointsFile points;
    for (const char* type : {"<f4", "<f8"}) {
        if (header.find(type) != std::string::npos) {
            points.type = type;
        }
    }
    long long count = 0;
    const std::size_t shape = header.find("'shape': (");
    if (points.type.empty() || header.find("'fortran_order': False") == std::string::npos ||
        shape == std::string::npos ||
        std::sscanf(header.c_str() + shape, "'shape': (%lld, %d)", &count, &points.dimension) != 2) {
        throw std::runtime_error(path + " is not a row-major array of float32 or float64 points: " + header);
    }
    points.count = count;
    const std::size_t scalar = points.type == "<f4" ? 4 : 8;
    points.bytes.resize(static_cast<std::size_t>(count) * static_cast<std::size_t>(points.dimension) * scalar);
    if (!file.read(reinterpret_cast<char*>(points.bytes.data()), static_cast<std::streamsize>(points.bytes.size()))) {
        throw std::runtime_error(path + " is shorter than its header says");
    }
    return points;
}

/// `columns` of 0 writes one axis, anything else rows of that many.
template <class T>
void write_npy(const std::string& path, std::span<const T> values, std::int64_t columns = 0) {
    const auto count = static_cast<std::int64_t>(values.size());
    const std::string shape = columns == 0
                                  ? "(" + std::to_string(count) + ",)"
                                  : "(" + std::to_string(count / columns) + ", " + std::to_string(columns) + ")";
    std::string header =
        std::string("{'descr': '") + npy_type<T>() + "', 'fortran_order': False, 'shape': " + shape + ", }";
    header.resize((10 + header.size()) / 64 * 64 + 64 - 10, ' '); // the data start at a multiple of 64 bytes
    header.back() = '\n';
    const auto length = static_cast<std::uint16_t>(header.size());
    std::ofstream file(path, std::ios::binary);
    file.write("\x93NUMPY\x01\x00", 8);
    file.write(reinterpret_cast<const char*>(&length), sizeof length);
    file << header;
    file.write(reinterpret_cast<const char*>(values.data()), static_cast<std::streamsize>(values.size_bytes()));
    if (!file.flush()) {
        throw std::runtime_error(path + " cannot be written");
    }
}

} // namespace bench
