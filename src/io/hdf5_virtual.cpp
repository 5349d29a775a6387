// SWIFT writes a file beside the pieces of a snapshot whose datasets map those of the pieces. The library reads rows
// whose piece is missing, or too short, as zeros without an error. So such a file is read as its pieces, which are
// found and checked as any set of files is; of the mapping only the Coordinates are looked at, to know that the pieces
// list the same particles in the same order.
#include "io/hdf5_virtual.hpp"

#include "io/refuse.hpp"

#include <kith/error.hpp>

#include <array>
#include <string>
#include <system_error>

namespace kith::io::hdf5 {

namespace {

[[noreturn]] void refuse_mapping(const SnapshotFile& snapshot, const std::string& dataset, std::string_view why) {
    throw error(ErrorKind::unsupported, snapshot.name, ": the virtual dataset ", dataset, " ", why,
                "; name the files that hold the values instead");
}

// Where the library looks: the stated name, then beside the virtual file.
std::filesystem::path find_source(const SnapshotFile& snapshot, const std::filesystem::path& stated) {
    const std::filesystem::path folder = std::filesystem::path(snapshot.name).parent_path();
    std::error_code ignored;
    for (const std::filesystem::path& candidate : {folder / stated, folder / stated.filename()}) {
        if (std::filesystem::exists(candidate, ignored)) {
            return candidate;
        }
    }
    refuse(snapshot.name, "its values are in other files, of which ", (folder / stated).string(), " is missing");
}

template <class Get>
std::string text_of(const Get& get) {
    const ssize_t length = get(nullptr, std::size_t{0});
    std::string value(length > 0 ? static_cast<std::size_t>(length) : 0, '\0');
    get(value.data(), value.size() + 1);
    return value;
}

class Mapping {
public:
    Mapping(const SnapshotFile& snapshot, std::size_t type, const Handle<H5Dclose>& dataset, hid_t creation)
        : snapshot_(snapshot), type_(type), dataset_(message(group_name(type), "/Coordinates")), creation_(creation) {
        const Space space(check(H5Dget_space(dataset.get()), snapshot.name, message("the shape of ", dataset_)));
        if (H5Sget_simple_extent_ndims(space.get()) != 2) {
            refuse_mapping(snapshot_, dataset_, "has not two axes");
        }
        H5Sget_simple_extent_dims(space.get(), shape_.data(), nullptr);
    }
    void append_to(std::vector<MappedPart>& parts);

private:
    void append(std::size_t index, std::vector<MappedPart>& parts);

    const SnapshotFile& snapshot_;
    std::size_t type_;
    std::string dataset_;
    hid_t creation_;
    std::array<hsize_t, 2> shape_{};
    hsize_t rows_ = 0; ///< mapped so far
};

void Mapping::append(std::size_t index, std::vector<MappedPart>& parts) {
    const std::string source =
        text_of([&](char* out, std::size_t size) { return H5Pget_virtual_dsetname(creation_, index, out, size); });
    const std::string file =
        text_of([&](char* out, std::size_t size) { return H5Pget_virtual_filename(creation_, index, out, size); });
    if (file == "." || (source != dataset_ && source != "/" + dataset_)) {
        refuse_mapping(snapshot_, dataset_, "maps " + source + " of '" + file + "'");
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
        refuse_mapping(snapshot_, dataset_, "does not map whole datasets one after the other");
    }
    rows_ += rows;
    parts.push_back({find_source(snapshot_, file), type_, static_cast<std::int64_t>(rows)});
}

void Mapping::append_to(std::vector<MappedPart>& parts) {
    std::size_t count = 0;
    check(H5Pget_virtual_count(creation_, &count), snapshot_.name, message("the layout of ", dataset_));
    for (std::size_t index = 0; index < count; ++index) {
        append(index, parts);
    }
    if (rows_ != shape_[0]) {
        refuse_mapping(snapshot_, dataset_, message("has ", shape_[0], " rows, of which ", rows_, " are mapped"));
    }
}

} // namespace

std::vector<MappedPart> mapped_parts(const SnapshotFile& snapshot) {
    std::vector<MappedPart> parts;
    std::string own; // a dataset with values of its own
    for (std::size_t type = 0; type < static_cast<std::size_t>(max_types); ++type) {
        const std::string group = group_name(type);
        const Object opened = open_if_there(snapshot.file.get(), group.c_str());
        if (opened.get() < 0 || H5Iget_type(opened.get()) != H5I_GROUP || !exists(opened.get(), "Coordinates")) {
            continue;
        }
        const Handle<H5Dclose> dataset(H5Dopen2(opened.get(), "Coordinates", H5P_DEFAULT));
        const PropertyList creation(dataset.get() < 0 ? H5I_INVALID_HID : H5Dget_create_plist(dataset.get()));
        if (creation.get() >= 0 && H5Pget_layout(creation.get()) == H5D_VIRTUAL) {
            Mapping(snapshot, type, dataset, creation.get()).append_to(parts);
        } else {
            own = group + "/Coordinates";
        }
    }
    H5Eclear2(H5E_DEFAULT);
    if (!parts.empty() && !own.empty()) {
        refuse_mapping(snapshot, group_name(parts.front().type) + "/Coordinates",
                       "lies in other files, but " + own + " in this one");
    }
    return parts;
}

} // namespace kith::io::hdf5
