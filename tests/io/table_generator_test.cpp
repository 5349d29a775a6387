// Text tables as programs write them, drawn at random: separators, names and where they are, units, numbers of rows, row
// names, ids, line ends, encodings, quotes, decimal commas, exponents with D. What is read must be what was written, bit
// for bit; what cannot be known must be refused, or warned of where three columns have no names. A damaged table gives
// points or an error, whatever its bytes are.
#include "io/files.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <random>

using namespace kith;
using namespace kith::test;

namespace {

class Dice {
public:
    explicit Dice(std::uint64_t seed) : engine_(seed) {}
    std::size_t below(std::size_t sides) { return static_cast<std::size_t>(engine_() % sides); }
    bool one_in(std::size_t sides) { return below(sides) == 0; }
    template <class T, std::size_t n>
    T of(const T (&choices)[n]) {
        return choices[below(n)];
    }
    template <class Items>
    void shuffle(Items& items) {
        std::shuffle(items.begin(), items.end(), engine_);
    }

private:
    std::mt19937_64 engine_;
};

enum class Ids { none, whole, floating, negative, text };
enum class Names { none, row, comment, numbered_before, numbered_behind, list };

// A table and what is in it.
struct Generated {
    std::string text;
    std::vector<std::string> names; // in the order of the columns
    std::vector<std::vector<std::string>> cells;
    Ids ids = Ids::none;
    Names style = Names::none;
    bool has_row_names = false;
    bool is_too_short = false; // it announces more rows than there are
    std::string description;   // of the choices

    [[nodiscard]] int column(std::string_view name) const {
        const auto found = std::find(names.begin(), names.end(), name);
        return found == names.end() ? -1 : static_cast<int>(found - names.begin());
    }
    [[nodiscard]] double value(std::size_t row, int column) const {
        const std::string& cell = cells[row][static_cast<std::size_t>(column)];
        double number = 0;
        std::from_chars(cell.data(), cell.data() + cell.size(), number);
        return number;
    }
    [[nodiscard]] std::vector<std::string> axes() const {
        return column("z") < 0 ? std::vector<std::string>{"x", "y"} : std::vector<std::string>{"x", "y", "z"};
    }
};

std::string utf16(std::string_view text, bool is_big) {
    std::string wide = is_big ? "\xfe\xff" : "\xff\xfe";
    for (const char c : text) {
        wide += is_big ? '\0' : c;
        wide += is_big ? c : '\0';
    }
    return wide;
}

class Generator {
public:
    explicit Generator(std::uint64_t seed) : dice_(seed) {}

    Generated make() {
        choose();
        fill();
        write();
        return std::move(table_);
    }

private:
    void choose() {
        std::vector<std::string>& names = table_.names;
        names = {"x", "y"};
        if (dice_.one_in(2)) {
            names.emplace_back("z");
        }
        const std::vector<std::string> axes = names;
        if (dice_.one_in(4)) {
            for (const std::string& axis : axes) {
                names.push_back("v" + axis);
            }
        }
        for (const char* name : {"id", "mass", "rho", "label"}) {
            if (dice_.one_in(3)) {
                names.emplace_back(name);
            }
        }
        if (dice_.one_in(2)) {
            dice_.shuffle(names);
        }
        table_.ids = table_.column("id") < 0
                         ? Ids::none
                         : dice_.of({Ids::whole, Ids::whole, Ids::floating, Ids::negative, Ids::text});
        table_.style = dice_.of({Names::none, Names::row, Names::row, Names::comment, Names::comment,
                                 Names::numbered_before, Names::numbered_behind, Names::list});
        separator_ = dice_.of<std::string_view>({",", ", ", ";", "\t", " ", "   ", "|"});
        is_decimal_comma_ = separator_[0] != ',' && dice_.one_in(4);
        has_d_ = dice_.one_in(5);
        quotes_ = dice_.one_in(5);
        table_.has_row_names = table_.style == Names::row && dice_.one_in(5);
        ends_in_separator_ = !table_.has_row_names && separator_ != " " && separator_ != "   " && dice_.one_in(5);
        ends_in_comment_ = dice_.one_in(6);
        line_end_ = dice_.of<std::string_view>({"\n", "\n", "\r\n", "\r", "mixed"});
        table_.description = "separator '" + std::string(separator_) + "', line ends " +
                             std::to_string(line_end_.size()) + std::to_string(line_end_[0]);
    }

    std::string number() {
        std::array<char, 64> digits{};
        const double value = (static_cast<double>(dice_.below(2'000'000)) - 1e6) / 1024 + 1.0 / 2048;
        std::snprintf(digits.data(), digits.size(), dice_.of<const char*>({"%.6f", "%.17g", "%.5e", "%+.7f"}), value);
        return digits.data();
    }

    std::string id(std::size_t row) {
        switch (table_.ids) {
        case Ids::floating:
            return std::to_string(row + 1) + (dice_.one_in(2) ? ".0" : "e0");
        case Ids::negative:
            return row == 1 ? "-1" : std::to_string(row);
        case Ids::text:
            return "halo_" + std::to_string(row);
        default:
            return std::to_string(1000 + 7 * row);
        }
    }

    void fill() {
        const std::size_t rows = 2 + dice_.below(12);
        for (std::size_t row = 0; row < rows; ++row) {
            std::vector<std::string>& cells = table_.cells.emplace_back();
            for (const std::string& name : table_.names) {
                cells.push_back(name == "id" ? id(row) : name == "label" ? "star" + std::to_string(row % 3) : number());
            }
        }
    }

    // As it stands in the file.
    std::string shown(std::string cell, bool is_number) {
        if (is_number && has_d_) {
            std::replace(cell.begin(), cell.end(), 'e', 'D');
        }
        if (is_decimal_comma_) {
            std::replace(cell.begin(), cell.end(), '.', ',');
        }
        return quotes_ && dice_.one_in(2) ? '"' + cell + '"' : cell;
    }

    std::string joined(const std::vector<std::string>& parts, std::string_view separator) {
        std::string line;
        for (const std::string& part : parts) {
            line += (line.empty() ? "" : std::string(separator)) + part;
        }
        return line;
    }

    void line(const std::string& text) {
        const std::string_view end =
            line_end_ == "mixed" ? dice_.of<std::string_view>({"\n", "\r\n", "\r"}) : line_end_;
        table_.text += text + std::string(end);
    }

    void write_idle_comments() {
        for (std::size_t i = dice_.below(4); i > 0; --i) {
            line(dice_.of<const char*>({"# made on 2026-11-26 12:00", "#", "", "# ------------",
                                        "% all lengths are comoving", "# units: kpc and Msun",
                                        "// run 12 of the second set"}));
        }
        if (dice_.one_in(20)) {
            for (int i = 0; i < 200; ++i) {
                line("# a note of what was done, and when, and why");
            }
        }
    }

    void write_names() {
        std::vector<std::string> names = table_.names;
        const bool has_units = dice_.one_in(3);
        const std::string_view between =
            dice_.one_in(3) ? dice_.of<std::string_view>({" ", ", ", ";", "\t"}) : separator_;
        const bool is_joined = between[0] == ' ' && dice_.one_in(2); // "x[kpc]", not "x [kpc]"
        const bool upper = dice_.one_in(5);
        for (std::size_t i = 0; i < names.size(); ++i) {
            std::string& name = names[i];
            if (upper) {
                name[0] = static_cast<char>(name[0] - 'a' + 'A');
            }
            if (has_units && name != "id" && name != "label") {
                name += dice_.of<const char*>({"[kpc/h]", "(m)", "[]"}) == std::string("[]") ? "_kpc"
                        : is_joined                                                          ? "(kpc)"
                                                                                             : " [kpc]";
            }
            const std::string index = std::to_string(i + 1);
            if (table_.style == Names::numbered_before) {
                name = dice_.one_in(2) ? index + ":" + name : "(" + index + ")" + name;
            } else if (table_.style == Names::numbered_behind) {
                name += "(" + index + ")";
            } else if (table_.style == Names::row && quotes_) {
                name = '"' + name + '"';
            }
        }
        switch (table_.style) {
        case Names::none:
            return;
        case Names::list:
            for (std::size_t i = 0; i < names.size(); ++i) {
                line("# " + std::to_string(i + 1) + dice_.of<const char*>({": ", " ", ") "}) + names[i]);
            }
            return;
        case Names::row:
            line(joined(names, between) + (ends_in_separator_ && between == separator_ ? std::string(separator_) : ""));
            if (!table_.has_row_names && dice_.one_in(5)) {
                line(joined(std::vector<std::string>(names.size(), "kpc"), separator_));
            }
            return;
        default:
            line(dice_.of<const char*>({"# ", "#", "//", "% "}) + joined(names, between));
        }
    }

    void write_count() {
        if (!dice_.one_in(6)) {
            return;
        }
        const std::size_t rows = table_.cells.size();
        const std::size_t announced = dice_.of<std::size_t>({rows, rows, rows - 1, rows + 1});
        table_.is_too_short = announced > rows;
        line(std::to_string(announced));
    }

    void write() {
        if (separator_ == ";" && dice_.one_in(4)) {
            line("sep=;");
        }
        write_idle_comments();
        write_names();
        write_idle_comments();
        write_count();
        for (std::size_t row = 0; row < table_.cells.size(); ++row) {
            std::vector<std::string> cells;
            if (table_.has_row_names) {
                cells.push_back('"' + std::to_string(row + 1) + '"');
            }
            for (std::size_t column = 0; column < table_.names.size(); ++column) {
                const std::string& name = table_.names[column];
                std::string& cell = table_.cells[row][column];
                cells.push_back(shown(cell, name != "id" && name != "label"));
                cell = cell[0] == '+' ? cell.substr(1) : cell;
            }
            line(joined(cells, separator_) + (ends_in_separator_ ? std::string(separator_) : "") +
                 (ends_in_comment_ && dice_.one_in(2) ? " # seen, twice; 3 times" : ""));
            if (dice_.one_in(12)) {
                line(dice_.one_in(2) ? "" : "# in between");
            }
        }
        const std::size_t encoding = dice_.below(8);
        if (encoding < 3) {
            table_.text = encoding == 0 ? "\xef\xbb\xbf" + table_.text : utf16(table_.text, encoding == 1);
        }
    }

    Dice dice_;
    Generated table_;
    std::string_view separator_;
    std::string_view line_end_;
    bool is_decimal_comma_ = false;
    bool has_d_ = false;
    bool quotes_ = false;
    bool ends_in_separator_ = false;
    bool ends_in_comment_ = false;
};

class GeneratedTable : public testing::Test {
protected:
    [[nodiscard]] io::Snapshot read(const std::string& text, const io::ReadOptions& options = {}) const {
        write_bytes(folder_ / "points", text);
        return io::read_snapshot(folder_ / "points", options);
    }

    static void expect_column(const Generated& table, const io::RealArray& read,
                              const std::vector<std::string>& columns) {
        ASSERT_EQ(read.columns, std::ssize(columns));
        ASSERT_EQ(read.rows(), std::ssize(table.cells));
        for (std::size_t row = 0; row < table.cells.size(); ++row) {
            for (std::size_t axis = 0; axis < columns.size(); ++axis) {
                ASSERT_EQ(at(read, row * columns.size() + axis), table.value(row, table.column(columns[axis])))
                    << columns[axis] << " of row " << row;
            }
        }
    }

    static void expect_named_columns(const Generated& table, const io::Snapshot& read) {
        expect_column(table, read.positions, table.axes());
        ASSERT_EQ(read.masses.has_value(), table.column("mass") >= 0);
        if (read.masses) {
            expect_column(table, *read.masses, {"mass"});
        }
        ASSERT_EQ(read.velocities.has_value(), table.column("vx") >= 0);
        if (read.velocities) {
            std::vector<std::string> velocities;
            for (const std::string& axis : table.axes()) {
                velocities.push_back("v" + axis);
            }
            expect_column(table, *read.velocities, velocities);
        }
        const bool are_ids = table.ids == Ids::whole || table.ids == Ids::floating;
        ASSERT_EQ(!read.ids.empty(), are_ids);
        ASSERT_EQ(warns(read.header, "no ids are read"), table.ids == Ids::negative || table.ids == Ids::text);
        for (std::size_t row = 0; are_ids && row < table.cells.size(); ++row) {
            ASSERT_EQ(static_cast<double>(read.ids[row]), table.value(row, table.column("id")));
        }
    }

    TemporaryFolder folder_;
};

TEST_F(GeneratedTable, IsReadAsItWasWrittenOrRefusedInWords) {
    int read_with_names = 0;
    for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
        const Generated table = Generator(seed).make();
        SCOPED_TRACE("seed " + std::to_string(seed) + ", " + table.description + "\n" + table.text);
        const int width = static_cast<int>(table.names.size());
        if (table.is_too_short) {
            expect_error(ErrorKind::file, {table.style == Names::none && width > 3 ? "--columns" : "announces"},
                         [&] { static_cast<void>(read(table.text)); });
        } else if (table.style != Names::none) {
            io::Snapshot snapshot;
            ASSERT_NO_THROW(snapshot = read(table.text));
            expect_named_columns(table, snapshot);
            ++read_with_names;
        } else if (width > 3) {
            expect_error(ErrorKind::file, {"--columns"}, [&] { static_cast<void>(read(table.text)); });
        } else if (table.column("label") >= 0) {
            expect_error(ErrorKind::file, {"column"}, [&] { static_cast<void>(read(table.text)); });
        } else if (table.ids == Ids::text) {
            expect_error(ErrorKind::file, {"halo_0"}, [&] { static_cast<void>(read(table.text)); });
        } else {
            const io::Snapshot snapshot = read(table.text);
            expect_column(table, snapshot.positions, table.names);
            ASSERT_EQ(warns(snapshot.header, "--columns"), width == 3 && table.ids != Ids::none);
        }
        if (table.style == Names::none && !table.is_too_short) {
            io::ReadOptions options;
            for (const std::string& axis : table.axes()) {
                options.columns.push_back(std::to_string(table.column(axis) + 1));
            }
            io::Snapshot snapshot;
            ASSERT_NO_THROW(snapshot = read(table.text, options));
            expect_column(table, snapshot.positions, table.axes());
        }
        if (HasFailure()) {
            return;
        }
    }
    EXPECT_GT(read_with_names, 500);
}

TEST_F(GeneratedTable, DamagedBytesGivePointsOrAnError) {
    Dice dice(7);
    for (std::uint64_t seed = 1; seed <= 400; ++seed) {
        std::string text = Generator(seed).make().text;
        for (std::size_t damage = 1 + dice.below(4); damage > 0 && !text.empty(); --damage) {
            const std::size_t at = dice.below(text.size());
            const char byte = dice.one_in(2)
                                  ? dice.of({'"', ',', ';', '\r', '\n', '#', '(', ']', '\t', '|', ':', '1', '-'})
                                  : static_cast<char>(dice.below(256));
            switch (dice.below(4)) {
            case 0:
                text[at] = byte;
                break;
            case 1:
                text.insert(at, 1, byte);
                break;
            case 2:
                text.erase(at, 1 + dice.below(8));
                break;
            default:
                text.resize(at);
            }
        }
        try {
            EXPECT_GE(read(text).positions.columns, 2);
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), ErrorKind::file) << error.what();
        }
    }
}

} // namespace
