// From the first lines of a text to the columns of a table (table_layout.hpp).
#include "io/table_layout.hpp"

#include <kith/points.hpp>

#include <algorithm>
#include <cctype>
#include <numeric>

namespace kith::io {

using std::string_view;

namespace {

constexpr string_view byte_order_mark = "\xef\xbb\xbf";

std::size_t comment_sign(string_view line) {
    return line.starts_with('#') || line.starts_with('%') ? 1 : line.starts_with("//") ? 2 : 0;
}

Separator separator_of(string_view line) {
    return line.find(',') == string_view::npos ? Separator::blanks : Separator::comma;
}

std::string as_name(string_view field) {
    if (field.size() >= 2 && (field.front() == '"' || field.front() == '\'') && field.back() == field.front()) {
        field = trimmed(field.substr(1, field.size() - 2));
    }
    std::string name(field);
    std::transform(name.begin(), name.end(), name.begin(),
                   [](char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); });
    return name;
}

std::vector<std::string> names_in(string_view line) {
    std::vector<std::string> names;
    for_each_field(line, separator_of(line), [&](int, string_view field) { names.push_back(as_name(field)); });
    return names;
}

// The columns of names that must all be there.
std::vector<int> find_all(const std::vector<std::string>& names, std::initializer_list<string_view> wanted) {
    std::vector<int> columns;
    for (const string_view name : wanted) {
        const auto found = std::find(names.begin(), names.end(), name);
        if (found == names.end()) {
            return {};
        }
        columns.push_back(static_cast<int>(found - names.begin()));
    }
    return columns;
}

bool has_coordinates(const std::vector<std::string>& names) {
    return !find_all(names, {"x", "y"}).empty();
}

std::optional<int> find_any(const std::vector<std::string>& names, std::initializer_list<string_view> wanted) {
    const auto found = std::find_first_of(names.begin(), names.end(), wanted.begin(), wanted.end());
    return found == names.end() ? std::nullopt : std::optional(static_cast<int>(found - names.begin()));
}

std::vector<int> first_of(const std::vector<int>& three, const std::vector<int>& two) {
    return three.empty() ? two : three;
}

void choose_columns(TableLayout& table) {
    const std::vector<std::string>& names = table.names;
    table.coordinates = first_of(find_all(names, {"x", "y", "z"}), find_all(names, {"x", "y"}));
    table.mass = find_any(names, {"mass", "m", "masses"});
    table.id = find_any(names, {"id", "ids"});
    if (table.coordinates.empty()) {
        table.mass.reset();
        table.id.reset();
        table.coordinates.resize(table.width <= max_dimension ? static_cast<std::size_t>(table.width) : 0);
        std::iota(table.coordinates.begin(), table.coordinates.end(), 0);
    } else {
        table.velocities =
            table.coordinates.size() == 3 ? find_all(names, {"vx", "vy", "vz"}) : find_all(names, {"vx", "vy"});
    }
}

bool holds_numbers(string_view row, const TableLayout& table) {
    bool numbers = true;
    const auto chosen = [&](int column) {
        const std::vector<int>& coordinates = table.coordinates;
        return coordinates.empty() || std::find(coordinates.begin(), coordinates.end(), column) != coordinates.end();
    };
    const int width = for_each_field(row, table.separator, [&](int column, string_view field) {
        double value = 0;
        numbers = numbers && (!chosen(column) || parse_number(field, value));
    });
    return numbers && width == table.width;
}

bool has_number(string_view line) {
    bool has = false;
    for_each_field(line, separator_of(line), [&](int, string_view field) {
        double value = 0;
        has = has || parse_number(field, value);
    });
    return has;
}

TableLayout layout_of(string_view row, std::vector<std::string> names) {
    TableLayout table;
    table.separator = separator_of(row);
    table.width = for_each_field(row, table.separator, [](int, string_view) {});
    table.names = std::move(names);
    choose_columns(table);
    return table;
}

// The table whose first row is `row`, if it can be one with these names.
std::optional<TableLayout> table_from(string_view row, std::vector<std::string> names) {
    const TableLayout table = layout_of(row, std::move(names));
    return table.width >= 2 && holds_numbers(row, table) ? std::optional(table) : std::nullopt;
}

} // namespace

bool is_left_out(string_view line) {
    line = trimmed(line);
    return line.empty() || comment_sign(line) != 0;
}

std::optional<TableLayout> find_table(string_view text, bool whole) {
    std::vector<std::string> commented; // the last comment, as names
    std::optional<std::vector<std::string>> names;
    TableLayout line_of_names;
    std::optional<TableLayout> unnamed; // of the line of names if there are numbers among them: a row that is damaged
    std::int64_t number = 0;
    for (std::size_t begin = text.starts_with(byte_order_mark) ? byte_order_mark.size() : 0; begin < text.size();) {
        const std::size_t end = text.find('\n', begin);
        if (end == string_view::npos && !whole) {
            return std::nullopt;
        }
        const std::size_t offset = begin;
        const string_view line = trimmed(text.substr(begin, std::min(end, text.size()) - begin));
        begin = std::min(end, text.size() - 1) + 1;
        ++number;
        if (is_left_out(line)) {
            commented = line.empty() ? commented : names_in(trimmed(line.substr(comment_sign(line))));
            continue;
        }
        const auto beginning_here = [&](std::optional<TableLayout> table) {
            table->offset = static_cast<std::int64_t>(offset);
            table->line = number;
            return table;
        };
        const bool told = names.has_value();
        std::optional<TableLayout> table = table_from(line, told ? *names : std::vector<std::string>{});
        if (table && !told && static_cast<int>(commented.size()) == table->width) {
            const std::optional<TableLayout> named = table_from(line, commented);
            table = named && has_coordinates(commented) ? named : table;
        }
        if (table && told && static_cast<int>(names->size()) != table->width) {
            return std::nullopt;
        }
        if (table && unnamed) {
            return unnamed; // its reader says which value is no number
        }
        if (table) {
            return beginning_here(table);
        }
        if (told) { // a table by its names, whose reader says which value is no number, or none
            table = layout_of(line, *names);
            const bool is_named = has_coordinates(*names) && table->width == static_cast<int>(names->size());
            return is_named ? beginning_here(table) : std::nullopt;
        }
        names = names_in(line);
        if (has_number(line)) {
            unnamed = beginning_here(layout_of(line, {}));
        }
        line_of_names = layout_of(line, *names);
    }
    if (!whole || !names || !has_coordinates(*names)) {
        return std::nullopt;
    }
    line_of_names.offset = std::ssize(text); // a table without rows
    line_of_names.line = number + 1;
    return line_of_names;
}

} // namespace kith::io
