// So many groups that several threads number them at once, known beforehand: clumps on a lattice.
#include "support/cases.hpp"

#include <kith/kith.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace kith::test {
namespace {

struct Clumps {
    std::vector<float> points;
    std::vector<std::int32_t> clump_of;
};

/// About 200,000 points in no order: a clump at each place of a lattice of unit steps, of sizes drawn from `sizes`.
Clumps clumps(const std::vector<int>& sizes, std::uint64_t seed) {
    constexpr std::int32_t wanted = 200'000;
    constexpr std::int32_t edge = 60;
    Random draw(seed);
    std::vector<std::int32_t> clump_of;
    for (std::int32_t clump = 0; static_cast<std::int32_t>(clump_of.size()) < wanted && clump < edge * edge * edge;
         ++clump) {
        const auto size = sizes[static_cast<std::size_t>(draw.integer(static_cast<std::int64_t>(sizes.size())))];
        clump_of.insert(clump_of.end(), static_cast<std::size_t>(size), clump);
    }
    std::shuffle(clump_of.begin(), clump_of.end(), std::mt19937_64(seed));
    Clumps all;
    for (const std::int32_t clump : clump_of) {
        for (const std::int32_t place : {clump % edge, clump / edge % edge, clump / edge / edge}) {
            all.points.push_back(static_cast<float>(place + draw.uniform(0, 0.1)));
        }
    }
    all.clump_of = clump_of;
    return all;
}

/// Labels by decreasing size, ties by smallest member.
std::vector<std::int32_t> labels_of(const std::vector<std::int32_t>& clump_of) {
    const auto clumps = static_cast<std::size_t>(*std::max_element(clump_of.begin(), clump_of.end())) + 1;
    std::vector<std::int32_t> size(clumps, 0);
    std::vector<std::int32_t> first(clumps, 0);
    for (std::size_t i = clump_of.size(); i-- > 0;) {
        const auto clump = static_cast<std::size_t>(clump_of[i]);
        ++size[clump];
        first[clump] = static_cast<std::int32_t>(i);
    }
    std::vector<std::size_t> order(clumps);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return size[a] != size[b] ? size[a] > size[b] : first[a] < first[b];
    });
    std::vector<std::int32_t> label(clumps);
    for (std::size_t i = 0; i < clumps; ++i) {
        label[order[i]] = static_cast<std::int32_t>(i);
    }
    std::vector<std::int32_t> labels;
    for (const std::int32_t clump : clump_of) {
        labels.push_back(label[static_cast<std::size_t>(clump)]);
    }
    return labels;
}

using ManyGroups = NeedsDimension<3>;

TEST_F(ManyGroups, AreNumberedByAllThreads) {
    const std::vector<std::vector<int>> mixtures{{2}, {1}, {1, 2, 3, 40}};
    for (std::size_t i = 0; i < mixtures.size(); ++i) {
        const Clumps given = clumps(mixtures[i], 51 + i);
        const std::vector<std::int32_t> expected = labels_of(given.clump_of);
        for (const int threads : {1, 4}) {
            const FofResult found =
                fof(PointsView(given.points, 3), LinkingLength::absolute(0.2), {.execution = cpu(threads)});
            EXPECT_EQ(found.label_array, expected) << "mixture " << i << ", " << threads << " threads";
            EXPECT_EQ(std::accumulate(found.sizes.begin(), found.sizes.end(), std::int64_t{0}),
                      static_cast<std::int64_t>(expected.size()));
        }
    }
}

} // namespace
} // namespace kith::test
