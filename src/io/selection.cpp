// The choice of particle types. Files without types hold all their points as type 1 and ignore the choice.
#include "io/selection.hpp"

#include "io/memory.hpp"

#include "support/message.hpp"

#include <kith/error.hpp>

#include <algorithm>
#include <numeric>

namespace kith::io {

using detail::message;

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
        header.warnings.push_back(
            message("only type 1 is read; the file holds ", list_counts(header.counts), "; choose types to read more"));
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
        throw Error(ErrorKind::invalid_argument, message(path.string(), ": the file holds no particles of any type"));
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
            throw Error(ErrorKind::invalid_argument,
                        message("type ", type, " does not exist; particle types are 0 to ", max_types - 1));
        }
        selected[static_cast<std::size_t>(type)] = true;
    }
    if (selected_count(header, selected) == 0) {
        throw Error(ErrorKind::invalid_argument,
                    message(path.string(), ": the selected types have no particles; the file holds ",
                            list_counts(header.counts)));
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

void fill_rows(Snapshot& snapshot, const SelectedTypes& selected) {
    const SnapshotHeader& header = snapshot.header;
    const std::int64_t rows = selected_count(header, selected);
    snapshot.file_rows = allocate<std::int64_t>(rows, 1, "file rows");
    if (header.has_types) {
        snapshot.types = allocate<std::uint8_t>(rows, 1, "particle types");
    }
    std::int64_t first_in_file = 0;
    std::int64_t row = 0;
    for (std::size_t type = 0; type < selected.size(); ++type) {
        if (selected[type]) {
            const auto begin = snapshot.file_rows.begin() + row;
            std::iota(begin, begin + header.counts[type], first_in_file);
            if (header.has_types) {
                std::fill_n(snapshot.types.begin() + row, header.counts[type], static_cast<std::uint8_t>(type));
            }
            row += header.counts[type];
        }
        first_in_file += header.counts[type];
    }
}

} // namespace kith::io
