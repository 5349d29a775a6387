// Whole numbers among real ones (see table_doubts.hpp).
#include "io/table_doubts.hpp"

#include "io/refuse.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace kith::io {

void warn_of_ids_among_coordinates(const RealArray& positions, std::vector<std::string>& warnings) {
    const std::vector<double>& values = std::get<std::vector<double>>(positions.values);
    const auto counts = [&](std::size_t axis) {
        std::vector<double> column;
        for (std::size_t i = axis; i < values.size(); i += 3) {
            if (!(values[i] == std::trunc(values[i]))) {
                return false;
            }
        }
        for (std::size_t i = axis; i < values.size(); i += 3) {
            column.push_back(values[i]);
        }
        if (std::any_of(column.begin(), column.end(), [](double value) { return std::abs(value) >= 0x1p53; })) {
            return true; // float64 cannot tell such numbers apart
        }
        std::sort(column.begin(), column.end());
        return std::adjacent_find(column.begin(), column.end()) == column.end();
    };
    const std::array<bool, 3> distinct = {counts(0), counts(1), counts(2)};
    if (positions.rows() >= 2 && std::count(distinct.begin(), distinct.end(), true) == 1) {
        const auto column = std::find(distinct.begin(), distinct.end(), true) - distinct.begin() + 1;
        warnings.push_back(message(
            "the three columns have no names and are taken for x, y and z, but column ", column,
            " holds distinct whole numbers, as ids are. If it is no coordinate, choose the others with --columns ",
            column == 1   ? "2,3"
            : column == 2 ? "1,3"
                          : "1,2",
            " (columns= in Python)"));
    }
}

void warn_of_numbered_columns(const RealArray& positions, std::int64_t line, std::vector<std::string>& warnings) {
    const std::vector<double>& values = std::get<std::vector<double>>(positions.values);
    const auto width = static_cast<std::size_t>(positions.columns);
    bool are_numbers = values.size() > width;
    for (std::size_t i = 0; are_numbers && i < std::min(values.size(), 64 * width); ++i) {
        are_numbers = i < width ? values[i] == static_cast<double>(i) : values[i] != std::trunc(values[i]);
    }
    if (are_numbers) {
        warnings.push_back(message("line ", line,
                                   " holds 0, 1, ..., and no other row whole numbers. It is read as a point; if it "
                                   "numbers the columns, remove it"));
    }
}

} // namespace kith::io
