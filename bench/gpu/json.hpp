// JSON on one line, as far as records need it.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace bench {

[[nodiscard]] std::string json(const std::string& text);
[[nodiscard]] std::string json(const char* text);
[[nodiscard]] std::string json(bool value);
[[nodiscard]] std::string json(std::int64_t value);
[[nodiscard]] std::string json(double value); ///< null if there is no such number

/// {"name": value, ...} in the order they were added.
class JsonObject {
public:
    template <class Value>
    JsonObject& add(const std::string& name, const Value& value) {
        return add_text(name, json(value));
    }
    JsonObject& add(const std::string& name, int value) { return add(name, std::int64_t{value}); }
    JsonObject& add(const std::string& name, const JsonObject& value) { return add_text(name, value.text()); }
    JsonObject& add(const std::string& name, const std::vector<double>& values);

    [[nodiscard]] std::string text() const { return "{" + members_ + "}"; }

private:
    JsonObject& add_text(const std::string& name, const std::string& value);

    std::string members_;
};

} // namespace bench
