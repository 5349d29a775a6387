// Names and numbers of columns to their places (table_columns.hpp).
#include "io/table_columns.hpp"

#include "io/joined.hpp"
#include "io/refuse.hpp"
#include "io/table_names.hpp"

#include <kith/points.hpp>

#include <algorithm>
#include <array>
#include <iterator>
#include <numeric>

namespace kith::io {

using std::string_view;

namespace {

class Chooser {
public:
    Chooser(TableLayout& table, const std::filesystem::path& file, std::span<const std::string> columns)
        : table_(table), file_(file) {
        for (const std::string& column : columns) {
            if (column.starts_with(as_mass)) {
                if (mass_ || asked_name(column).empty()) {
                    throw error(ErrorKind::invalid_argument, "columns: '", column, "' ",
                                mass_ ? "is a second column of masses; give one"
                                      : "names no column; give its name or number, such as mass=w");
                }
                mass_ = asked_name(column);
            } else {
                columns_.push_back(column);
            }
        }
    }

    void choose();

private:
    [[nodiscard]] int asked_column(const std::string& name) const;
    void choose_asked();
    void choose_by_position();
    void choose_others();

    TableLayout& table_;
    const std::filesystem::path& file_;
    std::vector<std::string> columns_; ///< asked for as coordinates
    std::optional<std::string> mass_;  ///< and as masses
};

int Chooser::asked_column(const std::string& name) const {
    const auto there_are = [&] {
        return table_.names.empty() ? message("there are ", table_.width, ", without names")
                                    : message("there are ", joined(table_.names, ", "));
    };
    std::int64_t number = 0;
    if (parse_number(name, number)) {
        if (number < 1 || number > table_.width) {
            throw error(ErrorKind::invalid_argument, file_.string(), ": there is no column ", name,
                        "; columns are numbered from 1 to ", table_.width);
        }
        return static_cast<int>(number - 1);
    }
    const int column = find_column(table_.names, names_in(name, Separator::comma).front());
    if (column == several_columns) {
        throw error(ErrorKind::invalid_argument, file_.string(), ": several columns are named ", name,
                    "; give the number of one, from 1 to ", table_.width);
    }
    if (column == no_column) {
        throw error(ErrorKind::invalid_argument, file_.string(), ": there is no column ", name, "; ", there_are());
    }
    return column;
}

void Chooser::choose_asked() {
    std::vector<int>& chosen = table_.coordinates;
    if (columns_.size() == 1 && columns_.front() == "all") {
        chosen.resize(static_cast<std::size_t>(table_.width));
        std::iota(chosen.begin(), chosen.end(), 0);
    } else {
        std::transform(columns_.begin(), columns_.end(), std::back_inserter(chosen),
                       [&](const std::string& name) { return asked_column(name); });
    }
    if (std::ssize(chosen) < 2 || std::ssize(chosen) > max_dimension) {
        throw error(ErrorKind::invalid_argument, file_.string(), ": ", chosen.size(),
                    chosen.size() == 1 ? " column is" : " columns are", " chosen; points have 2 to ", max_dimension,
                    " coordinates");
    }
    for (std::size_t i = 0; i < chosen.size(); ++i) {
        if (std::find(chosen.begin(), chosen.begin() + static_cast<std::ptrdiff_t>(i), chosen[i]) !=
            chosen.begin() + static_cast<std::ptrdiff_t>(i)) {
            throw error(ErrorKind::invalid_argument, file_.string(), ": column ", columns_[i], " is chosen twice");
        }
    }
}

void Chooser::choose_by_position() {
    const std::vector<std::string>& names = table_.names;
    constexpr std::array<string_view, 10> known = {"x", "y", "z", "vx", "vy", "vz", "mass", "masses", "id", "ids"};
    const auto is_known = [&](string_view name) { return find_column(names, name) != no_column; };
    const std::string listed = names.empty() ? "" : message(" (", joined(names, ", "), ")");
    for (const string_view axis : {"x", "y", "z"}) {
        if (find_column(names, axis) == several_columns) {
            table_.problem = message("several columns are named ", axis, listed, "; ", how_to_choose);
            return;
        }
    }
    if (table_.width > 3 || (table_.width > 2 && std::any_of(known.begin(), known.end(), is_known))) {
        table_.problem = message("it has ", table_.width, names.empty() ? " columns without names" : " columns",
                                 ", none named x and y", listed, ", so it is not known which are coordinates; ",
                                 how_to_choose, ", or name them in a first line, such as x,y,z");
        return;
    }
    table_.coordinates.resize(static_cast<std::size_t>(table_.width));
    std::iota(table_.coordinates.begin(), table_.coordinates.end(), 0);
    if (!names.empty()) {
        table_.warnings.push_back(message("no columns are named x and y; all ", table_.width,
                                          " are taken for coordinates: ", joined(names, ", "), ". If they are not, ",
                                          how_to_choose));
    }
}

// Velocities, masses and ids, which are named, and are no coordinates.
void Chooser::choose_others() {
    const std::vector<std::string>& names = table_.names;
    const std::vector<int>& chosen = table_.coordinates;
    if (mass_) {
        table_.mass = asked_column(*mass_);
        if (std::find(chosen.begin(), chosen.end(), *table_.mass) != chosen.end()) {
            throw error(ErrorKind::invalid_argument, file_.string(), ": column ", *mass_,
                        " is chosen as a coordinate and as the mass",
                        columns_.empty() ? "; choose the coordinates, too, such as x,y,mass=w" : "");
        }
    }
    if (names.empty() || (columns_.empty() && find_coordinates(names).empty())) {
        return;
    }
    const auto is_free = [&](int column) {
        return column >= 0 && std::find(chosen.begin(), chosen.end(), column) == chosen.end();
    };
    for (const int column : chosen) {
        table_.velocities.push_back(
            find_column(names, message("v", bare_name(names[static_cast<std::size_t>(column)]))));
    }
    if (!std::all_of(table_.velocities.begin(), table_.velocities.end(), is_free)) {
        table_.velocities.clear();
    }
    const auto find_any = [&](std::initializer_list<string_view> wanted, string_view what) -> std::optional<int> {
        for (const string_view name : wanted) {
            const int column = find_column(names, name);
            if (column == several_columns) {
                table_.warnings.push_back(message("several columns are named ", name, "; no ", what, " are read"));
                return std::nullopt;
            }
            if (is_free(column)) {
                return column;
            }
        }
        return std::nullopt;
    };
    table_.mass = mass_ ? table_.mass : find_any({"mass", "masses", "m"}, "masses");
    table_.id = find_any({"id", "ids"}, "ids");
    const auto is_velocity = [](const std::string& name) {
        return bare_name(name) == "vx" || bare_name(name) == "vy" || bare_name(name) == "vz";
    };
    if (columns_.empty() && table_.velocities.empty() && std::any_of(names.begin(), names.end(), is_velocity)) {
        table_.warnings.push_back(message("the columns are ", joined(names, ", "), "; velocities take one for each of ",
                                          chosen.size(), " axes (vx, vy, ...), so there are none"));
    }
}

void Chooser::choose() {
    const bool by_number = std::all_of(columns_.begin(), columns_.end(), [](const std::string& name) {
        std::int64_t number = 0;
        return name == "all" || parse_number(name, number);
    });
    if (!columns_.empty() && (by_number || table_.problem.empty())) {
        choose_asked();
        table_.problem.clear(); // it is of names
    } else if (table_.problem.empty()) {
        table_.coordinates = find_coordinates(table_.names);
        if (table_.coordinates.empty()) {
            choose_by_position();
        }
    }
    if (table_.problem.empty()) {
        choose_others();
    }
}

} // namespace

void choose_columns(TableLayout& table, const std::filesystem::path& file, std::span<const std::string> columns) {
    Chooser(table, file, columns).choose();
}

} // namespace kith::io
