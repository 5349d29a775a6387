// Points from tables in text (table_layout.hpp). Numbers are read as float64.
//
// Rows are counted first, which is quick, so that memory is taken once and no more than needed; then they are parsed.
#include "io/guess.hpp"
#include "io/input_file.hpp"
#include "io/joined.hpp"
#include "io/memory.hpp"
#include "io/reader.hpp"
#include "io/refuse.hpp"
#include "io/selection.hpp"
#include "io/table_layout.hpp"
#include "io/text_lines.hpp"

#include <algorithm>

namespace kith::io {

using std::string_view;

namespace {

class Table {
public:
    explicit Table(const std::filesystem::path& path) : file_(path) {
        const std::vector<std::byte> bytes = file_.start(recognition_window);
        const FileStart start{bytes, file_.length()};
        const std::optional<TableLayout> found = find_table(start.text(), file_.length() <= recognition_window);
        if (!found) {
            refuse(file_, "this does not begin like a table of numbers");
        }
        layout_ = *found;
        describe();
    }

    [[nodiscard]] SnapshotHeader& header() noexcept { return header_; }
    [[nodiscard]] Snapshot read(const ReadOptions& options, const SelectedTypes& selected) const;

private:
    // Where the numbers of a column go.
    struct Target {
        double* real = nullptr;
        std::uint64_t* id = nullptr;
        int stride = 1;
    };

    void describe();
    [[nodiscard]] std::int64_t count_rows() const;
    [[nodiscard]] RealArray make(const std::vector<int>& columns, string_view what, std::vector<Target>& targets) const;
    void read_rows(std::vector<Target>& targets) const;
    [[noreturn]] void refuse_field(int column, string_view field, std::int64_t line, string_view expected) const;

    InputFile file_;
    TableLayout layout_;
    SnapshotHeader header_;
};

void Table::describe() {
    header_.format = layout_.separator == Separator::comma ? "text table (comma-separated)" : "text table";
    header_.has_types = false;
    header_.dtype = DType::float64;
    if (layout_.coordinates.empty()) {
        refuse(file_, "it has ", layout_.width, " columns, none named x and y; points have 2 to ", max_dimension,
               " coordinates: name the columns in a first line, such as x,y,z");
    }
    header_.dimension = static_cast<int>(layout_.coordinates.size());
    header_.counts[1] = count_rows();
    const bool chosen = std::find(layout_.names.begin(), layout_.names.end(), "x") != layout_.names.end() &&
                        std::find(layout_.names.begin(), layout_.names.end(), "y") != layout_.names.end();
    if (!chosen && !layout_.names.empty()) {
        header_.warnings.push_back(message("no columns are named x and y; all ", layout_.width,
                                           " are taken as coordinates: ", joined(layout_.names, ", ")));
    } else if (!chosen && layout_.width > 3) {
        header_.warnings.push_back(
            message("the ", layout_.width,
                    " columns have no names; all are taken as coordinates. To choose, name them in "
                    "a first line, such as x,y,z"));
    }
    const auto is_velocity = [](const std::string& name) { return name == "vx" || name == "vy" || name == "vz"; };
    if (chosen && layout_.velocities.empty() && std::any_of(layout_.names.begin(), layout_.names.end(), is_velocity)) {
        header_.warnings.push_back(message("the columns are ", joined(layout_.names, ", "),
                                           "; velocities take one for each of ", header_.dimension,
                                           " axes (vx, vy, ...), so there are none"));
    }
}

std::int64_t Table::count_rows() const {
    TextLines lines(file_, layout_.offset, layout_.line);
    std::int64_t rows = 0;
    while (const auto line = lines.next()) {
        rows += is_left_out(*line) ? 0 : 1;
    }
    return rows;
}

RealArray Table::make(const std::vector<int>& columns, string_view what, std::vector<Target>& targets) const {
    const int width = static_cast<int>(columns.size());
    RealArray array = allocate_reals(DType::float64, header_.counts[1], width, what);
    double* const values = std::get<std::vector<double>>(array.values).data();
    for (int axis = 0; axis < width; ++axis) {
        targets[columns[axis]] = {values + axis, nullptr, width};
    }
    return array;
}

void Table::refuse_field(int column, string_view field, std::int64_t line, string_view expected) const {
    constexpr std::size_t enough = 40;
    const bool named = !layout_.names.empty();
    refuse(file_, "line ", line, ", column ", column + 1, named ? " (" + layout_.names[column] + ")" : "", ": '",
           field.substr(0, enough), field.size() > enough ? "..." : "", "' is no ", expected);
}

void Table::read_rows(std::vector<Target>& targets) const {
    TextLines lines(file_, layout_.offset, layout_.line);
    std::int64_t rows = 0;
    while (const auto line = lines.next()) {
        if (is_left_out(*line)) {
            continue;
        }
        if (++rows > header_.counts[1]) {
            refuse(file_, "the file grew while it was read");
        }
        const int width = for_each_field(*line, layout_.separator, [&](int column, string_view field) {
            if (column >= layout_.width) {
                return;
            }
            Target& target = targets[column];
            if (target.real != nullptr) {
                if (!parse_number(field, *target.real)) {
                    refuse_field(column, field, lines.number(), "number that float64 can hold");
                }
                target.real += target.stride;
            } else if (target.id != nullptr) {
                if (!parse_number(field, *target.id)) {
                    refuse_field(column, field, lines.number(), "id, a whole number from 0 to 2^64 - 1");
                }
                ++target.id;
            }
        });
        if (width != layout_.width) {
            refuse(file_, "line ", lines.number(), " has ", width, width == 1 ? " value" : " values",
                   ", but the table's first row, line ", layout_.line, ", has ", layout_.width,
                   "; rows have as many values each");
        }
    }
    if (rows != header_.counts[1]) {
        refuse(file_, "the file shrank while it was read");
    }
}

Snapshot Table::read(const ReadOptions& options, const SelectedTypes&) const {
    std::vector<Target> targets(layout_.width);
    Snapshot snapshot;
    snapshot.positions = make(layout_.coordinates, "positions", targets);
    if (options.velocities && !layout_.velocities.empty()) {
        snapshot.velocities = make(layout_.velocities, "velocities", targets);
    }
    if (options.masses && layout_.mass) {
        snapshot.masses = make({*layout_.mass}, "masses", targets);
    }
    if (options.ids && layout_.id) {
        snapshot.ids = allocate<std::uint64_t>(header_.counts[1], 1, "ids");
        targets[*layout_.id] = {nullptr, snapshot.ids.data(), 1};
    }
    read_rows(targets);
    return snapshot;
}

bool recognize_table(const FileStart& start) {
    return is_text(start.text()) && !is_halo_catalog(start.text()) &&
           find_table(start.text(), start.file_length <= recognition_window);
}

} // namespace

const Reader table_reader = {"text tables (CSV, or blanks between columns)", recognize_table, header_of_whole<Table>,
                             snapshot_of_whole<Table>};

} // namespace kith::io
