// The header of a PLY file: elements, their counts, and the properties of each.
//
// Lines of text: `ply`, `format ascii|binary_little_endian|binary_big_endian 1.0`, then elements in the order of their
// data, `element NAME COUNT`, each followed by its properties, `property TYPE NAME` or `property list TYPE TYPE NAME`;
// `comment`, `obj_info` and empty lines anywhere; at last `end_header`. Writers differ: blanks may end a line, a byte
// order mark may come first, and there are types beyond the eight of the format (bool, and whole numbers of 8 bytes).
// Lines end in \n or \r\n, or, if the first one does, in \r, so that the first byte of binary data is known.
#pragma once

#include "io/input_file.hpp"

#include <bit>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kith::io {

struct PlyProperty {
    std::string name;
    char kind = 'f';        ///< f, i, u: floating-point, signed, unsigned
    std::int64_t bytes = 4; ///< of a value
    std::int64_t at = 0;    ///< within a binary record without lists
    bool list = false;
    char count_kind = 'u';        ///< of the number in front of a list's values
    std::int64_t count_bytes = 0; ///< 0: no list

    [[nodiscard]] bool is_float32() const noexcept { return kind == 'f' && bytes == 4; }
};

struct PlyElement {
    std::string name;
    std::int64_t count = 0;
    std::vector<PlyProperty> properties;

    [[nodiscard]] bool has_lists() const noexcept;
    [[nodiscard]] std::int64_t record_bytes() const noexcept; ///< of a binary record; with empty lists, if it has some
};

struct PlyHeader {
    std::optional<std::endian> order; ///< nothing: ascii
    std::vector<PlyElement> elements;
    std::int64_t data_offset = 0;
    std::int64_t data_line = 0; ///< number of the first line after the header
};

/// Whether the text begins like such a header.
[[nodiscard]] bool begins_as_ply(std::string_view text) noexcept;

/// Throws Error(file), naming the line, for what is no such header.
[[nodiscard]] PlyHeader read_ply_header(const InputFile& file);

} // namespace kith::io
