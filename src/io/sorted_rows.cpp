// From members in group order to a permutation of each type (see sorted_rows.hpp).
#include "io/sorted_rows.hpp"

#include "io/memory.hpp"
#include "io/refuse.hpp"

#include <kith/error.hpp>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

namespace kith::io {

namespace {

constexpr std::int64_t unassigned = -1;
constexpr std::size_t members_of_round = std::size_t{1} << 17; // that a rank sends at a time

/// A member on its way to the rank that reads its row.
struct Placed {
    std::int64_t member; ///< row of the snapshot
    std::int64_t row;    ///< of its type, in the input
    std::int64_t target; ///< the same, sorted
};

/// Members for every rank.
class Outgoing {
public:
    explicit Outgoing(const hdf5::Ranks& ranks) : placed_(ranks.size()) {}
    void add(int rank, const Placed& member) { placed_[rank].push_back(member); }
    /// Calls receive() for each member that has been added for this rank.
    template <class Receive>
    void exchange(hdf5::Ranks& ranks, const Receive& receive) {
        std::vector<RankMessage> messages;
        ranks.agreed([&] {
            for (int rank = 0; rank < ranks.size(); ++rank) {
                const auto bytes = std::as_bytes(std::span(std::as_const(placed_[rank])));
                if (!bytes.empty()) {
                    messages.push_back({rank, {bytes.begin(), bytes.end()}});
                }
            }
        });
        const std::vector<RankMessage> received = ranks.exchange(std::move(messages));
        ranks.agreed([&] {
            for (const RankMessage& message : received) {
                for (std::size_t at = 0; at < message.bytes.size(); at += sizeof(Placed)) {
                    Placed member{};
                    std::memcpy(&member, message.bytes.data() + at, sizeof(member));
                    receive(member);
                }
            }
        });
    }

private:
    std::vector<std::vector<Placed>> placed_;
};

void require_counts(const Catalog& catalog) {
    if (catalog.count_by_type.size() != static_cast<std::size_t>(catalog.groups) * max_types) {
        throw error(ErrorKind::invalid_argument, "the catalog's count_by_type has ", catalog.count_by_type.size(),
                    " entries where ", catalog.groups, " x ", max_types, " were expected");
    }
    const std::int64_t counted =
        std::accumulate(catalog.count_by_type.begin(), catalog.count_by_type.end(), std::int64_t{0});
    if (catalog.member_array.size() > counted) {
        throw error(ErrorKind::invalid_argument, "the catalog counts ", counted, " members, but lists ",
                    catalog.member_array.size(), "; pass the snapshot that was grouped");
    }
}

/// The positions in member_array of the members of one type, in group order: by group, then by type.
class MembersOfType {
public:
    MembersOfType(const Catalog& catalog, std::size_t type) : catalog_(catalog), type_(type) {}

    [[nodiscard]] std::int64_t count() const {
        std::int64_t members = 0;
        for (std::size_t entry = type_; entry < catalog_.count_by_type.size(); entry += max_types) {
            members += catalog_.count_by_type[entry];
        }
        return members;
    }
    /// Calls visit(member) for at most so many of the next ones. Returns whether there are more.
    template <class Visit>
    bool next(std::size_t most, const Visit& visit) {
        for (std::size_t visited = 0; visited < most; ++visited, ++position_) {
            while (position_ == end_ && entry_ < catalog_.count_by_type.size()) {
                position_ = after_;
                end_ = after_ += catalog_.count_by_type[entry_];
                if (entry_++ % max_types != type_) {
                    position_ = end_;
                }
            }
            if (position_ >= std::min(end_, catalog_.member_array.size())) {
                return false;
            }
            visit(catalog_.member_array[position_]);
        }
        return true;
    }

private:
    const Catalog& catalog_;
    std::size_t type_;
    std::size_t entry_ = 0;     ///< next, of count_by_type
    std::int64_t after_ = 0;    ///< position after the members of the entries before
    std::int64_t position_ = 0; ///< the next member
    std::int64_t end_ = 0;      ///< of the members of its entry
};

} // namespace

int Permutation::owner(std::int64_t row) const {
    return static_cast<int>(std::upper_bound(begins.begin(), begins.end(), row) - begins.begin()) - 1;
}

Permutation sorted_rows(hdf5::Ranks& ranks, const Catalog& catalog, const Snapshot& snapshot, std::size_t type) {
    const auto& counts = snapshot.header.counts;
    const std::int64_t first =
        std::accumulate(counts.begin(), counts.begin() + static_cast<std::ptrdiff_t>(type), std::int64_t{0});
    Permutation permutation;
    ranks.agreed([&] {
        require_counts(catalog);
        for (int rank = 0; rank < ranks.size(); ++rank) {
            permutation.begins.push_back(rows_of_share({rank, ranks.size()}, counts[type]).begin);
        }
        permutation.begins.push_back(counts[type]);
        permutation.target =
            allocate<std::int64_t>(permutation.of(ranks.rank()).count(), 1, "the order of the sorted snapshot");
        std::ranges::fill(permutation.target, unassigned);
    });
    std::vector<std::int64_t> snapshots = ranks.gather(std::ssize(snapshot.file_rows));
    std::inclusive_scan(snapshots.begin(), snapshots.end(), snapshots.begin());
    snapshots.insert(snapshots.begin(), 0); // where the rows of each rank's snapshot begin
    const Permutation of_members{snapshots, {}};

    MembersOfType members(catalog, type);
    const std::int64_t expected = ranks.sum(members.count());
    std::int64_t next = ranks.sum_before(members.count());
    std::int64_t listed = 0;
    for (bool goes_on = true; ranks.any(goes_on);) {
        Outgoing to_snapshots(ranks);
        ranks.agreed([&] {
            goes_on = members.next(members_of_round, [&](std::int64_t member) {
                if (member < 0 || member >= of_members.rows()) {
                    throw error(ErrorKind::invalid_argument, "a member of the catalog is row ", member,
                                ", but the snapshot has ", of_members.rows(),
                                " rows; pass the snapshot that was grouped");
                }
                to_snapshots.add(of_members.owner(member), {member, 0, next++});
            });
        });
        Outgoing to_readers(ranks);
        to_snapshots.exchange(ranks, [&](const Placed& member) {
            const std::int64_t row = snapshot.file_rows[member.member - of_members.of(ranks.rank()).begin] - first;
            if (row >= 0 && row < counts[type]) {
                ++listed;
                to_readers.add(permutation.owner(row), {member.member, row, member.target});
            }
        });
        to_readers.exchange(ranks, [&](const Placed& member) {
            std::int64_t& target = permutation.target[member.row - permutation.of(ranks.rank()).begin];
            if (target != unassigned) {
                throw error(ErrorKind::invalid_argument, "the catalog lists row ", member.member,
                            " of the snapshot twice; a row has one group at most");
            }
            target = member.target;
        });
    }
    listed = ranks.sum(listed);
    ranks.agreed([&] {
        if (listed != expected) {
            throw error(ErrorKind::invalid_argument, "the catalog counts ", expected, " members of type ", type,
                        ", but lists ", listed, "; pass the snapshot that was grouped");
        }
    });
    next = expected + ranks.sum_before(std::ranges::count(permutation.target, unassigned));
    for (std::int64_t& target : permutation.target) {
        target = target == unassigned ? next++ : target;
    }
    return permutation;
}

Permutation on_first_rank(hdf5::Ranks& ranks, const Permutation& permutation) {
    Permutation all;
    std::vector<RankMessage> messages;
    ranks.agreed([&] {
        const auto bytes = std::as_bytes(std::span(permutation.target));
        messages.push_back({0, {bytes.begin(), bytes.end()}});
        all.begins.assign(permutation.begins.size(), permutation.rows());
        all.begins.front() = 0;
    });
    const std::vector<RankMessage> received = ranks.exchange(std::move(messages));
    ranks.agreed([&] {
        all.target = allocate<std::int64_t>(all.of(ranks.rank()).count(), 1, "the order of the sorted snapshot");
        std::byte* out = std::as_writable_bytes(std::span(all.target)).data();
        for (const RankMessage& message : received) {
            out = std::ranges::copy(message.bytes, out).out;
        }
    });
    return all;
}

void sort_rows(hdf5::Ranks& ranks, const Permutation& permutation, std::int64_t row_bytes, const NextRows& next,
               std::byte* sorted) {
    const RowRange own = permutation.of(ranks.rank());
    const auto place = [&](std::int64_t target, const std::byte* row) {
        std::memcpy(sorted + (target - own.begin) * row_bytes, row, row_bytes);
    };
    constexpr std::int64_t target_bytes = sizeof(std::int64_t);
    std::int64_t done = 0;
    for (bool goes_on = true; ranks.any(goes_on);) {
        std::vector<RankMessage> messages;
        ranks.agreed([&] {
            std::vector<std::vector<std::byte>> outgoing(ranks.size()); // for each row its target, then itself
            const std::span<const std::byte> block = next();
            goes_on = !block.empty();
            for (const std::byte* row = block.data(); row != block.data() + block.size(); row += row_bytes) {
                const std::int64_t target = permutation.target[done++];
                if (target >= own.begin && target < own.end) {
                    place(target, row);
                } else {
                    std::vector<std::byte>& bytes = outgoing[permutation.owner(target)];
                    const auto number = std::as_bytes(std::span(&target, 1));
                    bytes.insert(bytes.end(), number.begin(), number.end());
                    bytes.insert(bytes.end(), row, row + row_bytes);
                }
            }
            for (int rank = 0; rank < ranks.size(); ++rank) {
                if (!outgoing[rank].empty()) {
                    messages.push_back({rank, std::move(outgoing[rank])});
                }
            }
        });
        for (const RankMessage& message : ranks.exchange(std::move(messages))) {
            const std::byte* const end = message.bytes.data() + message.bytes.size();
            for (const std::byte* at = message.bytes.data(); at != end; at += target_bytes + row_bytes) {
                std::int64_t target = 0;
                std::memcpy(&target, at, target_bytes);
                place(target, at + target_bytes);
            }
        }
    }
}

void write_sorted_rows(hdf5::Ranks& ranks, const Permutation& permutation, std::int64_t row_bytes,
                       const std::byte* sorted, std::int64_t block_rows, const WriteRows& write) {
    const std::int64_t rows = permutation.rows();
    const std::int64_t of_first = permutation.begins[1];
    const RowRange own = permutation.of(ranks.rank());
    const std::int64_t step = of_first == rows ? rows : block_rows;
    for (std::int64_t begin = 0; begin < rows; begin += step) {
        const std::int64_t end = std::min(rows, begin + step);
        const RowRange mine{std::clamp(begin, own.begin, own.end), std::clamp(end, own.begin, own.end)};
        const std::byte* const from = sorted + (mine.begin - own.begin) * row_bytes;
        std::vector<RankMessage> messages;
        if (end > of_first) {
            ranks.agreed([&] {
                if (!ranks.is_first() && mine.count() > 0) {
                    messages.push_back({0, {from, from + mine.count() * row_bytes}});
                }
            });
            messages = ranks.exchange(std::move(messages));
        }
        ranks.agreed([&] {
            if (!ranks.is_first()) {
                return;
            }
            if (end <= of_first) {
                write(begin, end - begin, from);
                return;
            }
            std::vector<std::byte> block(from, from + mine.count() * row_bytes);
            for (const RankMessage& message : messages) {
                block.insert(block.end(), message.bytes.begin(), message.bytes.end());
            }
            write(begin, end - begin, block.data());
        });
    }
}

} // namespace kith::io
