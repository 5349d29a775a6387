// Ranks that are threads of one process.
//
// A collective call is one meeting of all ranks: each shows what it brings before, and reads what concerns it after.
// What it has shown stays until its call after the next, in one of two places that take turns: when a rank comes to
// that call, all have come to the one between, so they have read it. Bytes to be gathered are copied for this, since
// their owner may change them once its call returns. Buffers of GPUs are not copied: their exchange ends with a second
// meeting, after which owners may change or free them. So every rank that came to the first comes to the second, also
// if it fails between them, and nothing stops the second. No rank holds a lock while it waits: it waits for the number
// of meetings to change. Any other meeting that cannot take place, since a rank has thrown or returned, ends with an
// exception in all who wait for it, now or later.
#include <kith/communicator.hpp>
#include <kith/device_communicator.hpp>
#include <kith/error.hpp>

#include "support/at_least.hpp"
#include "support/cores.hpp"
#include "support/message.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <exception>
#include <mutex>
#include <new>
#include <optional>
#include <span>
#include <thread>
#include <utility>

namespace kith {

namespace {

/// What the threads share.
class Meeting {
public:
    /// What a rank brings to a collective call.
    struct Brought {
        std::vector<std::int64_t> values;
        std::vector<std::byte> bytes;
        std::vector<RankMessage> messages;
        // Of the caller's, until all ranks meet again:
        std::span<const SendBuffer> sent;
        std::span<const ReceiveBuffer> received;
        bool copies = false; ///< to and from memory of a GPU
    };

    explicit Meeting(int ranks) : places_{std::vector<Brought>(ranks), std::vector<Brought>(ranks)} {}

    [[nodiscard]] int size() const noexcept { return static_cast<int>(places_[0].size()); }
    /// What a rank brings to a call, by the number of calls before it.
    [[nodiscard]] Brought& of(int rank, std::uint32_t call) { return places_[call % 2][rank]; }

    /// Returns when all ranks are here.
    void meet() {
        const std::uint32_t before = state_.load(std::memory_order_acquire);
        require_all(before);
        if (here_.fetch_add(1) + 1 == size()) {
            here_ = 0; // before the others go on, so that none can have come again
            std::uint32_t now = before;
            if (!state_.compare_exchange_strong(now, before + one_meeting)) {
                require_all(now);
            }
            state_.notify_all();
            return;
        }
        if (gone_ > 0 && state_ == before) { // who leaves after this look sees that somebody waits
            const std::lock_guard lock(mutex_);
            give_up(ErrorKind::invalid_argument, left);
        }
        std::uint32_t now = state_.load(std::memory_order_acquire);
        while (now == before) {
            state_.wait(before, std::memory_order_acquire);
            now = state_.load(std::memory_order_acquire);
        }
        if (now / one_meeting == before / one_meeting) {
            require_all(now);
        }
    }

    /// The same for ranks that have just met and that all come again, whatever happens between.
    void meet_again() noexcept {
        const std::uint32_t before = state_.load(std::memory_order_acquire);
        if (here_.fetch_add(1) + 1 == size()) {
            here_ = 0;
            state_.fetch_add(one_meeting);
            state_.notify_all();
        }
        std::uint32_t now = state_.load(std::memory_order_acquire);
        while (now / one_meeting == before / one_meeting) {
            state_.wait(now, std::memory_order_acquire);
            now = state_.load(std::memory_order_acquire);
        }
    }
    /// Throws if the ranks were stopped.
    void require_all() const { require_all(state_.load(std::memory_order_acquire)); }

    /// A rank does not come any more.
    void leave() {
        ++gone_;
        if (here_ > 0) {
            const std::lock_guard lock(mutex_);
            give_up(ErrorKind::invalid_argument, left);
        }
    }
    void abort(int rank, const std::string& reason) {
        const std::lock_guard lock(mutex_);
        if (!reason_) {
            aborting_rank_ = rank;
            give_up(kind_of(std::current_exception()), detail::message("rank ", rank, ": ", std::string_view(reason)));
        }
    }
    /// The first exception is the one that counts, unless it is but what a rank's abort() has thrown on others, or says
    /// only that code of the program threw on another rank.
    void fail(int rank, std::exception_ptr exception, const std::string& text) {
        const std::lock_guard lock(mutex_);
        const ErrorKind kind = kind_of(exception);
        const bool is_better = first_is_of_another_ && kind_of_error(exception) != ErrorKind::other_rank;
        if (!first_ || rank == aborting_rank_ || is_better) {
            first_is_of_another_ = kind_of_error(exception) == ErrorKind::other_rank;
            first_ = std::move(exception);
        }
        give_up(kind, detail::message("rank ", rank, ": ", std::string_view(text)));
    }
    [[nodiscard]] const std::exception_ptr& first_exception() const { return first_; }

private:
    static constexpr const char* left =
        "a rank has returned while others wait for it in a collective call; all ranks must make the same calls";

    /// Empty for an exception that is none of kith's.
    static std::optional<ErrorKind> kind_of_error(const std::exception_ptr& exception) {
        try {
            std::rethrow_exception(exception);
        } catch (const Error& error) {
            return error.kind();
        } catch (const std::bad_alloc&) {
            return ErrorKind::out_of_memory;
        } catch (...) {
            return std::nullopt;
        }
    }
    /// What other ranks throw for an exception, or for an abort() without one.
    static ErrorKind kind_of(const std::exception_ptr& exception) {
        return exception ? kind_of_error(exception).value_or(ErrorKind::other_rank) : ErrorKind::canceled;
    }
    /// All are told the first reason. The mutex is held.
    void give_up(ErrorKind kind, const std::string& reason) {
        if (!reason_) {
            kind_ = kind;
            reason_ = reason;
            state_.fetch_or(stopped);
            state_.notify_all();
        }
    }
    /// Reads the reason without the mutex: it was there before the ranks were stopped, and no other follows.
    void require_all(std::uint32_t state) const {
        if ((state & stopped) != 0) {
            throw detail::error(kind_, "the ranks stopped: ", std::string_view(*reason_));
        }
    }

    static constexpr std::uint32_t stopped = 1;
    static constexpr std::uint32_t one_meeting = 2;

    std::array<std::vector<Brought>, 2> places_;
    std::atomic<std::uint32_t> state_ = 0; ///< twice the number of meetings, plus `stopped`: there will be no more
    std::atomic<int> here_ = 0;            ///< ranks that wait for the next meeting
    std::atomic<int> gone_ = 0;            ///< ranks that have returned
    std::mutex mutex_;                     ///< of what follows
    std::optional<std::string> reason_;
    ErrorKind kind_ = ErrorKind::canceled; ///< of the reason
    std::optional<int> aborting_rank_;     ///< that the others stopped for
    std::exception_ptr first_;
    bool first_is_of_another_ = false; ///< `first_` says only that code of the program threw on another rank
};

class ThreadCommunicator final : public DeviceCommunicator {
public:
    ThreadCommunicator(Meeting& meeting, int rank) : meeting_(meeting), rank_(rank) {
        const std::vector<int> cores = detail::usable_cores();
        threads_ = detail::share_of_cores(cores, std::vector<int>(cores.size(), size()));
    }

    [[nodiscard]] int rank() const noexcept override { return rank_; }
    [[nodiscard]] int size() const noexcept override { return meeting_.size(); }
    [[nodiscard]] int threads() const noexcept override { return threads_; }

    void all_reduce(std::span<std::int64_t> values, Reduction reduction) override {
        mine().values.assign(values.begin(), values.end());
        const std::uint32_t call = meet();
        bool agree = true;
        for (int rank = 0; rank < size(); ++rank) {
            const std::vector<std::int64_t>& other = meeting_.of(rank, call).values;
            agree = agree && other.size() == values.size();
            for (std::size_t i = 0; rank != rank_ && i < std::min(other.size(), values.size()); ++i) {
                values[i] = reduction == Reduction::sum   ? values[i] + other[i]
                            : reduction == Reduction::min ? std::min(values[i], other[i])
                                                          : std::max(values[i], other[i]);
            }
        }
        require(agree, "the ranks passed different numbers of values to all_reduce; pass equally many");
    }

    void all_gather(std::span<const std::byte> bytes_of_mine, std::span<std::byte> all,
                    std::span<const std::int64_t> counts) override {
        mine().bytes.assign(bytes_of_mine.begin(), bytes_of_mine.end());
        const std::uint32_t call = meet();
        bool agree = counts.size() == static_cast<std::size_t>(size());
        std::size_t at = 0;
        for (int rank = 0; agree && rank < size(); ++rank) {
            const std::vector<std::byte>& bytes = meeting_.of(rank, call).bytes;
            agree = std::ssize(bytes) == counts[rank] && at + bytes.size() <= all.size();
            if (agree) {
                std::ranges::copy(bytes, all.begin() + static_cast<std::ptrdiff_t>(at));
                at += bytes.size();
            }
        }
        require(agree, "the bytes that the ranks passed to all_gather are not as many as the counts say");
    }

    [[nodiscard]] std::vector<RankMessage> exchange(std::vector<RankMessage> messages) override {
        start_exchange(std::move(messages));
        return finish_exchange();
    }
    /// Messages are shown at once, and wait where they are until all ranks meet.
    void start_exchange(std::vector<RankMessage> messages) override {
        const bool known = std::ranges::all_of(
            messages, [this](const RankMessage& message) { return message.rank >= 0 && message.rank < size(); });
        require(known, "a message names a rank that does not exist");
        mine().messages = std::move(messages);
    }
    [[nodiscard]] std::vector<RankMessage> finish_exchange() override {
        const std::uint32_t call = meet();
        std::vector<RankMessage> received;
        for (int rank = 0; rank < size(); ++rank) {
            for (RankMessage& message : meeting_.of(rank, call).messages) {
                if (message.rank == rank_) { // nobody else reads its bytes
                    received.push_back({rank, std::move(message.bytes)});
                }
            }
        }
        return received;
    }

    /// The function that copies between GPUs is the caller's.
    [[nodiscard]] bool accepts_device_memory() const noexcept override { return true; }
    /// A rank that can copy from and to memory of GPUs fetches what is for it. To a rank that cannot, senders that can
    /// bring it.
    void exchange_buffers(std::span<const SendBuffer> sent, std::span<const ReceiveBuffer> received,
                          const CopyBytes& copy) override {
        Meeting::Brought& own = mine();
        own.sent = sent;
        own.received = received;
        own.copies = static_cast<bool>(copy);
        const std::uint32_t call = meet();
        std::exception_ptr failure;
        try {
            copy_buffers(sent, received, copy, call);
        } catch (const std::exception& error) {
            failure = std::current_exception();
            abort(error.what());
        } catch (...) {
            failure = std::current_exception();
            abort("an exception of unknown type");
        }
        meeting_.meet_again(); // others read the buffers until then
        ++calls_;
        if (failure) {
            std::rethrow_exception(failure);
        }
        meeting_.require_all();
    }

    void abort(const std::string& reason) noexcept override {
        try {
            meeting_.abort(rank_, reason);
        } catch (...) { // no memory for the text: whoever called is about to throw, which ends the meeting as well
        }
    }

private:
    /// What the ranks have brought for each other, between the two meetings of an exchange.
    void copy_buffers(std::span<const SendBuffer> sent, std::span<const ReceiveBuffer> received, const CopyBytes& copy,
                      std::uint32_t call) const {
        bool agree = true;
        for (const ReceiveBuffer& to : received) {
            const SendBuffer* const from = buffer_for(rank_, to.rank, call, &Meeting::Brought::sent);
            agree = agree && from != nullptr && from->count == to.count;
            if (agree && copy) {
                copy(to.bytes, from->bytes, to.count);
            } else if (agree && !meeting_.of(to.rank, call).copies) {
                std::memcpy(to.bytes, from->bytes, static_cast<std::size_t>(to.count));
            }
        }
        for (const SendBuffer& from : sent) {
            const ReceiveBuffer* const to = buffer_for(rank_, from.rank, call, &Meeting::Brought::received);
            agree = agree && to != nullptr && to->count == from.count;
            if (agree && copy && !meeting_.of(from.rank, call).copies) {
                copy(to->bytes, from.bytes, from.count);
            }
        }
        require(agree,
                "the buffers that ranks passed to exchange_buffers differ in size or number; pass a buffer of the "
                "same size for each that another rank sends");
    }
    [[nodiscard]] Meeting::Brought& mine() { return meeting_.of(rank_, calls_); }
    /// Returns the number of calls before this one.
    std::uint32_t meet() {
        meeting_.meet();
        return calls_++;
    }
    /// The buffer that another rank has brought for a rank; null if there is none.
    template <class Buffer>
    [[nodiscard]] const Buffer* buffer_for(int rank, int other, std::uint32_t call,
                                           std::span<const Buffer> Meeting::Brought::*of) const {
        if (other < 0 || other >= size()) {
            return nullptr;
        }
        const std::span<const Buffer> buffers = meeting_.of(other, call).*of;
        const auto found = std::ranges::find(buffers, rank, &Buffer::rank);
        return found == buffers.end() ? nullptr : &*found;
    }
    static void require(bool holds, const char* otherwise) {
        if (!holds) {
            throw Error(ErrorKind::invalid_argument, otherwise);
        }
    }

    Meeting& meeting_;
    int rank_;
    int threads_;
    std::uint32_t calls_ = 0;
};

void run_rank(Meeting& meeting, int rank, const std::function<void(Communicator&)>& body) {
    try {
        ThreadCommunicator communicator(meeting, rank);
        body(communicator);
        meeting.leave();
    } catch (const std::exception& error) {
        meeting.fail(rank, std::current_exception(), error.what());
    } catch (...) {
        meeting.fail(rank, std::current_exception(), "an exception of unknown type");
    }
}

} // namespace

void run_ranks(int ranks, const std::function<void(Communicator&)>& body) {
    detail::require_at_least(1, "ranks", ranks);
    Meeting meeting(ranks);
    std::vector<std::jthread> others;
    try {
        for (int rank = 1; rank < ranks; ++rank) {
            others.emplace_back([&meeting, rank, &body] { run_rank(meeting, rank, body); });
        }
    } catch (const std::exception& error) { // the system has no more threads
        meeting.abort(static_cast<int>(others.size()) + 1, error.what());
        throw;
    }
    run_rank(meeting, 0, body);
    others.clear();
    if (meeting.first_exception()) {
        std::rethrow_exception(meeting.first_exception());
    }
}

} // namespace kith
