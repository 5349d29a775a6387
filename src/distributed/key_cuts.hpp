// Where the order of the keys of all ranks is cut into parts of equal weight.
//
// All ranks count their keys below candidates, one or more for each cut, and add the counts up, until the weight below
// a candidate is what the cut wants, up to a tolerance. In one round a candidate is a key of the rank that has most of
// the weight between the candidates next to the cut, at the share of it at which the cut lies: one rank knows all about
// a cut where ranks hold parts of the order. In the next it comes from the mean of all ranks' medians, which is a good
// guess where they hold random keys, few of them near a cut. The fewer cuts are left, the more candidates each gets.
//
// A round is two reductions of an integer for each candidate, of which there are no more than ranks: 16 bytes a rank.
// Nothing is sampled, so parts do not differ by chance: 4,096 ranks of 400 keys, random or in order, evenly spread or
// over many scales, have parts within 1 % after 5 to 11 rounds. Source: histogram sort (Solomonik, Kale, IPDPS 2010;
// Harsh, Kale, Solomonik, SPAA 2019), with candidates of other origins.
#pragma once

#include "distributed/ranks.hpp"
#include "support/int128.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace kith::detail {

/// A key as a number that orders as it does: number_of(key) is found by the key's type.
using KeyNumber = UnsignedInt128;

constexpr KeyNumber number_of(std::uint64_t high, std::uint64_t low) {
    return KeyNumber{high} << 64 | low;
}
/// The order of signed numbers.
constexpr std::uint64_t ordered(std::int64_t value) {
    return static_cast<std::uint64_t>(value) ^ (std::uint64_t{1} << 63);
}
constexpr KeyNumber number_of(std::int64_t id) {
    return ordered(id);
}

/// The keys of a rank in their order, each with a weight.
class WeighedKeys {
public:
    WeighedKeys() = default;
    /// Of weight 1 each, if `weights` is empty; otherwise one for each key, above 0.
    WeighedKeys(std::vector<KeyNumber> ascending, std::span<const std::int64_t> weights);

    [[nodiscard]] std::int64_t weight() const { return weight_before(std::ssize(keys_)); }
    [[nodiscard]] std::int64_t weight_below(KeyNumber key) const {
        return weight_before(std::ranges::lower_bound(keys_, key) - keys_.begin());
    }
    /// The key that holds this place in the weights, from 0 to weight() - 1.
    [[nodiscard]] KeyNumber at(std::int64_t weight) const;
    /// The least, and one more than the greatest; both 0 without keys.
    [[nodiscard]] KeyNumber first() const { return keys_.empty() ? 0 : keys_.front(); }
    [[nodiscard]] KeyNumber end() const { return keys_.empty() ? 0 : keys_.back() + 1; }

private:
    [[nodiscard]] std::int64_t weight_before(std::int64_t position) const {
        return before_.empty() ? position : before_[static_cast<std::size_t>(position)];
    }

    std::vector<KeyNumber> keys_;
    std::vector<std::int64_t> before_; ///< sums of weights; empty if all are 1
};

/// What all ranks know of the cuts, alike. Rounds follow each other until is_done(): propose() on every rank; the
/// greatest of all ranks to choose() if the candidates are each of one rank, else the sums; count() on every rank, the
/// sums to close_in().
class KeyCuts {
public:
    /// All keys are from `first` to before `end`; `weight` is their sum. Cuts are `tolerance` of that away from where
    /// they should be, or as near as equal keys allow.
    KeyCuts(int parts, KeyNumber first, KeyNumber end, std::int64_t weight, std::int64_t tolerance);

    [[nodiscard]] bool is_done() const { return candidates_.empty(); }
    [[nodiscard]] bool is_of_one_rank() const { return rounds_ % 2 == 0; }
    [[nodiscard]] std::size_t candidates() const { return candidates_.size(); }
    void propose(const WeighedKeys& keys, int rank, std::span<std::int64_t> proposals) const;
    void choose(std::span<const std::int64_t> reduced);
    void count(const WeighedKeys& keys, std::span<std::int64_t> weights) const;
    void close_in(std::span<const std::int64_t> weights);

    [[nodiscard]] int rounds() const { return rounds_; }
    /// Part p has the keys from cuts()[p - 1] to before cuts()[p].
    [[nodiscard]] std::vector<KeyNumber> cuts() const;

private:
    /// A place in the order, and the weight of all keys before it.
    struct Place {
        KeyNumber key;
        std::int64_t below;
    };
    struct Cut {
        std::int64_t wanted; ///< weight below it
        Place low;           ///< at most as much is below
        Place high;          ///< more is below
    };
    struct Candidate {
        std::size_t cut;
        double share; ///< of the weight between low and high
        KeyNumber key = 0;
    };

    [[nodiscard]] bool is_found(const Cut& cut) const;
    void plan();

    std::int64_t tolerance_;
    int rounds_ = 0;
    std::vector<Cut> cuts_;
    std::vector<Candidate> candidates_; ///< of this round
};

/// Collective. The first keys of the parts of ranks 1, 2, ..., which hold the same weight of all keys, to `imbalance`
/// of it or as nearly as equal keys allow.
std::vector<KeyNumber> cut_keys(Ranks& ranks, const WeighedKeys& keys, double imbalance);

/// The part that has a key.
inline int part_of(const std::vector<KeyNumber>& cuts, KeyNumber key) {
    return static_cast<int>(std::ranges::upper_bound(cuts, key) - cuts.begin());
}

} // namespace kith::detail
