// The lines before the rows of a text table, and what a line is made of: comments, separators, numbers.
#pragma once

#include "io/input_file.hpp"
#include "io/text_fields.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kith::io {

/// A line before the rows, or one of them, without blanks at its ends and without the sign of a comment.
struct HeadLine {
    std::int64_t line = 0; ///< of the file, from 1
    std::string text;
};

/// Comments, and the first lines that are neither comments nor empty.
struct Head {
    std::vector<HeadLine> comments;
    std::vector<HeadLine> lines;
    std::int64_t next_line = 1; ///< after all that were read
};

/// Nothing if this is no text.
[[nodiscard]] std::optional<Head> read_head(const InputFile& file);

/// Whether a line is no row: empty, or a comment.
[[nodiscard]] bool is_left_out(std::string_view line);

/// A line without blanks at its ends and, if it is a comment, without its sign.
[[nodiscard]] std::string_view comment_in(std::string_view line);

/// A row without the comment behind it, which begins with a # after a blank or a separator; and that comment, empty if
/// there is none.
[[nodiscard]] std::string_view without_comment(std::string_view line);
[[nodiscard]] std::string_view comment_behind(std::string_view line);

[[nodiscard]] std::vector<std::string_view> fields_of(std::string_view line, Separator separator);

/// What separates the fields of a line, and of the line of names if there is one.
[[nodiscard]] Separator separator_of(std::string_view line, std::string_view names = {});

/// The separator that a first line `sep=;` states for Excel.
[[nodiscard]] std::optional<Separator> stated_separator(std::string_view line);

/// Whether any field of the line is a number.
[[nodiscard]] bool has_number(std::string_view line);

/// A line of one whole number.
[[nodiscard]] std::optional<std::int64_t> as_count(std::string_view line);

/// What the comments of a list of halos by Rockstar or consistent-trees say: "Box size: 50.000000 Mpc/h".
[[nodiscard]] std::optional<double> box_size_in(std::span<const HeadLine> comments);

} // namespace kith::io
