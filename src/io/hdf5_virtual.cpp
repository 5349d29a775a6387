// SWIFT writes a file beside the pieces of a snapshot whose datasets map those of the pieces. The library reads rows
// whose piece is missing, or too short, as zeros without an error. So such a file is read as its pieces, which are
// found and checked as any set of files is. The mapping is looked at to know that the pieces list the same particles in
// the same order, in every column.
#include "io/hdf5_virtual.hpp"

#include "io/hdf5_link.hpp"
#include "io/refuse.hpp"

#include <kith/error.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

namespace kith::io::hdf5 {

namespace {

[[noreturn]] void refuse_mapping(const std::string& file_name, const std::string& dataset, std::string_view why) {
    throw error(ErrorKind::unsupported, file_name, ": the virtual dataset ", dataset, " ", why,
                "; name the files that hold the values instead");
}

// Where the library looks: the stated name, then beside the virtual file.
std::filesystem::path find_source(const std::string& file_name, const std::filesystem::path& stated) {
    const std::filesystem::path folder = std::filesystem::path(file_name).parent_path();
    std::error_code ignored;
    for (const std::filesystem::path& candidate : {folder / stated, folder / stated.filename()}) {
        if (std::filesystem::exists(candidate, ignored)) {
            return candidate;
        }
    }
    refuse(file_name, "its values are in other files, of which ", (folder / stated).string(), " is missing");
}

template <class Get>
std::string text_of(const Get& get) {
    const ssize_t length = get(nullptr, std::size_t{0});
    std::string value(length > 0 ? static_cast<std::size_t>(length) : 0, '\0');
    get(value.data(), value.size() + 1);
    return value;
}

/// A dataset all rows of which are mapped.
struct Source {
    std::filesystem::path file;
    std::string dataset;
    std::int64_t rows = 0;
};

class Mapping {
public:
    Mapping(std::string file_name, std::string name, hid_t dataset, hid_t creation)
        : file_(std::move(file_name)), dataset_(std::move(name)), creation_(creation) {
        const Space space(check(H5Dget_space(dataset), file_, message("the shape of ", dataset_)));
        const int rank = H5Sget_simple_extent_ndims(space.get());
        if (rank != 1 && rank != 2) {
            refuse_mapping(file_, dataset_, "has neither one axis nor two");
        }
        H5Sget_simple_extent_dims(space.get(), shape_.data(), nullptr);
    }
    [[nodiscard]] std::vector<Source> sources();

private:
    void append(std::size_t index, std::vector<Source>& sources);

    std::string file_;
    std::string dataset_;
    hid_t creation_;
    std::array<hsize_t, 2> shape_{0, 1};
    hsize_t rows_ = 0; ///< mapped so far
};

void Mapping::append(std::size_t index, std::vector<Source>& sources) {
    const std::string source =
        text_of([&](char* out, std::size_t size) { return H5Pget_virtual_dsetname(creation_, index, out, size); });
    const std::string file =
        text_of([&](char* out, std::size_t size) { return H5Pget_virtual_filename(creation_, index, out, size); });
    if (file == ".") {
        refuse_mapping(file_, dataset_, "maps " + source + " of '" + file + "'");
    }
    const Space target(H5Pget_virtual_vspace(creation_, index));
    const hssize_t points = H5Sget_select_npoints(target.get());
    if (points == 0) { // a piece without particles of this type
        H5Eclear2(H5E_DEFAULT);
        return;
    }
    std::array<hsize_t, 2> first{};
    std::array<hsize_t, 2> last{};
    const bool is_known = H5Sget_select_bounds(target.get(), first.data(), last.data()) >= 0;
    H5Eclear2(H5E_DEFAULT);
    const hsize_t rows = last[0] - first[0] + 1;
    if (!is_known || first[0] != rows_ || first[1] != 0 || last[1] + 1 != shape_[1] ||
        static_cast<hsize_t>(points) != rows * shape_[1]) {
        refuse_mapping(file_, dataset_, "does not map whole datasets one after the other");
    }
    rows_ += rows;
    sources.push_back({find_source(file_, file), source, static_cast<std::int64_t>(rows)});
}

std::vector<Source> Mapping::sources() {
    std::vector<Source> sources;
    std::size_t count = 0;
    check(H5Pget_virtual_count(creation_, &count), file_, message("the layout of ", dataset_));
    for (std::size_t index = 0; index < count; ++index) {
        append(index, sources);
    }
    if (rows_ != shape_[0]) {
        refuse_mapping(file_, dataset_, message("has ", shape_[0], " rows, of which ", rows_, " are mapped"));
    }
    return sources;
}

// The parts of a column; nothing if the type has no such column, or one with values of its own, which `own` then names.
std::optional<std::vector<MappedPart>> parts_of(const SnapshotFile& snapshot, std::size_t type, const char* column,
                                                std::string& own) {
    const std::string group = group_name(type);
    if (!describe_dangling(snapshot.file.get(), message(group, "/", column)).empty()) {
        return std::nullopt; // refused if it is read
    }
    const Object opened = open_if_there(snapshot.file.get(), group.c_str());
    if (opened.get() < 0 || H5Iget_type(opened.get()) != H5I_GROUP || !exists(opened.get(), column)) {
        return std::nullopt;
    }
    const std::string name = message(group, "/", column);
    const Handle<H5Dclose> dataset(H5Dopen2(opened.get(), column, H5P_DEFAULT));
    const PropertyList creation(dataset.get() < 0 ? H5I_INVALID_HID : H5Dget_create_plist(dataset.get()));
    if (creation.get() < 0 || H5Pget_layout(creation.get()) != H5D_VIRTUAL) {
        own = name;
        return std::nullopt;
    }
    std::vector<MappedPart> parts;
    for (const Source& source : Mapping(snapshot.name, name, dataset.get(), creation.get()).sources()) {
        if (source.dataset != name && source.dataset != "/" + name) {
            refuse_mapping(snapshot.name, name,
                           message("maps ", source.dataset, " of '", source.file.filename().string(), "'"));
        }
        parts.push_back({source.file, type, source.rows});
    }
    return parts;
}

bool is_same(const MappedPart& a, const MappedPart& b) {
    return a.file == b.file && a.rows == b.rows;
}

} // namespace

std::vector<MappedPart> mapped_parts(const SnapshotFile& snapshot) {
    constexpr const char* first = "Coordinates";
    std::vector<MappedPart> all;
    std::string own; // a dataset with values of its own
    for (std::size_t type = 0; type < static_cast<std::size_t>(max_types); ++type) {
        const std::optional<std::vector<MappedPart>> parts = parts_of(snapshot, type, first, own);
        if (!parts) {
            continue;
        }
        for (const char* column : {"Velocities", "Velocity", "Masses", "Mass", "ParticleIDs"}) {
            const auto others = parts_of(snapshot, type, column, own);
            if (others && !std::equal(parts->begin(), parts->end(), others->begin(), others->end(), is_same)) {
                refuse_mapping(snapshot.name, message(group_name(type), "/", column),
                               message("maps other rows than ", group_name(type), "/", first,
                                       ", or in another order, so that the columns are not of the same particles"));
            }
        }
        all.insert(all.end(), parts->begin(), parts->end());
    }
    H5Eclear2(H5E_DEFAULT);
    if (!all.empty() && !own.empty()) {
        refuse_mapping(snapshot.name, message(group_name(all.front().type), "/", first),
                       "lies in other files, but " + own + " in this one");
    }
    return all;
}

bool is_virtual(const Dataset& dataset) {
    const PropertyList creation(H5Dget_create_plist(dataset.id.get()));
    return creation.get() >= 0 && H5Pget_layout(creation.get()) == H5D_VIRTUAL;
}

std::vector<Dataset> mapped_datasets(const Dataset& dataset) {
    const PropertyList creation(H5Dget_create_plist(dataset.id.get()));
    std::vector<Dataset> datasets;
    for (const Source& source : Mapping(dataset.file, dataset.name, dataset.id.get(), creation.get()).sources()) {
        const File file = open_file(source.file);
        datasets.push_back(open_dataset(file.get(), source.dataset, source.file.string()));
        const Dataset& found = datasets.back();
        if (found.rows != source.rows || found.columns != dataset.columns) {
            refuse_mapping(dataset.file, dataset.name,
                           message("takes ", source.rows, " x ", dataset.columns, " values of ", source.dataset, " of ",
                                   source.file.string(), ", which is ", found.rows, " x ", found.columns));
        }
    }
    return datasets;
}

} // namespace kith::io::hdf5
