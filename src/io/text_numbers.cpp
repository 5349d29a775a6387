// Fields across lines (text_numbers.hpp).
#include "io/text_numbers.hpp"

#include <algorithm>

namespace kith::io {

using std::string_view;

// Whether there is a field after them.
bool TextNumbers::skip_blanks() {
    while (true) {
        const auto* const begin = std::find_if_not(rest_.begin(), rest_.end(), is_blank);
        rest_.remove_prefix(static_cast<std::size_t>(begin - rest_.begin()));
        if (!rest_.empty()) {
            return true;
        }
        const std::optional<string_view> line = lines_.next();
        if (!line) {
            return false;
        }
        rest_ = *line;
    }
}

bool TextNumbers::at_end() {
    return !skip_blanks();
}

string_view TextNumbers::next_field(string_view what) {
    if (!skip_blanks()) {
        io::refuse(file_, "too short: it ends after line ", lines_.number(), ", at byte ", file_.length(), ", where ",
                   what, " was expected");
    }
    const auto* const end = std::find_if(rest_.begin(), rest_.end(), is_blank);
    const string_view field = rest_.substr(0, static_cast<std::size_t>(end - rest_.begin()));
    rest_.remove_prefix(field.size());
    return field;
}

void TextNumbers::refuse(string_view what, string_view field) const {
    constexpr std::size_t enough = 40;
    io::refuse(file_, "line ", lines_.number(), ": '", field.substr(0, enough), field.size() > enough ? "..." : "",
               "' was found where ", what, " was expected");
}

} // namespace kith::io
