// How ghost points travel.
//
// A message tells a rank how many points it gets, and their numbers. If a rank works on a GPU and the communicator
// accepts memory of GPUs, the coordinates follow from a buffer of the sender into one of the receiver, each where its
// rank works: on its GPU, or on its host. Ranks with and without GPUs need not agree on that, since a transfer depends
// on its size alone. Otherwise the coordinates are in the messages, and those of a GPU go through its host.
//
// Memory: one copy of the points that are sent, in one piece, and one of those that arrive.
#pragma once

#include "distributed/differences.hpp"
#include "distributed/ghost_points.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace kith::detail {

/// The answers to requests for points of this rank, and to its own.
template <Coordinate T>
class GhostAnswers {
public:
    /// What it is given outlives it.
    GhostAnswers(Ranks& ranks, const SharedPoints<T>& shared, const SentNumbers& numbers)
        : ranks_(ranks), shared_(shared), numbers_(numbers) {}

    /// Adds the rows that a rank requested; of what this rank itself requested, it keeps the numbers only.
    void add(int rank, std::vector<std::int32_t> rows) {
        std::ranges::sort(rows);
        rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
        const bool travels = rank != ranks_.rank();
        const bool is_in_message = travels && !ranks_.exchanges_buffers();
        RankMessage& message = messages_.emplace_back(RankMessage{rank, {}});
        message.bytes.reserve(rows.size() * ((is_in_message ? bytes_of_point() : 0) + 2) + 8); // small differences
        MessageWriter writer(message.bytes);
        writer.put_value(std::ssize(rows));
        DifferenceWriter differences(writer);
        for (const std::int32_t row : rows) {
            differences.put(numbers_.of(row));
        }
        if (is_in_message) {
            writer.put(std::span<const T>(shared_.there->rows(shared_.points.view, rows)));
        } else if (travels && !rows.empty()) {
            sent_.push_back({rank, nullptr, std::ssize(rows) * bytes_of_point()});
            rows_.insert(rows_.end(), rows.begin(), rows.end());
        }
    }

    /// Gathers what is sent from buffers, when all is added.
    void gather() {
        if (sent_.empty()) {
            return;
        }
        coordinates_ = shared_.there->rows_to_send(shared_.points.view, std::exchange(rows_, {}));
        const auto* next = static_cast<const std::byte*>(coordinates_.view.axis(0));
        for (SendBuffer& buffer : sent_) {
            buffer.bytes = std::exchange(next, next + buffer.count);
        }
    }

    /// Collective. Returns the points of other ranks.
    [[nodiscard]] GhostPoints<T> exchange() {
        std::vector<RankMessage> messages = ranks_.exchange(std::exchange(messages_, {}));
        GhostPoints<T> ghosts;
        std::vector<ReceiveBuffer> arriving;
        ranks_.agreed([&] { arriving = read(messages, ghosts); });
        if (ranks_.exchanges_buffers()) {
            PartPoints<T>& there = *shared_.there;
            const auto copy = [&](void* to, const void* from, std::int64_t count) { there.copy(to, from, count); };
            ranks_.exchange_buffers(sent_, arriving, there.is_on_gpu() ? CopyBytes(copy) : CopyBytes());
        }
        return ghosts;
    }

private:
    [[nodiscard]] int dimension() const { return shared_.points.frame.dimension; }
    [[nodiscard]] std::int64_t bytes_of_point() const { return dimension() * static_cast<std::int64_t>(sizeof(T)); }

    /// Frees the messages. Returns the buffers that coordinates which follow are received into.
    std::vector<ReceiveBuffer> read(std::vector<RankMessage>& messages, GhostPoints<T>& ghosts) const {
        std::vector<T> rows;
        std::vector<ReceiveBuffer> arriving;
        std::int64_t points = 0; // that follow
        for (RankMessage& message : messages) {
            MessageReader reader(message.bytes);
            const auto count = reader.take<std::int64_t>();
            const std::int64_t first = numbers_.are_local ? shared_.ownership.first_of(message.rank) : 0;
            take_differences(reader, count, first, ghosts.numbers);
            if (message.rank != ranks_.rank() && ranks_.exchanges_buffers() && count > 0) {
                arriving.push_back({message.rank, nullptr, count * bytes_of_point()});
                points += count;
            } else if (message.rank != ranks_.rank()) {
                reader.take(count * dimension(), rows);
            }
            message.bytes = std::vector<std::byte>(); // frees them
        }
        require_countable(ghosts.count());
        if (!ranks_.exchanges_buffers()) {
            ghosts.rows = held(std::move(rows), dimension());
            return {};
        }
        const UnwrittenPoints<T> memory = shared_.there->rows_to_receive(points, dimension());
        auto* next = reinterpret_cast<std::byte*>(memory.rows);
        for (ReceiveBuffer& buffer : arriving) {
            buffer.bytes = std::exchange(next, next + buffer.count);
        }
        ghosts.rows = memory.held;
        return arriving;
    }

    Ranks& ranks_;
    const SharedPoints<T>& shared_;
    const SentNumbers& numbers_;
    std::vector<RankMessage> messages_;
    std::vector<std::int32_t> rows_; ///< that are sent from buffers
    std::vector<SendBuffer> sent_;
    HeldPoints coordinates_; ///< of these
};

} // namespace kith::detail
