// What was found for the points read, as columns of the file.
#pragma once

#include <kith/io.hpp>

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace kith::cli {

/// One value per row of the file: value(i) for the i-th point read, `absent` for rows that were not selected.
template <class T, class Value>
[[nodiscard]] std::vector<T> by_file_row(const io::Snapshot& snapshot, T absent, const Value& value) {
    const auto& counts = snapshot.header.counts;
    const std::int64_t rows = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
    std::vector<T> column(rows, absent);
    for (std::size_t i = 0; i < snapshot.file_rows.size(); ++i) {
        column[snapshot.file_rows[i]] = value(i);
    }
    return column;
}

} // namespace kith::cli
