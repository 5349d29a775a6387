// The lines of a text file, read in large pieces.
#pragma once

#include "io/input_file.hpp"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace kith::io {

class TextLines {
public:
    /// From `offset` on, where line `first_line` begins. `file` must outlive this.
    explicit TextLines(const InputFile& file, std::int64_t offset = 0, std::int64_t first_line = 1)
        : file_(file), number_(first_line - 1), loaded_to_(offset), line_begin_(offset) {}

    /// The next line without its end (\n or \r\n), valid until the next call; nothing at the end of the file. Throws
    /// Error(file) for a line too long to be one of a table.
    [[nodiscard]] std::optional<std::string_view> next();

    [[nodiscard]] std::int64_t number() const noexcept { return number_; }     ///< of the line last returned, from 1
    [[nodiscard]] std::int64_t offset() const noexcept { return line_begin_; } ///< of the byte after that line

private:
    bool load();

    const InputFile& file_;
    std::vector<char> buffer_;
    std::size_t at_ = 0;  ///< of the next line in the buffer
    std::size_t end_ = 0; ///< of what is loaded
    std::int64_t number_;
    std::int64_t loaded_to_;  ///< offset in the file
    std::int64_t line_begin_; ///< of the next line, offset in the file
};

} // namespace kith::io
