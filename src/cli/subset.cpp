#include "cli/subset.hpp"

#include <algorithm>
#include <limits>
#include <optional>
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

std::uint64_t last_of_sample(const io::Snapshot& snapshot, std::int64_t count, std::uint64_t seed) {
    if (count >= snapshot.positions.rows()) {
        return std::numeric_limits<std::uint64_t>::max();
    }
    std::vector<std::uint64_t> numbers;
    numbers.reserve(snapshot.file_rows.size());
    for (const auto row : snapshot.file_rows) {
        numbers.push_back(mixed(seed, static_cast<std::uint64_t>(row)));
    }
    const auto last = numbers.begin() + (count - 1);
    std::nth_element(numbers.begin(), last, numbers.end());
    return *last;
}

void keep_random_rows(io::Snapshot& snapshot, std::uint64_t last, std::uint64_t seed) {
    std::vector<std::size_t> rows;
    for (std::size_t row = 0; row < snapshot.file_rows.size(); ++row) {
        if (mixed(seed, static_cast<std::uint64_t>(snapshot.file_rows[row])) <= last) {
            rows.push_back(row);
        }
    }
    if (rows.size() == snapshot.file_rows.size()) {
        return;
    }
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
