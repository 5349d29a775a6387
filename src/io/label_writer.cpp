// Labels of particles: an array (.npy), one number a line, or a Tipsy array (.grp: a count, then label plus one of each
// particle). All are written from a source of blocks; labels in memory are such a source. HDF5: hdf5_arrays.cpp.
#include "io/memory_source.hpp"
#include "io/npy_format.hpp"
#include "io/output_file.hpp"
#include "io/refuse.hpp"

#include <kith/error.hpp>
#include <kith/io.hpp>

#include <algorithm>
#include <vector>

namespace kith::io {

namespace {

/// Calls visit(labels, index of the first) for block after block.
template <class Visit>
void for_each_block(const NumberSource& labels, const Visit& visit) {
    constexpr std::int64_t most = 1 << 16;
    std::vector<std::int32_t> block(std::min(most, labels.count));
    for (std::int64_t first = 0; first < labels.count; first += most) {
        const auto some = std::span(block).first(std::min(most, labels.count - first));
        labels.next(std::as_writable_bytes(some));
        visit(std::span<const std::int32_t>(some), first);
    }
}

/// Writes a line for every label plus `added`.
void write_lines(OutputFile& file, std::span<const std::int32_t> labels, std::int64_t added) {
    std::string text;
    for (const std::int32_t label : labels) {
        detail::append(text, std::int64_t{label} + added);
        text += '\n';
    }
    file.write(text);
}

} // namespace

void stream_labels_npy(const std::filesystem::path& path, const NumberSource& labels) {
    OutputFile file(path);
    file.write(make_npy_header('i', sizeof(std::int32_t), labels.count, 0));
    for_each_block(labels, [&](auto block, std::int64_t) { file.write(std::as_bytes(block)); });
    file.commit();
}

void stream_labels_text(const std::filesystem::path& path, const NumberSource& labels) {
    OutputFile file(path);
    for_each_block(labels, [&](auto block, std::int64_t) { write_lines(file, block, 0); });
    file.commit();
}

void write_labels_text(const std::filesystem::path& path, std::span<const std::int32_t> labels) {
    stream_labels_text(path, source_of(labels));
}

void stream_grp(const std::filesystem::path& path, const NumberSource& labels) {
    OutputFile file(path);
    file.write(message(labels.count, "\n"));
    for_each_block(labels, [&](auto block, std::int64_t first) {
        const auto wrong = std::find_if(block.begin(), block.end(), [](std::int32_t label) { return label < -1; });
        if (wrong != block.end()) {
            throw error(ErrorKind::invalid_argument, "label ", *wrong, " of particle ", first + (wrong - block.begin()),
                        " is negative; -1 means in no group, groups count from 0");
        }
        write_lines(file, block, 1);
    });
    file.commit();
}

void write_grp(const std::filesystem::path& path, std::span<const std::int32_t> labels) {
    stream_grp(path, source_of(labels));
}

} // namespace kith::io
