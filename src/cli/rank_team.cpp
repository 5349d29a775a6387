#include "cli/rank_team.hpp"

#include "cli/interrupt.hpp"

#include <kith/distributed.hpp>

#include <algorithm>
#include <cstring>
#include <limits>
#include <sstream>

namespace kith::cli {

namespace {

constexpr std::int64_t block_bytes = std::int64_t{1} << 24;

} // namespace

std::int64_t RankTeam::sum(std::int64_t value) {
    ranks_.all_reduce(std::span(&value, 1), Reduction::sum);
    return value;
}

std::int64_t RankTeam::max(std::int64_t value) {
    ranks_.all_reduce(std::span(&value, 1), Reduction::max);
    return value;
}

std::vector<std::string> RankTeam::gather(const std::string& mine) {
    const auto lengths = gather_values(std::ssize(mine));
    const std::vector<char> all = gather_all(std::span<const char>(mine));
    std::vector<std::string> texts;
    auto next = all.begin();
    for (const std::int64_t each : lengths) {
        texts.emplace_back(next, next + each);
        next += each;
    }
    return texts;
}

std::vector<std::string> RankTeam::join(const std::vector<std::string>& mine) {
    std::string lines;
    for (const std::string& text : mine) {
        lines += text + '\0';
    }
    std::vector<std::string> all;
    const std::vector<std::string> by_rank = gather(lines);
    for (const std::string& of_rank : by_rank) {
        std::istringstream texts(of_rank);
        for (std::string text; std::getline(texts, text, '\0');) {
            if (&of_rank == &by_rank.front() || std::ranges::find(all, text) == all.end()) {
                all.push_back(text);
            }
        }
    }
    return all;
}

void RankTeam::agree(const std::optional<Failure>& failed) {
    std::int64_t first = failed ? rank() : std::numeric_limits<std::int64_t>::max();
    ranks_.all_reduce(std::span(&first, 1), Reduction::min);
    if (first == std::numeric_limits<std::int64_t>::max()) {
        return;
    }
    const auto code = max(first == rank() ? failed->exit_code : 0);
    const std::vector<std::string> texts = gather(first == rank() ? failed->text : "");
    throw AgreedFailure{{static_cast<int>(code), texts[first]}};
}

Execution execution_over(RankTeam* ranks, const Execution& local, bool rebalance) {
    return ranks != nullptr ? over(ranks->communicator(), local, {.rebalance = rebalance}) : local;
}

RankFunnel::RankFunnel(RankTeam* team, std::vector<RankArray> arrays) : team_(team), arrays_(std::move(arrays)) {
    for (std::size_t array = 0; array < arrays_.size(); ++array) {
        const std::int64_t mine = arrays_[array].bytes;
        const auto bytes = team != nullptr ? team->gather_values(mine) : std::vector{mine};
        for (std::size_t rank = 0; rank < bytes.size(); ++rank) {
            for (std::int64_t left = bytes[rank]; left > 0; left -= block_bytes) {
                pieces_.push_back({static_cast<int>(rank), array, std::min(block_bytes, left)});
            }
        }
    }
}

/// Whether rank 0 takes another piece of other ranks. Collective.
bool RankFunnel::goes_on(bool wants) {
    std::int64_t answer = wants || !team_->is_first() ? 1 : 0;
    team_->communicator().all_reduce(std::span(&answer, 1), Reduction::min);
    return answer != 0;
}

void RankFunnel::bring(const Piece& piece) {
    const bool is_mine = piece.rank == (team_ != nullptr ? team_->rank() : 0);
    if (is_mine) {
        arrived_.resize(piece.bytes);
        arrays_[piece.array].next(arrived_);
    }
    if (piece.rank != 0) {
        std::vector<RankMessage> messages;
        if (is_mine) {
            messages.push_back({0, std::move(arrived_)});
        }
        std::vector<RankMessage> received = team_->communicator().exchange(std::move(messages));
        if (team_->is_first()) {
            arrived_ = std::move(received.front().bytes);
        }
    }
    here_ = arrived_;
}

template <class Body>
void RankFunnel::or_end_all(const Body& body) {
    try {
        body();
    } catch (const std::exception& error) {
        if (team_ != nullptr) {
            team_->communicator().abort(error.what());
        }
        throw;
    }
}

io::BlockSource RankFunnel::blocks() {
    return [this](std::span<std::byte> block) {
        stop_if_interrupted();
        take(block);
    };
}

void RankFunnel::take(std::span<std::byte> block) {
    while (!block.empty()) {
        if (here_.empty()) {
            const Piece piece = pieces_[next_++];
            or_end_all([&] {
                if (piece.rank != 0) {
                    static_cast<void>(goes_on(true));
                }
                bring(piece);
            });
        }
        const std::size_t bytes = std::min(block.size(), here_.size());
        std::memcpy(block.data(), here_.data(), bytes);
        block = block.subspan(bytes);
        here_ = here_.subspan(bytes);
    }
}

void RankFunnel::finish() {
    for (const std::size_t end = pieces_.size(); next_ < end; ++next_) {
        const Piece piece = pieces_[next_];
        if (piece.rank == 0) {
            continue;
        }
        bool comes = false;
        or_end_all([&] {
            comes = goes_on(false);
            if (comes) {
                bring(piece);
            }
        });
        if (!comes) {
            return;
        }
    }
}

} // namespace kith::cli
