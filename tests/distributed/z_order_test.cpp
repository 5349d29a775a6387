// The z-order over ranks: the parts of all ranks are the order of one process, which the oracle has.
#include "distributed/distributions.hpp"
#include "oracle/working_copy.hpp"
#include "oracle/z_order.hpp"
#include "support/cases.hpp"

#include <kith/distributed.hpp>
#include <kith/tree.hpp>
#include <kith/z_order.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <limits>
#include <numeric>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace kith::test {
namespace {

class ZOrderOverRanks : public NeedsDimension<3> {};

/// The orders of all ranks, one after the other, and how many points each has.
struct Parts {
    std::vector<std::int64_t> order;
    std::vector<std::int64_t> sizes;

    [[nodiscard]] std::int64_t largest() const { return *std::ranges::max_element(sizes); }
    [[nodiscard]] std::int64_t least() const { return *std::ranges::min_element(sizes); }
};

template <class T>
Parts parts_of(const std::vector<T>& points, const RankFirsts& firsts, const Box& box = {}, double imbalance = 0.01,
               std::span<const std::int64_t> ids = {}, std::span<const double> weights = {}) {
    const auto size = static_cast<int>(firsts.size()) - 1;
    std::vector<std::vector<std::int64_t>> of_ranks(static_cast<std::size_t>(size));
    run_ranks(size, [&](Communicator& ranks) {
        const auto rank = static_cast<std::size_t>(ranks.rank());
        const PointsView mine = part_of({points, 3}, firsts, ranks.rank());
        const auto of_mine = [&](const auto& all) {
            return all.empty()
                       ? all
                       : all.subspan(static_cast<std::size_t>(firsts[rank]), static_cast<std::size_t>(mine.count()));
        };
        const ZOrder found = z_order(
            mine,
            {box, over(ranks, cpu(1), {.ids = of_mine(ids), .weights = of_mine(weights), .imbalance = imbalance})});
        of_ranks[rank].assign(found.indices64().begin(), found.indices64().end());
        EXPECT_EQ(found.distribution->total, firsts.back());
        EXPECT_TRUE(found.distribution->work.empty());
    });
    Parts parts;
    for (const std::vector<std::int64_t>& part : of_ranks) {
        parts.order.insert(parts.order.end(), part.begin(), part.end());
        parts.sizes.push_back(std::ssize(part));
    }
    return parts;
}

/// By the oracle: coincident points by index.
template <class T>
std::vector<std::int64_t> plain_order(const std::vector<T>& points, const Box& box) {
    const oracle::WorkingCopy<T> copy = oracle::working_copy<T>(std::span<const T>(points), 3, box);
    std::vector<std::int64_t> order(points.size() / 3);
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, [&](std::int64_t i, std::int64_t j) {
        return oracle::comes_before(copy.points.data() + 3 * i, copy.points.data() + 3 * j, 3);
    });
    return order;
}

template <class T>
void expect_order_of_one_process(const PointSet<T>& set, const Box& box) {
    const PointsView all = set.view();
    const std::vector<std::int64_t> expected = plain_order(set.coordinates, box);
    EXPECT_TRUE(std::ranges::equal(z_order(all, {.box = box}).indices(), expected));
    EXPECT_TRUE(std::ranges::equal(Tree(all, {.box = box}).order(), expected));
    for (const int size : rank_counts) {
        for (const RankFirsts& firsts :
             {all_on(size - 1, all.count(), size), unevenly(all.count(), size), evenly(all.count(), size)}) {
            EXPECT_EQ(parts_of(set.coordinates, firsts, box).order, expected) << size << " ranks";
        }
    }
}

TEST_F(ZOrderOverRanks, IsThatOfOneProcess) {
    for (const std::string& name : point_set_names()) {
        const PointSet<float> set = point_set<float>(name, 3);
        for (const NamedBox& box : set.boxes) {
            SCOPED_TRACE(name + ", " + box.name);
            expect_order_of_one_process(set, box.box);
        }
    }
    expect_order_of_one_process(point_set<double>("uniform", 3), Box{});
}

TEST_F(ZOrderOverRanks, GivesRanksEqualParts) {
    const std::vector<float> points = uniform_points<float>(8003, 3, -1, 1, 811);
    for (const RankFirsts& firsts : {all_on(2, 8003, 5), evenly(8003, 5)}) {
        const Parts rough = parts_of(points, firsts);
        EXPECT_LE(rough.largest() - rough.least(), 2 * 16); // 1 % of 1600, on both sides
        const Parts exact = parts_of(points, firsts, {}, 0);
        EXPECT_EQ(exact.order, rough.order);
        EXPECT_EQ(exact.largest(), 1601);
        EXPECT_EQ(exact.least(), 1600);
    }
    std::vector<double> weights(8003, 1);
    std::fill_n(weights.begin(), 2000, 4); // 2000 points of 4, 6003 of 1: 14003 in all
    const Parts weighed = parts_of(points, evenly(8003, 5), {}, 0, {}, weights);
    std::int64_t first = 0;
    for (const std::int64_t size : weighed.sizes) {
        double weight = 0;
        for (std::int64_t i = first; i < first + size; ++i) {
            weight += weights[static_cast<std::size_t>(weighed.order[static_cast<std::size_t>(i)])];
        }
        EXPECT_NEAR(weight, 14003.0 / 5, 4);
        first += size;
    }
}

TEST_F(ZOrderOverRanks, KeepsCoincidentPointsTogetherByTheirIds) {
    std::vector<float> points = uniform_points<float>(300, 3, 0, 1, 812);
    std::fill_n(points.begin(), 300, 0.5F); // the first hundred
    std::vector<std::int64_t> ids(300);
    for (std::size_t i = 0; i < 300; ++i) {
        ids[i] = static_cast<std::int64_t>((i * 77) % 300);
    }
    const std::vector<std::int64_t> by_row = plain_order(points, {});
    const Parts parts = parts_of(points, evenly(300, 4), {}, 0, ids);
    EXPECT_GE(parts.largest(), 100);
    const std::set<std::int64_t> coincident(ids.begin(), ids.begin() + 100);
    std::vector<std::int64_t> together; // as they follow each other in the order
    std::ranges::copy_if(parts.order, std::back_inserter(together),
                         [&](std::int64_t id) { return coincident.contains(id); });
    EXPECT_EQ(together.size(), 100U);
    EXPECT_TRUE(std::ranges::is_sorted(together));
    std::vector<std::int64_t> expected;
    std::size_t next = 0;
    for (const std::int64_t row : by_row) {
        expected.push_back(row < 100 ? together[next++] : ids[static_cast<std::size_t>(row)]);
    }
    EXPECT_EQ(parts.order, expected);
}

TEST_F(ZOrderOverRanks, BringsColumnsToTheirPart) {
    const std::vector<float> points = uniform_points<float>(2000, 3, 0, 1, 813);
    const RankFirsts firsts = all_on(1, 2000, 3);
    run_ranks(3, [&](Communicator& ranks) {
        const PointsView mine = part_of({points, 3}, firsts, ranks.rank());
        std::vector<std::array<float, 3>> rows;
        for (std::int64_t i = 0; i < mine.count(); ++i) {
            rows.push_back({points[static_cast<std::size_t>(3 * i)], points[static_cast<std::size_t>(3 * i + 1)],
                            points[static_cast<std::size_t>(3 * i + 2)]});
        }
        const ZOrder order = z_order(mine, {.execution = over(ranks, cpu(1), {.imbalance = 0})});
        const auto here = gather(ranks, order.indices64(), rows);
        const ZOrder again = z_order(PointsView(here), {.execution = over(ranks, cpu(1), {.imbalance = 0})});
        const std::int64_t first = again.distribution->first; // now each rank has its part, in order
        for (std::int64_t i = 0; i < std::ssize(here); ++i) {
            EXPECT_EQ(again.indices64()[static_cast<std::size_t>(i)], first + i);
        }
    });
}

TEST_F(ZOrderOverRanks, RefusesWrongArgumentsOnAllRanks) {
    const std::vector<float> points = uniform_points<float>(30, 3, 0, 1, 814);
    run_ranks(3, [&](Communicator& ranks) {
        const auto call = [&](double imbalance, Box box = {}) {
            (void)z_order(part_of({points, 3}, evenly(30, 3), ranks.rank()),
                          {box, over(ranks, cpu(1), {.imbalance = imbalance})});
        };
        for (const double wrong : {-0.1, 1.5, std::numeric_limits<double>::quiet_NaN()}) {
            EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"imbalance is", "0 to 1"}, [&] { call(wrong); }));
        }
        EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"imbalance: 0.5 on rank", "must pass the same"},
                               [&] { call(ranks.rank() == 1 ? 0.5 : 0.01); }));
        EXPECT_TRUE(is_refused(ErrorKind::invalid_points, {"0.1"}, [&] { call(0.01, Box::periodic(0.1)); }));
    });
    EXPECT_TRUE(is_refused(ErrorKind::unsupported, {"CPU only"},
                           [&] { (void)z_order(PointsView(points, 3), {.execution = cuda()}); }));
    EXPECT_EQ(z_order(PointsView(std::span<const float>(), 3)).index_array.size(), 0);
}

} // namespace
} // namespace kith::test
