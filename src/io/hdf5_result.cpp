// Results in HDF5: datasets of the root, and of the groups in it, beside the provenance as attributes of the root.
#include "io/hdf5_result.hpp"

#include "io/hdf5_handle.hpp"
#include "io/refuse.hpp"
#include "io/result_file.hpp"

#include <kith/error.hpp>
#include <kith/io.hpp>

#include <array>

namespace kith::io {

namespace {

// By their names: the library's walk through all attributes crashes on some damaged files.
constexpr std::array provenance_of_results = {"Program",     "Command",      "Input",   "b",           "box",
                                              "eps",         "exclude_self", "k",       "length_unit", "linking_length",
                                              "min_members", "min_samples",  "queries", "radius",      "a_scaling",
                                              "h_scaling",   "to_cgs",       "kernel",  "quantity",    "sort",
                                              "squared",     "max_distance", "star",    "types",       "volume",
                                              "volume_kind"};

void add_arrays(hid_t file, const std::string& group, const std::string& file_name, ResultFile& result) {
    const hdf5::Group opened(H5Gopen2(file, group.empty() ? "/" : group.c_str(), H5P_DEFAULT));
    for (const std::string& name : hdf5::names_in(opened.get())) {
        const std::string path = group.empty() ? name : message(group, "/", name);
        const hdf5::Object object(H5Oopen(file, path.c_str(), H5P_DEFAULT));
        const H5I_type_t kind = object.get() < 0 ? H5I_BADID : H5Iget_type(object.get());
        if (kind == H5I_GROUP && group.empty()) {
            add_arrays(file, path, file_name, result);
        } else if (kind == H5I_DATASET) {
            const hdf5::Dataset dataset = hdf5::describe_shape(file, path, file_name);
            std::vector<std::int64_t> shape{dataset.rows};
            if (dataset.rank == 2) {
                shape.push_back(dataset.columns);
            }
            result.arrays.push_back({path, shape, hdf5::text(object.get(), "description").value_or("")});
        }
    }
}

} // namespace

std::optional<ResultFile> describe_hdf5_result(const std::filesystem::path& path) {
    const hdf5::Session session;
    const hdf5::File file = hdf5::open_file(path);
    return hdf5::describe_result_in(file.get(), path.string());
}

std::optional<ResultFile> hdf5::describe_result_in(hid_t file, const std::string& file_name) {
    const Object root = Object(H5Oopen(file, "/", H5P_DEFAULT));
    if (!text(root.get(), "Program").value_or("").starts_with("kith") || exists(file, "Header")) {
        return std::nullopt;
    }
    ResultFile result{"HDF5", "", {}, {}};
    add_arrays(file, "", file_name, result);
    result.kind = kind_of_result(result.arrays);
    for (const char* name : provenance_of_results) {
        if (const auto value = text(root.get(), name)) {
            result.provenance.emplace(name, *value);
        }
    }
    return result;
}

} // namespace kith::io
