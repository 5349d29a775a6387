// A snapshot of typed particles whose columns lie apart, in one file or in several, and the one way to read it.
//
// A format derives from ParticleSource and says what one file holds; the rest is common to all: the types are chosen,
// each column is read part by part straight to its place, the widest precision wins, a column that some selected part
// lacks is left out for all with a warning, and masses come from a type's own column or else from the header's table.
// Values are never invented. Files of one set that contradict each other are refused.
#pragma once

#include <kith/io.hpp>

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kith::io {

using TypeCounts = std::array<std::int64_t, max_types>;
using MassTable = std::array<double, max_types>; ///< 0 where a type has none

/// What one file says of itself, and of the snapshot that it is part of.
struct FileSummary {
    SnapshotHeader header;
    MassTable mass_table{};
    std::int64_t files = 1;                    ///< of the snapshot
    std::optional<TypeCounts> totals;          ///< particles of the snapshot, where the file says so
    std::array<std::string, max_types> faults; ///< why a type cannot be read; its count is then that of the header
};

/// Particles of a type that a file without values of its own takes from another file.
struct MappedPart {
    std::filesystem::path file;
    std::size_t type = 0;
    std::int64_t rows = 0;
};

/// The particles of one type in one file: those that are read, and the row of the snapshot where they begin.
struct Part {
    std::size_t file = 0;
    std::size_t type = 0;
    std::int64_t rows = 0;  ///< all of them
    std::int64_t begin = 0; ///< the first that is read
    std::int64_t count = 0; ///< of those that are read; may be 0
    std::int64_t first_row = 0;
};

enum class Column : std::uint8_t { positions, velocities, masses, internal_energies };

class ParticleSource {
public:
    ParticleSource() = default;
    ParticleSource(const ParticleSource&) = delete;
    ParticleSource& operator=(const ParticleSource&) = delete;
    virtual ~ParticleSource() = default;

    /// Opens `path` and, where it says that there are more, the other files of its set. If some are missing,
    /// header().incomplete says so.
    void open(const std::filesystem::path& path);

    [[nodiscard]] const SnapshotHeader& header() const noexcept { return header_; }
    [[nodiscard]] Snapshot read_snapshot(const ReadOptions& options);

protected:
    /// Opens one file; the functions below are about it, until the next is opened.
    virtual void open_file(const std::filesystem::path& path) = 0;
    /// For a file that only maps values of other files: these, by type, in the order of their rows.
    virtual std::vector<MappedPart> mapped_parts() { return {}; }
    virtual FileSummary summarize() = 0;
    /// How to read one file of a set without the others, as text to follow a message.
    [[nodiscard]] virtual std::string way_to_one_file(const SnapshotHeader&) const { return ""; }
    /// The precision in which a column is stored; nothing if the part has none. Throws Error(file) if what is stored
    /// has not the part's rows.
    virtual std::optional<DType> stored(Column column, const Part& part) = 0;
    /// The rows of a stored column that are read, converted to `dtype`; at least one.
    virtual void read(Column column, const Part& part, DType dtype, void* out) = 0;
    virtual bool has_ids(const Part& part) = 0;
    virtual void read_ids(const Part& part, std::uint64_t* out) = 0;
    /// "PartType" or "type ", what stands before a type's number in warnings.
    [[nodiscard]] virtual std::string_view type_prefix() const = 0;

    void warn(std::string warning) { header_.warnings.push_back(std::move(warning)); }

private:
    void visit(std::size_t file);
    /// Calls read for every part of which rows are read, with its file open.
    template <class Read>
    void for_each_read(const std::vector<Part>& parts, const Read& read);
    void open_set(const std::filesystem::path& path);
    void note_missing(const std::filesystem::path& path, const std::string& fault, const FileSummary& summary);
    void require_mapped(const std::filesystem::path& path, const std::vector<MappedPart>& mapped) const;
    void join(const FileSummary& summary, std::size_t file);
    void compare_with_totals(const FileSummary& summary);
    void require_types(const TypeSelection& selection) const;
    [[nodiscard]] std::vector<Part> parts_of(const std::array<bool, max_types>& selected, const RowShare& share) const;
    bool complete(const std::vector<Part>& parts, std::string_view what, const std::vector<bool>& present);
    [[nodiscard]] std::vector<std::optional<DType>> stored_of(Column column, const std::vector<Part>& parts);
    DType widest(const std::vector<std::optional<DType>>& stored, std::string_view what);
    std::optional<RealArray> collect(Column column, const std::vector<Part>& parts, int columns, std::string_view what);
    void collect_masses(Snapshot& snapshot, const std::vector<Part>& parts);
    void collect_internal_energies(Snapshot& snapshot, const std::vector<Part>& parts);
    void collect_ids(Snapshot& snapshot, const std::vector<Part>& parts);

    SnapshotHeader header_;
    MassTable mass_table_{};
    std::array<std::string, max_types> faults_; ///< of the first file that has one, by type
    std::vector<std::filesystem::path> files_;
    std::vector<TypeCounts> counts_; ///< of each file
    std::size_t visited_ = 0;        ///< the file that is open
};

/// The functions of the Reader of a format.
template <class Source>
SnapshotHeader header_from(const std::filesystem::path& path) {
    Source source;
    source.open(path);
    return source.header();
}
template <class Source>
Snapshot snapshot_from(const std::filesystem::path& path, const ReadOptions& options) {
    Source source;
    source.open(path);
    return source.read_snapshot(options);
}

} // namespace kith::io
