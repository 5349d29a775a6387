// Groups at several linking lengths read back from HDF5 (hdf5_ladder.cpp): the datasets of levels and of groups, and
// the labels of one level. The offsets say which groups are of which level; they and the parents are checked, since
// they are used as indices.
#include "io/hdf5_handle.hpp"
#include "io/hdf5_result.hpp"
#include "io/input_file.hpp"
#include "io/memory.hpp"
#include "io/refuse.hpp"
#include "io/result_file.hpp"

#include <kith/io.hpp>

#include <algorithm>

namespace kith::io {

namespace {

template <class T>
std::vector<T> column(const hdf5::File& file, const std::string& name, const std::string& file_name, hid_t type) {
    const hdf5::Dataset dataset = hdf5::open_dataset(file.get(), name, file_name);
    if (dataset.rank != 1) {
        refuse(file_name, "dataset ", name, " has ", dataset.rank, " axes; one was expected");
    }
    std::vector<T> values = allocate<T>(dataset.rows, 1, name);
    dataset.read(type, values.data());
    return values;
}

ResultFile require_levels(const hdf5::File& file, const std::string& name) {
    std::optional<ResultFile> result = hdf5::describe_result_in(file.get(), name);
    if (!result || !hdf5::exists(file.get(), "linking_lengths")) {
        refuse(name, "this holds no groups at several linking lengths, as kith hierarchy writes them; ",
               result ? about_result(*result) : message("its root holds ", hdf5::list_of_names_in(file.get())));
    }
    return std::move(*result);
}

void require(bool condition, const std::string& name, const char* what) {
    if (!condition) {
        refuse(name, "the levels of the file do not fit together: ", what, "; it is damaged");
    }
}

} // namespace

FofLevelsFile read_fof_levels(const std::filesystem::path& path) {
    const std::string name = InputFile(path).path().string(); // which says if there is no such file
    const hdf5::Session session;
    const hdf5::File file = hdf5::open_file(path);
    FofLevelsFile found;
    found.provenance = require_levels(file, name).provenance;
    const auto lengths = column<double>(file, "linking_lengths", name, H5T_NATIVE_DOUBLE);
    const auto groups = column<std::int64_t>(file, "groups", name, H5T_NATIVE_INT64);
    const auto offsets = column<std::int64_t>(file, "offsets", name, H5T_NATIVE_INT64);
    const auto sizes = column<std::int32_t>(file, "sizes", name, H5T_NATIVE_INT32);
    const auto parents = column<std::int32_t>(file, "parents", name, H5T_NATIVE_INT32);
    require(!lengths.empty() && groups.size() == lengths.size() && offsets.size() == lengths.size() + 1, name,
            "linking_lengths, groups and offsets differ in length");
    require(offsets.front() == 0 && std::is_sorted(offsets.begin(), offsets.end()) &&
                offsets.back() == std::ssize(sizes) && parents.size() == sizes.size(),
            name, "the offsets are not those of the sizes and parents");
    for (std::size_t level = 0; level < lengths.size(); ++level) {
        FofLevel& made = found.levels.emplace_back();
        made.linking_length = lengths[level];
        made.groups = groups[level];
        made.sizes.assign(sizes.begin() + offsets[level], sizes.begin() + offsets[level + 1]);
        if (level + 1 == lengths.size()) {
            break; // which has no parents
        }
        made.parents.assign(parents.begin() + offsets[level], parents.begin() + offsets[level + 1]);
        const std::int64_t above = offsets[level + 2] - offsets[level + 1];
        require(std::all_of(made.parents.begin(), made.parents.end(),
                            [&](std::int32_t parent) { return parent >= 0 && parent < above; }),
                name, "a parent is no group of the next level");
    }
    if (hdf5::exists(file.get(), "labels")) {
        found.rows = hdf5::describe_shape(file.get(), "labels/0", name).rows;
    }
    return found;
}

std::vector<std::int32_t> read_fof_labels(const std::filesystem::path& path, std::int64_t level) {
    const std::string name = path.string();
    const hdf5::Session session;
    const hdf5::File file = hdf5::open_file(path);
    static_cast<void>(require_levels(file, name));
    if (!hdf5::exists(file.get(), "labels")) {
        refuse(name, "this file has no labels; kith hierarchy --with-labels writes them");
    }
    return column<std::int32_t>(file, message("labels/", level), name, H5T_NATIVE_INT32);
}

} // namespace kith::io
