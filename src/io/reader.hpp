// What a file format is to kith: a name, a way to recognize it, and two functions that read it.
//
// To add a format, write one file that defines a Reader, declare it below, and put it into the table in reader.cpp.
// The table is asked in order with the file's first bytes and its length, never with its name; the first reader that
// recognizes the file reads it. `recognize` must be cheap, must not throw, and must say no when in doubt: the file is
// then described by guess.cpp and refused. A reader checks every size that the file claims against the file's length
// before it takes memory (memory.hpp), chooses types through selection.hpp, and refuses with Error(file) naming the
// file.
#pragma once

#include <kith/io.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace kith::io {

class InputFile;

/// What recognition has to go by. `bytes` holds the first recognition_window bytes, or the whole file if shorter; the
/// file is there for texts that begin with longer comments.
struct FileStart {
    std::span<const std::byte> bytes;
    std::int64_t file_length = 0;
    const InputFile* file = nullptr;

    [[nodiscard]] std::string_view text() const noexcept {
        return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
    }
};

inline constexpr std::int64_t recognition_window = 4096;

struct Reader {
    /// As it appears in the list of known formats: "Tipsy binary".
    std::string_view name;
    bool (*recognize)(const FileStart& start);
    SnapshotHeader (*read_header)(const std::filesystem::path& path);
    Snapshot (*read_snapshot)(const std::filesystem::path& path, const ReadOptions& options);
    bool reads_shares = false; ///< follows ReadOptions::share; the others read all rows
    /// One table of a file that holds several, by its name (member_name.hpp); null where a file is one table.
    SnapshotHeader (*read_member_header)(const std::filesystem::path& path, const std::string& member) = nullptr;
    Snapshot (*read_member)(const std::filesystem::path& path, const std::string& member,
                            const ReadOptions& options) = nullptr;
};

extern const Reader gadget_reader;
extern const Reader hdf5_reader;
extern const Reader npy_reader;
extern const Reader npz_reader;
extern const Reader ply_reader;
extern const Reader table_reader;
extern const Reader tipsy_ascii_reader;
extern const Reader tipsy_reader;

/// The header of a text table of which these columns are the coordinates (ReadOptions::columns).
[[nodiscard]] SnapshotHeader read_table_header(const std::filesystem::path& path, std::span<const std::string> columns);

/// Every format that kith reads, in the order in which they are asked.
[[nodiscard]] std::span<const Reader* const> readers() noexcept;

/// The one that reads this file. Throws Error(file) if none does.
[[nodiscard]] const Reader& reader_of(const std::filesystem::path& path);

} // namespace kith::io
