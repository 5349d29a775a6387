// Rows of columns of other ranks, by global index or id.
//
// Each rank sorts the indices that it asks for and drops repetitions, finds the rank and row of each, and asks that
// rank; the answers come in the order of the requests. Ranks of global indices follow from the numbers of points. Ids
// are looked up in a directory that is spread over the ranks by a hash: each rank tells it the ids of its points, and
// asks it for those that it wants. Cost: O(n log n) for n indices; every row that is asked for travels once to each
// rank that asks.
#include "distributed/gather.hpp"

#include "distributed/arguments.hpp"
#include "distributed/ownership.hpp"
#include "distributed/point_numbers.hpp"
#include "distributed/ranks.hpp"
#include "support/at_least.hpp"
#include "support/message.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

namespace kith {

namespace detail {

namespace {

[[noreturn]] void refuse_index(std::int64_t position, std::int64_t index, const std::string& rule) {
    throw error(ErrorKind::invalid_argument, {.point = position, .value = static_cast<double>(index)},
                "indices: element ", position, " is ", index, std::string_view(rule));
}

/// The directory of ids: which rank knows where an id is.
int rank_of_id(std::int64_t id, int ranks) {
    auto bits = static_cast<std::uint64_t>(id) * 0x9e3779b97f4a7c15; // Fibonacci hashing: ids often have a common step
    bits ^= bits >> 32;
    return static_cast<int>(bits % static_cast<std::uint64_t>(ranks));
}

class Gather {
public:
    Gather(Ranks& ranks, std::span<const std::int64_t> indices, std::span<const GatherColumn> columns)
        : ranks_(ranks), indices_(indices), columns_(columns) {}

    void run(const IntegersView& ids) {
        check();
        run(GivenIds(ranks_, ids, rows()));
    }
    void run(const GivenIds& given) {
        const Ownership owners(ranks_, rows());
        ranks_.agreed([&] { find_wanted(given.are_given() ? -1 : owners.total()); });
        std::vector<RankRow> where;
        if (given.are_given()) {
            where = look_up(given.given());
        } else {
            ranks_.agreed([&] {
                for (const std::int64_t index : wanted_) {
                    const int rank = owners.owner(index);
                    where.push_back({rank, index - owners.first_of(rank)});
                }
            });
        }
        fetch(where);
    }

private:
    [[nodiscard]] std::int64_t rows() const { return columns_.empty() ? 0 : columns_.front().count(); }

    void check() {
        ranks_.agreed([&] {
            if (columns_.empty()) {
                throw Error(ErrorKind::invalid_argument, "there are no columns; give one or more");
            }
            for (std::size_t i = 0; i < columns_.size(); ++i) {
                const GatherColumn& column = columns_[i];
                if (column.count() < 0) {
                    throw error(ErrorKind::invalid_argument, of_value(column.count()), "column ", i, " has ",
                                column.count(), " rows; give one row per point");
                }
                if (column.row_bytes() < 1) {
                    throw error(ErrorKind::invalid_argument, of_value(column.row_bytes()), "the rows of column ", i,
                                " have ", column.row_bytes(), " bytes; they need 1 or more");
                }
                if (column.count() > 0 && column.row(0) == nullptr) {
                    throw error(ErrorKind::invalid_argument, "column ", i, " has ", column.count(),
                                " rows but its address is null");
                }
                if (column.gathered_count() > 0 && column.gathered(0) == nullptr) {
                    throw error(ErrorKind::invalid_argument, "the memory for column ", i, " holds ",
                                column.gathered_count(), " rows but its address is null");
                }
                if (column.count() != rows()) {
                    throw error(ErrorKind::invalid_argument, "column ", i, " has ", column.count(), " rows, column 0 ",
                                rows(), "; give one row per point in each");
                }
                if (column.gathered_count() != std::ssize(indices_)) {
                    throw error(ErrorKind::invalid_argument, "the memory for column ", i, " holds ",
                                column.gathered_count(), " rows; ", indices_.size(), " indices need one each");
                }
            }
        });
        std::vector<std::int64_t> widths;
        for (const GatherColumn& column : columns_) {
            widths.push_back(column.row_bytes());
        }
        require_same(ranks_, RankFunction::gather,
                     {{"number of columns", static_cast<double>(columns_.size())}, hash("bytes of the rows", widths)});
    }

    /// The indices that are asked for, ascending, each once. `total`: of global indices; -1 for ids.
    void find_wanted(std::int64_t total) {
        for (std::int64_t i = 0; i < std::ssize(indices_); ++i) {
            const std::int64_t index = indices_[i];
            if (index < -1) {
                refuse_index(i, index, "; indices are 0 or more, or -1 for none");
            }
            if (total >= 0 && index >= total) {
                refuse_index(i, index, message(", but all ranks together have ", total, " rows"));
            }
            if (index >= 0) {
                wanted_.push_back(index);
            }
        }
        std::ranges::sort(wanted_);
        wanted_.erase(std::unique(wanted_.begin(), wanted_.end()), wanted_.end());
    }

    /// Where the points with the wanted ids are.
    std::vector<RankRow> look_up(std::span<const std::int64_t> ids) {
        struct Entry {
            std::int64_t id;
            RankRow where;
        };
        std::vector<std::vector<std::int64_t>> known(ranks_.size()); // pairs of id and row
        std::vector<std::vector<std::int64_t>> asked(ranks_.size());
        std::vector<RankMessage> messages;
        const auto write = [](MessageWriter& writer, const auto& numbers) {
            writer.put(std::span(std::as_const(numbers)));
        };
        ranks_.agreed([&] {
            for (std::int64_t row = 0; row < std::ssize(ids); ++row) {
                auto& of_rank = known[rank_of_id(ids[row], ranks_.size())];
                of_rank.insert(of_rank.end(), {ids[row], row});
            }
            for (const std::int64_t id : wanted_) {
                asked[rank_of_id(id, ranks_.size())].push_back(id);
            }
            messages = messages_to(known, write);
        });
        std::vector<Entry> directory;
        const std::vector<RankMessage> told = ranks_.exchange(std::move(messages));
        ranks_.agreed([&] {
            for (const RankMessage& message : told) {
                const auto pairs = values_of<std::int64_t>(message);
                for (std::size_t i = 0; i < pairs.size(); i += 2) {
                    directory.push_back({pairs[i], {message.rank, pairs[i + 1]}});
                }
            }
            std::ranges::sort(directory, {}, &Entry::id);
            messages = messages_to(asked, write);
        });
        const std::vector<RankMessage> questions = ranks_.exchange(std::move(messages));
        ranks_.agreed([&] {
            messages.clear();
            for (const RankMessage& question : questions) {
                MessageWriter writer(messages.emplace_back(RankMessage{question.rank, {}}).bytes);
                for (const std::int64_t id : values_of<std::int64_t>(question)) {
                    const auto found = std::ranges::lower_bound(directory, id, {}, &Entry::id);
                    writer.put_value(found != directory.end() && found->id == id ? found->where : RankRow{});
                }
            }
        });
        const std::vector<RankMessage> answers = ranks_.exchange(std::move(messages));
        std::vector<RankRow> where;
        ranks_.agreed([&] {
            std::vector<std::vector<RankRow>> of_ranks(ranks_.size());
            for (const RankMessage& answer : answers) {
                of_ranks[answer.rank] = values_of<RankRow>(answer);
            }
            std::vector<std::size_t> next(of_ranks.size(), 0);
            for (const std::int64_t id : wanted_) {
                const int rank = rank_of_id(id, ranks_.size());
                where.push_back(of_ranks[rank][next[rank]++]);
                if (where.back().rank < 0) {
                    refuse_index(std::ranges::find(indices_, id) - indices_.begin(), id, ", an id that no point has");
                }
            }
        });
        return where;
    }

    /// Brings the wanted rows here, and writes them to the caller's memory.
    void fetch(const std::vector<RankRow>& where) {
        std::vector<RankMessage> messages;
        ranks_.agreed([&] {
            std::vector<std::vector<std::int64_t>> rows_of_ranks(ranks_.size());
            for (const RankRow& one : where) {
                rows_of_ranks[one.rank].push_back(one.row);
            }
            messages = messages_to(rows_of_ranks, [](MessageWriter& writer, const auto& rows) {
                writer.put(std::span(std::as_const(rows)));
            });
        });
        const std::vector<RankMessage> questions = ranks_.exchange(std::move(messages));
        ranks_.agreed([&] {
            messages.clear();
            for (const RankMessage& question : questions) {
                RankMessage& answer = messages.emplace_back(RankMessage{question.rank, {}});
                const auto rows = values_of<std::int64_t>(question);
                answer.bytes.reserve(rows.size() * static_cast<std::size_t>(bytes_of_all_columns()));
                MessageWriter writer(answer.bytes);
                for (const std::int64_t row : rows) {
                    for (const GatherColumn& column : columns_) {
                        writer.put(std::span(column.row(row), static_cast<std::size_t>(column.row_bytes())));
                    }
                }
            }
        });
        const std::vector<RankMessage> answers = ranks_.exchange(std::move(messages));
        ranks_.agreed([&] {
            std::vector<const std::byte*> of_ranks(ranks_.size(), nullptr);
            for (const RankMessage& answer : answers) {
                of_ranks[answer.rank] = answer.bytes.data();
            }
            std::vector<const std::byte*> rows_here(where.size());
            for (std::size_t i = 0; i < where.size(); ++i) {
                rows_here[i] = of_ranks[where[i].rank];
                of_ranks[where[i].rank] += bytes_of_all_columns();
            }
            for (std::int64_t i = 0; i < std::ssize(indices_); ++i) {
                write(i, indices_[i] < 0 ? nullptr
                                         : rows_here[std::ranges::lower_bound(wanted_, indices_[i]) - wanted_.begin()]);
            }
        });
    }

    [[nodiscard]] std::int64_t bytes_of_all_columns() const {
        std::int64_t sum = 0;
        for (const GatherColumn& column : columns_) {
            sum += column.row_bytes();
        }
        return sum;
    }
    /// Null: zeros.
    void write(std::int64_t i, const std::byte* row) const {
        for (const GatherColumn& column : columns_) {
            const auto bytes = static_cast<std::size_t>(column.row_bytes());
            if (row == nullptr) {
                std::memset(column.gathered(i), 0, bytes);
            } else {
                std::memcpy(column.gathered(i), row, bytes);
                row += bytes;
            }
        }
    }

    Ranks& ranks_;
    std::span<const std::int64_t> indices_;
    std::span<const GatherColumn> columns_;
    std::vector<std::int64_t> wanted_;
};

} // namespace

void gather_rows(Ranks& ranks, const GivenIds& ids, std::span<const std::int64_t> numbers,
                 std::span<const GatherColumn> columns) {
    Gather(ranks, numbers, columns).run(ids);
}

} // namespace detail

RankOffsets::RankOffsets(Communicator& communicator, std::int64_t count) : firsts_{0} {
    detail::on_all_ranks(communicator, [&](detail::Ranks& ranks) {
        ranks.agreed([&] { detail::require_at_least(0, "the number of points", count); });
        for (const std::int64_t of_rank : ranks.gather(count)) {
            firsts_.push_back(firsts_.back() + of_rank);
        }
    });
}

RankRow RankOffsets::locate(std::int64_t index) const {
    if (index < 0 || index >= total()) {
        throw detail::error(ErrorKind::invalid_argument, detail::of_value(index), "the global index ", index,
                            " was asked for; there are ", total(), " points, numbered from 0");
    }
    const auto rank = std::ranges::upper_bound(firsts_, index) - firsts_.begin() - 1;
    return {static_cast<std::int32_t>(rank), index - firsts_[rank]};
}

Traffic gather(Communicator& communicator, std::span<const std::int64_t> indices, std::span<const GatherColumn> columns,
               const RankOptions& rank_options) {
    return detail::on_all_ranks(communicator, [&](detail::Ranks& ranks) {
        detail::Gather(ranks, indices, columns).run(rank_options.ids);
        return ranks.traffic();
    });
}

} // namespace kith
