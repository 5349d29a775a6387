// Counts by level of a cell, for the levels that occur.
#pragma once

#include "order/zorder.hpp"
#include "support/parallel.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace kith::detail {

/// Counts of what has a cell, by its level, and of coincident points.
class LevelCounts {
public:
    void add(int level, std::int64_t count) {
        if (level == coincident) {
            coincident_points_ += count;
            return;
        }
        reach(level);
        counts_[level - lowest_] += count;
    }
    void add(const LevelCounts& other) {
        coincident_points_ += other.coincident_points_;
        for (int level = other.lowest(); level <= other.highest(); ++level) {
            add(level, other[level]);
        }
    }

    [[nodiscard]] std::int64_t operator[](int level) const { return counts_[level - lowest_]; }
    [[nodiscard]] int lowest() const { return lowest_; }
    [[nodiscard]] int highest() const { return lowest_ + static_cast<int>(counts_.size()) - 1; }
    [[nodiscard]] std::int64_t coincident_points() const { return coincident_points_; }

private:
    /// Levels from the lowest to the highest so far are there, and this one.
    void reach(int level) {
        if (counts_.empty()) {
            lowest_ = level;
        }
        if (level < lowest_) {
            counts_.insert(counts_.begin(), static_cast<std::size_t>(lowest_ - level), 0);
            lowest_ = level;
        }
        if (level > highest()) {
            counts_.resize(static_cast<std::size_t>(level - lowest_) + 1);
        }
    }

    std::vector<std::int64_t> counts_;
    int lowest_ = 0;
    std::int64_t coincident_points_ = 0;
};

/// The counts that count(i, counts) adds, for i in [0, size).
template <class Count>
LevelCounts counts_by_level(std::int64_t size, const Count& count) {
    constexpr std::int64_t grain = 1 << 8;
    const std::int64_t blocks = std::clamp<std::int64_t>(size / grain, 1, 4 * std::int64_t{loop_threads()});
    std::vector<LevelCounts> parts(blocks);
    parallel_each(blocks, 1, [&](std::int64_t block) {
        LevelCounts counts;
        for (std::int64_t i = size * block / blocks; i < size * (block + 1) / blocks; ++i) {
            count(i, counts);
        }
        parts[block] = std::move(counts);
    });
    for (std::size_t block = 1; block < parts.size(); ++block) {
        parts[0].add(parts[block]);
    }
    return std::move(parts[0]);
}

} // namespace kith::detail
