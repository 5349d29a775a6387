// The numbers of a text file one after the other, wherever its lines end.
#pragma once

#include "io/text_fields.hpp"
#include "io/text_lines.hpp"

#include <string_view>

namespace kith::io {

class TextNumbers {
public:
    /// `file` must outlive this.
    explicit TextNumbers(const InputFile& file) : file_(file), lines_(file) {}

    /// The next number. Throws Error(file), which says `what` was looked for, if there is none or if it is no Number.
    template <class Number>
    Number next(std::string_view what) {
        const std::string_view field = next_field(what);
        Number value{};
        if (!parse_number(field, value)) {
            refuse(what, field);
        }
        return value;
    }

    /// Whether nothing but white space follows.
    [[nodiscard]] bool at_end();

private:
    std::string_view next_field(std::string_view what);
    bool skip_blanks();
    [[noreturn]] void refuse(std::string_view what, std::string_view field) const;

    const InputFile& file_;
    TextLines lines_;
    std::string_view rest_; ///< of the line
};

} // namespace kith::io
