// Points from any dataset of an HDF5 file, FILE:/path: n x d numbers, 2 to 8 columns.
//
// float32 and half precision are read as float32, float64 and whole numbers as float64, like .npy. Such a dataset has
// no types, and the file's box is not taken for it: velocities lie in no box. A warning names the box that the file
// states.
#include "io/hdf5_table.hpp"

#include "io/array_shape.hpp"
#include "io/hdf5_handle.hpp"
#include "io/hdf5_signature.hpp"
#include "io/joined.hpp"
#include "io/memory.hpp"
#include "io/reader.hpp"
#include "io/refuse.hpp"
#include "io/selection.hpp"

#include <kith/error.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

namespace kith::io::hdf5 {

namespace {

struct Listed {
    std::string name;
    std::string shape;
    bool can_be_points = false;
};

H5I_type_t kind_of(hid_t file, const std::string& name) {
    const Object object(H5Oopen(file, name.c_str(), H5P_DEFAULT));
    const H5I_type_t kind = object.get() < 0 ? H5I_BADID : H5Iget_type(object.get());
    H5Eclear2(H5E_DEFAULT);
    return kind;
}

std::string shape_of(const Dataset& dataset) {
    return dataset.rank == 2 ? message(dataset.rows, " x ", dataset.columns) : message(dataset.rows);
}

// Groups may hold each other: depth and number of objects are bounded.
void collect(hid_t file, const std::string& group, const std::string& file_name, int depth, int& budget,
             std::vector<Listed>& found) {
    const Group opened(H5Gopen2(file, group.c_str(), H5P_DEFAULT));
    for (const std::string& name : names_in(opened.get())) {
        const std::string path = message(group == "/" ? std::string_view() : group, "/", name);
        if (--budget < 0) {
            return;
        }
        const H5I_type_t kind = kind_of(file, path);
        if (kind == H5I_GROUP && depth > 1) {
            collect(file, path, file_name, depth - 1, budget, found);
        } else if (kind == H5I_DATASET) {
            try {
                const Dataset dataset = open_dataset(file, path, file_name);
                found.push_back({path, shape_of(dataset), dataset.rank == 2 && has_shape_of_points(dataset.columns)});
            } catch (const Error&) {
                found.push_back({path, "not a table of numbers", false});
            }
        }
    }
}

std::vector<Listed> datasets_under(hid_t file, const std::string& group, const std::string& file_name) {
    constexpr int deepest = 4;
    int budget = 300;
    std::vector<Listed> found;
    collect(file, group, file_name, deepest, budget, found);
    std::stable_partition(found.begin(), found.end(), [](const Listed& each) { return each.can_be_points; });
    return found;
}

Dataset open_points(hid_t file, const std::string& member, const std::string& file_name) {
    const std::string name = member.starts_with('/') ? member : "/" + member;
    const H5I_type_t kind = kind_of(file, name);
    if (kind == H5I_GROUP) {
        std::string inside = name;
        while (inside.size() > 1 && inside.ends_with('/')) {
            inside.pop_back();
        }
        refuse(file_name, name, " is a group; name a dataset in it: ", list_datasets(file, inside, file_name));
    }
    if (kind != H5I_DATASET) {
        refuse(file_name, "there is no dataset ", name, "; the file holds ", list_datasets(file, "/", file_name));
    }
    Dataset dataset = open_dataset(file, name, file_name);
    const std::string fault = dataset.rank == 2
                                  ? fault_of_shape(dataset.rows, dataset.columns)
                                  : message("one-dimensional; points are a two-dimensional array, one row per point");
    if (!fault.empty()) {
        refuse(file_name, "dataset ", name, " is ", fault, "; the file holds ", list_datasets(file, "/", file_name));
    }
    if (dataset.item_bytes > sizeof(double)) {
        refuse(file_name, "dataset ", name, " holds numbers of ", dataset.item_bytes,
               " bytes; points are float16, float32, float64 or whole numbers of 1 to 8 bytes");
    }
    return dataset;
}

void warn_of_what_is_left_out(hid_t file, SnapshotHeader& header) {
    const Object object = open_if_there(file, "Header");
    const auto box = numbers(object.get(), "BoxSize");
    if (box && std::any_of(box->begin(), box->end(), [](double period) { return period > 0; })) {
        header.warnings.push_back(message("the file states BoxSize ", joined(*box, " x "),
                                          ", which is not taken for a dataset named on its own; give the box yourself "
                                          "if these are positions in it"));
    }
    const auto files = numbers(object.get(), "NumFilesPerSnapshot");
    if (files && files->front() > 1) {
        header.warnings.push_back(message("by its header this is one of ", files->front(),
                                          " files; a dataset named on its own is read from this one alone"));
    }
}

SnapshotHeader header_of(hid_t file, const Dataset& dataset) {
    SnapshotHeader header;
    header.format = "HDF5 dataset";
    header.has_types = false;
    header.counts[1] = dataset.rows;
    header.dimension = static_cast<int>(dataset.columns);
    header.dtype = dataset.dtype();
    warn_of_what_is_left_out(file, header);
    return header;
}

bool has_rounded(const Dataset& dataset, const RealArray& array) {
    const auto* values = std::get_if<std::vector<double>>(&array.values);
    return dataset.type == H5T_INTEGER && dataset.item_bytes == 8 && values != nullptr &&
           std::any_of(values->begin(), values->end(), [](double value) { return std::abs(value) >= 0x1p53; });
}

} // namespace

std::string list_datasets(hid_t file, const std::string& group, const std::string& file_name) {
    constexpr std::size_t max_listed = 20;
    const std::vector<Listed> found = datasets_under(file, group, file_name);
    std::string text;
    for (std::size_t i = 0; i < std::min(found.size(), max_listed); ++i) {
        text += message(text.empty() ? "" : ", ", found[i].name, " (", found[i].shape, ")");
    }
    return found.empty() ? "no datasets" : found.size() > max_listed ? text + ", ..." : text;
}

std::string first_points(hid_t file, const std::string& file_name) {
    const std::vector<Listed> found = datasets_under(file, "/", file_name);
    return found.empty() || !found.front().can_be_points ? "" : found.front().name;
}

SnapshotHeader table_header(const std::filesystem::path& path, const std::string& member) {
    const Session session;
    const File file = open_file(path);
    return header_of(file.get(), open_points(file.get(), member, path.string()));
}

Snapshot table_snapshot(const std::filesystem::path& path, const std::string& member, const ReadOptions& options) {
    const Session session;
    const File file = open_file(path);
    const Dataset dataset = open_points(file.get(), member, path.string());
    Snapshot snapshot;
    snapshot.header = header_of(file.get(), dataset);
    const SelectedTypes selected = select_types(options.types, snapshot.header, path);
    const RowRange wanted = rows_of_share(options.share, dataset.rows);
    snapshot.positions =
        allocate_reals(dataset.dtype(), wanted.count(), static_cast<int>(dataset.columns), "positions");
    void* const out = std::visit([](auto& values) -> void* { return values.data(); }, snapshot.positions.values);
    dataset.read(native_type(dataset.dtype()), wanted.begin, wanted.count(), out);
    if (has_rounded(dataset, snapshot.positions)) {
        snapshot.header.warnings.emplace_back(rounded_whole_numbers);
    }
    fill_rows(snapshot, selected, options.share);
    return snapshot;
}

} // namespace kith::io::hdf5
