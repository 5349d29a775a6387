// Several files as one snapshot: their counts are added up, and what must be the same in all of them is compared.
#include "io/file_set.hpp"
#include "io/particle_source.hpp"
#include "io/refuse.hpp"

#include <algorithm>
#include <system_error>

namespace kith::io {

namespace {

std::string text_of(const std::optional<double>& value) {
    return value ? message(*value) : "none";
}

std::string text_of(const std::optional<std::array<double, 3>>& box) {
    return box ? message((*box)[0], " x ", (*box)[1], " x ", (*box)[2]) : "none";
}

template <class Value>
void require_same(const Value& first, const Value& other, std::string_view what,
                  const std::vector<std::filesystem::path>& files, std::size_t file) {
    if (first != other) {
        refuse(files[file].string(), "the ", what, " is ", other, ", but ", first, " in ",
               files.front().filename().string(), "; the files are not of one snapshot");
    }
}

} // namespace

void ParticleSource::open(const std::filesystem::path& path) {
    open_file(path);
    const std::vector<MappedPart> mapped = mapped_parts();
    if (mapped.empty()) {
        open_set(path);
        return;
    }
    open_file(mapped.front().file);
    open_set(mapped.front().file);
    require_mapped(path, mapped);
}

void ParticleSource::open_set(const std::filesystem::path& path) {
    FileSummary summary = summarize();
    const std::int64_t announced = std::max<std::int64_t>(summary.files, 1);
    FileSet set = find_set(path, announced);
    files_ = std::move(set.files);
    if (files_.size() == 1) {
        join(summary, 0);
        if (set.fault.empty()) {
            compare_with_totals(summary);
        } else {
            note_missing(path, set.fault, summary);
        }
        return;
    }
    for (std::size_t file = 0; file < files_.size(); ++file) {
        open_file(files_[file]);
        visited_ = file;
        summary = summarize();
        join(summary, file);
    }
    header_.files = files_;
    header_.format += message(", ", files_.size(), " files");
    compare_with_totals(summary);
}

// Programs that write all particles, or a selection of them, into one file copy a header that announces more files.
void ParticleSource::note_missing(const std::filesystem::path& path, const std::string& fault,
                                  const FileSummary& summary) {
    const bool is_whole = summary.totals && *summary.totals == summary.header.counts && *summary.totals != TypeCounts{};
    if (is_whole) {
        warn(message("the header says that this is one of ", summary.files,
                     " files, but it holds all particles that the header announces; it is read as the whole"));
        return;
    }
    header_.format += message(", 1 of ", summary.files, " files");
    header_.incomplete = message(path.string(), ": ", fault, way_to_one_file(summary.header));
    warn(header_.incomplete);
}

// A virtual file and the files that it maps are one snapshot only if they list the same rows in the same order.
void ParticleSource::require_mapped(const std::filesystem::path& path, const std::vector<MappedPart>& mapped) const {
    if (!header_.incomplete.empty()) {
        return;
    }
    auto next = mapped.begin();
    for (std::size_t type = 0; type < header_.counts.size(); ++type) {
        for (std::size_t file = 0; file < files_.size(); ++file) {
            const std::int64_t rows = counts_[file][type];
            if (rows == 0) {
                continue;
            }
            std::error_code unknown;
            if (next == mapped.end() || next->type != type || next->rows != rows ||
                !std::filesystem::equivalent(next->file, files_[file], unknown)) {
                refuse(path.string(), "its virtual datasets do not list all ", rows, " particles of type ", type,
                       " of ", files_[file].string(), " in their place; name the files that hold the values instead");
            }
            ++next;
        }
    }
    if (next != mapped.end()) {
        refuse(path.string(), "its virtual datasets list ", next->rows, " particles of type ", next->type, " of ",
               next->file.string(), ", which is not one of the ", files_.size(), " files of the snapshot ",
               files_.front().string(), "; name the files that hold the values instead");
    }
}

void ParticleSource::visit(std::size_t file) {
    if (file != visited_) {
        open_file(files_[file]);
        visited_ = file;
    }
}

void ParticleSource::join(const FileSummary& summary, std::size_t file) {
    counts_.push_back(summary.header.counts);
    for (std::size_t type = 0; type < faults_.size(); ++type) {
        faults_[type] = faults_[type].empty() ? summary.faults[type] : faults_[type];
    }
    if (file == 0) {
        header_ = summary.header;
        mass_table_ = summary.mass_table;
        return;
    }
    const SnapshotHeader& header = summary.header;
    const auto none = [](std::int64_t count) { return count == 0; };
    if (std::all_of(header_.counts.begin(), header_.counts.end(), none)) {
        header_.dimension = header.dimension;
        header_.frame = header.frame; // which columns without rows do not state
    }
    require_same(header_.format, header.format, "format", files_, file);
    require_same(std::ssize(files_), summary.files, "number of files", files_, file);
    require_same(text_of(header_.time), text_of(header.time), "time", files_, file);
    require_same(text_of(header_.box_size), text_of(header.box_size), "box", files_, file);
    for (std::size_t type = 0; type < header.counts.size(); ++type) {
        if (header.counts[type] == 0) {
            continue;
        }
        require_same(header_.dimension, header.dimension, "number of coordinates", files_, file);
        if (header_.counts[type] == 0) {
            mass_table_[type] = summary.mass_table[type];
        }
        require_same(mass_table_[type], summary.mass_table[type], message("mass of type ", type), files_, file);
        header_.counts[type] += header.counts[type];
        header_.dtype = header.dtype == DType::float64 ? header.dtype : header_.dtype;
    }
    for (const std::string& warning : header.warnings) {
        if (std::find(header_.warnings.begin(), header_.warnings.end(), warning) != header_.warnings.end()) {
            continue; // the first file has said so
        }
        warn(message(files_[file].filename().string(), ": ", warning));
    }
}

// Totals of zero are not filled in.
void ParticleSource::compare_with_totals(const FileSummary& summary) {
    if (!summary.totals || *summary.totals == TypeCounts{}) {
        return;
    }
    for (std::size_t type = 0; type < header_.counts.size(); ++type) {
        const std::int64_t announced = (*summary.totals)[type];
        const std::int64_t held = header_.counts[type];
        if (announced == held) {
            continue;
        }
        if (files_.size() > 1) {
            warn(message("the headers announce ", announced, " particles of type ", type, " in all files, which hold ",
                         held, "; what they hold counts"));
        } else {
            warn(message(
                "the header announces ", announced, " particles of type ", type,
                " in the whole snapshot and names no other files, but this file holds ", held, "; what it holds counts",
                announced > held ? ". If it is one of several, join them, or state their number in the header" : ""));
        }
    }
}

} // namespace kith::io
