// Ranks that are MPI's processes: every rank runs all tests, and mpirun fails if one does.
#include "distributed/collective_checks.hpp"
#include "distributed/distributions.hpp"
#include "distributed/rank_answers.hpp"
#include "support/cases.hpp"
#include "support/cores.hpp"
#include "support/velocities.hpp"

#include <kith/distributed.hpp>
#include <kith/mpi.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace kith::test {
namespace {

TEST(Mpi, CollectiveCalls) {
    for (const std::int64_t largest_message : {std::int64_t{1} << 30, std::int64_t{7}}) {
        MpiCommunicator ranks(MPI_COMM_WORLD, largest_message); // small ones cut every message
        expect_all_reduce(ranks);
        expect_all_gather(ranks);
        expect_exchange(ranks);
        expect_exchange_of_buffers(ranks);
    }
}

TEST(Mpi, AcceptsMemoryOfGpusIfAllRanksDo) {
    constexpr std::int64_t largest = std::int64_t{1} << 30;
    EXPECT_TRUE(MpiCommunicator(MPI_COMM_WORLD, largest, true).accepts_device_memory());
    EXPECT_FALSE(MpiCommunicator(MPI_COMM_WORLD, largest, false).accepts_device_memory());
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    EXPECT_FALSE(MpiCommunicator(MPI_COMM_WORLD, largest, rank > 0).accepts_device_memory());
}

TEST(Mpi, EveryRowOfTheTableIsCompared) {
    const auto calls = calls_over_ranks<float>(3);
    for (const detail::EngineRow& row : detail::engine_table) {
        const bool needs_six =
            row.task == detail::Task::groups_in_phase_space || row.task == detail::Task::spanning_tree_in_phase_space;
        if (row.supported[static_cast<std::size_t>(detail::Where::ranks)] && (!needs_six || is_built(6))) {
            EXPECT_TRUE(std::ranges::any_of(calls, [&](const auto& call) { return call.task == row.task; }))
                << detail::task_names[static_cast<std::size_t>(row.task)];
        }
    }
}

/// Points of all ranks, in the order of their first coordinate: a filament in steps of equal length, which crosses all
/// ranks, or a set of that name.
template <class T>
Problem<T> problem_of(const std::string& name, int dimension) {
    constexpr std::int64_t in_filament = 150;
    Problem<T> all;
    all.dimension = dimension;
    if (name == "filament") {
        for (std::int64_t i = 0; i < in_filament * dimension; ++i) {
            all.points.push_back(i % dimension == 0 ? static_cast<T>(i / dimension) : T(0));
        }
        all.length = 1;
    } else {
        const PointSet<T> set = point_set<T>(name, dimension);
        all.points = along_the_first_axis(set.coordinates, dimension);
        all.box = set.boxes.back().box;
        all.length = set.extent() * 0.05 + 1e-3;
    }
    const std::int64_t count = std::ssize(all.points) / dimension;
    Random draw(static_cast<std::uint64_t>(count * dimension));
    all.velocities = velocities_for<T>(count, dimension, draw);
    for (std::int64_t i = 0; i < count; ++i) {
        all.masses.push_back(static_cast<double>(1 + i % 3));
        all.ids.push_back(i);
    }
    return all;
}

/// Holds what a rank found against what one process found for its points, or for its part of an order.
void expect_the_part_of_one_process(MpiCommunicator& ranks, const Answer& found, const Answer& of_one_process,
                                    const std::vector<std::int64_t>& mine) {
    std::array<std::int64_t, 2> sums{std::ssize(found.items), 0}; // of items and of their numbers, over all ranks
    std::array<std::int64_t, 2> expected_sums{std::ssize(of_one_process.items), 0};
    for (const auto& [number, bytes] : of_one_process.items) {
        expected_sums[1] += number;
    }
    std::vector<std::int64_t> numbers;
    for (const auto& [number, bytes] : found.items) {
        sums[1] += number;
        numbers.push_back(number);
    }
    std::map<std::int64_t, Bytes> expected;
    for (const std::int64_t number : found.is_divided ? numbers : mine) {
        const auto item = of_one_process.items.find(number);
        if (item != of_one_process.items.end()) {
            expected.insert(*item);
        }
    }
    EXPECT_TRUE(found.items == expected) << found.items.size() << " items, " << expected.size() << " expected";
    EXPECT_TRUE(found.of_all == of_one_process.of_all) << "what is the same on all ranks differs";
    ranks.all_reduce(sums, Reduction::sum);
    EXPECT_EQ(sums, expected_sums);
}

/// In turn slabs; a few points on some ranks and none on others; all on the last rank; and points that any rank has,
/// with ids around 2^31 and far beyond. One of `every` calls, in turn. Over all dimensions and numbers of ranks, every
/// call meets each of these, as it is and rebalanced, and both ids.
template <class T>
void expect_the_bits_of_one_process(MpiCommunicator& ranks, int dimension, std::size_t every) {
    if (!is_built(dimension)) {
        return;
    }
    auto turn = static_cast<std::size_t>(dimension + ranks.size()) + sizeof(T);
    for (const char* name : {"two", "filament", "clustered", "coincident", "slightly_outside"}) {
        const Problem<T> all = problem_of<T>(name, dimension);
        const std::int64_t count = std::ssize(all.ids);
        const std::size_t how = ++turn % 4;
        const RankFirsts firsts = how == 1   ? unevenly(count, ranks.size())
                                  : how == 2 ? all_on(ranks.size() - 1, count, ranks.size())
                                             : evenly(count, ranks.size());
        std::vector<std::int64_t> owned; // rank after rank
        for (std::int64_t i = 0; i < count; ++i) {
            owned.push_back(how == 3 ? i * 7919 % count : i); // a prime that no count is a multiple of
        }
        const auto first = static_cast<std::size_t>(firsts[static_cast<std::size_t>(ranks.rank())]);
        const auto here = static_cast<std::size_t>(firsts[static_cast<std::size_t>(ranks.rank()) + 1]) - first;
        Problem<T> mine = all.part(std::span(owned).subspan(first, here));
        std::vector<std::int64_t> ids;
        if (how == 3) {
            mine.first_id = ranks.size() / 2 % 2 == 0 ? (std::int64_t{1} << 31) - 1 : std::int64_t{1} << 62;
            std::ranges::transform(mine.ids, std::back_inserter(ids),
                                   [&](std::int64_t id) { return mine.first_id + id; });
        }
        const std::vector<float> weights = weights_for(std::ssize(mine.ids));
        const bool rebalance = (turn / 2 + static_cast<std::size_t>(ranks.size())) % 2 == 0;
        mine.execution = over(ranks, cpu(1), {.ids = ids, .rebalance = rebalance, .weights = weights});
        std::size_t number = turn + turn / 4; // a distribution meets all calls as turns go on
        for (const CallOverRanks<T>& call : calls_over_ranks<T>(dimension)) {
            if (++number % every == 0) {
                SCOPED_TRACE(call.name + ", " + name + ", dimension " + std::to_string(dimension) + ", distribution " +
                             std::to_string(how));
                expect_the_part_of_one_process(ranks, call.answer(mine), call.answer(all), mine.ids);
            }
        }
    }
}

TEST(Mpi, EveryCallHasTheBitsOfOneProcess) {
    MpiCommunicator ranks(MPI_COMM_WORLD, 1000);
    expect_the_bits_of_one_process<float>(ranks, 3, 2);
    expect_the_bits_of_one_process<double>(ranks, 2, 6);
    expect_the_bits_of_one_process<double>(ranks, 3, 6);
    expect_the_bits_of_one_process<float>(ranks, 6, 6);
}

TEST(Mpi, RanksOfAMachineShareItsCores) { // all of the test are on one
    MpiCommunicator ranks(MPI_COMM_WORLD);
    const std::vector<int> cores = detail::usable_cores();
    std::vector<int> users = cores;
    MPI_Allreduce(MPI_IN_PLACE, users.data(), static_cast<int>(users.size()), MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    EXPECT_EQ(ranks.threads(), detail::share_of_cores(cores, users));
    MpiCommunicator alone(MPI_COMM_SELF);
    EXPECT_EQ(alone.threads(), std::ranges::count(cores, 1));
}

TEST(Mpi, AnErrorOfOneRankIsThrownByAll) {
    if (!is_built(3)) {
        GTEST_SKIP() << "dimension 3 is not built";
    }
    MpiCommunicator ranks(MPI_COMM_WORLD);
    const int bad = ranks.size() - 1;
    std::vector<float> points = uniform_points<float>(20, 3, 0, 1, 95);
    if (ranks.rank() == bad) {
        points[3 * 7] = std::numeric_limits<float>::quiet_NaN();
    }
    const std::string prefix = ranks.size() == 1 ? "" : "rank " + std::to_string(bad) + ": ";
    EXPECT_TRUE(is_refused(ErrorKind::invalid_points, {prefix + "points: point 7 has NaN"},
                           [&] { (void)knn(PointsView(points, 3), 3, {.execution = over(ranks)}); }));
}

TEST(Mpi, WhatIsNoCommunicator) {
    EXPECT_TRUE(
        is_refused(ErrorKind::invalid_argument, {"MPI_COMM_NULL"}, [] { MpiCommunicator none(MPI_COMM_NULL); }));
    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"largest_message is 0"},
                           [] { MpiCommunicator none(MPI_COMM_WORLD, 0); }));
    int rank = 0;
    int size = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size == 1) {
        return;
    }
    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"largest_message is 7 on one rank and 8 on another"},
                           [&] { MpiCommunicator none(MPI_COMM_WORLD, rank == 1 ? 7 : 8); }));
    const int group = rank == 0 ? 0 : 1; // rank 0, and all others
    MPI_Comm within = MPI_COMM_NULL;
    MPI_Comm between = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, group, rank, &within);
    MPI_Intercomm_create(within, 0, MPI_COMM_WORLD, 1 - group, 0, &between);
    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"intercommunicator", "MPI_Intercomm_merge"},
                           [&] { MpiCommunicator none(between); }));
    MPI_Comm_free(&between);
    MPI_Comm_free(&within);
}

} // namespace
} // namespace kith::test
