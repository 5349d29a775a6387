#include "distributed/ranks.hpp"

#include "support/message.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <new>
#include <numeric>
#include <type_traits>

namespace kith::detail {

std::optional<Ranks::Failure> Ranks::failure_of(const std::function<void()>& body) {
    try {
        body();
    } catch (const Error& error) {
        return Failure{error.kind(), error.what(), error.details(), std::current_exception()};
    } catch (const std::bad_alloc&) {
        return Failure{ErrorKind::out_of_memory, "failed to allocate working memory", {}, {}};
    } catch (const std::exception& error) {
        return Failure{ErrorKind::other_rank, error.what(), {}, std::current_exception()};
    } catch (...) {
        return Failure{ErrorKind::other_rank, "an exception of unknown type", {}, std::current_exception()};
    }
    return std::nullopt;
}

void Ranks::agree(const std::optional<Failure>& failure) {
    const auto first = static_cast<int>(min(failure ? rank() : size()));
    if (first == size()) {
        return;
    }
    const bool is_first = first == rank();
    if (size() == 1 && failure->exception) {
        std::rethrow_exception(failure->exception);
    }
    static_assert(std::is_trivially_copyable_v<ErrorDetails>);
    std::array<std::int64_t, 2> kind_and_length{is_first ? static_cast<std::int64_t>(failure->kind) : 0,
                                                is_first ? std::ssize(failure->text) : 0};
    communicator_.all_reduce(kind_and_length, Reduction::max);
    const auto [kind, length] = kind_and_length;
    std::vector<std::int64_t> counts(size(), 0);
    const auto of_first = [&](std::span<const std::byte> mine, std::span<std::byte> all) {
        counts[first] = std::ssize(all);
        communicator_.all_gather(is_first ? mine : std::span<const std::byte>(), all, counts);
    };
    std::string text(static_cast<std::size_t>(length), ' ');
    ErrorDetails details = is_first ? failure->details : ErrorDetails{};
    of_first(is_first ? std::as_bytes(std::span(failure->text)) : std::span<const std::byte>(),
             std::as_writable_bytes(std::span(text)));
    const ErrorDetails mine = details;
    of_first(std::as_bytes(std::span(&mine, 1)), std::as_writable_bytes(std::span(&details, 1)));
    if (is_first && failure->kind == ErrorKind::other_rank && failure->exception) {
        throw OwnException{failure->exception};
    }
    if (size() > 1) {
        details.rank = first;
        text = message("rank ", first, ": ", std::string_view(text));
    }
    throw AgreedError(static_cast<ErrorKind>(kind), text, details);
}

void Ranks::gather_bytes(std::span<const std::byte> mine, std::span<std::byte> all,
                         const std::vector<std::int64_t>& counts) {
    const auto own = std::ssize(mine);
    traffic_.bytes_sent += own * (size() - 1);
    traffic_.bytes_received += std::accumulate(counts.begin(), counts.end(), std::int64_t{0}) - own;
    communicator_.all_gather(mine, all, counts);
}

void Ranks::start_exchange(std::vector<RankMessage> messages) {
    const auto own = std::stable_partition(messages.begin(), messages.end(),
                                           [&](const RankMessage& message) { return message.rank != rank(); });
    kept_.assign(std::make_move_iterator(own), std::make_move_iterator(messages.end()));
    messages.erase(own, messages.end());
    for (const RankMessage& message : messages) {
        traffic_.bytes_sent += std::ssize(message.bytes);
        ++traffic_.messages_sent;
    }
    communicator_.start_exchange(std::move(messages));
}

std::vector<RankMessage> Ranks::finish_exchange() {
    std::vector<RankMessage> received = communicator_.finish_exchange();
    for (const RankMessage& message : received) {
        traffic_.bytes_received += std::ssize(message.bytes);
    }
    received.insert(std::ranges::lower_bound(received, rank(), {}, &RankMessage::rank),
                    std::make_move_iterator(kept_.begin()), std::make_move_iterator(kept_.end()));
    kept_.clear();
    return received;
}

bool Ranks::accepts_device_memory() const {
    const auto* const devices = dynamic_cast<const DeviceCommunicator*>(&communicator_);
    return size() > 1 && devices != nullptr && devices->accepts_device_memory();
}

void Ranks::use_buffers(bool use) {
    devices_ = use ? dynamic_cast<DeviceCommunicator*>(&communicator_) : nullptr;
}

void Ranks::exchange_buffers(const std::vector<SendBuffer>& sent, const std::vector<ReceiveBuffer>& received,
                             const CopyBytes& copy) {
    for (const SendBuffer& buffer : sent) {
        traffic_.bytes_sent += buffer.count;
        ++traffic_.messages_sent;
    }
    for (const ReceiveBuffer& buffer : received) {
        traffic_.bytes_received += buffer.count;
    }
    devices_->exchange_buffers(sent, received, copy);
}

} // namespace kith::detail
