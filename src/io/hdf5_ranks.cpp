// Communication without the lock of the library (see hdf5_ranks.hpp).
#include "io/hdf5_ranks.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

namespace kith::io::hdf5 {

namespace {

std::vector<RankMessage> to_others(const Ranks& ranks, const std::string& text) {
    const auto bytes = std::as_bytes(std::span(text));
    std::vector<RankMessage> messages;
    for (int rank = 0; rank < ranks.size(); ++rank) {
        if (rank != ranks.rank()) {
            messages.push_back({rank, {bytes.begin(), bytes.end()}});
        }
    }
    return messages;
}

std::string text_of(const std::vector<RankMessage>& received) {
    const std::vector<std::byte>& bytes = received.at(0).bytes;
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

} // namespace

void Ranks::agree(const std::optional<AgreedError>& failure) {
    std::int64_t first = failure ? rank() : size(); // that has failed
    {
        const Session::Pause pause(session_);
        communicator_->all_reduce(std::span(&first, 1), Reduction::min);
    }
    if (first == size()) {
        return;
    }
    const bool is_mine = first == rank();
    std::int64_t kind = is_mine ? static_cast<std::int64_t>(failure->kind()) : 0;
    maximize(std::span(&kind, 1));
    const auto received = exchange(is_mine ? to_others(*this, failure->what()) : std::vector<RankMessage>());
    if (is_mine) {
        throw AgreedError(*failure);
    }
    throw AgreedError(static_cast<ErrorKind>(kind), text_of(received));
}

void Ranks::tell(const std::string& text) {
    agreed([] {});
    static_cast<void>(exchange(to_others(*this, text)));
}

std::string Ranks::told() {
    agreed([] {});
    return text_of(exchange({}));
}

std::vector<std::int64_t> Ranks::gather(std::int64_t mine) {
    std::vector<std::int64_t> all(size(), mine);
    if (communicator_ != nullptr) {
        const Session::Pause pause(session_);
        communicator_->all_gather(std::as_bytes(std::span(&mine, 1)), std::as_writable_bytes(std::span(all)),
                                  std::vector<std::int64_t>(all.size(), sizeof(mine)));
    }
    return all;
}

std::int64_t Ranks::sum(std::int64_t mine) {
    const std::vector<std::int64_t> all = gather(mine);
    return std::accumulate(all.begin(), all.end(), std::int64_t{0});
}

std::int64_t Ranks::sum_before(std::int64_t mine) {
    const std::vector<std::int64_t> all = gather(mine);
    return std::accumulate(all.begin(), all.begin() + rank(), std::int64_t{0});
}

bool Ranks::any(bool mine) {
    std::int64_t value = mine ? 1 : 0;
    maximize(std::span(&value, 1));
    return value != 0;
}

void Ranks::maximize(std::span<std::int64_t> values) {
    if (communicator_ != nullptr) {
        const Session::Pause pause(session_);
        communicator_->all_reduce(values, Reduction::max);
    }
}

std::vector<RankMessage> Ranks::exchange(std::vector<RankMessage> messages) {
    if (communicator_ == nullptr) {
        return messages; // of this rank to itself
    }
    const Session::Pause pause(session_);
    return communicator_->exchange(std::move(messages));
}

} // namespace kith::io::hdf5
