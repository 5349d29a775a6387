// Ranks that are MPI's processes, each with an emulated device: every row of the table of engines that ranks can run on
// GPUs has the bits of one process. Every rank runs all tests. Points travel in messages of the host, since no MPI can
// read emulated memory.
#include "emulation/rank_tasks.hpp"

#include "distributed/distributions.hpp"
#include "support/cases.hpp"

#include "cuda_emulation/device_arena.hpp"

#include <kith/catalog.hpp>
#include <kith/mpi.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace kith::test {
namespace {

/// Whatever the MPI library says of memory of GPUs.
MpiCommunicator all_processes() {
    return MpiCommunicator(MPI_COMM_WORLD, std::int64_t{1} << 30, false);
}

class GpusOfProcesses : public NeedsDimension<3> {};

TEST_F(GpusOfProcesses, AnswerEveryRowOfTheTable) {
    MpiCommunicator ranks = all_processes();
    const MovingPoints moving;
    const int size = ranks.size();
    for (const RankFirsts& firsts : {evenly(MovingPoints::count, size), unevenly(MovingPoints::count, size),
                                     all_on(size - 1, MovingPoints::count, size)}) {
        for_each_task_on_gpus([&](const std::string& name, const auto& finds_the_same) {
            const int device = ranks.rank() % emulation::devices;
            EXPECT_TRUE(finds_the_same(moving.part(ranks, firsts, device))) << name << ", rank " << ranks.rank();
        });
    }
}

TEST_F(GpusOfProcesses, DescribeTheGroupsOfOneProcess) {
    MpiCommunicator ranks = all_processes();
    const int device = ranks.rank() % emulation::devices;
    const MovingPoints moving;
    const PartOnDevice part = moving.part(ranks, evenly(MovingPoints::count, ranks.size()), device);
    const auto length = LinkingLength::relative(0.6);
    const Catalog all = catalog(fof(part.all, length), {part.all}, {.min_members = 2});
    const Catalog found = catalog_of_rank(ranks, groups_of_rank(ranks, part.mine, length, {}, {}, device), {part.mine},
                                          {.min_members = 2, .execution = cpu(1)}, device);
    const auto first = static_cast<std::size_t>(found.distribution->first);
    const auto groups = static_cast<std::size_t>(found.groups);
    EXPECT_TRUE(std::ranges::equal(found.center, std::span(all.center).subspan(3 * first, 3 * groups)));
    EXPECT_TRUE(std::ranges::equal(found.max_radius, std::span(all.max_radius).subspan(first, groups)));
    EXPECT_TRUE(
        std::ranges::equal(found.members64(), all.members().subspan(static_cast<std::size_t>(found.first_member),
                                                                    found.members64().size())));
    std::array count{found.groups};
    ranks.all_reduce(count, Reduction::sum);
    EXPECT_EQ(count[0], all.groups);
    EXPECT_GT(all.groups, 5);
}

} // namespace
} // namespace kith::test
