// A random part of a snapshot's rows: those of the least numbers, each mixed of the seed and a row of the file, and
// different for each. So the part depends neither on threads nor on ranks.
#include "io/refuse.hpp"

#include <kith/error.hpp>
#include <kith/io.hpp>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <variant>
#include <vector>

namespace kith::io {

namespace {

/// The output of SplitMix64 (Steele, Lea & Flood 2014) whose state is `count` steps after the seed.
std::uint64_t mixed(std::uint64_t seed, std::int64_t count) {
    std::uint64_t x = seed + (static_cast<std::uint64_t>(count) + 1) * 0x9e3779b97f4a7c15;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
}

void sum_over(Communicator* ranks, std::span<std::int64_t> numbers) {
    if (ranks != nullptr) {
        ranks->all_reduce(numbers, Reduction::sum);
    }
}

/// The greatest number of the part. Digit by digit, from the first: the numbers of each digit are counted among those
/// that start like the last one.
std::uint64_t last_of_sample(const std::vector<std::int64_t>& file_rows, std::int64_t count, std::uint64_t seed,
                             Communicator* ranks) {
    auto all = static_cast<std::int64_t>(file_rows.size());
    sum_over(ranks, {&all, 1});
    if (count >= all) {
        return std::numeric_limits<std::uint64_t>::max();
    }
    std::uint64_t last = 0;
    std::int64_t left = count;
    for (int shift = 56; shift >= 0; shift -= 8) {
        std::array<std::int64_t, 256> counts{};
        for (const std::int64_t row : file_rows) {
            const std::uint64_t number = mixed(seed, row);
            if (shift == 56 || (number ^ last) >> (shift + 8) == 0) {
                ++counts[(number >> shift) & 255];
            }
        }
        sum_over(ranks, counts);
        std::uint64_t digit = 0;
        for (; left > counts[digit]; ++digit) {
            left -= counts[digit];
        }
        last |= digit << shift;
    }
    return last;
}

/// Moves the rows kept to the front.
template <class T, class IsKept>
void keep(std::vector<T>& values, std::size_t rows, std::size_t columns, const IsKept& is_kept) {
    if (values.empty()) {
        return;
    }
    std::size_t kept = 0;
    for (std::size_t row = 0; row < rows; ++row) {
        if (is_kept(row)) {
            std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(row * columns), columns,
                        values.begin() + static_cast<std::ptrdiff_t>(kept++ * columns));
        }
    }
    values.resize(kept * columns);
    values.shrink_to_fit();
}

} // namespace

void keep_sample(Snapshot& snapshot, std::int64_t count, std::uint64_t seed, Communicator* ranks) {
    if (count < 1) {
        throw error(ErrorKind::invalid_argument, "a sample of ", count, " rows was asked for; it must be 1 or more");
    }
    if (std::ssize(snapshot.file_rows) != snapshot.positions.rows()) {
        throw error(ErrorKind::invalid_argument, "the snapshot has ", snapshot.positions.rows(), " rows, but ",
                    snapshot.file_rows.size(), " numbers of them in the file (file_rows), by which rows are drawn");
    }
    const std::uint64_t last = last_of_sample(snapshot.file_rows, count, seed, ranks);
    if (last == std::numeric_limits<std::uint64_t>::max()) {
        return;
    }
    const std::size_t rows = snapshot.file_rows.size();
    const auto is_kept = [&](std::size_t row) { return mixed(seed, snapshot.file_rows[row]) <= last; };
    for (RealArray* column : {&snapshot.positions, snapshot.velocities ? &*snapshot.velocities : nullptr,
                              snapshot.masses ? &*snapshot.masses : nullptr,
                              snapshot.internal_energies ? &*snapshot.internal_energies : nullptr}) {
        if (column != nullptr) {
            std::visit([&](auto& values) { keep(values, rows, static_cast<std::size_t>(column->columns), is_kept); },
                       column->values);
        }
    }
    keep(snapshot.types, rows, 1, is_kept);
    keep(snapshot.ids, rows, 1, is_kept);
    keep(snapshot.file_rows, rows, 1, is_kept); // last, since the others' rows are chosen by it
}

} // namespace kith::io
