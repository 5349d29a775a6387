// Error texts: values are printed so that they read back to the same bits.
#pragma once

#include <kith/error.hpp>

#include <charconv>
#include <concepts>
#include <string>
#include <string_view>

namespace kith::detail {

inline void append(std::string& text, std::string_view part) {
    text += part;
}

template <class Number>
    requires std::integral<Number> || std::floating_point<Number>
void append(std::string& text, Number value) {
    char digits[64];
    const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
    text.append(digits, end);
}

/// message("point ", 3, " is ", 1.5) gives "point 3 is 1.5".
template <class... Parts>
std::string message(const Parts&... parts) {
    std::string text;
    (append(text, parts), ...);
    return text;
}

/// An error whose text consists of such parts.
template <class... Parts>
Error error(ErrorKind kind, const Parts&... parts) {
    return {kind, message(parts...)};
}

template <class... Parts>
Error error(ErrorKind kind, const ErrorDetails& details, const Parts&... parts) {
    return {kind, message(parts...), details};
}

/// The details of an error about one number that has no row and no axis.
template <class Number>
ErrorDetails of_value(Number value) {
    return {.value = static_cast<double>(value)};
}

/// A number in the fewest digits that read back to it: as float32 if it is one.
inline std::string shortest(double value) {
    const auto narrow = static_cast<float>(value);
    return static_cast<double>(narrow) == value ? message(narrow) : message(value);
}

} // namespace kith::detail
