// A proposal is one integer. If one rank's wins, the greatest, it has from the top: the weight that its rank has
// between the places around the cut, as a share of that of all ranks; bits by chance, or else of ranks with equally
// much the one with the greatest key would win; the key, as an offset from the lower place in units that 38 bits hold.
// Of a mean it is the share times the offset.
#include "distributed/key_cuts.hpp"

#include <bit>
#include <cmath>
#include <cstddef>

namespace kith::detail {

namespace {

constexpr int weight_bits = 14;
constexpr int chance_bits = 10;
constexpr int offset_bits = 38;
constexpr int mean_bits = 24;

int bit_width(KeyNumber number) {
    const auto high = static_cast<std::uint64_t>(number >> 64);
    return high != 0 ? 64 + static_cast<int>(std::bit_width(high))
                     : static_cast<int>(std::bit_width(static_cast<std::uint64_t>(number)));
}

/// By how much offsets below a length are shifted, to fit.
int shift_for(KeyNumber length) {
    return std::max(bit_width(length - 1) - offset_bits, 0);
}

std::uint64_t chance_of(std::uint64_t rank, std::uint64_t candidate, std::uint64_t round) {
    std::uint64_t x = (rank << 40) ^ (candidate << 8) ^ round;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9; // of SplitMix64
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return (x ^ (x >> 31)) >> (64 - chance_bits);
}

} // namespace

WeighedKeys::WeighedKeys(std::vector<KeyNumber> ascending, std::span<const std::int64_t> weights)
    : keys_(std::move(ascending)) {
    if (!weights.empty()) {
        before_.reserve(weights.size() + 1);
        before_.push_back(0);
        for (const std::int64_t weight : weights) {
            before_.push_back(before_.back() + weight);
        }
    }
}

KeyNumber WeighedKeys::at(std::int64_t weight) const {
    const std::int64_t position =
        before_.empty() ? weight : std::ranges::upper_bound(before_, weight) - before_.begin() - 1;
    return keys_[static_cast<std::size_t>(position)];
}

KeyCuts::KeyCuts(int parts, KeyNumber first, KeyNumber end, std::int64_t weight, std::int64_t tolerance)
    : tolerance_(tolerance) {
    for (int part = 1; part < parts; ++part) {
        const auto wanted = static_cast<std::int64_t>(static_cast<Int128>(weight) * part / parts);
        cuts_.push_back({wanted, {first, 0}, {end, weight}});
    }
    plan();
}

/// Or nothing is between the places.
bool KeyCuts::is_found(const Cut& cut) const {
    return cut.wanted - cut.low.below <= tolerance_ || cut.high.below - cut.wanted <= tolerance_ ||
           cut.high.key - cut.low.key <= 1;
}

/// The candidates of the next round: as many for each cut that is left as there is room for.
void KeyCuts::plan() {
    std::vector<std::size_t> left;
    for (std::size_t i = 0; i < cuts_.size(); ++i) {
        if (!is_found(cuts_[i])) {
            left.push_back(i);
        }
    }
    candidates_.clear();
    const std::size_t each = left.empty() ? 0 : (cuts_.size() + 1) / left.size();
    for (const std::size_t i : left) {
        const Cut& cut = cuts_[i];
        const double share =
            static_cast<double>(cut.wanted - cut.low.below) / static_cast<double>(cut.high.below - cut.low.below);
        // The middle one is at the cut's share, the others are spread on both sides.
        for (std::size_t j = 1; j <= each; ++j) {
            const double place = 2.0 * static_cast<double>(j) / static_cast<double>(each + 1);
            candidates_.push_back({i, place < 1 ? place * share : share + (place - 1) * (1 - share)});
        }
    }
}

void KeyCuts::propose(const WeighedKeys& keys, int rank, std::span<std::int64_t> proposals) const {
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
        const Cut& cut = cuts_[candidates_[i].cut];
        const std::int64_t before = keys.weight_below(cut.low.key);
        const std::int64_t own = keys.weight_below(cut.high.key) - before;
        proposals[i] = 0;
        if (own > 0) {
            const double share = is_of_one_rank() ? candidates_[i].share : 0.5;
            const auto place = std::min(static_cast<std::int64_t>(static_cast<double>(own) * share), own - 1);
            const KeyNumber offset = keys.at(before + place) - cut.low.key;
            const auto shifted = static_cast<std::uint64_t>(offset >> shift_for(cut.high.key - cut.low.key));
            const auto units = static_cast<Int128>(own) << (is_of_one_rank() ? weight_bits : mean_bits);
            const auto weight = static_cast<std::uint64_t>(units / (cut.high.below - cut.low.below));
            const std::uint64_t chance =
                chance_of(static_cast<std::uint64_t>(rank), i, static_cast<std::uint64_t>(rounds_));
            proposals[i] = static_cast<std::int64_t>(
                is_of_one_rank() ? (weight << chance_bits | chance) << offset_bits | shifted : weight * shifted);
        }
    }
}

void KeyCuts::choose(std::span<const std::int64_t> reduced) {
    constexpr std::uint64_t most = (std::uint64_t{1} << offset_bits) - 1;
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
        const Cut& cut = cuts_[candidates_[i].cut];
        const KeyNumber length = cut.high.key - cut.low.key;
        const int shift = shift_for(length);
        auto offset = static_cast<std::uint64_t>(reduced[i]);
        if (is_of_one_rank()) {
            offset &= most;
        } else { // on straight lines from the low place to the mean of all ranks' medians, and on to the high one
            const auto end = static_cast<double>(static_cast<std::uint64_t>(length >> shift));
            const double mean = static_cast<double>(offset) * std::ldexp(1.0, -mean_bits);
            const double share = 2 * candidates_[i].share;
            offset = static_cast<std::uint64_t>(share < 1 ? share * mean : mean + (share - 1) * (end - mean));
        }
        // Between the places, not at one.
        candidates_[i].key = cut.low.key + std::min(KeyNumber{std::max<std::uint64_t>(offset, 1)} << shift, length - 1);
    }
}

void KeyCuts::count(const WeighedKeys& keys, std::span<std::int64_t> weights) const {
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
        weights[i] = keys.weight_below(candidates_[i].key);
    }
}

void KeyCuts::close_in(std::span<const std::int64_t> weights) {
    std::vector<Place> places;
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
        places.push_back({candidates_[i].key, weights[i]});
    }
    std::ranges::sort(places, {}, &Place::key); // and so by weight
    for (Cut& cut : cuts_) {                    // each may learn from the candidates of others
        const auto high = std::ranges::upper_bound(places, cut.wanted, {}, &Place::below);
        if (high != places.end() && high->key < cut.high.key) {
            cut.high = *high;
        }
        if (high != places.begin() && cut.low.key < std::prev(high)->key) {
            cut.low = *std::prev(high);
        }
    }
    ++rounds_;
    plan();
}

std::vector<KeyNumber> KeyCuts::cuts() const {
    std::vector<KeyNumber> cuts;
    for (const Cut& cut : cuts_) {
        const bool is_low = cut.wanted - cut.low.below <= cut.high.below - cut.wanted;
        cuts.push_back(is_low ? cut.low.key : cut.high.key);
    }
    return cuts;
}

std::vector<KeyNumber> cut_keys(Ranks& ranks, const WeighedKeys& keys, double imbalance) {
    struct Extent {
        KeyNumber first;
        KeyNumber end;
        std::int64_t weight;
    };
    Extent all{~KeyNumber{0}, 0, 0};
    for (const Extent& of_rank : ranks.gather(Extent{keys.first(), keys.end(), keys.weight()})) {
        if (of_rank.weight > 0) {
            all = {std::min(all.first, of_rank.first), std::max(all.end, of_rank.end), all.weight + of_rank.weight};
        }
    }
    const double of_part = static_cast<double>(all.weight / ranks.size());
    const auto tolerance = static_cast<std::int64_t>(of_part * imbalance / 2); // a part has two cuts
    KeyCuts cuts(ranks.size(), all.first, all.end, all.weight, tolerance);
    for (std::vector<std::int64_t> values; !cuts.is_done();) {
        values.resize(cuts.candidates());
        cuts.propose(keys, ranks.rank(), values);
        cuts.is_of_one_rank() ? ranks.max(values) : ranks.sum(values);
        cuts.choose(values);
        cuts.count(keys, values);
        ranks.sum(values);
        cuts.close_in(values);
    }
    return cuts.cuts();
}

} // namespace kith::detail
