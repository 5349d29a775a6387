// The collective calls of any communicator, as its ranks hold them against known values.
#pragma once

#include <kith/communicator.hpp>
#include <kith/device_communicator.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace kith::test {

inline std::vector<std::byte> bytes_of(const std::string& text) {
    const auto bytes = std::as_bytes(std::span(text));
    return {bytes.begin(), bytes.end()};
}
inline std::string text_of(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

inline void expect_all_reduce(Communicator& ranks) {
    const std::int64_t size = ranks.size();
    constexpr std::int64_t big = std::int64_t{1} << 60;
    const std::int64_t rank = ranks.rank();
    std::array<std::int64_t, 2> values{big - rank, rank};
    ranks.all_reduce(values, Reduction::min);
    EXPECT_EQ(values, (std::array<std::int64_t, 2>{big - (size - 1), 0}));
    values = {big - rank, rank};
    ranks.all_reduce(values, Reduction::max);
    EXPECT_EQ(values, (std::array<std::int64_t, 2>{big, size - 1}));
    values = {-rank, 1};
    ranks.all_reduce(values, Reduction::sum);
    EXPECT_EQ(values, (std::array<std::int64_t, 2>{-size * (size - 1) / 2, size}));
    ranks.all_reduce({}, Reduction::sum);
}

/// Rank 1 has nothing to give.
inline void expect_all_gather(Communicator& ranks) {
    std::string expected;
    std::vector<std::int64_t> counts;
    for (int rank = 0; rank < ranks.size(); ++rank) {
        const int length = rank == 1 ? 0 : 3 * rank + 1;
        expected += std::string(static_cast<std::size_t>(length), static_cast<char>('a' + rank));
        counts.push_back(length);
    }
    const std::string mine(static_cast<std::size_t>(counts[static_cast<std::size_t>(ranks.rank())]),
                           static_cast<char>('a' + ranks.rank()));
    std::vector<std::byte> all(expected.size());
    ranks.all_gather(std::as_bytes(std::span(mine)), all, counts);
    EXPECT_EQ(text_of(all), expected);
}

inline void expect_exchange(Communicator& ranks) {
    for (int round = 0; round < 20; ++round) {
        // Every rank writes two messages to the next one, and one to rank 0; in odd rounds nobody writes. Half of the
        // rounds are in two parts.
        std::vector<RankMessage> messages;
        const std::string from = "from " + std::to_string(ranks.rank()) + " in " + std::to_string(round);
        const int next = (ranks.rank() + 1) % ranks.size();
        if (round % 2 == 0) {
            messages = {{next, bytes_of(from + " first")}, {0, bytes_of(from)}, {next, {}}};
        }
        std::vector<RankMessage> received;
        if (round % 4 < 2) {
            received = ranks.exchange(messages);
        } else {
            ranks.start_exchange(messages);
            received = ranks.finish_exchange();
        }
        std::vector<std::pair<int, std::string>> found;
        for (const RankMessage& message : received) {
            found.emplace_back(message.rank, text_of(message.bytes));
        }
        std::vector<std::pair<int, std::string>> expected;
        for (int rank = 0; round % 2 == 0 && rank < ranks.size(); ++rank) {
            const std::string text = "from " + std::to_string(rank) + " in " + std::to_string(round);
            const bool is_next = (rank + 1) % ranks.size() == ranks.rank();
            if (is_next) {
                expected.emplace_back(rank, text + " first");
            }
            if (ranks.rank() == 0) {
                expected.emplace_back(rank, text);
            }
            if (is_next) {
                expected.emplace_back(rank, "");
            }
        }
        EXPECT_EQ(found, expected) << "round " << round;
    }
}

/// Each rank sends to all others, different lengths and some of them nothing; odd ranks by a function that copies, as
/// those with GPUs do.
inline void expect_exchange_of_buffers(DeviceCommunicator& ranks) {
    const auto text_from_to = [](int round, int from, int to) {
        const auto length = static_cast<std::size_t>((from + 2 * to + round) % 4 * 5);
        return std::string(length, static_cast<char>('a' + (from + 3 * to + 7 * round) % 26));
    };
    const CopyBytes copy = [](void* to, const void* from, std::int64_t count) {
        std::memcpy(to, from, static_cast<std::size_t>(count));
    };
    for (int round = 0; round < 10; ++round) {
        std::vector<std::string> mine;
        std::vector<std::string> others;
        for (int rank = 0; rank < ranks.size(); ++rank) {
            const bool is_other = rank != ranks.rank();
            mine.push_back(is_other ? text_from_to(round, ranks.rank(), rank) : "");
            others.emplace_back(is_other ? text_from_to(round, rank, ranks.rank()).size() : 0, '?');
        }
        std::vector<SendBuffer> sent;
        std::vector<ReceiveBuffer> received;
        for (int rank = 0; rank < ranks.size(); ++rank) {
            const auto at = static_cast<std::size_t>(rank);
            if (!mine[at].empty()) {
                sent.push_back({rank, mine[at].data(), std::ssize(mine[at])});
            }
            if (!others[at].empty()) {
                received.push_back({rank, others[at].data(), std::ssize(others[at])});
            }
        }
        ranks.exchange_buffers(sent, received, ranks.rank() % 2 == 1 ? copy : CopyBytes());
        std::vector<std::string> expected;
        for (int rank = 0; rank < ranks.size(); ++rank) {
            expected.push_back(rank != ranks.rank() ? text_from_to(round, rank, ranks.rank()) : "");
            mine[static_cast<std::size_t>(rank)].assign(mine[static_cast<std::size_t>(rank)].size(), '!'); // may change
        }
        EXPECT_EQ(others, expected) << "round " << round;
        expect_exchange(ranks); // messages in between do not interfere
    }
}

} // namespace kith::test
