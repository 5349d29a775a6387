// The header of numpy's .npy files.
//
// Layout: "\x93NUMPY", major and minor version, the header's length (u16 little-endian in version 1, u32 in 2 and 3),
// then a Python dictionary literal {'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), } padded with blanks so
// that the data begin at a multiple of 64. Source: numpy.lib.format. Parsed here with a small reader of exactly that
// kind of literal; keys may come in any order.
#pragma once

#include "io/reader.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kith::io {

struct NpyHeader {
    std::string descr; ///< "<f4", "|u1", ...; the literal text if it is a structured type
    bool fortran_order = false;
    std::vector<std::int64_t> shape;
    std::int64_t data_offset = 0;
};

[[nodiscard]] bool is_npy(const FileStart& start);

/// Throws Error(file), with `name` in front, for a header that is cut off or malformed.
[[nodiscard]] NpyHeader parse_npy_header(std::span<const std::byte> bytes, std::string_view name);

/// A field of a structured type: `descr` is the type of its values, of which it may have several.
struct NpyField {
    std::string name;
    std::string descr;
    std::int64_t offset = 0; ///< in a record
    std::int64_t bytes = 0;  ///< of all its values
};

/// The fields of such a type, "[('x', '<f4'), ...]". Throws Error(file) for one that is malformed, that has records
/// within records, or Python objects.
[[nodiscard]] std::vector<NpyField> npy_fields(const std::string& descr, std::string_view name);

/// Bytes that must be at hand before parse_npy_header: 12 tell how many, as far as the file goes.
[[nodiscard]] std::int64_t npy_header_bytes(std::span<const std::byte> first_12, std::string_view name);

/// A version 1.0 header for C order. columns = 0: one-dimensional. `kind` is 'f' or 'i'; the byte order is the host's.
[[nodiscard]] std::string make_npy_header(char kind, std::size_t item_bytes, std::int64_t rows, std::int64_t columns);

/// rows for values.size() numbers in rows of `columns`; throws Error(invalid_argument) if they do not come out even.
[[nodiscard]] std::int64_t npy_rows(std::size_t values, std::int64_t columns);

} // namespace kith::io
