// Groups at several linking lengths as HDF5: what is known of each level, then what is known of each group, level after
// level, and the labels of a level in a dataset of their own. The provenance is attributes of the root.
#include "io/hdf5_create.hpp"
#include "io/memory_source.hpp"

#include "support/message.hpp"

#include <kith/error.hpp>
#include <kith/io.hpp>

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

namespace kith::io {

namespace {

/// The labels of all levels, of which those of one level are in memory at a time.
class LabelBlocks {
public:
    /// `of_first_level` has been made.
    LabelBlocks(LabelsOfLevel labels, std::vector<std::int32_t> of_first_level)
        : labels_(std::move(labels)), of_level_(std::move(of_first_level)) {}

    void next(std::span<std::byte> block) {
        while (!block.empty()) {
            if (done_ == of_level_.size() * sizeof(std::int32_t)) {
                of_level_ = labels_(++level_);
                done_ = 0;
            }
            const std::span<const std::byte> rest = std::as_bytes(std::span(of_level_)).subspan(done_);
            const std::size_t bytes = std::min(block.size(), rest.size());
            std::copy_n(rest.begin(), bytes, block.begin());
            block = block.subspan(bytes);
            done_ += bytes;
        }
    }

private:
    LabelsOfLevel labels_;
    std::int64_t level_ = 0;
    std::vector<std::int32_t> of_level_;
    std::size_t done_ = 0; ///< bytes of it
};

} // namespace

void stream_fof_ladder_hdf5(const std::filesystem::path& path, const FofLevelsSource& levels,
                            const Provenance& provenance) {
    const hdf5::Session session;
    hdf5::OutputFile file(path);
    std::vector<double> lengths;
    std::vector<std::int64_t> groups;
    std::vector<std::int64_t> offsets{0};
    for (std::size_t level = 0; level < levels.levels.size(); ++level) {
        lengths.push_back(levels.levels[level].linking_length);
        groups.push_back(levels.levels[level].groups);
        offsets.push_back(offsets.back() + levels.listed[level]);
    }
    const auto write = [&]<class T>(const std::string& name, const std::vector<T>& values, const char* description) {
        file.write_all(name, std::span(values), 0, description);
    };
    write("linking_lengths", lengths, "of each level, in the units of the points");
    write("groups", groups,
          "number of all groups of each level, single points and others that are not listed included");
    write("offsets", offsets,
          "the groups of level i, in the order of their labels, are elements offsets[i] to offsets[i + 1] - 1 of "
          "sizes, parents and first_rows");
    const hdf5::NumberType index =
        levels.index_type == IndexType::int64 ? hdf5::number_type<std::int64_t>() : hdf5::number_type<std::int32_t>();
    const auto stream = [&](const std::string& name, const hdf5::NumberType& type, std::int64_t count,
                            const char* description) {
        file.write_stream(name, type, count, 0, description, levels.next);
    };
    stream("sizes", index, offsets.back(), "points of each group");
    stream("parents", index, offsets.back(),
           "label, at the next level, of the group that contains each group; -1 at the last level");
    stream("first_rows", hdf5::number_type<std::int64_t>(), offsets.back(),
           "first point of each group, as a row of the file");
    if (levels.rows >= 0) {
        const hdf5::Group group = file.make_group("labels");
        for (std::size_t level = 0; level < levels.levels.size(); ++level) {
            stream(detail::message("labels/", level), hdf5::number_type<std::int32_t>(), levels.rows,
                   "group of every row of the file; -1: none that is listed, or not selected");
        }
    }
    file.commit(provenance);
}

void write_fof_ladder_hdf5(const std::filesystem::path& path, const FofLadder& ladder,
                           std::span<const std::int64_t> file_rows, const Provenance& provenance,
                           const LabelsOfLevel& labels) {
    if (std::ssize(file_rows) != ladder.spanning_tree().points()) {
        throw detail::error(ErrorKind::invalid_argument, "there are ", file_rows.size(), " rows for ",
                            ladder.spanning_tree().points(), " points");
    }
    FofLevelsSource source;
    std::vector<std::int32_t> sizes;
    std::vector<std::int32_t> parents;
    std::vector<std::int64_t> first_rows;
    for (const FofLevel& level : ladder.levels()) {
        source.levels.push_back(level);
        source.listed.push_back(std::ssize(level.sizes));
        sizes.insert(sizes.end(), level.sizes.begin(), level.sizes.end());
        parents.insert(parents.end(), level.parents.begin(), level.parents.end());
        std::ranges::transform(level.first_members, std::back_inserter(first_rows),
                               [&](std::int32_t member) { return file_rows[member]; });
    }
    parents.resize(sizes.size(), -1);
    std::vector<std::int32_t> of_first_level;
    if (labels && !source.levels.empty()) {
        of_first_level = labels(0);
        source.rows = std::ssize(of_first_level);
    }
    source.next = [groups = blocks_of({std::as_bytes(std::span(sizes)), std::as_bytes(std::span(parents)),
                                       std::as_bytes(std::span(first_rows))}),
                   left = sizes.size() * 16,
                   of_labels = LabelBlocks(labels, std::move(of_first_level))](std::span<std::byte> block) mutable {
        const std::size_t bytes = std::min(block.size(), left); // no block has groups and labels
        bytes > 0 ? groups(block) : of_labels.next(block);
        left -= bytes;
    };
    stream_fof_ladder_hdf5(path, source, provenance);
}

} // namespace kith::io
