// Cuts of the order of all ranks' keys: parts are equal, whatever the keys are and wherever they lie. Ranks are
// simulated, so that there may be thousands.
#include "distributed/key_cuts.hpp"
#include "support/point_sets.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <span>
#include <string>
#include <vector>

namespace kith::test {
namespace {

using detail::KeyCuts;
using detail::KeyNumber;
using detail::WeighedKeys;

using Keys = std::vector<KeyNumber>;

struct Found {
    std::vector<std::int64_t> parts; ///< weights
    int rounds = 0;
};

/// Of the keys of so many ranks; `weights` are empty, or as the keys.
Found cut(const std::vector<Keys>& of_ranks, const std::vector<std::vector<std::int64_t>>& weights, double tolerance) {
    std::vector<WeighedKeys> ranks;
    Keys all;
    for (std::size_t rank = 0; rank < of_ranks.size(); ++rank) {
        Keys keys = of_ranks[rank];
        std::ranges::sort(keys);
        ranks.emplace_back(keys, weights.empty() ? std::span<const std::int64_t>() : weights[rank]);
        all.insert(all.end(), keys.begin(), keys.end());
    }
    std::int64_t total = 0;
    for (const WeighedKeys& rank : ranks) {
        total += rank.weight();
    }
    const auto size = static_cast<int>(ranks.size());
    const auto ends = std::ranges::minmax(all.empty() ? Keys{0} : all);
    KeyCuts cuts(size, ends.min, ends.max + 1, total,
                 static_cast<std::int64_t>(tolerance * static_cast<double>(total) / size));
    while (!cuts.is_done() && cuts.rounds() < 200) {
        EXPECT_LE(cuts.candidates(), ranks.size());
        std::vector<std::int64_t> reduced(cuts.candidates());
        std::vector<std::int64_t> sums(cuts.candidates());
        std::vector<std::int64_t> mine(cuts.candidates());
        for (int rank = 0; rank < size; ++rank) {
            cuts.propose(ranks[static_cast<std::size_t>(rank)], rank, mine);
            for (std::size_t i = 0; i < mine.size(); ++i) {
                reduced[i] = cuts.is_of_one_rank() ? std::max(reduced[i], mine[i]) : reduced[i] + mine[i];
            }
        }
        cuts.choose(reduced);
        for (const WeighedKeys& rank : ranks) {
            cuts.count(rank, mine);
            std::ranges::transform(mine, sums, sums.begin(), std::plus());
        }
        cuts.close_in(sums);
    }
    Found found{{}, cuts.rounds()};
    std::int64_t before = 0;
    Keys ends_of_parts = cuts.cuts();
    EXPECT_TRUE(std::ranges::is_sorted(ends_of_parts));
    ends_of_parts.push_back(ends.max + 1);
    for (const KeyNumber end : ends_of_parts) {
        std::int64_t below = 0;
        for (const WeighedKeys& rank : ranks) {
            below += rank.weight_below(end);
        }
        found.parts.push_back(below - before);
        before = below;
    }
    return found;
}

/// The largest part over the mean, and the smallest.
std::pair<double, double> extremes(const Found& found) {
    const double mean = static_cast<double>(std::accumulate(found.parts.begin(), found.parts.end(), std::int64_t{0})) /
                        static_cast<double>(found.parts.size());
    const auto ends = std::ranges::minmax(found.parts);
    return {static_cast<double>(ends.max) / mean, static_cast<double>(ends.min) / mean};
}

/// So many keys, with their numbers in all as the low word; the high word is drawn.
Keys drawn(std::int64_t count, const std::function<std::uint64_t(Random&)>& high) {
    Random draw(11);
    Keys keys;
    for (std::int64_t i = 0; i < count; ++i) {
        keys.push_back(detail::number_of(high(draw), static_cast<std::uint64_t>(i)));
    }
    return keys;
}

std::vector<Keys> slabs(const Keys& any, std::size_t ranks) {
    Keys keys = any;
    std::ranges::sort(keys);
    std::vector<Keys> of_ranks(ranks);
    for (std::size_t i = 0; i < keys.size(); ++i) {
        of_ranks[i * ranks / keys.size()].push_back(keys[i]);
    }
    return of_ranks;
}
std::vector<Keys> scattered(const Keys& keys, std::size_t ranks) {
    std::vector<Keys> of_ranks(ranks);
    for (std::size_t i = 0; i < keys.size(); ++i) {
        of_ranks[i % ranks].push_back(keys[i]);
    }
    return of_ranks;
}
std::vector<Keys> on_one(const Keys& keys, std::size_t ranks) {
    std::vector<Keys> of_ranks(ranks);
    of_ranks[ranks / 2] = keys;
    return of_ranks;
}

constexpr double half_a_hundredth = 0.005;

TEST(KeyCuts, GiveEqualPartsInFewRounds) {
    const std::size_t ranks = std::getenv("KITH_LARGE_TESTS") != nullptr ? 4096 : 1024;
    constexpr std::int64_t of_rank = 400;
    const auto count = static_cast<std::int64_t>(ranks) * of_rank;
    const struct {
        const char* name;
        std::function<std::uint64_t(Random&)> high;
    } sets[] = {
        {"even", [](Random& draw) { return static_cast<std::uint64_t>(draw.integer(std::int64_t{1} << 62)); }},
        {"many scales", [](Random& draw) { return static_cast<std::uint64_t>(std::exp2(draw.uniform(0, 62))); }},
        {"half coincident",
         [](Random& draw) { return static_cast<std::uint64_t>(draw.integer(2) * draw.integer(1 << 30)); }},
    };
    for (const auto& set : sets) {
        const Keys keys = drawn(count, set.high);
        for (const auto& divide : {scattered, slabs, on_one}) {
            const Found found = cut(divide(keys, ranks), {}, half_a_hundredth);
            EXPECT_LE(found.rounds, 12) << set.name;
            EXPECT_LE(extremes(found).first, 1.01) << set.name;
            EXPECT_GE(extremes(found).second, 0.99) << set.name;
        }
    }
}

TEST(KeyCuts, AreExactWithoutTolerance) {
    const Keys keys = drawn(10'007, [](Random& draw) { return static_cast<std::uint64_t>(draw.integer(3000)); });
    for (const auto& divide : {scattered, slabs, on_one}) {
        const Found found = cut(divide(keys, 13), {}, 0);
        const auto ends = std::ranges::minmax(found.parts);
        EXPECT_LE(ends.max - ends.min, 1);
        EXPECT_LE(found.rounds, 40);
    }
}

TEST(KeyCuts, DivideWeights) {
    Random draw(5);
    const Keys keys = drawn(40'000, [](Random& random) { return static_cast<std::uint64_t>(random.integer(1 << 30)); });
    std::vector<Keys> of_ranks = scattered(keys, 16);
    std::vector<std::vector<std::int64_t>> weights;
    for (const Keys& of_rank : of_ranks) {
        weights.emplace_back();
        for (std::size_t i = 0; i < of_rank.size(); ++i) {
            weights.back().push_back(draw.integer(100) == 0 ? 1'000'000 : 1 + draw.integer(1000));
        }
    }
    const auto [greatest, least] = extremes(cut(of_ranks, weights, half_a_hundredth));
    EXPECT_LE(greatest, 1.04); // the heaviest weigh some 0.04 of a part
    EXPECT_GE(least, 0.96);
}

TEST(KeyCuts, LeaveEqualKeysTogether) {
    const Found all_alike = cut(scattered(Keys(1000, 7), 5), {}, 0);
    EXPECT_EQ(std::ranges::max(all_alike.parts), 1000);
    Keys keys(300, 7);
    for (int i = 0; i < 700; ++i) {
        keys.push_back(static_cast<KeyNumber>(100 + i));
    }
    const Found found = cut(scattered(keys, 10), {}, 0);
    EXPECT_EQ(std::accumulate(found.parts.begin(), found.parts.end(), std::int64_t{0}), 1000);
    EXPECT_EQ(std::ranges::max(found.parts), 300);
    EXPECT_EQ(std::ranges::count(found.parts, 100), 7);
}

TEST(KeyCuts, NeedNoKeys) {
    EXPECT_EQ(cut(std::vector<Keys>(4), {}, 0).parts, std::vector<std::int64_t>(4));
    EXPECT_EQ(cut({{5}, {}, {}}, {}, 0).parts, (std::vector<std::int64_t>{0, 0, 1}));
    EXPECT_EQ(cut({{5, 6, 7}}, {}, 0).parts, std::vector<std::int64_t>{3});
}

} // namespace
} // namespace kith::test
