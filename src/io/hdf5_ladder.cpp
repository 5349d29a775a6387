// Groups at several linking lengths as HDF5: what is known of each level, then what is known of each group, level after
// level, and the labels of a level in a dataset of their own. The provenance is attributes of the root.
#include "io/hdf5_create.hpp"

#include "support/message.hpp"

#include <kith/error.hpp>
#include <kith/io.hpp>

#include <algorithm>
#include <vector>

namespace kith::io {

namespace {

/// One number of each level.
template <class T>
std::vector<T> of_levels(const FofLadder& ladder, T FofLevelLength::*member) {
    std::vector<T> values;
    for (const FofLevel& level : ladder.levels()) {
        values.push_back(level.*member);
    }
    return values;
}

/// Those of all levels, one level after the other.
std::vector<std::int32_t> of_groups(const FofLadder& ladder, std::vector<std::int32_t> FofLevel::*member) {
    std::vector<std::int32_t> values;
    for (const FofLevel& level : ladder.levels()) {
        values.insert(values.end(), (level.*member).begin(), (level.*member).end());
    }
    return values;
}

} // namespace

void write_fof_ladder_hdf5(const std::filesystem::path& path, const FofLadder& ladder,
                           std::span<const std::int64_t> file_rows, const Provenance& provenance,
                           const LabelsOfLevel& labels) {
    if (std::ssize(file_rows) != ladder.spanning_tree().points()) {
        throw detail::error(ErrorKind::invalid_argument, "there are ", file_rows.size(), " rows for ",
                            ladder.spanning_tree().points(), " points");
    }
    const hdf5::Session session;
    hdf5::OutputFile file(path);
    const auto write = [&]<class T>(const std::string& name, const std::vector<T>& values, const char* description) {
        file.write_all(name, std::span(values), 0, description);
    };
    write("linking_lengths", of_levels(ladder, &FofLevel::linking_length), "of each level, in the units of the points");
    write("groups", of_levels(ladder, &FofLevel::groups),
          "number of all groups of each level, single points and others that are not listed included");
    std::vector<std::int64_t> offsets{0};
    for (const FofLevel& level : ladder.levels()) {
        offsets.push_back(offsets.back() + std::ssize(level.sizes));
    }
    write("offsets", offsets,
          "the groups of level i, in the order of their labels, are elements offsets[i] to offsets[i + 1] - 1 of "
          "sizes, parents and first_rows");
    write("sizes", of_groups(ladder, &FofLevel::sizes), "points of each group");
    std::vector<std::int32_t> parents = of_groups(ladder, &FofLevel::parents);
    parents.resize(offsets.back(), -1);
    write("parents", parents, "label, at the next level, of the group that contains each group; -1 at the last level");
    const std::vector<std::int32_t> first_members = of_groups(ladder, &FofLevel::first_members);
    std::vector<std::int64_t> first_rows(first_members.size());
    std::transform(first_members.begin(), first_members.end(), first_rows.begin(),
                   [&](std::int32_t member) { return file_rows[member]; });
    write("first_rows", first_rows, "first point of each group, as a row of the file");
    if (labels) {
        const hdf5::Group group = file.make_group("labels");
        for (std::size_t level = 0; level < ladder.levels().size(); ++level) {
            write(detail::message("labels/", level), labels(static_cast<std::int64_t>(level)),
                  "group of every row of the file; -1: none that is listed, or not selected");
        }
    }
    file.commit(provenance);
}

} // namespace kith::io
