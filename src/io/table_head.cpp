// Lines of a text table (table_head.hpp). A sample of the rows is enough to see what separates their fields.
#include "io/table_head.hpp"

#include "io/guess.hpp"
#include "io/table_numbers.hpp"
#include "io/text_lines.hpp"

#include <algorithm>

namespace kith::io {

using std::string_view;

namespace {

constexpr std::size_t sample_lines = 64;

// How long the sign is, which may be repeated: ##.
std::size_t comment_sign(string_view line) {
    const string_view sign = line.starts_with("//") ? "/" : "#%";
    return line.starts_with("//") || line.starts_with('#') || line.starts_with('%')
               ? std::min(line.find_first_not_of(sign), line.size())
               : 0;
}

// At the beginning of the line, or behind a blank or a separator.
bool is_apart(string_view line, std::size_t at) {
    return at == 0 || string_view(" \t,;|").find(line[at - 1]) != string_view::npos;
}

// Where a comment begins behind a row: at a # that stands apart.
std::size_t comment_behind_row(string_view line) {
    bool quoted = false;
    for (std::size_t at = 0; at < line.size(); ++at) {
        quoted = quoted != (line[at] == '"');
        if (line[at] == '#' && !quoted && at > 0 && is_apart(line, at)) {
            return at;
        }
    }
    return line.size();
}

// With a letter for everything in quotes, which is then no separator.
std::string without_quoted(string_view line) {
    std::string plain;
    for (std::size_t at = 0; at < line.size(); ++at) {
        const bool is_quote = line[at] == '"' || (line[at] == '\'' && is_apart(line, at)); // else an apostrophe
        const std::size_t closing = is_quote ? line.find(line[at], at + 1) : string_view::npos;
        plain += closing == string_view::npos ? line[at] : 'q';
        at = closing == string_view::npos ? at : closing;
    }
    return plain;
}

bool has_decimal_commas(string_view row) {
    bool has = false;
    bool all = true;
    const int fields = for_each_field(row, Separator::blanks, [&](int, string_view field) {
        double value = 0;
        const bool has_comma = field.find(',') != string_view::npos;
        has = has || has_comma;
        all = all && (!has_comma || parse_decimal_comma(field, value));
    });
    return fields > 1 && has && all;
}

} // namespace

std::optional<Head> read_head(const InputFile& file) {
    constexpr std::int64_t most_bytes = std::int64_t{1} << 24; // of comments
    Head head;
    TextLines lines(file);
    while (head.lines.size() < sample_lines && lines.offset() < most_bytes) {
        const std::optional<string_view> line = lines.next();
        if (!line) {
            break;
        }
        const string_view text = trimmed(*line);
        if (text.empty()) {
            continue;
        }
        if (!is_text(text)) {
            return std::nullopt;
        }
        std::vector<HeadLine>& kind = is_left_out(text) ? head.comments : head.lines;
        kind.push_back({lines.number(), std::string(comment_in(text))});
    }
    head.next_line = lines.number() + 1;
    return head;
}

bool is_left_out(string_view line) {
    line = trimmed(line);
    return line.empty() || comment_sign(line) != 0;
}

string_view comment_in(string_view line) {
    line = trimmed(line);
    const std::size_t sign = comment_sign(line);
    return trimmed(line.substr(sign));
}

string_view without_comment(string_view line) {
    const std::size_t comment = comment_behind_row(line);
    return comment == line.size() ? line : trimmed(line.substr(0, comment));
}

string_view comment_behind(string_view line) {
    return comment_in(line.substr(comment_behind_row(line)));
}

std::vector<string_view> fields_of(string_view line, Separator separator) {
    std::vector<string_view> fields;
    for_each_field(line, separator, [&](int, string_view field) { fields.push_back(field); });
    return fields;
}

Separator separator_of(string_view line, string_view names) {
    const std::string plain = without_quoted(line);
    const auto has = [&](char c) { return plain.find(c) != std::string::npos; };
    if (has(';')) {
        return Separator::semicolon;
    }
    if (has('|')) {
        return Separator::bar;
    }
    if (has(',') && !has_decimal_commas(plain)) {
        return Separator::comma;
    }
    if (has('\t')) {
        // Tabs may also align columns. They separate if nothing else does, or where they split the names alike.
        const std::vector<string_view> fields = fields_of(plain, Separator::tab);
        const bool alone = std::all_of(fields.begin(), fields.end(), [](string_view field) {
            return !field.empty() && field.find(' ') == string_view::npos;
        });
        const bool as_names = fields_of(names, Separator::tab).size() == fields.size();
        return alone || as_names ? Separator::tab : Separator::blanks;
    }
    return Separator::blanks;
}

std::optional<Separator> stated_separator(string_view line) {
    line = unquoted(line);
    if (!(line.starts_with("sep=") || line.starts_with("SEP=")) || line.size() > 5) {
        return std::nullopt;
    }
    const char sign = line.size() == 5 ? line.back() : '\t'; // a tab at the end is trimmed
    constexpr string_view signs = ",;|\t";
    return signs.find(sign) == string_view::npos ? std::nullopt : std::optional(static_cast<Separator>(sign));
}

bool has_number(string_view line) {
    line = without_comment(line);
    const std::vector<string_view> fields = fields_of(line, separator_of(line));
    return std::any_of(fields.begin(), fields.end(), is_number);
}

std::optional<std::int64_t> as_count(string_view line) {
    std::int64_t count = 0;
    return parse_number(line, count) && count >= 0 ? std::optional(count) : std::nullopt;
}

std::optional<double> box_size_in(std::span<const HeadLine> comments) {
    if (comments.empty() ||
        !(comments.front().text.starts_with("ID DescID") || comments.front().text.starts_with("scale(0)"))) {
        return std::nullopt;
    }
    std::optional<double> found;
    constexpr std::string_view words = "ox size";
    for (const HeadLine& comment : comments) {
        const std::size_t at = comment.text.find(words);
        const std::size_t digits = at == std::string::npos ? at : comment.text.find_first_of("0123456789", at);
        double value = 0;
        if (digits != std::string::npos &&
            parse_number(fields_of(std::string_view(comment.text).substr(digits), Separator::blanks).front(), value) &&
            value > 0) {
            found = value;
        }
    }
    return found;
}

} // namespace kith::io
