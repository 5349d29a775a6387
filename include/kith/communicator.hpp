// Communication between ranks, which are processes or threads.
//
// Calls over ranks (kith::over(), distributed.hpp) communicate only through a Communicator. run_ranks() provides one
// for threads of this process, mpi.hpp one for MPI processes; derive from Communicator to use another communication
// library. Floats are never summed across ranks, so answers do not depend on the order of a reduction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace kith {

enum class Reduction : std::uint8_t { min, max, sum };

/// Bytes for another rank, or from one.
struct RankMessage {
    int rank = 0; ///< destination of a message that is sent, source of one that is received
    std::vector<std::byte> bytes;
};

/// A group of ranks. All functions except rank(), size(), threads() and abort() are collective: every rank calls the
/// same functions in the same order, from one thread at a time. A collective call returns when the part of this rank is
/// complete, and throws kith::Error if another rank has aborted.
class Communicator {
public:
    Communicator() = default;
    Communicator(const Communicator&) = delete;
    Communicator& operator=(const Communicator&) = delete;
    virtual ~Communicator() = default;

    [[nodiscard]] virtual int rank() const noexcept = 0; ///< of this process or thread, from 0 to size() - 1
    [[nodiscard]] virtual int size() const noexcept = 0;
    /// CPU threads of this rank in a call that does not say how many: its share of the cores that it may use, which it
    /// shares with the other ranks on its machine. 0: all cores. Not collective.
    [[nodiscard]] virtual int threads() const noexcept { return 0; }

    /// Replaces every element by its reduction over all ranks. All ranks must pass the same number of elements.
    virtual void all_reduce(std::span<std::int64_t> values, Reduction reduction) = 0;

    /// Concatenates the bytes of all ranks, by ascending rank, and stores them in `all` on every rank. counts[r] is the
    /// number of bytes of rank r; all ranks must pass the same counts. The size of `all` is the sum of the counts.
    virtual void all_gather(std::span<const std::byte> mine, std::span<std::byte> all,
                            std::span<const std::int64_t> counts) = 0;

    /// Sends each message to its destination; receivers do not know the senders beforehand. A rank may send no
    /// messages, or several to one rank. Returns the messages to this rank by ascending sender; messages of one sender
    /// are in the order in which it passed them.
    [[nodiscard]] virtual std::vector<RankMessage> exchange(std::vector<RankMessage> messages) = 0;

    /// exchange() in two parts, between which this rank works while messages travel: start_exchange() takes the
    /// messages and does not wait for other ranks, finish_exchange() returns the messages to this rank. Only abort()
    /// may be called between them. The default waits: finish_exchange() makes the whole exchange.
    virtual void start_exchange(std::vector<RankMessage> messages) { started_ = std::move(messages); }
    [[nodiscard]] virtual std::vector<RankMessage> finish_exchange() { return exchange(std::move(started_)); }

    /// Ends the work of all ranks, because this rank cannot continue. If ranks are processes, abort() ends them and
    /// does not return. If ranks are threads, abort() returns, and the collective calls of the other ranks throw an
    /// error of the same kind as the error that this rank is handling.
    virtual void abort(const std::string& reason) noexcept = 0;

private:
    std::vector<RankMessage> started_; ///< by default
};

/// The communication of one rank with the others, excluding reductions, and with its GPU.
struct Traffic {
    std::int64_t bytes_sent = 0;
    std::int64_t bytes_received = 0;
    std::int64_t messages_sent = 0;
    std::int64_t bytes_from_device = 0; ///< that the rank's GPU sent to its host, if it worked on the points
    /// Coordinates, velocities and other columns of its points that rebalancing sent to other ranks; a part of
    /// bytes_sent.
    std::int64_t bytes_migrated = 0;
};

/// Which part of the answer of all ranks a result is. Its items are rows, labels or groups, of which each rank has a
/// contiguous range.
struct Distribution {
    int ranks = 1;
    std::int64_t first = 0; ///< global index of this rank's first item
    std::int64_t total = 0; ///< number of items of all ranks
    Traffic traffic;
    /// If the call rebalanced several ranks: what each point of this rank cost, in seconds. The time that a rank worked
    /// is divided among the points that it worked on in proportion to their weights. Otherwise empty.
    std::vector<float> work = {};
};

/// Runs body(communicator) in `ranks` threads of this process, each of which is a rank, and waits for all of them. If
/// body throws on one rank, or returns while other ranks wait for this rank, the collective calls of the others throw.
/// The first exception is rethrown here. Throws Error: invalid_argument unless ranks is 1 or more.
void run_ranks(int ranks, const std::function<void(Communicator&)>& body);

} // namespace kith
