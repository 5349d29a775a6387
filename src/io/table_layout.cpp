// From the first lines of a text to the layout of a table (table_layout.hpp).
//
// The lines before the first row are told by what they hold (no numbers: names, then units; one number: how many rows
// there are). Names are then looked for that fit the width of the first row, in the line of names or else in the
// comments; table_columns.cpp chooses columns by them.
#include "io/table_layout.hpp"

#include "io/joined.hpp"
#include "io/table_columns.hpp"
#include "io/table_head.hpp"
#include "io/table_names.hpp"
#include "io/table_numbers.hpp"

#include <algorithm>
#include <cctype>

namespace kith::io {

using std::string_view;

namespace {

std::string shown(string_view text) {
    constexpr std::size_t enough = 60;
    return message("'", text.substr(0, enough), text.size() > enough ? "..." : "", "'");
}

class Finder {
public:
    Finder(const InputFile& file, Head head, std::span<const std::string> columns)
        : file_(file), head_(std::move(head)), columns_(columns) {}

    std::optional<TableLayout> find();

private:
    void step_over_first_lines();
    std::optional<TableLayout> without_rows();
    void add_comment_behind_row();
    bool name_by_line();
    void name_by_comments();
    [[nodiscard]] const HeadLine* unread_names() const;
    bool name_width_by_comments(int width);
    bool has_row_names(const std::vector<std::string>& names);
    [[nodiscard]] bool all_rows(bool (*is)(const std::vector<string_view>&)) const;
    [[nodiscard]] std::vector<string_view> row_fields(std::size_t line) const {
        return fields_of(without_comment(head_.lines[line].text), table_.separator);
    }
    [[nodiscard]] bool are_wanted(std::span<const std::string> names) const;
    [[nodiscard]] std::vector<std::string> names_of_width(const HeadLine& line, int width) const {
        return io::names_of_width(line.text, table_.separator, width,
                                  [this](std::span<const std::string> names) { return are_wanted(names); });
    }

    const InputFile& file_;
    Head head_;
    std::span<const std::string> columns_; ///< asked for
    TableLayout table_;
    std::optional<Separator> stated_;
    const HeadLine* names_ = nullptr; ///< a line of names that is no comment
    std::size_t first_row_ = 0;       ///< of head_.lines
};

// Up to the first row.
void Finder::step_over_first_lines() {
    const std::vector<HeadLine>& lines = head_.lines;
    std::size_t& at = first_row_;
    const auto count_rows = [&] {
        if (!table_.announced && at + 1 < lines.size() && as_count(lines[at].text)) {
            table_.announced = as_count(lines[at].text);
            table_.announced_line = lines[at].line;
            ++at;
        }
    };
    stated_ = stated_separator(lines.front().text);
    at = stated_ ? 1 : 0;
    count_rows();
    if (at < lines.size() && !has_number(lines[at].text)) {
        names_ = &lines[at++];
        count_rows();
    }
    if (names_ != nullptr && at + 1 < lines.size() && !has_number(lines[at].text)) {
        const std::vector<string_view> fields = fields_of(lines[at].text, separator_of(lines[at].text, names_->text));
        if (are_units(std::vector<std::string>(fields.begin(), fields.end()))) {
            table_.warnings.push_back(
                message("line ", lines[at].line, ", ", shown(lines[at].text), ", is taken for units and left out"));
            ++at;
            count_rows();
        }
    }
}

// A table of nothing but names: in their line, or else in a comment.
std::optional<TableLayout> Finder::without_rows() {
    const std::span<const HeadLine> lines = names_ != nullptr ? std::span(names_, 1) : std::span(head_.comments);
    for (const HeadLine& line : lines) {
        for (const Separator separator : {stated_.value_or(separator_of(line.text)), Separator::blanks}) {
            table_.names = names_in(line.text, separator);
            if (are_wanted(table_.names) && !is_prose(table_.names)) {
                table_.separator = separator;
                table_.width = static_cast<int>(table_.names.size());
                table_.line = head_.next_line;
                choose_columns(table_, file_.path(), columns_);
                return table_;
            }
        }
    }
    const bool is_ecsv = !head_.comments.empty() && head_.comments.front().text.starts_with("%ECSV");
    table_.separator = names_ != nullptr ? stated_.value_or(separator_of(names_->text)) : Separator::blanks;
    if (names_ == nullptr || (table_.separator == Separator::blanks && !is_ecsv)) {
        return std::nullopt;
    }
    table_.names = names_in(names_->text, table_.separator);
    table_.width = static_cast<int>(table_.names.size());
    table_.line = head_.next_line;
    if (columns_.empty()) {
        table_.problem = message("line ", names_->line, ", ", shown(names_->text),
                                 ", names no columns x and y, and no rows follow; ", how_to_choose);
    } else {
        choose_columns(table_, file_.path(), columns_);
    }
    return table_;
}

// The comment behind the first row may name the columns as one before it may.
void Finder::add_comment_behind_row() {
    const HeadLine& row = head_.lines[first_row_];
    if (const string_view comment = comment_behind(row.text); !comment.empty()) {
        const auto next = std::find_if(head_.comments.begin(), head_.comments.end(),
                                       [&](const HeadLine& each) { return each.line > row.line; });
        head_.comments.insert(next, {row.line, std::string(comment)});
    }
}

bool Finder::all_rows(bool (*is)(const std::vector<string_view>&)) const {
    for (std::size_t line = first_row_; line < head_.lines.size(); ++line) {
        if (!is(row_fields(line))) {
            return false;
        }
    }
    return true;
}

bool Finder::are_wanted(std::span<const std::string> names) const {
    if (!find_coordinates(names).empty()) {
        return true;
    }
    const auto is_name = [&](const std::string& column) {
        return find_column(names, names_in(asked_name(column), Separator::comma).front()) >= 0;
    };
    return !columns_.empty() && std::all_of(columns_.begin(), columns_.end(), [&](const std::string& column) {
        std::int64_t number = 0;
        return parse_number(asked_name(column), number) || is_name(column);
    }) && std::any_of(columns_.begin(), columns_.end(), is_name);
}

// R writes the names of rows in a column that has no name itself: quoted, or 1, 2, ...
bool Finder::has_row_names(const std::vector<std::string>& names) {
    if (names.empty() || find_coordinates(names).empty()) {
        return false;
    }
    if (row_fields(first_row_).front().starts_with('"')) {
        return true;
    }
    std::int64_t expected = 1;
    for (std::size_t line = first_row_; line < head_.lines.size(); ++line, ++expected) {
        if (as_count(row_fields(line).front()) != expected) {
            return false;
        }
    }
    if (expected < 3) {
        return false;
    }
    table_.warnings.push_back(message("line ", names_->line, " names ", names.size(), " columns, and the rows have ",
                                      names.size() + 1,
                                      " values; the first of them, 1, 2, ..., is taken for the "
                                      "number of the row"));
    return true;
}

// By the line before the rows. False if it names another number of columns.
bool Finder::name_by_line() {
    const std::vector<string_view> fields = row_fields(first_row_);
    const bool ends_empty = fields.back().empty() && table_.separator != Separator::blanks;
    const int values = static_cast<int>(fields.size());
    const int unstripped = static_cast<int>(fields_of(head_.lines[first_row_].text, table_.separator).size());
    const auto take = [&](int width, std::vector<std::string> names) {
        table_.width = width;
        if (is_prose(names)) {
            table_.problem = message("line ", names_->line, ", ", shown(names_->text),
                                     ", reads like a sentence, not like names of columns; begin it with # if it is a "
                                     "comment, or ",
                                     how_to_choose);
            return false;
        }
        table_.names = std::move(names);
        return true;
    };
    std::vector<std::string> names = names_of_width(*names_, values);
    if (!names.empty()) {
        table_.ends_in_separator = ends_empty && names.back().empty();
        if (table_.ends_in_separator) {
            names.pop_back();
        }
        return take(static_cast<int>(names.size()), names);
    }
    names = names_of_width(*names_, unstripped);
    if (!names.empty()) {
        return take(unstripped, names);
    }
    names = names_of_width(*names_, values - 1);
    if (ends_empty && !names.empty()) {
        table_.ends_in_separator = true;
        return take(values - 1, names);
    }
    if (has_row_names(names)) {
        names.insert(names.begin(), "");
        return take(values, names);
    }
    table_.width = values;
    names = names_in(names_->text, separator_of(names_->text));
    table_.problem =
        message("line ", names_->line, ", ", shown(names_->text), ", names ", names.size(),
                names.size() == 1 ? " column" : " columns", ", but the first row, line ", table_.line, ", has ", values,
                values == 1 ? " value" : " values", "; name every column, or none (comments begin with #, % or //)");
    return false;
}

bool Finder::name_width_by_comments(int width) {
    std::vector<HeadLine> found;
    std::vector<std::string> names;
    const auto consider = [&](std::int64_t line, std::vector<std::string> candidate) {
        if (candidate.empty() || is_prose(candidate) || !are_wanted(candidate)) {
            return;
        }
        if (!found.empty() && candidate != names) {
            table_.problem = message("lines ", found.front().line, " and ", line, " name the columns differently (",
                                     joined(names, ", "), "; ", joined(candidate, ", "), "); ", how_to_choose);
        }
        found.push_back({line, ""});
        names = std::move(candidate);
    };
    for (const HeadLine& comment : head_.comments) {
        if (comment.line <= table_.line) {
            consider(comment.line, names_of_width(comment, width));
        }
    }
    if (found.empty() && !head_.comments.empty()) {
        consider(head_.comments.front().line, listed_names(head_.comments, width));
    }
    table_.names = table_.problem.empty() ? std::move(names) : std::vector<std::string>();
    return !found.empty();
}

void Finder::name_by_comments() {
    const auto ends_empty = [](const std::vector<string_view>& fields) {
        return fields.size() > 1 && fields.back().empty();
    };
    const int values = static_cast<int>(row_fields(first_row_).size());
    const bool all_end_empty = table_.separator != Separator::blanks && all_rows(ends_empty);
    table_.width = values;
    if (name_width_by_comments(values)) {
        return;
    }
    if (all_end_empty) {
        table_.ends_in_separator = true;
        table_.width = values - 1;
        if (name_width_by_comments(values - 1)) {
            return;
        }
    }
    for (const HeadLine& comment : head_.comments) {
        if (comment.line > table_.line) {
            break;
        }
        for (const Separator each : {Separator::blanks, separator_of(comment.text)}) {
            const std::vector<std::string> names = names_in(comment.text, each);
            if (find_coordinates(names).empty() || !columns_.empty() || !table_.problem.empty()) {
                continue;
            }
            if (are_known(names)) {
                table_.problem = message("line ", comment.line, ", ", shown(comment.text), ", names ", names.size(),
                                         " columns, but the first row, line ", table_.line, ", has ", table_.width,
                                         " values; ", how_to_choose);
            } else if (table_.width <= 3) {
                table_.warnings.push_back(
                    message("line ", comment.line, ", ", shown(comment.text), ", does not name each of the ",
                            table_.width, " columns; they are taken for x, y", table_.width == 3 ? " and z" : "",
                            ". If they are not, ", how_to_choose));
                return;
            }
        }
    }
    if (const HeadLine* comment = unread_names(); comment != nullptr && columns_.empty() && table_.problem.empty()) {
        table_.warnings.push_back(
            message("line ", comment->line, ", ", shown(comment->text),
                    ", may name the columns, but not in a way that is known; they are taken for x, y",
                    table_.width == 3 ? " and z" : "", ". If they are not, ", how_to_choose));
    }
}

// A comment before two or three columns without names which may name them: of as many words, or one of several with the
// words x and y.
const HeadLine* Finder::unread_names() const {
    const HeadLine* x = nullptr;
    const HeadLine* y = nullptr;
    for (const HeadLine& comment : head_.comments) {
        if (comment.line > table_.line || table_.width > 3) {
            break;
        }
        std::string words = comment.text;
        std::transform(words.begin(), words.end(), words.begin(),
                       [](unsigned char c) { return static_cast<char>(std::isalnum(c) != 0 ? std::tolower(c) : ' '); });
        const bool has_letters =
            std::any_of(words.begin(), words.end(), [](unsigned char c) { return std::isalpha(c); });
        const std::vector<std::string> names = names_in(comment.text, Separator::blanks);
        if (static_cast<int>(names.size()) == table_.width && has_letters && !is_prose(names) && !are_units(names)) {
            return &comment;
        }
        for (const string_view word : fields_of(words, Separator::blanks)) {
            x = word == "x" ? &comment : x;
            y = word == "y" ? &comment : y;
        }
    }
    return x != nullptr && y != nullptr ? x : nullptr;
}

std::optional<TableLayout> Finder::find() {
    if (!head_.lines.empty()) {
        step_over_first_lines();
    }
    if (first_row_ == head_.lines.size()) {
        return without_rows();
    }
    add_comment_behind_row();
    const HeadLine& row = head_.lines[first_row_];
    table_.line = row.line;
    table_.separator =
        stated_.value_or(separator_of(without_comment(row.text), names_ != nullptr ? string_view(names_->text) : ""));
    if (row_fields(first_row_).size() < 2) {
        return std::nullopt;
    }
    bool fits = true;
    if (names_ != nullptr) {
        fits = name_by_line();
    } else {
        name_by_comments();
    }
    if (table_.width < 2) {
        return std::nullopt;
    }
    bool has_row_of_numbers = false;
    bool are_alike = true; // as many fields each, with a number among them
    for (std::size_t line = first_row_; line < head_.lines.size(); ++line) {
        std::vector<string_view> fields = row_fields(line);
        const auto numbers = std::count_if(fields.begin(), fields.end(), is_number);
        has_row_of_numbers = has_row_of_numbers || (numbers == table_.width &&
                                                    numbers == std::ssize(fields) - (table_.ends_in_separator ? 1 : 0));
        are_alike = are_alike && numbers > 0 && fields.size() == row_fields(first_row_).size();
    }
    const bool has_coordinates = !find_coordinates(table_.names).empty();
    table_.is_vague = !has_coordinates && !has_row_of_numbers;
    const bool are_several = first_row_ + 1 < head_.lines.size();
    if (table_.is_vague && !(are_alike && are_several && fits)) {
        return std::nullopt;
    }
    choose_columns(table_, file_.path(), columns_);
    table_.box_size = box_size_in(head_.comments);
    if (table_.is_vague && columns_.empty() && table_.problem.empty()) {
        table_.problem = message("no column is named x or y, and the first row, line ", table_.line, ", ",
                                 shown(row.text), ", holds other things than numbers; ", how_to_choose);
    }
    return table_;
}

} // namespace

std::optional<TableLayout> find_table(const InputFile& file, std::span<const std::string> columns) {
    std::optional<Head> head = read_head(file);
    return head ? Finder(file, std::move(*head), columns).find() : std::nullopt;
}

} // namespace kith::io
