#include "json.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>

namespace bench {

std::string json(const std::string& text) {
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') {
            out += '\\';
            out += c;
        } else if (static_cast<unsigned char>(c) < 0x20) {
            std::array<char, 8> code{};
            (void)std::snprintf(code.data(), code.size(), "\\u%04x", static_cast<unsigned>(c));
            out += code.data();
        } else {
            out += c;
        }
    }
    return out + '"';
}

std::string json(const char* text) {
    return json(std::string(text));
}

std::string json(bool value) {
    return value ? "true" : "false";
}

std::string json(std::int64_t value) {
    return std::to_string(value);
}

std::string json(double value) {
    if (!std::isfinite(value)) {
        return "null";
    }
    std::array<char, 40> digits{};
    const std::to_chars_result end = std::to_chars(digits.data(), digits.data() + digits.size(), value);
    return {digits.data(), end.ptr};
}

JsonObject& JsonObject::add(const std::string& name, const std::vector<double>& values) {
    std::string list;
    for (const double value : values) {
        list += (list.empty() ? "" : ", ") + json(value);
    }
    return add_text(name, "[" + list + "]");
}

JsonObject& JsonObject::add_text(const std::string& name, const std::string& value) {
    members_ += (members_.empty() ? "" : ", ") + json(name) + ": " + value;
    return *this;
}

} // namespace bench
