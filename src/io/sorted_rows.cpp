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
constexpr std::int64_t members_of_round = std::int64_t{1} << 17; // that a rank sends at a time

template <class T>
T load(const std::byte* bytes) {
    T value{};
    std::memcpy(&value, bytes, sizeof(T));
    return value;
}

/// Records of one length for every rank.
class Outgoing {
public:
    Outgoing(hdf5::Ranks& ranks, std::int64_t record_bytes)
        : ranks_(ranks), record_bytes_(record_bytes), bytes_(ranks.size()) {}

    /// Adds a record for a rank, and returns where to write it.
    std::byte* add(int rank) {
        bytes_[rank].resize(bytes_[rank].size() + record_bytes_);
        return bytes_[rank].data() + bytes_[rank].size() - record_bytes_;
    }
    template <class T>
    void add(int rank, const T& record) {
        std::memcpy(add(rank), &record, sizeof(T));
    }
    /// Calls receive() for each record for this rank: by ascending sender, in the order in which it added them.
    template <class Receive>
    void exchange(const Receive& receive) {
        std::vector<RankMessage> messages;
        for (int rank = 0; rank < ranks_.size(); ++rank) {
            if (!bytes_[rank].empty()) {
                messages.push_back({rank, std::move(bytes_[rank])});
            }
        }
        const std::vector<RankMessage> received = ranks_.exchange(std::move(messages));
        ranks_.agreed([&] {
            for (const RankMessage& message : received) {
                for (std::int64_t at = 0; at < std::ssize(message.bytes); at += record_bytes_) {
                    receive(message.bytes.data() + at);
                }
            }
        });
    }

private:
    hdf5::Ranks& ranks_;
    std::int64_t record_bytes_;
    std::vector<std::vector<std::byte>> bytes_;
};

/// A member on its way to the rank that reads its row.
struct Placed {
    std::int64_t member; ///< row of the snapshot
    std::int64_t row;    ///< of its type, in the input
    std::int64_t target; ///< the same, sorted
};

/// This rank's members of one type.
std::int64_t members_of_type(const Catalog& catalog, std::size_t type) {
    std::int64_t members = 0;
    for (std::size_t entry = type; entry < catalog.count_by_type.size(); entry += max_types) {
        members += catalog.count_by_type[entry];
    }
    return members;
}

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

    const std::int64_t counted = members_of_type(catalog, type);
    const std::int64_t expected = ranks.sum(counted);
    std::int64_t next = ranks.sum_before(counted);
    std::int64_t listed = 0;
    std::int64_t position = 0; // in the list of members, which are by group, then by type
    std::int64_t end = 0;      // of the members of one group and type
    std::size_t entry = 0;     // of count_by_type, after these
    while (ranks.any(position < catalog.member_array.size())) {
        Outgoing to_snapshots(ranks, sizeof(Placed));
        ranks.agreed([&] {
            const std::int64_t last = next + members_of_round;
            for (; next < last && position < catalog.member_array.size(); ++position) {
                while (position == end) {
                    end += catalog.count_by_type[entry++];
                }
                if ((entry - 1) % max_types != type) {
                    continue;
                }
                const std::int64_t member = catalog.member_array[position];
                if (member < 0 || member >= of_members.rows()) {
                    throw error(ErrorKind::invalid_argument, "a member of the catalog is row ", member,
                                ", but the snapshot has ", of_members.rows(),
                                " rows; pass the snapshot that was grouped");
                }
                to_snapshots.add(of_members.owner(member), Placed{member, 0, next++});
            }
        });
        Outgoing to_readers(ranks, sizeof(Placed));
        to_snapshots.exchange([&](const std::byte* record) {
            auto member = load<Placed>(record);
            member.row = snapshot.file_rows[member.member - of_members.of(ranks.rank()).begin] - first;
            if (member.row >= 0 && member.row < counts[type]) {
                ++listed;
                to_readers.add(permutation.owner(member.row), member);
            }
        });
        to_readers.exchange([&](const std::byte* record) {
            const auto member = load<Placed>(record);
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
    Permutation all{std::vector(permutation.begins.size(), permutation.rows()), {}};
    all.begins.front() = 0;
    Outgoing to_first(ranks, sizeof(std::int64_t));
    ranks.agreed([&] {
        for (const std::int64_t target : permutation.target) {
            to_first.add(0, target);
        }
    });
    to_first.exchange([&](const std::byte* record) { all.target.push_back(load<std::int64_t>(record)); });
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
        Outgoing outgoing(ranks, target_bytes + row_bytes);
        ranks.agreed([&] {
            const std::span<const std::byte> block = next();
            goes_on = !block.empty();
            for (const std::byte* row = block.data(); row != block.data() + block.size(); row += row_bytes) {
                const std::int64_t target = permutation.target[done++];
                if (target >= own.begin && target < own.end) {
                    place(target, row);
                } else {
                    std::byte* const record = outgoing.add(permutation.owner(target));
                    std::memcpy(record, &target, target_bytes);
                    std::memcpy(record + target_bytes, row, row_bytes);
                }
            }
        });
        outgoing.exchange([&](const std::byte* record) { place(load<std::int64_t>(record), record + target_bytes); });
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
        const std::int64_t mine = std::clamp(begin, own.begin, own.end);
        const std::byte* block = sorted + (mine - own.begin) * row_bytes;
        std::vector<std::byte> joined;
        if (end > of_first) {
            std::vector<RankMessage> messages;
            if (mine < std::min(end, own.end)) {
                messages.push_back({0, {block, block + (std::min(end, own.end) - mine) * row_bytes}});
            }
            for (const RankMessage& message : ranks.exchange(std::move(messages))) {
                joined.insert(joined.end(), message.bytes.begin(), message.bytes.end());
            }
            block = joined.data();
        }
        ranks.agreed([&] {
            if (ranks.is_first()) {
                write(begin, end - begin, block);
            }
        });
    }
}

} // namespace kith::io
