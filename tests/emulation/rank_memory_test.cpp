// Ranks that each have a GPU when memory of one of these is lacking, on emulated devices.
#include "cuda/message_memory.hpp"
#include "emulation/ranks_on_devices.hpp"

#include "distributed/distributions.hpp"
#include "support/cases.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

namespace kith::test {
namespace {

/// Runs work(ranks) on two ranks, in turn. Returns the error of each, if any.
template <class Work>
std::array<std::optional<Error>, 2> errors_of(const Work& work) {
    std::array<std::optional<Error>, 2> errors;
    std::mutex turn;
    run_ranks(2, [&](Communicator& inner) {
        const std::unique_lock lock(turn);
        TakingTurns ranks(inner, turn);
        try {
            work(ranks);
        } catch (const Error& error) {
            errors[static_cast<std::size_t>(ranks.rank())] = error;
        }
    });
    return errors;
}

class MemoryOfRanks : public NeedsDimension<3> {};

/// Whatever is missing when, also between the numbers of points that travel and their coordinates: the same error on both
/// ranks, nothing held afterwards, and the next call works.
TEST_F(MemoryOfRanks, LacksOnAllRanksAndLeavesNothingBehind) {
    const std::vector<float> points = along_the_first_axis(uniform_points<float>(200, 3, 0, 1, 86), 3);
    const PointsView view(points, 3);
    const RankFirsts halves = evenly(view.count(), 2);
    const PointsOfRank first(part_of(view, halves, 0), 0, 0, OnGpu::all);
    const PointsOfRank second(part_of(view, halves, 1), 1, 1, OnGpu::all);
    const std::int64_t held = emulation::held_on_device();
    int of_messages = 0; // errors that say that memory for messages is lacking
    int takes = 0;
    for (;; ++takes) {
        emulation::fail_after(takes);
        const auto errors = errors_of([&](Communicator& ranks) {
            const PointsView& mine = (ranks.rank() == 0 ? first : second).view();
            (void)neighbors_of_rank<float>(ranks, mine, nullptr, 4, {}, {}, ranks.rank());
        });
        emulation::fail_after(-1);
        EXPECT_EQ(emulation::held_on_device(), held);
        if (!errors[0] && !errors[1]) {
            break;
        }
        ASSERT_TRUE(errors[0] && errors[1]) << takes;
        EXPECT_EQ(errors[0]->kind(), ErrorKind::out_of_memory) << errors[0]->what();
        EXPECT_EQ(errors[1]->kind(), ErrorKind::out_of_memory) << errors[1]->what();
        EXPECT_STREQ(errors[0]->what(), errors[1]->what());
        const std::string_view text = errors[0]->what();
        of_messages += text.find("for messages between ranks") != std::string_view::npos ? 1 : 0;
    }
    EXPECT_GT(takes, 60);
    EXPECT_EQ(of_messages, 4); // of each rank, for what it sends, and for what it receives
}

TEST_F(MemoryOfRanks, OfMessagesIsTakenOnceThePoolIsTrimmed) {
    detail::DeviceContext context(on_emulated_device(0));
    const detail::DeviceBuffer<std::int32_t> there = context.buffer<std::int32_t>(3);
    emulation::fail_until_trimmed();
    const detail::MessageMemory memory(context, 100);
    EXPECT_NE(memory.data(), nullptr);
    EXPECT_FALSE(emulation::fails_until_trimmed());
}

TEST_F(MemoryOfRanks, OfMessagesIsWithinTheBudgetOfTheCall) {
    const std::int64_t held = emulation::held_on_device();
    Execution execution = on_emulated_device(0);
    execution.memory_budget = 1000;
    {
        detail::DeviceContext context(execution);
        const detail::DeviceBuffer<std::uint8_t> most = context.buffer<std::uint8_t>(900);
        EXPECT_TRUE(is_refused(ErrorKind::out_of_memory, {"101 bytes", "900", "left are 100"},
                               [&] { const detail::MessageMemory memory(context, 101); }));
        const detail::MessageMemory memory(context, 100);
        EXPECT_EQ(context.memory()->left(), 0);
    }
    EXPECT_EQ(emulation::held_on_device(), held);
}

} // namespace
} // namespace kith::test
