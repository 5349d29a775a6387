// What was found for the points read, as columns of the file.
#pragma once

#include "cli/rank_team.hpp"

#include <kith/io.hpp>

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

namespace kith::cli {

/// Rows of the file, of which the selected ones are points of this rank. Those of all ranks are all rows of the file.
struct FileRows {
    std::int64_t begin = 0;
    std::int64_t end = 0;
    std::span<const std::int64_t> of_points; ///< ascending
};

[[nodiscard]] inline std::int64_t rows_of_file(const io::Snapshot& snapshot) {
    const auto& counts = snapshot.header.counts;
    return std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
}

/// From the first point of this rank (of the first rank, from row 0) to that of the next one. Collective.
[[nodiscard]] inline FileRows file_rows_of(RankTeam* ranks, const io::Snapshot& snapshot) {
    const std::int64_t all = rows_of_file(snapshot);
    const std::span<const std::int64_t> of_points = snapshot.file_rows;
    FileRows rows{0, all, of_points};
    if (ranks != nullptr) {
        const std::vector<std::int64_t> firsts = ranks->gather_values(of_points.empty() ? all : of_points.front());
        const auto mine = firsts.begin() + ranks->rank();
        rows.begin = ranks->is_first() ? 0 : *std::min_element(mine, firsts.end()); // a rank may have no points
        rows.end = mine + 1 == firsts.end() ? all : *std::min_element(mine + 1, firsts.end());
    }
    return rows;
}

/// One value per row of the file: value(i) for the i-th point of this rank, `absent` for rows that were not selected.
template <class T, class Value>
[[nodiscard]] RankArray by_file_row(const FileRows& rows, T absent, Value value) {
    return array_of(rows.end - rows.begin, [rows, absent, value, point = std::size_t{0}](std::int64_t row) mutable {
        const bool is_selected = point < rows.of_points.size() && rows.of_points[point] == rows.begin + row;
        return is_selected ? value(point++) : absent;
    });
}

} // namespace kith::cli
