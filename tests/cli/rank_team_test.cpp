// The processes of one command: failures that all agree on, and those that end all.
#include "cli/rank_team.hpp"

#include <kith/error.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <new>
#include <string>
#include <vector>

namespace kith::cli {
namespace {

/// Rank 1 cannot send.
class Faulty final : public Communicator {
public:
    Faulty(Communicator& ranks, std::atomic<int>& aborted) : ranks_(ranks), aborted_(aborted) {}
    [[nodiscard]] int rank() const noexcept override { return ranks_.rank(); }
    [[nodiscard]] int size() const noexcept override { return ranks_.size(); }
    void all_reduce(std::span<std::int64_t> values, Reduction reduction) override {
        ranks_.all_reduce(values, reduction);
    }
    void all_gather(std::span<const std::byte> mine, std::span<std::byte> all,
                    std::span<const std::int64_t> counts) override {
        ranks_.all_gather(mine, all, counts);
    }
    [[nodiscard]] std::vector<RankMessage> exchange(std::vector<RankMessage> messages) override {
        if (rank() == 1) {
            throw std::bad_alloc();
        }
        return ranks_.exchange(std::move(messages));
    }
    void abort(const std::string& reason) noexcept override {
        ++aborted_;
        ranks_.abort(reason);
    }

private:
    Communicator& ranks_;
    std::atomic<int>& aborted_;
};

TEST(RankTeam, AFailureOnOneRankIsThatOfAll) {
    std::atomic<int> agreed = 0;
    run_ranks(3, [&](Communicator& ranks) {
        RankTeam team(ranks);
        try {
            team.agreed([&] {
                if (team.rank() > 0) {
                    throw Error(ErrorKind::file, "of rank " + std::to_string(team.rank()));
                }
            });
        } catch (const AgreedFailure& failure) {
            agreed += failure.failure.text == "of rank 1" ? 1 : 0;
        }
    });
    EXPECT_EQ(agreed, 3);
}

// The others wait for what does not come, so that the ranks cannot agree on anything.
TEST(RankTeam, AFailureOnTheWayToRankZeroEndsAll) {
    std::atomic<int> aborted = 0;
    EXPECT_ANY_THROW(run_ranks(3, [&](Communicator& ranks) {
        Faulty faulty(ranks, aborted);
        RankTeam team(faulty);
        const std::vector<std::byte> mine(10);
        RankFunnel funnel(&team, {array_of(mine)});
        team.agreed([&] {
            std::vector<std::byte> all(30);
            if (team.is_first()) {
                funnel.take(all);
            }
            funnel.finish();
        });
    }));
    EXPECT_GE(aborted, 1);
}

TEST(RankTeam, TextsAreJoinedOnce) {
    run_ranks(3, [](Communicator& ranks) {
        RankTeam team(ranks);
        const std::vector<std::string> mine = {"all", "of\n" + std::to_string(team.rank())};
        EXPECT_EQ(team.join(mine), (std::vector<std::string>{"all", "of\n0", "of\n1", "of\n2"}));
    });
}

} // namespace
} // namespace kith::cli
