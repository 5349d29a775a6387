// The fields of a line, and the numbers in them, whatever the locale.
#pragma once

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>
#include <system_error>
#include <type_traits>

namespace kith::io {

inline bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r';
}

inline std::string_view trimmed(std::string_view text) {
    while (!text.empty() && is_blank(text.front())) {
        text.remove_prefix(1);
    }
    while (!text.empty() && is_blank(text.back())) {
        text.remove_suffix(1);
    }
    return text;
}

/// What stands between the fields of a line: one of these characters, or any number of blanks and tabs.
enum class Separator : char { comma = ',', semicolon = ';', bar = '|', tab = '\t', blanks = ' ' };

/// What quotes around a field enclose, or the field.
inline std::string_view unquoted(std::string_view field) {
    const bool is_quoted =
        field.size() >= 2 && (field.front() == '"' || field.front() == '\'') && field.back() == field.front();
    return is_quoted ? trimmed(field.substr(1, field.size() - 2)) : field;
}

/// Calls use(i, field) for field 0, 1, ... and returns how many there are. Blanks around fields are no part of them,
/// quotes are. A separator in quotes, which open at the beginning of a field, does not separate.
template <class Use>
int for_each_field(std::string_view line, Separator separator, const Use& use) {
    int fields = 0;
    const char* at = line.data();
    const char* const end = at + line.size();
    const bool has_quotes = line.find('"') != std::string_view::npos || line.find('\'') != std::string_view::npos;
    const auto is_blank_here = [](char c) { return is_blank(c); };
    // Behind a quoted part at the beginning of a field, or where the field begins.
    const auto behind_quotes = [&](const char* begin) {
        const char* const opening = std::find_if_not(begin, end, is_blank_here);
        const bool is_quote = opening != end && (*opening == '"' || *opening == '\'');
        const char* const closing = is_quote ? std::find(opening + 1, end, *opening) : end;
        return closing == end ? begin : closing + 1;
    };
    if (separator != Separator::blanks) {
        const char mark = static_cast<char>(separator);
        while (true) {
            const char* stop = has_quotes ? behind_quotes(at) : at;
            while (stop != end && *stop != mark) {
                ++stop;
            }
            use(fields++, trimmed({at, static_cast<std::size_t>(stop - at)}));
            if (stop == end) {
                return fields;
            }
            at = stop + 1;
        }
    }
    while (true) {
        while (at != end && is_blank(*at)) {
            ++at;
        }
        if (at == end) {
            return fields;
        }
        const char* stop = has_quotes ? behind_quotes(at) : at;
        while (stop != end && !is_blank(*stop)) {
            ++stop;
        }
        use(fields++, std::string_view{at, static_cast<std::size_t>(stop - at)});
        at = stop;
    }
}

/// Of a number whose power of ten is written with a D, as Fortran writes those of double precision: 1.0D+00. Nothing
/// else has a D in it but what is no number.
template <class Number>
bool parse_fortran(std::string_view field, Number& value) {
    constexpr std::size_t longest = 64;
    const std::size_t letter = field.find_first_of("dD");
    if (letter == std::string_view::npos || letter == 0 || field.size() > longest) {
        return false;
    }
    char digits[longest];
    std::copy(field.begin(), field.end(), digits);
    digits[letter] = 'e';
    const auto [stop, failure] = std::from_chars(digits, digits + field.size(), value);
    return failure == std::errc() && stop == digits + field.size();
}

/// Whether all of the field is one number that Number can hold; a plus sign in front is allowed, and so is D for the E
/// of a power of ten. Numbers too small for a floating-point type are rounded, to 0 in the end.
template <class Number>
bool parse_number(std::string_view field, Number& value) {
    const bool plus = field.size() > 1 && field.front() == '+' && field[1] != '-';
    const char* const begin = field.data() + (plus ? 1 : 0);
    const char* const end = field.data() + field.size();
    const auto [stop, failure] = std::from_chars(begin, end, value);
    if (failure == std::errc() && stop == end) {
        return true;
    }
    if constexpr (std::is_floating_point_v<Number>) {
        long double exact = 0;
        if (failure == std::errc::result_out_of_range && stop == end &&
            std::from_chars(begin, end, exact).ec == std::errc() && std::abs(exact) < 1) {
            value = static_cast<Number>(exact);
            return true;
        }
        return parse_fortran({begin, static_cast<std::size_t>(end - begin)}, value);
    }
    return false;
}

} // namespace kith::io
