// The lines of a text file, read in large pieces.
//
// A line ends in LF, CR LF or a lone CR, as old programs of the Macintosh write it. A byte order mark says that a text
// is UTF-16, which becomes UTF-8 here, or that it is UTF-8; it is no part of the first line.
#pragma once

#include "io/input_file.hpp"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace kith::io {

/// Removes the first line from a text that is whole, or the beginning of one, and returns it without its end.
[[nodiscard]] std::string_view take_line(std::string_view& text);

class TextLines {
public:
    /// From `offset` on, where line `first_line` begins. `file` must outlive this.
    explicit TextLines(const InputFile& file, std::int64_t offset = 0, std::int64_t first_line = 1)
        : file_(file), number_(first_line - 1), loaded_to_(offset), line_begin_(offset) {}

    /// The next line without its end, valid until the next call; nothing at the end of the file. Throws Error(file) for
    /// a line too long to be one of a table.
    [[nodiscard]] std::optional<std::string_view> next();

    [[nodiscard]] std::int64_t number() const noexcept { return number_; } ///< of the line last returned, from 1
    /// Of the byte after that line; not of UTF-16.
    [[nodiscard]] std::int64_t offset() const noexcept { return line_begin_; }

private:
    enum class Encoding : std::uint8_t { utf8, utf16_little, utf16_big };

    void start();
    bool load();
    void load_utf16();
    [[nodiscard]] std::size_t find(char c, std::size_t from, std::size_t to) const;

    const InputFile& file_;
    std::vector<char> buffer_;
    Encoding encoding_ = Encoding::utf8;
    bool lone_returns_ = false; ///< the first line ended in one: an LF after a CR is then no part of the line's end
    std::size_t at_ = 0;        ///< of the next line in the buffer
    std::size_t line_feed_ = 0; ///< the first from `at_` on, or `end_`, unless it lies before `at_`
    std::size_t end_ = 0;       ///< of what is loaded
    std::int64_t number_;
    std::int64_t loaded_to_;  ///< offset in the file
    std::int64_t line_begin_; ///< of the next line, offset in the file
};

} // namespace kith::io
