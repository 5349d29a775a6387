// Every row of the table of engines that says that ranks can have GPUs, on two emulated devices.
#include "emulation/rank_tasks.hpp"

#include "support/cases.hpp"

#include <gtest/gtest.h>

#include <mutex>
#include <string>

namespace kith::test {
namespace {

class GpusOfRanks : public NeedsDimension<3> {};

TEST_F(GpusOfRanks, AnswerEveryRowOfTheTable) {
    const MovingPoints moving;
    const RankFirsts firsts = evenly(MovingPoints::count, 2);
    for_each_task_on_gpus([&](const std::string& name, const auto& finds_the_same) {
        std::mutex turn;
        run_ranks(2, [&](Communicator& inner) {
            const std::unique_lock lock(turn);
            TakingTurns ranks(inner, turn);
            EXPECT_TRUE(finds_the_same(moving.part(ranks, firsts, ranks.rank()))) << name << ", rank " << ranks.rank();
        });
    });
}

} // namespace
} // namespace kith::test
