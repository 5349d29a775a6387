// The choice of particle types. Files without types hold all their points as type 1 and ignore the choice.
#include "io/selection.hpp"

#include "io/memory.hpp"
#include "io/refuse.hpp"

#include <kith/error.hpp>

#include <algorithm>
#include <numeric>

namespace kith::io {

namespace {

SelectedTypes all_present(const SnapshotHeader& header) {
    SelectedTypes selected{};
    std::transform(header.counts.begin(), header.counts.end(), selected.begin(),
                   [](std::int64_t count) { return count > 0; });
    return selected;
}

SelectedTypes automatic_choice(SnapshotHeader& header) {
    const SelectedTypes present = all_present(header);
    const auto kinds = std::count(present.begin(), present.end(), true);
    if (!present[1]) {
        header.warnings.push_back(
            message("there are no particles of type 1; all types are read (", list_counts(header.counts), ")"));
        return present;
    }
    SelectedTypes selected{};
    selected[1] = true;
    if (kinds > 1) {
        header.warnings.push_back(message("only type 1 is read; the file holds ", list_counts(header.counts),
                                          "; to read more, choose types (all: --types all; in Python types=\"all\")"));
    }
    return selected;
}

} // namespace

std::string list_counts(const std::array<std::int64_t, max_types>& counts) {
    std::string text;
    for (std::size_t type = 0; type < counts.size(); ++type) {
        if (counts[type] > 0) {
            text += message(text.empty() ? "type " : ", type ", type, ": ", counts[type]);
        }
    }
    return text.empty() ? "no particles" : text;
}

SelectedTypes select_types(const TypeSelection& selection, SnapshotHeader& header, const std::filesystem::path& path) {
    if (!header.has_types) {
        return all_present(header);
    }
    if (std::all_of(header.counts.begin(), header.counts.end(), [](std::int64_t count) { return count == 0; })) {
        throw error(ErrorKind::invalid_argument, path.string(), ": the file holds no particles of any type");
    }
    if (selection.kind == TypeSelection::Kind::all) {
        return all_present(header);
    }
    if (selection.kind == TypeSelection::Kind::automatic) {
        return automatic_choice(header);
    }
    SelectedTypes selected{};
    for (const int type : selection.types) {
        if (type < 0 || type >= max_types) {
            throw error(ErrorKind::invalid_argument, "type ", type, " does not exist; particle types are 0 to ",
                        max_types - 1);
        }
        selected[type] = true;
    }
    if (selected_count(header, selected) == 0) {
        throw error(ErrorKind::invalid_argument, path.string(),
                    ": the selected types have no particles; the file holds ", list_counts(header.counts));
    }
    for (const int type : selection.types) {
        if (header.counts[type] == 0) {
            header.warnings.push_back(
                message("there are no particles of type ", type, "; the file holds ", list_counts(header.counts)));
        }
    }
    return selected;
}

std::int64_t selected_count(const SnapshotHeader& header, const SelectedTypes& selected) {
    std::int64_t total = 0;
    for (std::size_t type = 0; type < selected.size(); ++type) {
        total += selected[type] ? header.counts[type] : 0;
    }
    return total;
}

RowRange rows_of_share(const RowShare& share, std::int64_t rows) {
    if (share.count < 1 || share.index < 0 || share.index >= share.count) {
        throw error(ErrorKind::invalid_argument, "share ", share.index, " of ", share.count,
                    " does not exist; shares are 0 to their number minus 1");
    }
    const std::int64_t each = rows / share.count; // rows * index could overflow
    const std::int64_t more = rows % share.count;
    const auto first = [&](int index) { return each * index + std::min<std::int64_t>(index, more); };
    return {first(share.index), first(share.index + 1)};
}

void fill_rows(Snapshot& snapshot, const SelectedTypes& selected, const RowShare& share) {
    const SnapshotHeader& header = snapshot.header;
    const RowRange wanted = rows_of_share(share, selected_count(header, selected));
    snapshot.file_rows = allocate<std::int64_t>(wanted.count(), 1, "file rows");
    if (header.has_types) {
        snapshot.types = allocate<std::uint8_t>(wanted.count(), 1, "particle types");
    }
    std::int64_t first_in_file = 0;
    std::int64_t row = -wanted.begin; // in the snapshot
    for (std::size_t type = 0; type < selected.size(); ++type) {
        const std::int64_t count = header.counts[type];
        if (selected[type]) {
            const std::int64_t begin = std::clamp<std::int64_t>(row, 0, wanted.count());
            const std::int64_t end = std::clamp<std::int64_t>(row + count, 0, wanted.count());
            std::iota(snapshot.file_rows.begin() + begin, snapshot.file_rows.begin() + end,
                      first_in_file + begin - row);
            if (header.has_types) {
                std::fill(snapshot.types.begin() + begin, snapshot.types.begin() + end,
                          static_cast<std::uint8_t>(type));
            }
            row += count;
        }
        first_in_file += count;
    }
}

void keep_share(Snapshot& snapshot, const RowShare& share) {
    const RowRange wanted = rows_of_share(share, snapshot.positions.rows());
    const auto keep = [&](auto& values, std::int64_t columns) {
        if (!values.empty()) {
            values.erase(values.begin() + wanted.end * columns, values.end());
            values.erase(values.begin(), values.begin() + wanted.begin * columns);
            values.shrink_to_fit();
        }
    };
    const auto keep_reals = [&](RealArray& array) {
        std::visit([&](auto& values) { keep(values, array.columns); }, array.values);
    };
    keep_reals(snapshot.positions);
    for (std::optional<RealArray>* column : {&snapshot.velocities, &snapshot.masses, &snapshot.internal_energies}) {
        if (*column) {
            keep_reals(**column);
        }
    }
    keep(snapshot.types, 1);
    keep(snapshot.ids, 1);
    keep(snapshot.file_rows, 1);
}

} // namespace kith::io
