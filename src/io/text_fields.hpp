// The fields of a line, and the numbers in them, whatever the locale.
#pragma once

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

enum class Separator : char { comma, blanks };

/// Calls use(i, field) for field 0, 1, ... and returns how many there are. Blanks around fields are no part of them.
template <class Use>
int for_each_field(std::string_view line, Separator separator, const Use& use) {
    int fields = 0;
    const char* at = line.data();
    const char* const end = at + line.size();
    if (separator == Separator::comma) {
        while (true) {
            const char* stop = at;
            while (stop != end && *stop != ',') {
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
        const char* stop = at;
        while (stop != end && !is_blank(*stop)) {
            ++stop;
        }
        use(fields++, std::string_view{at, static_cast<std::size_t>(stop - at)});
        at = stop;
    }
}

/// Whether all of the field is one number that Number can hold; a plus sign in front is allowed. Numbers too small for
/// a floating-point type are rounded, to 0 in the end.
template <class Number>
bool parse_number(std::string_view field, Number& value) {
    const bool plus = field.size() > 1 && field.front() == '+' && field[1] != '-';
    const char* const begin = field.data() + (plus ? 1 : 0);
    const char* const end = field.data() + field.size();
    const auto [stop, failure] = std::from_chars(begin, end, value);
    if constexpr (std::is_floating_point_v<Number>) {
        long double exact = 0;
        if (failure == std::errc::result_out_of_range && stop == end &&
            std::from_chars(begin, end, exact).ec == std::errc() && std::abs(exact) < 1) {
            value = static_cast<Number>(exact);
            return true;
        }
    }
    return failure == std::errc() && stop == end;
}

} // namespace kith::io
