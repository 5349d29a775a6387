#include "cli/subset.hpp"

#include <algorithm>
#include <array>
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

/// Digit by digit, from the first: the numbers of each digit are counted among those that start like the last one.
std::uint64_t last_of_sample(std::span<const std::int64_t> file_rows, std::int64_t all, std::int64_t count,
                             std::uint64_t seed, const SumOfRanks& sum) {
    if (count >= all) {
        return std::numeric_limits<std::uint64_t>::max();
    }
    std::uint64_t last = 0;
    std::int64_t left = count;
    for (int shift = 56; shift >= 0; shift -= 8) {
        std::array<std::int64_t, 256> counts{};
        for (const auto row : file_rows) {
            const std::uint64_t number = mixed(seed, static_cast<std::uint64_t>(row));
            if (shift == 56 || (number ^ last) >> (shift + 8) == 0) {
                ++counts[(number >> shift) & 255];
            }
        }
        sum(counts);
        std::uint64_t digit = 0;
        for (; left > counts[digit]; ++digit) {
            left -= counts[digit];
        }
        last |= digit << shift;
    }
    return last;
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
