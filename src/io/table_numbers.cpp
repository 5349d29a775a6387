// Decimal commas and ids (see table_numbers.hpp).
#include "io/table_numbers.hpp"

#include "io/text_fields.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace kith::io {

using std::string_view;

bool parse_decimal_comma(string_view field, double& value) {
    constexpr std::size_t longest = 64;
    const std::size_t comma = field.find(',');
    if (comma == string_view::npos || comma == 0 || field.size() > longest || comma + 1 == field.size() ||
        field.find('.') != string_view::npos) {
        return false;
    }
    std::array<char, longest> digits{};
    std::copy(field.begin(), field.end(), digits.begin());
    digits[comma] = '.';
    return parse_number({digits.data(), field.size()}, value);
}

bool is_number(string_view field) {
    double value = 0;
    return parse_number(unquoted(field), value) || parse_decimal_comma(unquoted(field), value);
}

bool may_be_thousands(string_view field) {
    const std::size_t comma = field.find(',');
    const std::size_t begin = field.find_first_not_of("+-");
    return begin != string_view::npos && field[begin] != '0' && comma != string_view::npos && comma - begin <= 3 &&
           field.size() == comma + 4;
}

bool parse_id(string_view field, bool has_decimal_commas, std::uint64_t& id) {
    constexpr double most = 0x1p53; // which 2^53 + 1 is rounded to
    double value = 0;
    if (parse_number(field, id)) {
        return true;
    }
    const bool is_real =
        has_decimal_commas && parse_decimal_comma(field, value) ? !may_be_thousands(field) : parse_number(field, value);
    if (!is_real || !(value >= 0) || value >= most || value != std::trunc(value)) {
        return false;
    }
    id = static_cast<std::uint64_t>(value);
    return true;
}

} // namespace kith::io
