// Numbers in the fields of a text table: with either decimal sign, in quotes, and ids.
#pragma once

#include <cstdint>
#include <string_view>

namespace kith::io {

/// The number in a field whose decimal sign is a comma.
[[nodiscard]] bool parse_decimal_comma(std::string_view field, double& value);

/// Whether a field holds a number, which may be in quotes, of either decimal sign.
[[nodiscard]] bool is_number(std::string_view field);

/// Whether a field with a comma has one to three digits before it and three behind it: in English those of a whole
/// number.
[[nodiscard]] bool may_be_thousands(std::string_view field);

/// An id: a whole number of 64 bits, or one below 2^53 in another form, which float64 holds exactly: 1.0, 1e12, 1,0.
[[nodiscard]] bool parse_id(std::string_view field, bool has_decimal_commas, std::uint64_t& id);

} // namespace kith::io
