// Words of a line, their numbers and units (table_names.hpp).
#include "io/table_names.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>

namespace kith::io {

using std::string_view;

namespace {

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool are_digits(string_view text) {
    return !text.empty() && std::all_of(text.begin(), text.end(), is_digit);
}

std::string lower(string_view text) {
    std::string name(text);
    std::transform(name.begin(), name.end(), name.begin(),
                   [](char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); });
    return name;
}

template <std::size_t n>
bool is_one_of(string_view text, const std::array<string_view, n>& words) {
    return std::find(words.begin(), words.end(), text) != words.end();
}

constexpr std::array<string_view, 41> unit_words = {
    "pc",   "kpc",  "mpc", "gpc",  "ckpc",  "cmpc", "pkpc", "m",    "cm",  "mm",     "um",    "nm",     "km", "au",
    "ly",   "rad",  "deg", "s",    "sec",   "yr",   "myr",  "gyr",  "h",   "a",      "sun",   "g",      "kg", "msun",
    "rsun", "lsun", "k",   "code", "units", "unit", "px",   "none", "str", "string", "float", "double", "int"};

// "kpc/h", "10^10 Msun", "km s^-1", "-", "[m]".
bool is_unit(string_view text) {
    text = unquoted(text);
    bool is_bracketed = false;
    if (text.size() >= 2 &&
        ((text.front() == '[' && text.back() == ']') || (text.front() == '(' && text.back() == ')'))) {
        text = text.substr(1, text.size() - 2);
        is_bracketed = true;
    }
    bool units = true;
    for (std::size_t begin = 0; begin < text.size();) {
        if (!is_letter(text[begin])) {
            ++begin;
            continue;
        }
        std::size_t end = begin;
        while (end < text.size() && is_letter(text[end])) {
            ++end;
        }
        const bool is_exponent = lower(text.substr(begin, end - begin)) == "e" && begin > 0 &&
                                 is_digit(text[begin - 1]) && end < text.size(); // 1e10
        units = units && (is_exponent || is_one_of(lower(text.substr(begin, end - begin)), unit_words));
        begin = end;
    }
    return is_bracketed || units;
}

// "[kpc]" and "[kpc](1)", but not "(1)", which is a number of the next word.
bool is_in_brackets(string_view word) {
    const std::size_t first = word.find_first_of("])");
    if (first == string_view::npos || are_digits(word.substr(1, first - 1))) {
        return false;
    }
    while (word.starts_with('[') || word.starts_with('(')) {
        word.remove_prefix(std::min(word.find_first_of("])"), word.size() - 1) + 1);
    }
    return word.empty();
}

// The fields, with a unit in brackets joined to what it belongs to: "x [h^-1 kpc]" is one.
std::vector<std::string> words_in(string_view line, Separator separator) {
    std::vector<std::string> words;
    std::string open; // a word whose bracket is still open
    const auto is_open = [](string_view word, char opening, char closing) {
        return std::count(word.begin(), word.end(), opening) > std::count(word.begin(), word.end(), closing);
    };
    for_each_field(line, separator, [&](int, string_view field) {
        if (separator != Separator::blanks) {
            words.push_back(lower(unquoted(field)));
            return;
        }
        open += (open.empty() ? "" : " ") + lower(unquoted(field));
        if (is_open(open, '[', ']') || is_open(open, '(', ')')) {
            return;
        }
        const bool is_unit_of_last = !words.empty() && is_in_brackets(open);
        if (is_unit_of_last) {
            words.back() += " " + open;
        } else {
            words.push_back(open);
        }
        open.clear();
    });
    if (!open.empty()) { // a bracket that is never closed belongs to no unit
        words.clear();
        for_each_field(line, separator, [&](int, string_view field) { words.push_back(lower(unquoted(field))); });
    }
    return words;
}

struct Numbered {
    std::optional<std::int64_t> number;
    std::string name; ///< empty: the number belongs to the next word
};

std::optional<std::int64_t> as_column_number(string_view digits) {
    std::int64_t number = 0;
    constexpr std::size_t most_digits = 6;
    return are_digits(digits) && digits.size() <= most_digits && parse_number(digits, number) ? std::optional(number)
                                                                                              : std::nullopt;
}

// "1:x", "1.x", "1)x", "(1)x", "[1]x", "x(1)", "x[1]"; "1:", "(1)" and "1" alone.
Numbered numbered(const std::string& word) {
    const string_view text = word;
    const bool in_brackets = text.starts_with('(') || text.starts_with('[');
    const std::size_t begin = in_brackets ? 1 : 0;
    const std::size_t digits = std::min(text.find_first_not_of("0123456789", begin), text.size());
    if (const auto number = as_column_number(text.substr(begin, digits - begin))) {
        const string_view rest = text.substr(digits);
        if (rest.empty() && !in_brackets) {
            return {number, ""};
        }
        if (!rest.empty() &&
            (in_brackets ? string_view(")]") : string_view(":.)=")).find(rest.front()) != string_view::npos) {
            return {number, std::string(trimmed(rest.substr(1)))};
        }
    }
    if (text.size() >= 3 && (text.back() == ')' || text.back() == ']')) {
        const std::size_t opening = text.find_last_of("([");
        if (opening != string_view::npos && opening > 0) {
            const string_view inner = text.substr(opening + 1, text.size() - opening - 2);
            if (const auto number = as_column_number(inner)) {
                return {number, std::string(trimmed(text.substr(0, opening)))};
            }
        }
    }
    return {std::nullopt, word};
}

bool are_consecutive(std::span<const Numbered> all) {
    bool consecutive = !all.empty() && all.front().number && *all.front().number <= 1;
    for (std::size_t i = 0; consecutive && i < all.size(); ++i) {
        consecutive = all[i].number == *all.front().number + static_cast<std::int64_t>(i) && !all[i].name.empty();
    }
    return consecutive;
}

std::vector<std::string> names_of(std::span<const Numbered> all) {
    std::vector<std::string> names(all.size());
    std::transform(all.begin(), all.end(), names.begin(), [](const Numbered& each) { return each.name; });
    return names;
}

// Without numbers, if all words have them in order.
std::vector<std::string> without_numbers(std::vector<std::string> words) {
    std::vector<Numbered> all;
    for (const std::string& word : words) {
        Numbered next = numbered(word);
        if (!all.empty() && all.back().name.empty() && !next.number) {
            all.back().name = next.name;
        } else {
            all.push_back(std::move(next));
        }
    }
    return are_consecutive(all) ? names_of(all) : words;
}

// What a unit is written to: "x [kpc]" and "x_kpc" to x. Nothing where what follows may be no unit.
string_view without_unit(string_view name) {
    if (name.ends_with(']') || name.ends_with(')')) {
        const std::size_t opening = name.find_first_of("[(");
        const string_view inner = name.substr(opening + 1, name.size() - opening - 2);
        const bool is_mass = name.starts_with('m'); // m(200c) is another mass, not a unit
        const bool may_be_unit = is_mass ? is_unit(inner) && !are_digits(inner) : !are_digits(inner);
        return opening != string_view::npos && may_be_unit ? trimmed(name.substr(0, opening)) : string_view();
    }
    constexpr std::array<string_view, 15> written_behind = {"pc", "kpc", "mpc", "gpc", "ckpc", "cmpc", "cm",  "mm",
                                                            "um", "nm",  "km",  "au",  "ly",   "kms",  "msun"};
    const std::size_t mark = name.find_first_of("_/");
    const string_view unit = mark == string_view::npos ? string_view() : name.substr(mark + 1);
    return is_one_of(unit.substr(0, unit.find_first_of("_/")), written_behind) ? name.substr(0, mark) : string_view();
}

constexpr std::array<string_view, 5> columns_words = {"columns", "column", "names", "fields", "field"};

} // namespace

std::vector<std::string> names_in(string_view line, Separator separator) {
    return without_numbers(words_in(line, separator));
}

std::vector<std::string> names_of_width(string_view line, Separator separator, int width,
                                        const WantedNames& are_wanted) {
    const std::size_t label = line.find_first_of(":="); // "columns: x y z"
    std::vector<string_view> texts = {line};
    if (label != string_view::npos) {
        const std::string before = lower(line.substr(0, label));
        if (std::any_of(columns_words.begin(), columns_words.end(),
                        [&](string_view word) { return before.find(word) != std::string::npos; })) {
            texts.push_back(line.substr(label + 1));
        }
    }
    std::vector<std::string> first;
    for (const string_view text : texts) {
        for (const Separator each :
             {separator, Separator::comma, Separator::semicolon, Separator::bar, Separator::tab, Separator::blanks}) {
            std::vector<std::string> names = names_in(trimmed(text), each);
            const bool is_cut = std::any_of(names.begin(), names.end(), [](const std::string& name) {
                return name.ends_with(',') || name.ends_with(';') || name == "|"; // T/|U| is a name
            });
            if (std::ssize(names) != width || is_cut) {
                continue;
            }
            if (are_wanted(names)) {
                return names;
            }
            first = first.empty() ? std::move(names) : first;
        }
    }
    return first;
}

std::vector<std::string> listed_names(std::span<const HeadLine> comments, int width) {
    std::vector<Numbered> all;
    for (const HeadLine& comment : comments) {
        std::vector<std::string> words = words_in(comment.text, Separator::blanks);
        if (!words.empty() && is_one_of(words.front(), columns_words)) {
            words.erase(words.begin());
        }
        Numbered first = words.empty() ? Numbered{} : numbered(words.front());
        if (first.name.empty() && words.size() > 1) {
            first.name = words[1];
            while (!first.name.empty() && string_view(":,;").find(first.name.back()) != string_view::npos) {
                first.name.pop_back();
            }
        }
        if (!first.number) {
            continue;
        }
        all.push_back(std::move(first));
    }
    return std::ssize(all) == width && are_consecutive(all) ? names_of(all) : std::vector<std::string>();
}

bool is_prose(std::span<const std::string> names) {
    constexpr std::array<string_view, 14> words = {"and", "of", "the", "in",   "are", "is", "vs",
                                                   "to",  "by", "on",  "with", "for", "at", "from"};
    return std::any_of(names.begin(), names.end(), [&](const std::string& name) { return is_one_of(name, words); });
}

bool are_known(std::span<const std::string> names) {
    constexpr std::array<string_view, 12> words = {"x",  "y",   "z", "vx",   "vy",     "vz",
                                                   "id", "ids", "m", "mass", "masses", "index"};
    return std::all_of(names.begin(), names.end(), [&](const std::string& name) { return is_one_of(name, words); });
}

bool are_units(std::span<const std::string> fields) {
    bool has_letters = false;
    const bool units = std::all_of(fields.begin(), fields.end(), [&](const std::string& field) {
        double value = 0;
        has_letters = has_letters || std::any_of(field.begin(), field.end(), is_letter);
        return is_unit(field) && (field == "1" || !parse_number(field, value));
    });
    return units && has_letters;
}

int find_column(std::span<const std::string> names, string_view wanted) {
    const auto find = [&](const auto& name_of) {
        int found = no_column;
        for (std::size_t i = 0; i < names.size(); ++i) {
            if (name_of(names[i]) == wanted) {
                found = found == no_column ? static_cast<int>(i) : several_columns;
            }
        }
        return found;
    };
    const int exact = find([](const std::string& name) { return string_view(name); });
    return exact != no_column ? exact : find([](const std::string& name) { return without_unit(name); });
}

string_view bare_name(string_view name) {
    const string_view bare = without_unit(name);
    return bare.empty() ? name : bare;
}

std::vector<int> find_coordinates(std::span<const std::string> names) {
    for (const std::array<string_view, 3>& axes : {std::array<string_view, 3>{"x", "y", "z"}, {"xc", "yc", "zc"}}) {
        const std::vector<int> columns = {find_column(names, axes[0]), find_column(names, axes[1]),
                                          find_column(names, axes[2])};
        if (columns[0] >= 0 && columns[1] >= 0 && columns[2] != several_columns) {
            return columns[2] == no_column ? std::vector<int>{columns[0], columns[1]} : columns;
        }
    }
    return {};
}

} // namespace kith::io
