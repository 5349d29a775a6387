// Spanning trees over ranks against those of one process, which other suites hold against the oracle: every type, built
// dimension, point set and box, and sets that are hard to join over ranks.
#include "distributed/distributions.hpp"
#include "mst/conformance.hpp"
#include "support/cases.hpp"
#include "support/velocities.hpp"

#include <kith/distributed.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <mutex>
#include <numeric>
#include <string>
#include <tuple>
#include <vector>

namespace kith::test {
namespace {

using test::part_of;

SpanningTreeOptions part_of(SpanningTreeOptions options, const RankFirsts& firsts, int rank) {
    if (options.phase_space) {
        PhaseSpace& phase_space = options.phase_space->phase_space;
        phase_space.velocities = test::part_of(phase_space.velocities, firsts, rank);
    }
    return options;
}

/// The parts of all ranks.
template <class T>
struct Parts {
    std::vector<oracle::TreeEdge<T>> edges; ///< rank after rank; with ids, those of their ends
    std::vector<std::int64_t> counts;       ///< of each rank
    SpanningTree of_last;                   ///< the part of the last rank
    std::int64_t bytes = 0;                 ///< received by all ranks
};

/// Row i of the points has ids[i], unless there are none.
template <class T>
Parts<T> find_parts(const PointsView& points, const SpanningTreeOptions& options, const RankFirsts& firsts,
                    const std::vector<std::int64_t>& ids = {}, int threads = 1) {
    const auto ranks = static_cast<std::size_t>(firsts.size() - 1);
    std::vector<SpanningTree> parts(ranks);
    run_ranks(static_cast<int>(ranks), [&](Communicator& communicator) {
        const int rank = communicator.rank();
        const PointsView mine = part_of(points, firsts, rank);
        SpanningTreeOptions here = part_of(options, firsts, rank);
        RankOptions of_ranks;
        if (!ids.empty()) {
            of_ranks.ids = std::span(ids).subspan(static_cast<std::size_t>(firsts[static_cast<std::size_t>(rank)]),
                                                  static_cast<std::size_t>(mine.count()));
        }
        here.execution = over(communicator, cpu(threads), of_ranks);
        parts[static_cast<std::size_t>(rank)] = spanning_tree(mine, here);
    });
    Parts<T> all;
    for (const SpanningTree& part : parts) {
        for (std::size_t i = 0; i < part.edges64().size(); ++i) {
            const auto [smaller, larger] = part.edges64()[i];
            all.edges.push_back({static_cast<std::int32_t>(smaller), static_cast<std::int32_t>(larger),
                                 part.weights<T>()[i], part.heights<T>()[i]});
        }
        all.counts.push_back(part.count());
        all.bytes += part.distribution->traffic.bytes_received;
    }
    all.of_last = parts.back();
    return all;
}

/// The same edges on the ranks of their larger ends, in the order of one process.
template <class T>
std::vector<oracle::TreeEdge<T>> divided(const SpanningTree& tree, const RankFirsts& firsts) {
    std::vector<oracle::TreeEdge<T>> edges;
    const std::vector<oracle::TreeEdge<T>> all = edges_of<T>(tree);
    for (std::size_t rank = 0; rank + 1 < firsts.size(); ++rank) {
        std::ranges::copy_if(all, std::back_inserter(edges), [&](const oracle::TreeEdge<T>& edge) {
            return edge.larger >= firsts[rank] && edge.larger < firsts[rank + 1];
        });
    }
    return edges;
}

template <class T>
void expect_tree_of_one_process(const PointsView& points, const SpanningTreeOptions& options, const RankFirsts& firsts,
                                int threads = 1) {
    const SpanningTree serial = spanning_tree(points, options);
    const Parts<T> found = find_parts<T>(points, options, firsts, {}, threads);
    EXPECT_EQ(difference(found.edges, divided<T>(serial, firsts)), "");
    const SpanningTree& part = found.of_last;
    EXPECT_EQ(part.points(), points.count());
    EXPECT_EQ(part.box(), serial.box());
    EXPECT_EQ(part.mean_separation(), serial.mean_separation());
    EXPECT_EQ(part.facts().shortest_length, serial.facts().shortest_length);
    EXPECT_EQ(part.facts().wrapped_points, serial.facts().wrapped_points);
    EXPECT_EQ(part.facts().velocity_length, serial.facts().velocity_length);
    EXPECT_EQ(part.velocity_scale(), serial.velocity_scale());
    EXPECT_EQ(part.unresolved.count, serial.unresolved.count);
    EXPECT_EQ(part.unresolved.warning(), serial.unresolved.warning());
}

class SpanningTreeOverRanks : public testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(Sets, SpanningTreeOverRanks, testing::ValuesIn(every_case()), case_name);

TEST_P(SpanningTreeOverRanks, HasTheEdgesOfOneProcess) {
    with_type(GetParam().dtype, [&]<class T>(T) {
        const PointSet<T> set = point_set<T>(GetParam().set, GetParam().dimension);
        const std::vector<T> slabs = along_the_first_axis(set.coordinates, set.dimension);
        Random draw(static_cast<std::uint64_t>(set.count()) * 41 + static_cast<std::uint64_t>(set.dimension));
        for (const NamedBox& named : set.boxes) {
            SCOPED_TRACE(named.name);
            const int ranks = rank_counts[draw.integer(std::size(rank_counts))];
            expect_tree_of_one_process<T>({draw.integer(3) == 0 ? set.coordinates : slabs, set.dimension},
                                          {.box = named.box}, drawn_distribution(set.count(), ranks, draw));
        }
    });
}

class PhaseSpaceTreeOverRanks : public testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(Sets, PhaseSpaceTreeOverRanks,
                         testing::ValuesIn(cases_of({"two", "clustered", "lattice", "coincident", "slightly_outside"})),
                         case_name);

TEST_P(PhaseSpaceTreeOverRanks, HasTheEdgesOfOneProcess) {
    const int dimension = GetParam().dimension;
    if (dimension > 4 || !is_built(2 * dimension)) {
        GTEST_SKIP() << "dimension " << 2 * dimension << " is not built";
    }
    with_type(GetParam().dtype, [&]<class T>(T) {
        const PointSet<T> set = point_set<T>(GetParam().set, dimension);
        const std::vector<T> slabs = along_the_first_axis(set.coordinates, dimension);
        Random draw(static_cast<std::uint64_t>(set.count()) * 47 + sizeof(T));
        for (const NamedBox& named : set.boxes) {
            SCOPED_TRACE(named.name);
            std::vector<double> velocities = velocities_for<double>(set.count(), dimension, draw);
            velocities.front() += 0.3; // not all alike
            const PhaseSpace phase_space{PointsView(velocities, dimension), VelocityLength::sigmas(0.8)};
            const int ranks = rank_counts[draw.integer(std::size(rank_counts))];
            expect_tree_of_one_process<T>(
                {slabs, dimension},
                {.box = named.box,
                 .phase_space = PhaseSpaceAt{phase_space, LinkingLength::absolute(set.extent() * 0.3 + 1e-3)}},
                drawn_distribution(set.count(), ranks, draw));
        }
    });
}

class SpanningTreeOverRanksIn3D : public NeedsDimension<3> {};

TEST_F(SpanningTreeOverRanksIn3D, IsThatOfOneProcessForManyPoints) {
    const std::int64_t count = sized(4096);
    Random draw(53);
    for (const char* kind : {"halos", "lattice", "crowded places", "two clusters", "one far away", "growing steps"}) {
        const std::vector<float> scattered = many_points(kind, count);
        const std::vector<float> slabs = along_the_first_axis(scattered, 3);
        for (const int ranks : {2, 3, 4, 5, 7, 8}) {
            SCOPED_TRACE(std::string(kind) + " on " + std::to_string(ranks));
            const Box box =
                draw.integer(2) == 0 || kind == std::string("one far away") || kind == std::string("growing steps")
                    ? Box{}
                    : Box::periodic({0.0, 0.0, 1300.0});
            expect_tree_of_one_process<float>({ranks == 3 ? scattered : slabs, 3}, {.box = box}, evenly(count, ranks),
                                              ranks == 4 ? 3 : 1);
        }
    }
}

TEST_F(SpanningTreeOverRanksIn3D, JoinsClustersThatAreRanksOfTheirOwn) {
    constexpr std::int64_t of_rank = 300;
    Random draw(54);
    for (const int ranks : {2, 4, 7}) {
        std::vector<float> points;
        for (int rank = 0; rank < ranks; ++rank) { // in pairs that are far from the next
            const float at = static_cast<float>(1000 * (rank / 2) + 50 * (rank % 2));
            for (std::int64_t i = 0; i < of_rank; ++i) {
                for (int axis = 0; axis < 3; ++axis) {
                    points.push_back(at + static_cast<float>(draw.normal()));
                }
            }
        }
        expect_tree_of_one_process<float>({points, 3}, {}, evenly(of_rank * ranks, ranks));
    }
}

TEST_F(SpanningTreeOverRanksIn3D, FollowsFilamentsThroughAllRanks) {
    constexpr std::int64_t count = 2000;
    Random draw(55);
    std::vector<float> points;
    for (std::int64_t i = 0; i < count; ++i) { // equal steps: ties everywhere
        points.insert(points.end(), {static_cast<float>(i * 769 % count), static_cast<float>(i * 769 % 3), 0});
    }
    for (const int ranks : {2, 3, 5, 8}) {
        expect_tree_of_one_process<float>({points, 3}, {}, evenly(count, ranks));
        expect_tree_of_one_process<float>({along_the_first_axis(points, 3), 3}, {.box = Box::periodic({2000.0, 0, 0})},
                                          evenly(count, ranks));
    }
}

TEST_F(SpanningTreeOverRanksIn3D, OfCoincidentPointsFewTravel) {
    constexpr std::int64_t count = 20000;
    std::vector<float> points(3 * count, 0.25F);
    for (std::size_t i = 0; i < count; i += 7) { // several places, each on all ranks
        points[3 * i] = static_cast<float>(i % 5);
    }
    const RankFirsts firsts = evenly(count, 4);
    const Parts<float> found = find_parts<float>({points, 3}, {}, firsts);
    EXPECT_EQ(difference(found.edges, divided<float>(spanning_tree(PointsView(points, 3)), firsts)), "");
    EXPECT_LT(found.bytes, 80000); // most of which are the boxes of leaves
}

TEST_F(SpanningTreeOverRanksIn3D, NamesIdsWhoeverHasThePoints) {
    const std::int64_t count = sized(4096);
    const std::vector<float> points = many_points("crowded places", count);
    const auto expected = edges_of<float>(spanning_tree(PointsView(points, 3)));
    Random draw(56);
    std::vector<std::int64_t> ids(static_cast<std::size_t>(count)); // of the rows, once they are permuted
    std::iota(ids.begin(), ids.end(), 0);
    for (std::size_t i = ids.size() - 1; i > 0; --i) {
        std::swap(ids[i], ids[static_cast<std::size_t>(draw.integer(static_cast<std::int64_t>(i) + 1))]);
    }
    std::vector<float> permuted;
    for (const std::int64_t id : ids) {
        permuted.insert(permuted.end(), points.begin() + 3 * id, points.begin() + 3 * id + 3);
    }
    for (const int ranks : {1, 3, 4}) {
        std::vector<oracle::TreeEdge<float>> found =
            find_parts<float>({permuted, 3}, {}, evenly(count, ranks), ids).edges;
        std::ranges::sort(found, {}, [](const auto& edge) {
            return std::tuple(edge.weight, edge.height, edge.smaller, edge.larger);
        });
        auto sorted = expected;
        std::ranges::sort(sorted, {}, [](const auto& edge) {
            return std::tuple(edge.weight, edge.height, edge.smaller, edge.larger);
        });
        EXPECT_EQ(difference(found, sorted), "") << ranks;
    }
}

/// Points of a kind, in the order in which a domain decomposition divides them.
std::vector<float> points_along_the_curve(const std::string& kind, std::int64_t count) {
    Random draw(57);
    std::vector<float> points;
    std::array<std::array<double, 3>, 24> centers;
    for (std::array<double, 3>& center : centers) {
        center = {draw.uniform(0, 1000), draw.uniform(0, 1000), draw.uniform(0, 1000)};
    }
    std::array<double, 3> at{};
    std::array<double, 3> step{};
    for (std::int64_t i = 0; i < count; ++i) {
        const double spread = kind == "a halo" ? std::exp(2 * draw.normal()) : 1;
        const auto& center = centers[static_cast<std::size_t>(draw.integer(std::ssize(centers)))];
        if (kind == "filaments" && i % (count / 50) == 0) {
            for (int axis = 0; axis < 3; ++axis) {
                at[axis] = draw.uniform(0, 20);
                step[axis] = 0.006 * draw.normal();
            }
        }
        for (int axis = 0; axis < 3; ++axis) {
            at[axis] += step[axis] + 0.01 * draw.normal();
            points.push_back(static_cast<float>(kind == "uniform"             ? draw.uniform(0, 1)
                                                : kind == "a halo"            ? draw.normal() * spread
                                                : kind == "isolated clusters" ? center[axis] + draw.normal()
                                                                              : at[axis]));
        }
    }
    const ZOrder order = z_order(PointsView(points, 3));
    std::vector<float> sorted;
    for (const std::int32_t row : order.indices()) {
        sorted.insert(sorted.end(), points.begin() + 3 * row, points.begin() + 3 * row + 3);
    }
    return sorted;
}

TEST_F(SpanningTreeOverRanksIn3D, ReceivesNoMoreThanSixteenNeighborsDo) {
    const std::int64_t count = small_tests ? 20'000 : 100'000;
    for (const char* kind : {"uniform", "a halo", "isolated clusters", "filaments"}) {
        const std::vector<float> points = points_along_the_curve(kind, count);
        for (const int ranks : {2, 3, 8}) {
            const RankFirsts firsts = evenly(count, ranks);
            const std::int64_t of_tree = find_parts<float>({points, 3}, {}, firsts).bytes;
            std::mutex adding;
            std::int64_t of_neighbors = 0;
            run_ranks(ranks, [&](Communicator& communicator) {
                const KnnResult found = knn(part_of({points, 3}, firsts, communicator.rank()), 16,
                                            {.execution = over(communicator, cpu(1))});
                const std::lock_guard lock(adding);
                of_neighbors += found.distribution->traffic.bytes_received;
            });
            // Neighbors are within filaments, of which few cross to another rank. The tree joins all 50 of them.
            const std::int64_t of_joining = kind == std::string("filaments") ? 50 * 250 : 0;
            EXPECT_LE(of_tree, of_neighbors + of_joining) << kind << " on " << ranks;
        }
    }
}

TEST_F(SpanningTreeOverRanksIn3D, ErrorsAreThoseOfAllRanks) {
    std::vector<float> points = uniform_points<float>(100, 3, 0, 1, 58);
    const RankFirsts firsts = evenly(100, 4);
    run_ranks(4, [&](Communicator& ranks) {
        const PointsView mine = part_of({points, 3}, firsts, ranks.rank());
        const Box box = Box::periodic(ranks.rank() == 2 ? 2.0 : 1.0);
        EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"rank 2", "period of axis 0"},
                               [&] { (void)spanning_tree(mine, {.box = box, .execution = over(ranks)}); }));
        const SpanningTree part = spanning_tree(mine, {.execution = over(ranks, cpu(1))});
        EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"edges64()"}, [&] { (void)part.edges(); }));
        EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"edges64()"},
                               [&] { (void)fof(part, LinkingLength::absolute(0.1)); }));
        EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"edges64()"}, [&] { (void)hierarchy(part); }));
        EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"edges64()"},
                               [&] { (void)fof_ladder(part, {LinkingLength::absolute(0.1)}); }));
    });
    points[3 * 60 + 2] = std::numeric_limits<float>::quiet_NaN();
    run_ranks(4, [&](Communicator& ranks) {
        const PointsView mine = part_of({points, 3}, firsts, ranks.rank());
        EXPECT_TRUE(is_refused(ErrorKind::invalid_points, {"rank 2", "point 10 has NaN as coordinate 2"},
                               [&] { (void)spanning_tree(mine, {.execution = over(ranks)}); }));
    });
}

} // namespace
} // namespace kith::test
