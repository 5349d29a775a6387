// Points from tables in text (table_layout.hpp). Numbers are read as float64.
//
// Rows are counted first, which is quick, so that memory is taken once and no more than needed; then they are parsed. A
// row that is not plain is parsed again with care: quoted numbers, a comment or separator at its end, decimal commas.
// The first decimal comma starts the parsing anew, since then no number may have a point. Ids that are no whole numbers
// from 0 to 2^64 - 1 are left out, all of them, with a warning: points need none.
#include "io/guess.hpp"
#include "io/input_file.hpp"
#include "io/joined.hpp"
#include "io/memory.hpp"
#include "io/reader.hpp"
#include "io/refuse.hpp"
#include "io/selection.hpp"
#include "io/table_doubts.hpp"
#include "io/table_head.hpp"
#include "io/table_layout.hpp"
#include "io/table_names.hpp"
#include "io/table_numbers.hpp"
#include "io/text_lines.hpp"

#include <algorithm>

namespace kith::io {

using std::string_view;

namespace {

class Table {
public:
    explicit Table(const std::filesystem::path& path, std::span<const std::string> columns = {}) : file_(path) {
        std::optional<TableLayout> found = find_table(file_, columns);
        if (!found) {
            refuse(file_, "this does not begin like a table of numbers");
        }
        if (!found->problem.empty()) {
            refuse(file_, found->problem);
        }
        layout_ = std::move(*found);
        is_chosen_ = !columns.empty();
        describe();
    }

    [[nodiscard]] SnapshotHeader& header() noexcept { return header_; }
    [[nodiscard]] Snapshot read(const ReadOptions& options, const SelectedTypes& selected);

private:
    // Where the numbers of a column go.
    struct Target {
        double* real = nullptr; ///< of row 0
        std::uint64_t* id = nullptr;
        int stride = 1;
    };
    struct Row {
        string_view line;
        std::int64_t number = 0; ///< of the line
        std::int64_t index = 0;
    };
    struct Place {
        std::int64_t line = 0;
        int column = 0;
        std::string field;
    };

    /// What is no number, or no id.
    struct Faults {
        std::optional<Place> number;
        std::optional<Place> id;
    };

    void describe();
    [[nodiscard]] std::int64_t count_rows() const;
    void check_announced() const;
    void check_comment(string_view line, std::int64_t number) const;
    [[nodiscard]] RealArray make(const std::vector<int>& columns, string_view what);
    bool read_rows();
    [[nodiscard]] bool parse_plain(const Row& row) const;
    bool parse_carefully(const Row& row);
    bool parse_real(string_view field, double& value);
    [[nodiscard]] Faults parse_fields(const Row& row, string_view line);
    [[noreturn]] void refuse_field(const Place& place) const;
    void drop_ids(const Place& place);
    [[nodiscard]] std::string describe_place(const Place& place) const;

    InputFile file_;
    TableLayout layout_;
    bool is_chosen_ = false; ///< the columns, by the caller
    SnapshotHeader header_;
    std::vector<Target> targets_;
    std::optional<Place> decimal_comma_; ///< the first: numbers then have no points
    bool is_decimal_ = false;            ///< a number tells that its comma is one
    bool has_new_decimal_comma_ = false; ///< which starts the parsing anew
};

void Table::describe() {
    switch (layout_.separator) {
    case Separator::comma:
        header_.format = "text table (comma-separated)";
        break;
    case Separator::semicolon:
        header_.format = "text table (semicolon-separated)";
        break;
    case Separator::bar:
        header_.format = "text table (separated by |)";
        break;
    case Separator::tab:
    case Separator::blanks:
        header_.format = "text table";
        break;
    }
    header_.has_types = false;
    header_.dtype = DType::float64;
    header_.dimension = static_cast<int>(layout_.coordinates.size());
    header_.warnings = layout_.warnings;
    if (layout_.box_size) {
        header_.box_size.emplace().fill(*layout_.box_size);
    }
    header_.counts[1] = count_rows();
    check_announced();
    if (layout_.announced && *layout_.announced < header_.counts[1]) {
        header_.warnings.push_back(message("line ", layout_.announced_line, " announces ", *layout_.announced,
                                           " rows, but there are ", header_.counts[1], "; all are read"));
    }
}

void Table::check_announced() const {
    if (layout_.announced && *layout_.announced > header_.counts[1]) {
        refuse(file_, "too short: line ", layout_.announced_line, " announces ", *layout_.announced,
               " rows, but the file ends at byte ", file_.length(), ", after ", header_.counts[1]);
    }
}

// A comment among the rows may begin another table, with its columns in another order.
void Table::check_comment(string_view line, std::int64_t number) const {
    const auto are_coordinates = [](std::span<const std::string> names) { return !find_coordinates(names).empty(); };
    const std::vector<std::string> names =
        names_of_width(comment_in(line), layout_.separator, layout_.width, are_coordinates);
    if (!is_chosen_ && are_coordinates(names) && !is_prose(names) && names != layout_.names) {
        refuse(file_, "line ", number, " names the columns ", joined(names, ", "),
               ", unlike the beginning of the file (", layout_.names.empty() ? "no names" : joined(layout_.names, ", "),
               "); a file holds one table: split it, or choose the columns with --columns (columns= in Python)");
    }
}

// The lines from the first row on.
TextLines rows_of(const InputFile& file, const TableLayout& layout) {
    TextLines lines(file);
    while (lines.number() + 1 < layout.line && lines.next()) {
    }
    return lines;
}

std::int64_t Table::count_rows() const {
    TextLines lines = rows_of(file_, layout_);
    std::int64_t rows = 0;
    while (const auto line = lines.next()) {
        rows += is_left_out(*line) ? 0 : 1;
    }
    return rows;
}

RealArray Table::make(const std::vector<int>& columns, string_view what) {
    const int width = static_cast<int>(columns.size());
    RealArray array = allocate_reals(DType::float64, header_.counts[1], width, what);
    double* const values = std::get<std::vector<double>>(array.values).data();
    for (int axis = 0; axis < width; ++axis) {
        targets_[columns[axis]] = {values + axis, nullptr, width};
    }
    return array;
}

std::string Table::describe_place(const Place& place) const {
    constexpr std::size_t enough = 40;
    const std::string name = layout_.names.empty() ? "" : layout_.names[static_cast<std::size_t>(place.column)];
    return message("line ", place.line, ", column ", place.column + 1, name.empty() ? "" : " (" + name + ")", ": '",
                   place.field.substr(0, enough), place.field.size() > enough ? "..." : "", "'");
}

void Table::refuse_field(const Place& place) const {
    const bool has_comma = place.field.find(',') != std::string::npos;
    if (decimal_comma_ && place.field.find('.') != std::string::npos) {
        refuse(file_, describe_place(place), " has a decimal point, but ", describe_place(*decimal_comma_),
               " a decimal comma; write all numbers alike");
    }
    refuse(file_, describe_place(place), " is no number that float64 can hold",
           has_comma ? "; write numbers without commas, or separate columns by nothing but commas" : "");
}

void Table::drop_ids(const Place& place) {
    header_.warnings.push_back(
        message("no ids are read: ", describe_place(place),
                " is no whole number from 0 to 2^64 - 1 (below 2^53 if it is written with a point or exponent)"));
    for (Target& target : targets_) {
        target.id = nullptr;
    }
}

bool Table::parse_plain(const Row& row) const {
    bool good = true;
    const int width = for_each_field(row.line, layout_.separator, [&](int column, string_view field) {
        if (!good || column >= layout_.width) {
            return;
        }
        const Target& target = targets_[static_cast<std::size_t>(column)];
        if (target.real != nullptr) {
            good = parse_number(field, target.real[row.index * target.stride]);
        } else if (target.id != nullptr) {
            good = parse_number(field, target.id[row.index]);
        }
    });
    return good && width == layout_.width;
}

bool Table::parse_real(string_view field, double& value) {
    field = unquoted(field);
    if (parse_decimal_comma(field, value)) {
        is_decimal_ = is_decimal_ || !may_be_thousands(field);
        has_new_decimal_comma_ = !decimal_comma_;
        return true;
    }
    return (!decimal_comma_ || field.find('.') == string_view::npos) && parse_number(field, value);
}

// Parses `line`, which has as many fields as the table has columns. Nothing is in its place after a new decimal comma.
Table::Faults Table::parse_fields(const Row& row, string_view line) {
    Faults faults;
    for_each_field(line, layout_.separator, [&](int column, string_view field) {
        if (faults.number || has_new_decimal_comma_) {
            return;
        }
        const Target& target = targets_[static_cast<std::size_t>(column)];
        const auto here = [&] { return Place{row.number, column, std::string(field)}; };
        if (target.real != nullptr && !parse_real(field, target.real[row.index * target.stride])) {
            faults.number = here();
        } else if (has_new_decimal_comma_) {
            decimal_comma_ = here();
        } else if (target.id != nullptr &&
                   !parse_id(unquoted(field), decimal_comma_.has_value(), target.id[row.index])) {
            faults.id = here();
        }
    });
    return faults;
}

// As it is, or without what may be at its end: a separator, a comment. False if the parsing must start anew.
bool Table::parse_carefully(const Row& row) {
    const auto without_separator = [&](string_view line) {
        line = trimmed(line);
        if (layout_.ends_in_separator && line.ends_with(static_cast<char>(layout_.separator))) {
            line.remove_suffix(1);
        }
        return line;
    };
    std::optional<Place> fault;
    string_view without_id; // a line of which nothing but the id is wrong
    std::optional<Place> no_id;
    int values = 0;
    for (const string_view line :
         {row.line, without_separator(row.line), without_separator(without_comment(row.line))}) {
        values = for_each_field(line, layout_.separator, [](int, string_view) {});
        if (values != layout_.width) {
            continue;
        }
        const Faults faults = parse_fields(row, line);
        if (has_new_decimal_comma_) {
            return false;
        }
        if (!faults.number && !faults.id) {
            return true;
        }
        if (!faults.number && !no_id) {
            without_id = line;
            no_id = faults.id;
        }
        fault = fault ? fault : faults.number;
    }
    if (no_id) {
        drop_ids(*no_id);
        static_cast<void>(parse_fields(row, without_id));
        return true;
    }
    if (fault) {
        refuse_field(*fault);
    }
    refuse(file_, "line ", row.number, " has ", values, values == 1 ? " value" : " values",
           ", but the table's first row, line ", layout_.line, ", has ", layout_.width,
           "; rows have as many values each");
}

bool Table::read_rows() {
    TextLines lines = rows_of(file_, layout_);
    const std::int64_t rows = header_.counts[1];
    Row row;
    while (const auto line = lines.next()) {
        if (is_left_out(*line)) {
            check_comment(*line, lines.number());
            continue;
        }
        if (row.index == rows) {
            refuse(file_, "the file grew while it was read");
        }
        row.line = *line;
        row.number = lines.number();
        const bool is_plain = !decimal_comma_ && parse_plain(row);
        if (!is_plain && !parse_carefully(row)) {
            return false;
        }
        ++row.index;
    }
    if (row.index < rows) {
        refuse(file_, "the file shrank while it was read");
    }
    return true;
}

Snapshot Table::read(const ReadOptions& options, const SelectedTypes&) {
    targets_.assign(static_cast<std::size_t>(layout_.width), {});
    Snapshot snapshot;
    snapshot.positions = make(layout_.coordinates, "positions");
    if (options.velocities && !layout_.velocities.empty()) {
        snapshot.velocities = make(layout_.velocities, "velocities");
    }
    if (options.masses && layout_.mass) {
        snapshot.masses = make({*layout_.mass}, "masses");
    }
    if (options.ids && layout_.id) {
        snapshot.ids = allocate<std::uint64_t>(header_.counts[1], 1, "ids");
        targets_[static_cast<std::size_t>(*layout_.id)] = {nullptr, snapshot.ids.data(), 1};
    }
    while (!read_rows()) {
        has_new_decimal_comma_ = false; // decimal_comma_ is set, so this happens once
        is_decimal_ = false;
    }
    if (decimal_comma_ && !is_decimal_) {
        refuse(file_, describe_place(*decimal_comma_),
               " and the other numbers with commas may have decimal commas or "
               "be whole numbers of thousands; write decimal points");
    }
    if (decimal_comma_) {
        header_.warnings.push_back(
            message("commas are taken for decimal commas, first in ", describe_place(*decimal_comma_)));
    }
    if (options.ids && layout_.id && targets_[static_cast<std::size_t>(*layout_.id)].id == nullptr) {
        snapshot.ids = {};
    }
    if (layout_.names.empty() && layout_.width == 3 && options.columns.empty()) {
        warn_of_ids_among_coordinates(snapshot.positions, header_.warnings);
    }
    if (layout_.names.empty()) {
        warn_of_numbered_columns(snapshot.positions, layout_.line, header_.warnings);
    }
    return snapshot;
}

bool recognize_table(const FileStart& start) {
    const string_view text = start.text();
    const bool is_utf16 = text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff");
    if (!(is_utf16 || is_text(text)) || describe_signature(text) || start.file == nullptr) {
        return false;
    }
    try {
        const std::optional<TableLayout> found = find_table(*start.file);
        return found && !(found->is_vague && describe_known_text(text));
    } catch (const Error&) {
        return true; // thrown again by the reader
    }
}

Snapshot table_snapshot(const std::filesystem::path& path, const ReadOptions& options) {
    Table table(path, options.columns);
    const SelectedTypes selected = select_types(options.types, table.header(), path);
    Snapshot snapshot = table.read(options, selected);
    snapshot.header = std::move(table.header());
    fill_rows(snapshot, selected);
    return snapshot;
}

} // namespace

SnapshotHeader read_table_header(const std::filesystem::path& path, std::span<const std::string> columns) {
    return Table(path, columns).header();
}

const Reader table_reader = {"text tables (CSV, or blanks between columns)", recognize_table, header_of_whole<Table>,
                             table_snapshot};

} // namespace kith::io
