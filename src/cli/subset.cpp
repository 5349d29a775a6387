#include "cli/subset.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

namespace kith::cli {

namespace {

/// The output of SplitMix64 (Steele, Lea & Flood 2014) whose state is `count` steps after the seed.
std::uint64_t mixed(std::uint64_t seed, std::uint64_t count) {
    std::uint64_t x = seed + (count + 1) * 0x9e3779b97f4a7c15;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
}

/// Moves the rows kept, which ascend, to the front.
template <class T>
void keep(std::vector<T>& values, const std::vector<std::size_t>& rows, std::size_t columns) {
    if (values.empty()) {
        return;
    }
    for (std::size_t i = 0; i < rows.size(); ++i) {
        std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(rows[i] * columns), columns,
                    values.begin() + static_cast<std::ptrdiff_t>(i * columns));
    }
    values.resize(rows.size() * columns);
    values.shrink_to_fit();
}

void keep(io::RealArray& array, const std::vector<std::size_t>& rows) {
    std::visit([&](auto& values) { keep(values, rows, static_cast<std::size_t>(array.columns)); }, array.values);
}

} // namespace

void keep_random_rows(io::Snapshot& snapshot, std::int64_t count, std::uint64_t seed) {
    if (count >= snapshot.positions.rows()) {
        return;
    }
    std::vector<std::pair<std::uint64_t, std::size_t>> drawn;
    drawn.reserve(snapshot.file_rows.size());
    for (std::size_t row = 0; row < snapshot.file_rows.size(); ++row) {
        drawn.emplace_back(mixed(seed, static_cast<std::uint64_t>(snapshot.file_rows[row])), row);
    }
    std::nth_element(drawn.begin(), drawn.begin() + count, drawn.end());
    std::vector<std::size_t> rows;
    rows.reserve(static_cast<std::size_t>(count));
    std::transform(drawn.begin(), drawn.begin() + count, std::back_inserter(rows),
                   [](const auto& one) { return one.second; });
    std::sort(rows.begin(), rows.end());
    keep(snapshot.positions, rows);
    for (std::optional<io::RealArray>* column : {&snapshot.velocities, &snapshot.masses}) {
        if (*column) {
            keep(**column, rows);
        }
    }
    keep(snapshot.types, rows, 1);
    keep(snapshot.ids, rows, 1);
    keep(snapshot.file_rows, rows, 1);
}

} // namespace kith::cli
