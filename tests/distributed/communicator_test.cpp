// The collective calls of ranks that are threads, and that no rank waits forever for one that has failed or left.
#include "distributed/collective_checks.hpp"
#include "support/cases.hpp"

#include "distributed/differences.hpp"
#include "distributed/ranks.hpp"
#include "support/cores.hpp"

#include <kith/communicator.hpp>
#include <kith/device_communicator.hpp>
#include <kith/error.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace kith::test {
namespace {

using detail::Ranks;

class ThreadRanks : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Numbers, ThreadRanks, testing::Range(1, 9));

TEST_P(ThreadRanks, AllReduce) {
    run_ranks(GetParam(), expect_all_reduce);
}
TEST_P(ThreadRanks, AllGatherOfDifferentLengths) {
    run_ranks(GetParam(), expect_all_gather);
}
TEST_P(ThreadRanks, MessagesArriveBySenderAndInOrder) {
    run_ranks(GetParam(), expect_exchange);
}

TEST_P(ThreadRanks, BuffersArrive) {
    run_ranks(GetParam(), [](Communicator& ranks) {
        auto& devices = dynamic_cast<DeviceCommunicator&>(ranks);
        EXPECT_TRUE(devices.accepts_device_memory());
        expect_exchange_of_buffers(devices);
    });
}
TEST(ExchangeOfBuffers, ThatDifferIsRefused) {
    for (const bool is_sent : {false, true}) {
        EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"exchange_buffers differ in size or number"}, [&] {
            run_ranks(2, [&](Communicator& ranks) {
                std::byte bytes[2]{};
                const SendBuffer sent[] = {{1 - ranks.rank(), bytes, 2}};
                const ReceiveBuffer received[] = {{1 - ranks.rank(), bytes, 1}};
                const bool is_first = ranks.rank() == 0;
                dynamic_cast<DeviceCommunicator&>(ranks).exchange_buffers(
                    is_first ? std::span<const SendBuffer>(sent) : std::span<const SendBuffer>(),
                    !is_first && is_sent ? std::span<const ReceiveBuffer>(received) : std::span<const ReceiveBuffer>(),
                    {});
            });
        }));
    }
}

/// Rank 0 throws while rank 1 still reads from the others' buffers, and rank 2 is already done. The buffers are to stay.
TEST(ExchangeOfBuffers, KeepsAllBuffersUntilNoRankReadsThem) {
    std::atomic<bool> has_thrown = false;
    std::atomic<int> freed = 0;
    std::atomic<int> stopped = 0;
    EXPECT_TRUE(is_refused(ErrorKind::device, {"the copy failed"}, [&] {
        run_ranks(3, [&](Communicator& ranks) {
            struct Buffers {
                std::byte to_others[1] = {};
                std::byte of_others[2] = {};
                std::atomic<int>& freed;
                ~Buffers() { ++freed; }
            } buffers{.freed = freed};
            std::vector<SendBuffer> sent;
            std::vector<ReceiveBuffer> received;
            for (int other = 0; other < 3; ++other) {
                if (other != ranks.rank()) {
                    received.push_back({other, buffers.of_others + sent.size(), 1});
                    sent.push_back({other, buffers.to_others, 1});
                }
            }
            const auto copy = [&](void* to, const void* from, std::int64_t) {
                if (ranks.rank() == 0) {
                    has_thrown = true;
                    throw Error(ErrorKind::device, "the copy failed");
                }
                for (int waits = 0; ranks.rank() == 1 && (!has_thrown || waits < 1000); ++waits) {
                    std::this_thread::yield();
                }
                EXPECT_EQ(freed, 0);
                *static_cast<std::byte*>(to) = *static_cast<const std::byte*>(from);
            };
            try {
                dynamic_cast<DeviceCommunicator&>(ranks).exchange_buffers(sent, received, copy);
            } catch (const Error& error) {
                EXPECT_EQ(error.kind(), ErrorKind::device);
                stopped += std::string(error.what()) == "the ranks stopped: rank 0: the copy failed" ? 1 : 0;
                throw;
            }
        });
    }));
    EXPECT_EQ(stopped, 2);
}

/// A rank that has what it came for goes on, and changes what others may still be reading if it was not kept for them.
TEST_P(ThreadRanks, WhatARankHasShownItMayChange) {
    run_ranks(GetParam(), [](Communicator& ranks) {
        const auto size = static_cast<std::size_t>(ranks.size());
        std::vector<std::int64_t> mine(1000);
        std::vector<std::int64_t> all(1000 * size);
        for (std::int64_t round = 0; round < 200; ++round) {
            std::ranges::fill(mine, 10 * round + ranks.rank());
            ranks.all_gather(std::as_bytes(std::span(mine)), std::as_writable_bytes(std::span(all)),
                             std::vector<std::int64_t>(size, 8000));
            std::ranges::fill(mine, -1);
            for (std::size_t i = 0; i < all.size(); ++i) {
                ASSERT_EQ(all[i], 10 * round + static_cast<std::int64_t>(i / 1000)) << "round " << round;
            }
        }
    });
}

TEST_P(ThreadRanks, TypedListsAndTheirTraffic) {
    run_ranks(GetParam(), [&](Communicator& communicator) {
        Ranks ranks(communicator);
        const std::vector<double> mine(static_cast<std::size_t>(ranks.rank()), ranks.rank() + 0.5);
        const auto all = ranks.gather_lists<double>(mine);
        std::vector<double> expected;
        std::vector<std::int64_t> firsts{0};
        for (int rank = 0; rank < ranks.size(); ++rank) {
            expected.insert(expected.end(), static_cast<std::size_t>(rank), rank + 0.5);
            firsts.push_back(static_cast<std::int64_t>(expected.size()));
        }
        EXPECT_EQ(all.values, expected);
        EXPECT_EQ(all.firsts, firsts);
        const std::int64_t others = ranks.size() - 1;
        EXPECT_EQ(ranks.traffic().bytes_sent, others * 8 * (ranks.rank() + 1)); // the length, and the list
        EXPECT_EQ(ranks.traffic().bytes_received, 8 * (others + firsts.back() - ranks.rank()));
        (void)ranks.exchange({{0, std::vector<std::byte>(100)}});
        EXPECT_EQ(ranks.traffic().messages_sent, ranks.rank() == 0 ? 0 : 1); // to itself nothing travels
        EXPECT_EQ(ranks.sum(ranks.traffic().bytes_sent), ranks.sum(ranks.traffic().bytes_received));
    });
}

TEST_P(ThreadRanks, ShareTheCores) {
    const std::vector<int> cores = detail::usable_cores();
    const auto all = static_cast<int>(std::ranges::count(cores, 1));
    run_ranks(GetParam(), [&](Communicator& ranks) { EXPECT_EQ(ranks.threads(), std::max(1, all / ranks.size())); });
}

/// Has no exchange in two parts of its own.
class Waits final : public Communicator {
public:
    explicit Waits(Communicator& ranks) : ranks_(ranks) {}
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
        return ranks_.exchange(std::move(messages));
    }
    void abort(const std::string& reason) noexcept override { ranks_.abort(reason); }

private:
    Communicator& ranks_;
};

TEST_P(ThreadRanks, ExchangeInTwoPartsByDefault) {
    run_ranks(GetParam(), [](Communicator& communicator) {
        Waits ranks(communicator);
        expect_exchange(ranks);
    });
}

/// Rank 0 starts only after all others have: nobody waits to start.
TEST_P(ThreadRanks, AnExchangeStartsWithoutTheOthers) {
    std::atomic<int> started = 0;
    run_ranks(GetParam(), [&](Communicator& ranks) {
        while (ranks.rank() == 0 && started < ranks.size() - 1) {
            std::this_thread::yield();
        }
        ranks.start_exchange({{0, bytes_of(std::to_string(ranks.rank()))}});
        ++started;
        while (started < ranks.size()) { // work that needs what others do after they have started
            std::this_thread::yield();
        }
        std::string all;
        for (const RankMessage& message : ranks.finish_exchange()) {
            all += text_of(message.bytes);
        }
        EXPECT_EQ(all, ranks.rank() == 0 ? std::string("01234567").substr(0, static_cast<std::size_t>(ranks.size()))
                                         : std::string());
    });
}

TEST_P(ThreadRanks, AnErrorDuringAnExchangeIsThrownByAllAfterIt) {
    const int size = GetParam();
    for (int failing = 0; failing < size; ++failing) {
        run_ranks(size, [&](Communicator& communicator) {
            Ranks ranks(communicator);
            for (int round = 0; round < 3; ++round) { // and all can go on
                EXPECT_TRUE(is_refused(ErrorKind::file, {"no more"}, [&] {
                    (void)ranks.exchange_during({{failing, bytes_of("lost")}}, [&] {
                        if (ranks.rank() == failing) {
                            throw Error(ErrorKind::file, "no more");
                        }
                    });
                }));
                EXPECT_EQ(ranks.exchange({{failing, bytes_of("next")}}).size(),
                          static_cast<std::size_t>(ranks.rank() == failing ? size : 0));
            }
        });
    }
}

TEST_P(ThreadRanks, AnErrorOfOneRankIsThrownByAll) {
    const int size = GetParam();
    for (int failing = 0; failing < size; ++failing) {
        std::atomic<int> caught = 0;
        run_ranks(size, [&](Communicator& communicator) {
            Ranks ranks(communicator);
            for (int round = 0; round < 3; ++round) { // and all can go on
                try {
                    ranks.agreed([&] {
                        if (ranks.rank() >= failing) {
                            throw Error(ErrorKind::too_large, "too much of " + std::to_string(ranks.rank()));
                        }
                    });
                    ADD_FAILURE() << "nothing was thrown";
                } catch (const Error& error) {
                    EXPECT_EQ(error.kind(), ErrorKind::too_large);
                    const std::string text = "too much of " + std::to_string(failing);
                    EXPECT_EQ(error.what(), size == 1 ? text : "rank " + std::to_string(failing) + ": " + text);
                    ++caught;
                }
            }
            ranks.agreed([] {});
        });
        EXPECT_EQ(caught, 3 * size);
    }
}

TEST_P(ThreadRanks, NobodyWaitsForARankThatThrows) {
    const int size = GetParam();
    std::atomic<int> released = 0;
    EXPECT_TRUE(is_refused(ErrorKind::file, {"the disk is full"}, [&] {
        run_ranks(size, [&](Communicator& ranks) {
            if (ranks.rank() == size - 1) {
                throw Error(ErrorKind::file, "the disk is full");
            }
            try {
                (void)Ranks(ranks).sum(1);
            } catch (const Error& error) {
                EXPECT_NE(std::string(error.what()).find("the disk is full"), std::string::npos);
                ++released;
                throw;
            }
        });
    }));
    EXPECT_EQ(released, size - 1);
}

TEST_P(ThreadRanks, NobodyWaitsForARankThatReturns) {
    const int size = GetParam();
    if (size == 1) {
        run_ranks(1, [](Communicator&) {});
        return;
    }
    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"a rank has returned while others wait"}, [&] {
        run_ranks(size, [&](Communicator& ranks) {
            if (ranks.rank() != 0) {
                (void)ranks.exchange({});
            }
        });
    }));
}

TEST_P(ThreadRanks, AbortReleasesAll) {
    const int size = GetParam();
    if (size == 1) {
        return;
    }
    EXPECT_TRUE(is_refused(ErrorKind::canceled, {"rank 0: no more"}, [&] {
        run_ranks(size, [&](Communicator& ranks) {
            if (ranks.rank() == 0) {
                ranks.abort("no more");
            } else {
                (void)ranks.exchange({});
            }
        });
    }));
}

/// Whether the thread of rank 1 has ended.
std::atomic<bool> has_ended = false;
struct TellsItsEnd {
    ~TellsItsEnd() { has_ended = true; }
};

TEST(ThreadRanksThatFail, WhatTheRankThatAbortedThrowsCounts) {
    has_ended = false;
    EXPECT_TRUE(is_refused(ErrorKind::file, {"the reason"}, [] {
        run_ranks(2, [](Communicator& ranks) {
            if (ranks.rank() == 0) {
                ranks.abort("the reason");
                while (!has_ended) {
                    std::this_thread::yield();
                }
                throw Error(ErrorKind::file, "the reason");
            }
            thread_local const TellsItsEnd until_the_end_of_the_thread;
            (void)&until_the_end_of_the_thread;
            (void)ranks.exchange({});
        });
    }));
}

TEST(Differences, GiveTheNumbersBack) {
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
    const auto bytes_of_numbers = [](const std::vector<std::int64_t>& numbers) {
        std::vector<std::byte> bytes;
        detail::MessageWriter writer(bytes);
        detail::DifferenceWriter differences(writer);
        for (const std::int64_t number : numbers) {
            differences.put(number);
        }
        const std::int64_t size = std::ssize(bytes);
        writer.put(std::span<const std::int64_t>(&size, 1)); // what follows is not touched
        detail::MessageReader reader(bytes);
        std::vector<std::int64_t> found{-7};
        detail::take_differences(reader, std::ssize(numbers), 0, found);
        std::vector<std::int64_t> expected{-7};
        expected.insert(expected.end(), numbers.begin(), numbers.end());
        EXPECT_EQ(found, expected);
        EXPECT_EQ(reader.bytes_left(), sizeof(std::int64_t));
        return size;
    };
    EXPECT_EQ(bytes_of_numbers({}), 0);
    EXPECT_EQ(bytes_of_numbers({0, 1, 64, 1, 1, 63}), 6);
    EXPECT_EQ(bytes_of_numbers({64, 0, 65}), 5); // 64, -64, 65
    EXPECT_EQ(bytes_of_numbers({most, 0, most, most, 0, 5}), 10 + 10 + 10 + 1 + 10 + 1);
    std::vector<std::int64_t> powers;
    for (int bit = 0; bit < 63; ++bit) {
        const std::int64_t power = std::int64_t{1} << bit;
        powers.insert(powers.end(), {power - 1, power, most - power, power});
    }
    (void)bytes_of_numbers(powers);
}

TEST(ThreadRanksRefused, WhatIsNotCollective) {
    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"ranks is 0"}, [] { run_ranks(0, [](Communicator&) {}); }));
    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"different numbers of values"}, [] {
        run_ranks(2, [](Communicator& ranks) {
            std::vector<std::int64_t> values(static_cast<std::size_t>(ranks.rank() + 1));
            ranks.all_reduce(values, Reduction::sum);
        });
    }));
    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"counts"}, [] {
        run_ranks(2, [](Communicator& ranks) {
            std::vector<std::byte> all(4);
            ranks.all_gather(std::span(all).first(2), all, std::vector<std::int64_t>{1, 3});
        });
    }));
    EXPECT_TRUE(is_refused(ErrorKind::invalid_argument, {"names a rank that does not exist"}, [] {
        run_ranks(2, [](Communicator& ranks) { (void)ranks.exchange({{2, {}}}); });
    }));
}

} // namespace
} // namespace kith::test
