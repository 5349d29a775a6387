#include "cli/rank_team.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>
#include <sstream>

namespace kith::cli {

namespace {

constexpr std::size_t block_bytes = std::size_t{1} << 24;

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
    std::string all(static_cast<std::size_t>(std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0})), ' ');
    ranks_.all_gather(std::as_bytes(std::span(mine)), std::as_writable_bytes(std::span(all)), lengths);
    std::vector<std::string> texts;
    std::size_t first = 0;
    for (const std::int64_t each : lengths) {
        texts.push_back(all.substr(first, static_cast<std::size_t>(each)));
        first += static_cast<std::size_t>(each);
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

RankFunnel::RankFunnel(RankTeam& team, std::vector<std::span<const std::byte>> arrays)
    : team_(team), arrays_(std::move(arrays)) {
    for (std::size_t array = 0; array < arrays_.size(); ++array) {
        const auto bytes = team.gather_values(std::ssize(arrays_[array]));
        for (std::size_t rank = 0; rank < bytes.size(); ++rank) {
            const auto all = static_cast<std::size_t>(bytes[rank]);
            for (std::size_t begin = 0; begin < all; begin += block_bytes) {
                pieces_.push_back({static_cast<int>(rank), array, begin, std::min(block_bytes, all - begin)});
            }
        }
    }
}

/// Whether rank 0 takes another piece of other ranks. Collective.
bool RankFunnel::goes_on(bool wants) {
    std::int64_t answer = wants || !team_.is_first() ? 1 : 0;
    team_.communicator().all_reduce(std::span(&answer, 1), Reduction::min);
    return answer != 0;
}

void RankFunnel::bring(const Piece& piece) {
    const std::span<const std::byte> bytes = piece.rank == team_.rank()
                                                 ? arrays_[piece.array].subspan(piece.begin, piece.bytes)
                                                 : std::span<const std::byte>();
    if (piece.rank == 0) {
        here_ = bytes;
        return;
    }
    std::vector<RankMessage> messages;
    if (piece.rank == team_.rank()) {
        messages.push_back({0, {bytes.begin(), bytes.end()}});
    }
    std::vector<RankMessage> received = team_.communicator().exchange(std::move(messages));
    if (team_.is_first()) {
        arrived_ = std::move(received.front().bytes);
        here_ = arrived_;
    }
}

template <class Body>
void RankFunnel::or_end_all(const Body& body) {
    try {
        body();
    } catch (const std::exception& error) {
        team_.communicator().abort(error.what());
        throw;
    }
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
