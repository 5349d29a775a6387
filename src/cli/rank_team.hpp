// The processes that run one command together: `mpirun -n P kith knn ...` starts P, ranks 0 to P - 1.
//
// Each reads its share of the points; rank 0 writes the outputs and speaks to the user. What can fail on one rank runs
// inside agreed(), and calls of the library that are collective inside collective(): then all ranks throw the same
// AgreedFailure, and the program ends with one text and one exit code. Any other exception ends all processes.
#pragma once

#include "cli/failure.hpp"

#include <kith/communicator.hpp>
#include <kith/execution.hpp>
#include <kith/io.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace kith::cli {

/// An exception that all ranks throw.
struct AgreedFailure {
    Failure failure;
};

class RankTeam {
public:
    explicit RankTeam(Communicator& ranks) : ranks_(ranks) {}

    [[nodiscard]] Communicator& communicator() noexcept { return ranks_; }
    [[nodiscard]] int rank() const noexcept { return ranks_.rank(); }
    [[nodiscard]] int size() const noexcept { return ranks_.size(); }
    [[nodiscard]] bool is_first() const noexcept { return rank() == 0; }

    /// Runs body(), which does not communicate. Throws on all ranks what the lowest one that failed has thrown.
    template <class Body>
    void agreed(const Body& body) {
        std::optional<Failure> failed;
        try {
            body();
        } catch (...) {
            failed = current_failure();
        }
        agree(failed);
    }

    /// Runs body(), which fails on all ranks or on none.
    template <class Body>
    static decltype(auto) collective(const Body& body) {
        try {
            return body();
        } catch (...) {
            throw AgreedFailure{current_failure()};
        }
    }

    /// A value of every rank, by rank.
    template <class Value>
    [[nodiscard]] std::vector<Value> gather_values(const Value& mine) {
        std::vector<Value> all(size());
        ranks_.all_gather(std::as_bytes(std::span(&mine, 1)), std::as_writable_bytes(std::span(all)),
                          std::vector<std::int64_t>(all.size(), sizeof(mine)));
        return all;
    }
    /// The values of all ranks, by rank.
    template <class Value>
    [[nodiscard]] std::vector<Value> gather_all(std::span<const Value> mine) {
        std::vector<std::int64_t> bytes = gather_values(std::ssize(std::as_bytes(mine)));
        std::vector<Value> all(std::accumulate(bytes.begin(), bytes.end(), std::size_t{0}) / sizeof(Value));
        ranks_.all_gather(std::as_bytes(mine), std::as_writable_bytes(std::span(all)), bytes);
        return all;
    }
    [[nodiscard]] std::int64_t sum(std::int64_t value);
    [[nodiscard]] std::int64_t max(std::int64_t value);
    /// A text of every rank, by rank.
    [[nodiscard]] std::vector<std::string> gather(const std::string& mine);
    /// The texts of rank 0, then those of the others that are not among them, by rank.
    [[nodiscard]] std::vector<std::string> join(const std::vector<std::string>& mine);

private:
    void agree(const std::optional<Failure>& failed);

    Communicator& ranks_;
};

/// Runs body() over the ranks, if there are several: all end with the same failure.
template <class Body>
void agreed_over(RankTeam* ranks, const Body& body) {
    if (ranks != nullptr) {
        ranks->agreed(body);
    } else {
        body();
    }
}

/// The sum over the ranks, if there are several.
[[nodiscard]] inline std::int64_t sum_over(RankTeam* ranks, std::int64_t value) {
    return ranks != nullptr ? ranks->sum(value) : value;
}
/// `local`, over the ranks if there are several.
[[nodiscard]] Execution execution_over(RankTeam* ranks, const Execution& local, bool rebalance = false);

/// An array of this rank, whose bytes are made in order.
struct RankArray {
    std::int64_t bytes = 0;
    io::BlockSource next;
};

/// An array in memory, which must outlive it.
[[nodiscard]] inline RankArray array_of(std::span<const std::byte> bytes) {
    return {std::ssize(bytes), [rest = bytes](std::span<std::byte> block) mutable {
                std::copy_n(rest.begin(), block.size(), block.begin());
                rest = rest.subspan(block.size());
            }};
}
/// `count` elements: value_at(0), value_at(1), ..., each made once.
template <class ValueAt>
[[nodiscard]] RankArray array_of(std::int64_t count, ValueAt value_at) {
    using Value = std::decay_t<decltype(value_at(std::int64_t{0}))>;
    return {count * static_cast<std::int64_t>(sizeof(Value)),
            [value_at = std::move(value_at), next = std::int64_t{0}](std::span<std::byte> block) mutable {
                const std::span values(reinterpret_cast<Value*>(block.data()), block.size() / sizeof(Value));
                std::generate(values.begin(), values.end(), [&] { return value_at(next++); });
            }};
}

/// Brings arrays of all ranks to rank 0 block by block, so that rank 0 holds one block of them: first the first array
/// of all ranks, in the order of ranks, then the second and so on. Every rank constructs one and calls finish() at the
/// end; in between rank 0 takes what it wants. A failure on the way ends all processes: the others wait for what does
/// not come. A process alone is rank 0.
class RankFunnel {
public:
    RankFunnel(RankTeam* team, std::vector<RankArray> arrays);

    /// On rank 0: fills the block with the next bytes.
    void take(std::span<std::byte> block);
    /// On rank 0: the bytes from here on, which Ctrl-C ends. Refers to the funnel.
    [[nodiscard]] io::BlockSource blocks();

    /// Sends what rank 0 takes, until it calls this, too.
    void finish();

private:
    /// A part of an array of one rank.
    struct Piece {
        int rank;
        std::size_t array;
        std::int64_t bytes;
    };
    [[nodiscard]] bool goes_on(bool wants);
    void bring(const Piece& piece);
    template <class Body>
    void or_end_all(const Body& body);

    RankTeam* team_; ///< null: this process alone
    std::vector<RankArray> arrays_;
    std::vector<Piece> pieces_;
    std::size_t next_ = 0;            ///< piece
    std::vector<std::byte> arrived_;  ///< the last piece
    std::span<const std::byte> here_; ///< not yet taken
};

/// Collective. The values of all ranks, by rank, on rank 0; none on the others. A process alone keeps its own.
template <class Value>
[[nodiscard]] std::vector<Value> on_first(RankTeam* team, std::vector<Value> mine) {
    if (team == nullptr) {
        return mine;
    }
    std::vector<Value> all;
    const std::int64_t count = team->sum(std::ssize(mine));
    team->agreed([&] { all.resize(team->is_first() ? count : 0); });
    RankFunnel funnel(team, {array_of(std::as_bytes(std::span(std::as_const(mine))))});
    if (team->is_first()) {
        funnel.take(std::as_writable_bytes(std::span(all)));
    }
    funnel.finish();
    return all;
}

/// The communicator of the processes that a launcher has started together.
struct LaunchedRanks {
    std::shared_ptr<void> session;       ///< ends MPI when it goes, which is after the communicator
    std::unique_ptr<Communicator> ranks; ///< null: this process runs alone
};

/// Joins the other processes, if this one was started by a launcher (mpirun, mpiexec, srun) together with others.
/// Without a launcher, or in a program that was built without MPI, nothing is started.
[[nodiscard]] LaunchedRanks join_launched_ranks();

/// The MPI that the program was built with, "MPICH Version: 4.0.2"; "" without.
[[nodiscard]] std::string mpi_library();

} // namespace kith::cli
