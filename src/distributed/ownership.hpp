// Which rank has which points: the global index of a point is the number of points on lower ranks plus its row.
#pragma once

#include "distributed/ranks.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace kith::detail {

/// Which global indices are whose.
class Ownership {
public:
    Ownership() = default;
    Ownership(Ranks& ranks, std::int64_t count) : rank_(ranks.rank()), firsts_{0} {
        for (const std::int64_t of_rank : ranks.gather(count)) {
            firsts_.push_back(firsts_.back() + of_rank);
        }
    }
    [[nodiscard]] int owner(std::int64_t index) const {
        return static_cast<int>(std::ranges::upper_bound(firsts_, index) - firsts_.begin()) - 1;
    }
    [[nodiscard]] bool is_mine(std::int64_t index) const { return index >= first() && index < firsts_[rank_ + 1]; }
    [[nodiscard]] std::int64_t first() const { return first_of(rank_); } ///< global index of this rank's first point
    [[nodiscard]] std::int64_t first_of(int rank) const { return firsts_[rank]; }
    [[nodiscard]] std::int64_t end() const { return first_of(rank_ + 1); }
    [[nodiscard]] std::int64_t total() const { return firsts_.back(); }

private:
    int rank_ = 0;
    std::vector<std::int64_t> firsts_;
};

} // namespace kith::detail
