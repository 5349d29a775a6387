// Texts on the command line: numbers, and lists with a separator.
#pragma once

#include <algorithm>
#include <charconv>
#include <string_view>
#include <system_error>
#include <vector>

namespace kith::cli {

/// Whether all of the text is one number.
template <class Number>
[[nodiscard]] bool parse_all(std::string_view text, Number& value) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size();
}

[[nodiscard]] inline std::vector<std::string_view> split_at(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(separator, begin), text.size());
        parts.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return parts;
}

} // namespace kith::cli
