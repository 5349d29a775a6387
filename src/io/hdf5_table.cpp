// Points from any dataset of an HDF5 file, FILE:/path: n x d numbers, 2 to 8 columns, or a table (of a compound type)
// with the fields x, y and z (coordinate_names.hpp).
//
// float32 and half precision are read as float32, float64 and whole numbers as float64, like .npy. Such a dataset has
// no types, and the file's box is not taken for it: velocities lie in no box. A warning names the box that the file
// states.
#include "io/hdf5_table.hpp"

#include "io/array_shape.hpp"
#include "io/coordinate_names.hpp"
#include "io/hdf5_handle.hpp"
#include "io/hdf5_link.hpp"
#include "io/hdf5_result.hpp"
#include "io/hdf5_signature.hpp"
#include "io/hdf5_storage.hpp"
#include "io/hdf5_virtual.hpp"
#include "io/joined.hpp"
#include "io/memory.hpp"
#include "io/reader.hpp"
#include "io/refuse.hpp"
#include "io/result_file.hpp"
#include "io/selection.hpp"

#include <kith/error.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstddef>
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

Listed describe(hid_t file, const std::string& path, const std::string& file_name) {
    try {
        const Dataset shape = describe_shape(file, path, file_name);
        if (const std::vector<std::string> fields = fields_of(shape); !fields.empty()) {
            return {path, message("table of ", shape_of(shape), " with the fields ", joined(fields, ", ")),
                    shape.rank == 1 && !coordinate_fields(fields).empty()};
        }
        const Dataset dataset = describe_dataset(file, path, file_name);
        return {path, shape_of(dataset), dataset.rank == 2 && has_shape_of_points(dataset.columns)};
    } catch (const Error&) {
        return {path, "not a table of numbers", false};
    }
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
            found.push_back(describe(file, path, file_name));
        }
    }
}

// Of several datasets that can be points, one called GroupPos, Coordinates or center_xyz is meant.
bool is_named_as_points(std::string_view path) {
    std::string name(path.substr(path.rfind('/') + 1));
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
    constexpr std::array<std::string_view, 6> words = {"coord", "pos", "point", "xyz", "center", "centre"};
    return std::any_of(words.begin(), words.end(),
                       [&](std::string_view word) { return name.find(word) != std::string::npos; });
}

std::vector<Listed> datasets_under(hid_t file, const std::string& group, const std::string& file_name) {
    constexpr int deepest = 4;
    int budget = 300;
    std::vector<Listed> found;
    collect(file, group, file_name, deepest, budget, found);
    std::stable_partition(found.begin(), found.end(), [](const Listed& each) { return each.can_be_points; });
    return found;
}

/// What a dataset is read from, and into which type.
struct Points {
    Dataset dataset;
    std::vector<Dataset> sources; ///< of a virtual dataset: where its values are
    int columns = 0;
    DType dtype = DType::float64;
    Type memory;                         ///< of a row of a table; else of a value
    bool has_wide_whole_numbers = false; ///< of 8 bytes, which float64 may round
};

Points points_of_array(Dataset dataset) {
    Points points;
    points.columns = static_cast<int>(dataset.columns);
    points.dtype = dataset.dtype();
    points.memory = Type(H5Tcopy(native_type(points.dtype)));
    points.has_wide_whole_numbers = dataset.type == H5T_INTEGER && dataset.item_bytes == sizeof(double);
    points.dataset = std::move(dataset);
    return points;
}

// The library finds the fields of the type in memory by their names, and converts each.
Points points_of_table(Dataset dataset, const std::vector<std::string>& fields) {
    const std::string about = message("dataset ", dataset.name, " is a table with the fields ", joined(fields, ", "));
    const std::vector<std::size_t> axes = dataset.rank == 1 ? coordinate_fields(fields) : std::vector<std::size_t>();
    if (axes.empty()) {
        refuse(dataset.file, about,
               "; points need the fields x, y and z, or an array of numbers with one row per "
               "point: save the coordinates as one");
    }
    if (const std::string repeated = repeated_coordinate(fields); !repeated.empty()) {
        refuse(dataset.file, about, ", of which ", repeated, " may both be a coordinate: remove or rename one of them");
    }
    Points points;
    points.columns = static_cast<int>(axes.size());
    points.dtype = DType::float32;
    const Type table(H5Dget_type(dataset.id.get()));
    for (const std::size_t field : axes) {
        const Type type(H5Tget_member_type(table.get(), static_cast<unsigned>(field)));
        const std::size_t bytes = H5Tget_size(type.get());
        if (!is_number(type.get()) || bytes > sizeof(double)) {
            refuse(dataset.file, about, "; its field ", fields[field], " holds no numbers of at most 8 bytes");
        }
        const bool is_whole = H5Tget_class(type.get()) == H5T_INTEGER;
        points.has_wide_whole_numbers = points.has_wide_whole_numbers || (is_whole && bytes == sizeof(double));
        points.dtype = is_whole || bytes > sizeof(float) ? DType::float64 : points.dtype;
    }
    const std::size_t item_bytes = H5Tget_size(native_type(points.dtype));
    points.memory = Type(check(H5Tcreate(H5T_COMPOUND, axes.size() * item_bytes), dataset.file, about));
    for (std::size_t axis = 0; axis < axes.size(); ++axis) {
        check(H5Tinsert(points.memory.get(), fields[axes[axis]].c_str(), axis * item_bytes, native_type(points.dtype)),
              dataset.file, about);
    }
    points.dataset = std::move(dataset);
    return points;
}

// openPMD and some others store a dataset per axis.
bool has_axes(hid_t file, const std::string& group) {
    return !coordinate_fields(names_in(Group(H5Gopen2(file, group.c_str(), H5P_DEFAULT)).get())).empty();
}

Points open_points(hid_t file, const std::string& member, const std::string& file_name) {
    const std::string name = member.starts_with('/') ? member : "/" + member;
    const H5I_type_t kind = kind_of(file, name);
    if (kind == H5I_GROUP) {
        std::string inside = name;
        while (inside.size() > 1 && inside.ends_with('/')) {
            inside.pop_back();
        }
        refuse(file_name, name, " is a group; ",
               has_axes(file, inside) ? "datasets of one axis each are not read: join them into one, n x 3 (and add "
                                        "the positionOffset that openPMD keeps apart). It holds "
                                      : "name a dataset in it: ",
               list_datasets(file, inside, file_name));
    }
    if (const std::string dangling = describe_dangling(file, name); !dangling.empty()) {
        refuse(file_name, dangling);
    }
    if (kind != H5I_DATASET) {
        refuse(file_name, "there is no dataset ", name, "; the file holds ", list_datasets(file, "/", file_name));
    }
    Dataset shape = describe_shape(file, name, file_name);
    if (const std::vector<std::string> fields = fields_of(shape); !fields.empty()) {
        Points points = points_of_table(std::move(shape), fields);
        require_values(points.dataset);
        return points;
    }
    Dataset dataset = describe_dataset(file, name, file_name);
    std::vector<Dataset> sources;
    if (is_virtual(dataset)) {
        sources = mapped_datasets(dataset);
    } else {
        require_values(dataset);
    }
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
    Points points = points_of_array(std::move(dataset));
    points.sources = std::move(sources);
    return points;
}

void read_rows(const Points& points, const RowRange& wanted, void* out) {
    if (points.sources.empty()) {
        points.dataset.read(points.memory.get(), wanted.begin, wanted.count(), out);
        return;
    }
    const std::size_t row_bytes = H5Tget_size(points.memory.get()) * static_cast<std::size_t>(points.columns);
    auto* next = static_cast<std::byte*>(out);
    std::int64_t first = 0; // row of this source
    for (const Dataset& source : points.sources) {
        const std::int64_t begin = std::clamp(wanted.begin - first, std::int64_t{0}, source.rows);
        const std::int64_t end = std::clamp(wanted.end - first, std::int64_t{0}, source.rows);
        source.read(points.memory.get(), begin, end - begin, next);
        next += static_cast<std::size_t>(end - begin) * row_bytes;
        first += source.rows;
    }
}

void warn_of_what_is_left_out(hid_t file, const Points& points, SnapshotHeader& header) {
    if (const auto result = describe_result_in(file, points.dataset.file)) {
        header.warnings.push_back(about_member(*result, points.dataset.name));
    }
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

SnapshotHeader header_of(hid_t file, const Points& points) {
    SnapshotHeader header;
    header.format = "HDF5 dataset";
    header.has_types = false;
    header.counts[1] = points.dataset.rows;
    header.dimension = points.columns;
    header.dtype = points.dtype;
    warn_of_what_is_left_out(file, points, header);
    return header;
}

bool has_rounded(const Points& points, const RealArray& array) {
    const auto* values = std::get_if<std::vector<double>>(&array.values);
    return points.has_wide_whole_numbers && values != nullptr &&
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
    const auto usual = [](const Listed& each) { return each.can_be_points && is_named_as_points(each.name); };
    const auto best = std::find_if(found.begin(), found.end(), usual);
    if (best != found.end()) {
        return best->name;
    }
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
    const Points points = open_points(file.get(), member, path.string());
    Snapshot snapshot;
    snapshot.header = header_of(file.get(), points);
    const SelectedTypes selected = select_types(options.types, snapshot.header, path);
    const RowRange wanted = rows_of_share(options.share, points.dataset.rows);
    snapshot.positions = allocate_reals(points.dtype, wanted.count(), points.columns, "positions");
    void* const out = std::visit([](auto& values) -> void* { return values.data(); }, snapshot.positions.values);
    read_rows(points, wanted, out);
    if (has_rounded(points, snapshot.positions)) {
        snapshot.header.warnings.emplace_back(rounded_whole_numbers);
    }
    fill_rows(snapshot, selected, options.share);
    return snapshot;
}

} // namespace kith::io::hdf5
