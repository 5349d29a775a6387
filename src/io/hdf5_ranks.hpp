// The ranks that write one HDF5 file: rank 0 writes, all read and sort. A process alone is a team of one.
//
// Ranks may be threads of one process, where HDF5 serves one at a time (hdf5_handle.hpp): each has a session, and
// pauses it while it communicates. What can fail on one rank runs inside agreed(); then all throw the same AgreedError.
// Any other exception ends the work of all ranks (on_all_ranks).
#pragma once

#include "io/hdf5_handle.hpp"

#include <kith/communicator.hpp>
#include <kith/error.hpp>

#include <cstdint>
#include <exception>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace kith::io::hdf5 {

/// An error that every rank throws.
class AgreedError : public Error {
public:
    using Error::Error;
};

class Ranks {
public:
    /// null: this process alone. Other handles of this rank are destroyed before it.
    explicit Ranks(Communicator* communicator) : communicator_(communicator) {}

    [[nodiscard]] int rank() const noexcept { return communicator_ == nullptr ? 0 : communicator_->rank(); }
    [[nodiscard]] int size() const noexcept { return communicator_ == nullptr ? 1 : communicator_->size(); }
    [[nodiscard]] bool is_first() const noexcept { return rank() == 0; }

    /// Runs body(), which does not communicate. Throws on all ranks what the lowest one that failed has thrown.
    template <class Body>
    void agreed(const Body& body) {
        if (communicator_ == nullptr) {
            body();
            return;
        }
        std::optional<AgreedError> failure;
        try {
            body();
        } catch (const Error& error) {
            failure.emplace(error.kind(), error.what(), error.details());
        } catch (const std::bad_alloc&) {
            failure.emplace(ErrorKind::out_of_memory, "failed to allocate memory for the sorted snapshot");
        } catch (const std::exception& error) {
            failure.emplace(ErrorKind::other_rank, error.what());
        }
        agree(failure);
    }

    /// Runs body() on rank 0, which calls the others by tell() and communicates as they then do.
    template <class Body>
    void lead(const Body& body) {
        try {
            body();
        } catch (const AgreedError&) {
            throw;
        } catch (...) {
            agreed([] { throw; });
        }
    }
    /// On rank 0: brings a text to all others, which wait for it in told().
    void tell(const std::string& text);
    [[nodiscard]] std::string told();

    /// One number of every rank, by rank.
    [[nodiscard]] std::vector<std::int64_t> gather(std::int64_t mine);
    [[nodiscard]] std::int64_t sum(std::int64_t mine);
    [[nodiscard]] std::int64_t sum_before(std::int64_t mine); ///< of lower ranks
    [[nodiscard]] bool any(bool mine);
    /// Replaces each number by the largest on any rank.
    void maximize(std::span<std::int64_t> values);
    /// Messages to ranks, and those to this one, by ascending sender.
    [[nodiscard]] std::vector<RankMessage> exchange(std::vector<RankMessage> messages);

private:
    void agree(const std::optional<AgreedError>& failure);

    Communicator* communicator_;
    Session session_;
};

/// Runs body(ranks) on each of them.
template <class Body>
decltype(auto) on_all_ranks(Communicator* communicator, const Body& body) {
    Ranks ranks(communicator);
    try {
        return body(ranks);
    } catch (const AgreedError&) {
        throw;
    } catch (const std::exception& error) {
        if (communicator != nullptr) {
            communicator->abort(error.what());
        }
        throw;
    }
}

} // namespace kith::io::hdf5
