// From a path to the reader that recognizes its content. The public read_header and read_snapshot are here; each format
// is in its own file (see reader.hpp for how to add one).
#include "io/reader.hpp"

#include "io/guess.hpp"
#include "io/input_file.hpp"
#include "io/joined.hpp"
#include "io/member_name.hpp"
#include "io/refuse.hpp"
#include "io/selection.hpp"

#include "support/message.hpp"

#include <array>
#include <vector>

namespace kith::io {

namespace {

// Formats with a signature first, those recognized by plausibility last.
constexpr std::array table = {&hdf5_reader,   &npy_reader,   &npz_reader,         &ply_reader,
                              &gadget_reader, &tipsy_reader, &tipsy_ascii_reader, &table_reader};

const Reader& with_members(const Reader& reader, const std::filesystem::path& path, const std::string& member) {
    if (reader.read_member == nullptr) {
        refuse(detail::message(path.string(), ":", member), path.string(), " is read as ", reader.name,
               ", which holds one table without a name; leave out :", member);
    }
    return reader;
}

void require_table(const Reader& reader, const std::filesystem::path& path, bool has_member,
                   const std::vector<std::string>& columns) {
    if (!columns.empty() && (&reader != &table_reader || has_member)) {
        throw error(ErrorKind::invalid_argument, path.string(), ": columns are chosen (", joined(columns, ","),
                    "), but this is read as ", reader.name,
                    "; only text tables have columns to choose from, so leave them out");
    }
}

// Readers of snapshots in several files have named all of them.
void note_file(SnapshotHeader& header, const std::filesystem::path& file) {
    if (header.files.empty()) {
        header.files = {file};
    }
}

} // namespace

std::span<const Reader* const> readers() noexcept {
    return table;
}

const Reader& reader_of(const std::filesystem::path& path) {
    const InputFile file(path);
    const std::vector<std::byte> bytes = file.start(recognition_window);
    const FileStart start{bytes, file.length(), &file};
    for (const Reader* reader : readers()) {
        if (reader->recognize(start)) {
            return *reader;
        }
    }
    refuse(path.string(), describe_unread(start),
           ". Formats read: ", joined(readers(), "; ", [](const Reader* reader) { return reader->name; }));
}

SnapshotHeader read_header(const std::filesystem::path& path, const std::vector<std::string>& columns) {
    const auto [file, member] = split_input(path);
    const Reader& reader = reader_of(file);
    require_table(reader, path, member.has_value(), columns);
    SnapshotHeader header = member            ? with_members(reader, file, *member).read_member_header(file, *member)
                            : columns.empty() ? reader.read_header(file)
                                              : read_table_header(file, columns);
    note_file(header, file);
    return header;
}

Snapshot read_snapshot(const std::filesystem::path& path, const ReadOptions& options) {
    const auto [file, member] = split_input(path);
    const Reader& reader = reader_of(file);
    require_table(reader, path, member.has_value(), options.columns);
    Snapshot snapshot = member ? with_members(reader, file, *member).read_member(file, *member, options)
                               : reader.read_snapshot(file, options);
    if (!reader.reads_shares) {
        keep_share(snapshot, options.share);
    }
    note_file(snapshot.header, file);
    return snapshot;
}

} // namespace kith::io
