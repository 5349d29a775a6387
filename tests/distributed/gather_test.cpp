// Rows of other ranks: every index of every distribution, columns of any type, ids, and what is refused.
#include "distributed/distributions.hpp"
#include "support/cases.hpp"

#include <kith/kith.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <numeric>
#include <random>
#include <string>
#include <tuple>
#include <vector>

namespace kith::test {
namespace {

struct Particle {
    double mass;
    std::array<float, 3> velocity;
    std::uint16_t kind;
    friend bool operator==(const Particle&, const Particle&) = default;
};

std::vector<Particle> particles(std::int64_t count) {
    std::vector<Particle> made;
    for (std::int64_t i = 0; i < count; ++i) {
        const auto x = static_cast<float>(i);
        made.push_back({0.5 * static_cast<double>(i), {x, -x, 2 * x}, static_cast<std::uint16_t>(i % 7)});
    }
    return made;
}

template <class T>
std::span<const T> of_rank(const std::vector<T>& all, const RankFirsts& firsts, int rank) {
    const auto first = static_cast<std::size_t>(firsts[static_cast<std::size_t>(rank)]);
    return std::span(all).subspan(first, static_cast<std::size_t>(firsts[static_cast<std::size_t>(rank) + 1]) - first);
}

TEST(Gathered, AreTheRowsOfAllRanks) {
    constexpr std::int64_t count = 200;
    const std::vector<Particle> all = particles(count);
    for (const int ranks : {1, 2, 3, 5}) {
        for (const RankFirsts& firsts :
             {evenly(count, ranks), all_on(ranks - 1, count, ranks), unevenly(count, ranks)}) {
            run_ranks(ranks, [&](Communicator& communicator) {
                const auto mine = of_rank(all, firsts, communicator.rank());
                std::mt19937_64 random(static_cast<std::uint64_t>(communicator.rank()));
                std::vector<std::int64_t> indices(communicator.rank() == 1 ? 0 : 300); // a rank may ask for nothing
                for (std::int64_t& index : indices) {
                    index = static_cast<std::int64_t>(random() % (count + 1)) - 1; // also -1, and often the same
                }
                std::vector<double> masses(indices.size(), 7);
                std::vector<std::array<float, 3>> velocities(indices.size());
                std::vector<std::uint16_t> kinds(indices.size(), 9);
                const GatherColumn columns[] = {{mine, &Particle::mass, masses},
                                                {mine, &Particle::velocity, velocities},
                                                {mine, &Particle::kind, kinds}};
                gather(communicator, indices, columns);
                const std::vector<Particle> whole = gather(communicator, indices, mine);
                for (std::size_t i = 0; i < indices.size(); ++i) {
                    const Particle expected = indices[i] < 0 ? Particle{} : all[static_cast<std::size_t>(indices[i])];
                    ASSERT_EQ((Particle{masses[i], velocities[i], kinds[i]}), expected) << "index " << indices[i];
                    ASSERT_EQ(whole[i], expected);
                }
            });
        }
    }
}

TEST(Gathered, ByIds) {
    constexpr std::int64_t count = 150;
    const std::vector<Particle> all = particles(count);
    std::vector<std::uint64_t> ids(count);
    for (std::size_t i = 0; i < ids.size(); ++i) {
        ids[i] = (i * 77 % count) * 1000003; // any order; unique
    }
    for (const int ranks : {1, 2, 4}) {
        const RankFirsts firsts = evenly(count, ranks);
        run_ranks(ranks, [&](Communicator& communicator) {
            const int rank = communicator.rank();
            std::vector<std::int64_t> wanted(ids.rbegin(), ids.rend());
            wanted.push_back(-1);
            const std::vector<Particle> found =
                gather(communicator, wanted, of_rank(all, firsts, rank), {.ids = of_rank(ids, firsts, rank)});
            for (std::size_t i = 0; i < all.size(); ++i) {
                ASSERT_EQ(found[i], all[all.size() - 1 - i]);
            }
            EXPECT_EQ(found.back(), Particle{});
            EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"element 1 is 5, an id that no point has"}, [&] {
                const std::vector<std::int64_t> unknown{0, 5};
                (void)gather(communicator, unknown, of_rank(all, firsts, rank), {.ids = of_rank(ids, firsts, rank)});
            }));
        });
    }
}

class GatheredNeighbors : public NeedsDimension<3> {};

TEST_F(GatheredNeighbors, HaveTheMassesOfOneProcess) {
    const std::vector<float> points = along_the_first_axis(uniform_points<float>(240, 3, 0, 1, 5), 3);
    const std::vector<double> masses = uniform_points<double>(240, 1, 1, 2, 6);
    const RankFirsts firsts = evenly(240, 3);
    const KnnResult serial = knn(PointsView(points, 3), 6);
    run_ranks(3, [&](Communicator& ranks) {
        const auto near =
            knn(part_of(PointsView(points, 3), firsts, ranks.rank()), 6, {.execution = over(ranks, cpu(1))});
        const std::vector<double> found = gather(ranks, near.indices64(), of_rank(masses, firsts, ranks.rank()));
        const auto first = static_cast<std::size_t>(6 * near.distribution->first);
        for (std::size_t i = 0; i < found.size(); ++i) {
            ASSERT_EQ(found[i], masses[static_cast<std::size_t>(serial.indices()[first + i])]);
        }
    });
}

TEST(RanksAndRows, OfGlobalIndices) {
    const RankFirsts firsts{0, 3, 3, 10};
    run_ranks(3, [&](Communicator& ranks) {
        const auto rank = static_cast<std::size_t>(ranks.rank());
        const RankOffsets offsets(ranks, firsts[rank + 1] - firsts[rank]);
        EXPECT_EQ(offsets.ranks(), 3);
        EXPECT_EQ(offsets.total(), 10);
        EXPECT_EQ(offsets.first(2), 3);
        EXPECT_EQ(offsets.locate(0), (RankRow{0, 0}));
        EXPECT_EQ(offsets.locate(2), (RankRow{0, 2}));
        EXPECT_EQ(offsets.locate(3), (RankRow{2, 0}));
        EXPECT_EQ(offsets.locate(9), (RankRow{2, 6}));
        for (const std::int64_t index : {-1, 10}) {
            EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {std::to_string(index), "there are 10"},
                                   [&] { (void)offsets.locate(index); }));
        }
    });
}

TEST(GatheredRefuse, OnAllRanks) {
    const auto refuses = [](const std::vector<std::string>& parts, const auto& call) {
        run_ranks(3, [&](Communicator& ranks) {
            EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, parts, [&] { call(ranks); }));
            const std::vector<std::int64_t> all{0, 1, 2}; // and the ranks can go on
            EXPECT_EQ(gather(ranks, all, std::vector<int>{ranks.rank()}), (std::vector<int>{0, 1, 2}));
        });
    };
    const std::vector<int> column{1, 2};
    for (const std::int64_t wrong : {-2, 6}) {
        refuses({"rank 1: indices: element 2 is " + std::to_string(wrong)}, [&](Communicator& ranks) {
            const std::vector<std::int64_t> indices{0, -1, ranks.rank() == 1 ? wrong : 5};
            (void)gather(ranks, indices, column);
        });
    }
    const std::vector<std::int64_t> indices{0};
    std::vector<int> out(2);
    refuses({"rank 2", "the memory for column 1 holds 2 rows", "1 indices"}, [&](Communicator& ranks) {
        std::vector<int> one(1);
        std::vector<int> other(ranks.rank() == 2 ? 2 : 1);
        const GatherColumn columns[] = {{column, one}, {column, other}};
        gather(ranks, indices, columns);
    });
    refuses({"rank 0", "column 1 has 1 rows, column 0 2"}, [&](Communicator& ranks) {
        std::vector<int> one(1);
        std::vector<int> other(1);
        const std::vector<int> shorter(ranks.rank() == 0 ? 1 : 2);
        const GatherColumn columns[] = {{column, one}, {shorter, other}};
        gather(ranks, indices, columns);
    });
    for (const auto& [count, row_bytes, part] : {std::tuple{1, -4, "have -4 bytes"},
                                                 {1, 0, "have 0 bytes"},
                                                 {-2, 4, "column 0 has -2 rows"},
                                                 {1, 4, "address is null"}}) {
        refuses({part}, [&, count = count, row_bytes = row_bytes](Communicator& ranks) {
            std::vector<int> one(1);
            const GatherColumn columns[] = {
                {row_bytes == 4 ? nullptr : column.data(), count, row_bytes, 4, one.data(), 1}};
            gather(ranks, indices, columns);
        });
    }
    refuses({"bytes of the rows", "rank 1", "rank 0"}, [&](Communicator& ranks) {
        const std::vector<double> wide{1, 2};
        ranks.rank() == 1 ? (void)gather(ranks, indices, wide) : (void)gather(ranks, indices, column);
    });
    refuses({"rank 1 called gather"}, [&](Communicator& ranks) {
        ranks.rank() == 1
            ? (void)gather(ranks, indices, column)
            : (void)fof(PointsView(std::vector<float>(6), 3), LinkingLength::absolute(1), {.execution = over(ranks)});
    });
    refuses({"there are no columns"},
            [&](Communicator& ranks) { gather(ranks, indices, std::span<const GatherColumn>()); });
}

} // namespace
} // namespace kith::test
