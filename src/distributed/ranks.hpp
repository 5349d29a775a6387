// A communicator as the algorithms use it: typed, counted, and with errors that all ranks agree on.
//
// An exception on one rank must not leave the others waiting. So whatever can fail on a rank runs inside agreed(): the
// ranks meet after it, and if one has failed all throw, with its text. An exception of the program's own code, such as
// a visitor, stays what it is on its rank. What fails on all ranks alike, because they know the same, runs inside
// alike(). Any other exception ends the work of all ranks (on_all_ranks).
#pragma once

#include <kith/communicator.hpp>
#include <kith/device_communicator.hpp>
#include <kith/distributed.hpp>
#include <kith/error.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <functional>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace kith::detail {

/// An error that every rank throws.
class AgreedError : public Error {
public:
    using Error::Error;
};

/// An exception that this rank throws as it is, while the others throw an AgreedError.
struct OwnException {
    std::exception_ptr exception;
};

class Ranks {
public:
    explicit Ranks(Communicator& communicator) : communicator_(communicator) {}
    Ranks(const Ranks&) = delete;
    Ranks& operator=(const Ranks&) = delete;

    [[nodiscard]] int rank() const noexcept { return communicator_.rank(); }
    [[nodiscard]] int size() const noexcept { return communicator_.size(); }
    [[nodiscard]] const Traffic& traffic() const noexcept { return traffic_; }
    void count_from_device(std::int64_t bytes) noexcept { traffic_.bytes_from_device += bytes; }
    void count_migrated(std::int64_t bytes) noexcept { traffic_.bytes_migrated += bytes; }

    /// Whether this rank's communicator can exchange buffers in memory of GPUs with others.
    [[nodiscard]] bool accepts_device_memory() const;
    /// States whether points travel by exchange_buffers(); the same on all ranks, whose communicators accept that.
    void use_buffers(bool use);
    /// Whether they do, since some rank works on a GPU and the communicator accepts its memory.
    [[nodiscard]] bool exchanges_buffers() const noexcept { return devices_ != nullptr; }
    /// Buffers from and to other ranks, of equal size on both sides (device_communicator.hpp). Does not take those
    /// without bytes.
    void exchange_buffers(const std::vector<SendBuffer>& sent, const std::vector<ReceiveBuffer>& received,
                          const CopyBytes& copy);

    /// Runs body() here, and throws on all ranks if it throws on one: what the lowest of these has thrown. A single
    /// rank throws what body() has thrown, as it is.
    template <class Body>
    void agreed(const Body& body) {
        agree(failure_of(std::cref(body)));
    }

    /// Runs body(), which throws on all ranks or on none, and does not communicate: what another rank has caused is not
    /// an error that all agree on.
    template <class Body>
    static void alike(const Body& body) {
        try {
            body();
        } catch (const Error& error) {
            throw AgreedError(error.kind(), error.what(), error.details());
        }
    }

    [[nodiscard]] std::int64_t sum(std::int64_t value) { return reduced(value, Reduction::sum); }
    [[nodiscard]] std::int64_t min(std::int64_t value) { return reduced(value, Reduction::min); }
    [[nodiscard]] std::int64_t max(std::int64_t value) { return reduced(value, Reduction::max); }
    /// Replaces each number by its sum over all ranks, which pass equally many.
    void sum(std::span<std::int64_t> values) { communicator_.all_reduce(values, Reduction::sum); }
    void max(std::span<std::int64_t> values) { communicator_.all_reduce(values, Reduction::max); } ///< by its greatest
    [[nodiscard]] bool any(bool value) { return max(value ? 1 : 0) != 0; } ///< whether it is true on any rank

    /// One value of every rank, by rank.
    template <class Value>
    [[nodiscard]] std::vector<Value> gather(const Value& mine) {
        std::vector<Value> all(size());
        gather_bytes(std::as_bytes(std::span(&mine, 1)), std::as_writable_bytes(std::span(all)),
                     std::vector<std::int64_t>(size(), sizeof(Value)));
        return all;
    }

    /// The values of all ranks, by rank; firsts[r] is where those of rank r start.
    template <class Value>
    struct Gathered {
        std::vector<Value> values;
        std::vector<std::int64_t> firsts;
    };
    template <class Value>
    [[nodiscard]] Gathered<Value> gather_lists(std::span<const Value> mine) {
        Gathered<Value> all;
        std::vector<std::int64_t> counts = gather(std::ssize(mine));
        all.firsts.push_back(0);
        for (std::int64_t& count : counts) {
            all.firsts.push_back(all.firsts.back() + count);
            count *= static_cast<std::int64_t>(sizeof(Value));
        }
        all.values.resize(all.firsts.back());
        gather_bytes(std::as_bytes(mine), std::as_writable_bytes(std::span(all.values)), counts);
        return all;
    }

    /// Messages to ranks, and those to this one, by ascending sender. Those to itself do not travel.
    [[nodiscard]] std::vector<RankMessage> exchange(std::vector<RankMessage> messages) {
        start_exchange(std::move(messages));
        return finish_exchange();
    }
    /// The same, and runs body() here while messages travel, as agreed() does. The exchange ends before the ranks
    /// agree, so that none is under way when an error is thrown. body() does not communicate.
    template <class Body>
    [[nodiscard]] std::vector<RankMessage> exchange_during(std::vector<RankMessage> messages, const Body& body) {
        start_exchange(std::move(messages));
        const std::optional<Failure> failure = failure_of(std::cref(body));
        std::vector<RankMessage> received = finish_exchange();
        agree(failure);
        return received;
    }

private:
    struct Failure {
        ErrorKind kind;
        std::string text;
        ErrorDetails details;
        std::exception_ptr exception; ///< not of memory that is lacking
    };

    static std::optional<Failure> failure_of(const std::function<void()>& body);
    void agree(const std::optional<Failure>& failure);
    void start_exchange(std::vector<RankMessage> messages);
    std::vector<RankMessage> finish_exchange();
    std::int64_t reduced(std::int64_t value, Reduction reduction) {
        communicator_.all_reduce(std::span(&value, 1), reduction);
        return value;
    }
    void gather_bytes(std::span<const std::byte> mine, std::span<std::byte> all,
                      const std::vector<std::int64_t>& counts);

    Communicator& communicator_;
    Traffic traffic_;
    DeviceCommunicator* devices_ = nullptr; ///< null: points travel in messages
    std::vector<RankMessage> kept_;         ///< messages of this rank to itself, of an exchange that has started
};

/// Runs body(ranks), the work of one call. An exception that several ranks have not agreed on ends the work of all.
template <class Body>
decltype(auto) on_all_ranks(Communicator& communicator, const Body& body) {
    try {
        Ranks ranks(communicator);
        return body(ranks);
    } catch (const AgreedError&) {
        throw;
    } catch (const OwnException& own) {
        std::rethrow_exception(own.exception);
    } catch (const std::bad_alloc&) {
        const Error error(ErrorKind::out_of_memory, "failed to allocate memory for messages");
        if (communicator.size() > 1) {
            communicator.abort(error.what());
        }
        throw error;
    } catch (const std::exception& error) {
        if (communicator.size() > 1) {
            communicator.abort(error.what());
        }
        throw;
    }
}

/// Writes numbers into a message, and reads them in the same order.
class MessageWriter {
public:
    explicit MessageWriter(std::vector<std::byte>& bytes) : bytes_(bytes) {}
    template <class Value>
    void put(std::span<const Value> values) {
        static_assert(std::is_trivially_copyable_v<Value>);
        const auto added = std::as_bytes(values);
        bytes_.insert(bytes_.end(), added.begin(), added.end());
    }
    template <class Value>
    void put_value(const Value& value) {
        put(std::span(&value, 1));
    }

private:
    std::vector<std::byte>& bytes_;
};

/// A message to each rank whose element is not empty; write(writer, element) fills it.
template <class Element, class Write>
std::vector<RankMessage> messages_to(const std::vector<Element>& of_ranks, const Write& write) {
    std::vector<RankMessage> messages;
    for (std::size_t rank = 0; rank < of_ranks.size(); ++rank) {
        if (!of_ranks[rank].empty()) {
            MessageWriter writer(messages.emplace_back(RankMessage{static_cast<int>(rank), {}}).bytes);
            write(writer, of_ranks[rank]);
        }
    }
    return messages;
}

class MessageReader {
public:
    explicit MessageReader(const std::vector<std::byte>& bytes) : rest_(bytes) {}
    [[nodiscard]] std::size_t bytes_left() const noexcept { return rest_.size(); }
    [[nodiscard]] std::byte take_byte() {
        const std::byte byte = rest_.front();
        rest_ = rest_.subspan(1);
        return byte;
    }
    template <class Value>
    [[nodiscard]] Value take() {
        static_assert(std::is_trivially_copyable_v<Value>);
        Value value;
        std::memcpy(&value, rest_.data(), sizeof value);
        rest_ = rest_.subspan(sizeof value);
        return value;
    }
    /// Appends `count` values to `to`.
    template <class Value>
    void take(std::int64_t count, std::vector<Value>& to) {
        static_assert(std::is_trivially_copyable_v<Value>);
        const std::size_t bytes = static_cast<std::size_t>(count) * sizeof(Value);
        const std::size_t before = to.size();
        to.resize(before + static_cast<std::size_t>(count));
        if (bytes > 0) {
            std::memcpy(to.data() + before, rest_.data(), bytes);
        }
        rest_ = rest_.subspan(bytes);
    }

private:
    std::span<const std::byte> rest_;
};

/// All of a message.
template <class Value>
std::vector<Value> values_of(const RankMessage& message) {
    std::vector<Value> values;
    MessageReader(message.bytes).take(static_cast<std::int64_t>(message.bytes.size() / sizeof(Value)), values);
    return values;
}

} // namespace kith::detail
