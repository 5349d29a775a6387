// Opening, describing and reading with the HDF5 C library (see hdf5_handle.hpp).
#include "io/hdf5_handle.hpp"

#include "io/hdf5_link.hpp"
#include "io/hdf5_storage.hpp"
#include "io/joined.hpp"
#include "io/refuse.hpp"
#include "io/text_fields.hpp"

#include <kith/error.hpp>

#include <array>
#include <cerrno>
#include <limits>

namespace kith::io::hdf5 {

namespace {

std::mutex& library_lock() {
    static std::mutex lock;
    return lock;
}

// The walk goes from the public function inwards; the innermost entry says most.
std::string innermost_reason() {
    std::string reason;
    H5Ewalk2(
        H5E_DEFAULT, H5E_WALK_DOWNWARD,
        [](unsigned, const H5E_error2_t* entry, void* out) -> herr_t {
            if (entry->desc != nullptr && entry->desc[0] != '\0') {
                *static_cast<std::string*>(out) = entry->desc;
            }
            return 0;
        },
        &reason);
    H5Eclear2(H5E_DEFAULT);
    return reason;
}

// Leaves no errors of calls that may fail behind.
struct ErrorsCleared {
    ~ErrorsCleared() { H5Eclear2(H5E_DEFAULT); }
};

} // namespace

Session::Session() : lock_(library_lock(), std::defer_lock) {
    begin();
}

Session::~Session() {
    end();
}

void Session::begin() {
    lock_.lock();
    H5Eget_auto2(H5E_DEFAULT, &printer_, &printer_data_);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

void Session::end() {
    H5Eset_auto2(H5E_DEFAULT, printer_, printer_data_);
    lock_.unlock();
}

void fail(std::string_view file, std::string_view what) {
    const std::string reason = innermost_reason();
    refuse(file, what, reason.empty() ? "" : message(" (HDF5: ", reason, ")"));
}

std::string file_of(hid_t object) {
    const ssize_t length = H5Fget_name(object, nullptr, 0);
    std::string name(length > 0 ? static_cast<std::size_t>(length) : 0, '\0');
    H5Fget_name(object, name.data(), name.size() + 1);
    return name;
}

Space select_rows(const Space& stored, std::int64_t first, std::int64_t rows, std::string_view file,
                  std::string_view what) {
    std::vector<hsize_t> shape(check(H5Sget_simple_extent_ndims(stored.get()), file, what));
    check(H5Sget_simple_extent_dims(stored.get(), shape.data(), nullptr), file, what);
    std::vector<hsize_t> begin(shape.size(), 0);
    begin.at(0) = static_cast<hsize_t>(first);
    shape.at(0) = static_cast<hsize_t>(rows);
    check(H5Sselect_hyperslab(stored.get(), H5S_SELECT_SET, begin.data(), nullptr, shape.data(), nullptr), file, what);
    return Space(check(H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr), file, what));
}

// Only one whose writer has it open, or a file system without locks, refuses the lock of a reader.
File open_file(const std::filesystem::path& path) {
    File file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT));
    if (file.get() >= 0) {
        return file;
    }
    const std::string reason = innermost_reason();
    if (reason.find("unable to lock file") == std::string::npos) {
        refuse(path.string(), "the HDF5 file could not be opened", reason.empty() ? "" : " (HDF5: " + reason + ")");
    }
    const bool is_open_elsewhere = reason.find(message("errno = ", EAGAIN)) != std::string::npos;
    refuse(path.string(),
           is_open_elsewhere ? "the HDF5 file is open for writing elsewhere; close it there. If its writer has flushed "
                               "it and writes nothing meanwhile, HDF5_USE_FILE_LOCKING=FALSE in the environment lets "
                               "it be read"
                             : "the HDF5 file could not be locked; if its file system has no locks and nobody writes "
                               "the file, set HDF5_USE_FILE_LOCKING=FALSE in the environment",
           " (HDF5: ", reason, ")");
}

bool exists(hid_t place, const std::string& name) {
    const ErrorsCleared cleared;
    if (H5Lexists(place, name.c_str(), H5P_DEFAULT) <= 0) {
        return false;
    }
    if (H5Oexists_by_name(place, name.c_str(), H5P_DEFAULT) > 0) {
        return true;
    }
    if (const std::string dangling = describe_dangling(place, name); !dangling.empty()) {
        refuse(file_of(place), dangling);
    }
    return false;
}

Object open_if_there(hid_t file, const char* name) {
    return exists(file, name) ? Object(H5Oopen(file, name, H5P_DEFAULT)) : Object();
}

std::vector<std::string> names_in(hid_t group) {
    std::vector<std::string> names;
    H5Literate(group, H5_INDEX_NAME, H5_ITER_INC, nullptr, add_name<H5L_info_t>, &names);
    H5Eclear2(H5E_DEFAULT);
    return names;
}

std::string list_of_names_in(hid_t group) {
    constexpr std::size_t enough = 200;
    std::string list;
    for (const std::string& name : names_in(group)) {
        list += list.empty() ? "" : ", ";
        if (list.size() > enough) {
            return list + "...";
        }
        list += name;
    }
    return list.empty() ? "nothing" : list;
}

void require_own_values(const PropertyList& creation, std::string_view name, std::string_view file_name) {
    if (H5Pget_layout(creation.get()) == H5D_VIRTUAL) {
        throw error(ErrorKind::unsupported, file_name, ": dataset ", name,
                    " is virtual: its values are in other files, and pieces that "
                    "are missing would read as zeros; read those files");
    }
}

Dataset describe_shape(hid_t file, const std::string& name, std::string_view file_name) {
    Dataset dataset;
    dataset.file = file_name;
    dataset.name = name;
    dataset.id = Handle<H5Dclose>(
        check(H5Dopen2(file, name.c_str(), H5P_DEFAULT), file_name, message("dataset ", name, " could not be opened")));

    const Space space(check(H5Dget_space(dataset.id.get()), file_name, message("the shape of ", name)));
    const int rank = H5Sget_simple_extent_ndims(space.get());
    if (rank != 1 && rank != 2) {
        refuse(file_name, "dataset ", name, " has ", rank, " axes; one or two were expected");
    }
    dataset.rank = rank;
    std::array<hsize_t, 2> lengths = {0, 1};
    check(H5Sget_simple_extent_dims(space.get(), lengths.data(), nullptr), file_name, message("the shape of ", name));
    constexpr hsize_t most = std::numeric_limits<std::int64_t>::max() / sizeof(double);
    if (lengths[1] != 0 && (lengths[0] > most / lengths[1] || lengths[1] > most)) {
        refuse(file_name, "dataset ", name, " claims ", lengths[0], " x ", lengths[1],
               " values, more than memory can address");
    }
    dataset.rows = static_cast<std::int64_t>(lengths[0]);
    dataset.columns = static_cast<std::int64_t>(lengths[1]);

    const Type type(check(H5Dget_type(dataset.id.get()), file_name, message("the type of ", name)));
    dataset.type = H5Tget_class(type.get());
    dataset.item_bytes = H5Tget_size(type.get());
    dataset.is_signed = dataset.type == H5T_INTEGER && H5Tget_sign(type.get()) == H5T_SGN_2;
    return dataset;
}

bool is_number(hid_t type) {
    const H5T_class_t kind = H5Tget_class(type);
    const std::size_t bits = 8 * H5Tget_size(type);
    const std::size_t used = H5Tget_precision(type);
    bool sound = (kind == H5T_INTEGER || kind == H5T_FLOAT) && used > 0 && used <= bits;
    if (sound && kind == H5T_FLOAT) {
        std::size_t sign = 0;
        std::size_t exponent = 0;
        std::size_t exponent_bits = 0;
        std::size_t mantissa = 0;
        std::size_t mantissa_bits = 0;
        sound = H5Tget_fields(type, &sign, &exponent, &exponent_bits, &mantissa, &mantissa_bits) >= 0 && sign < bits &&
                exponent_bits > 0 && exponent_bits <= bits && exponent <= bits - exponent_bits && mantissa_bits > 0 &&
                mantissa_bits <= bits && mantissa <= bits - mantissa_bits;
    }
    H5Eclear2(H5E_DEFAULT);
    return sound;
}

std::vector<std::string> fields_of(const Dataset& dataset) {
    std::vector<std::string> names;
    const Type type(H5Dget_type(dataset.id.get()));
    const int fields = dataset.type == H5T_COMPOUND ? H5Tget_nmembers(type.get()) : 0;
    for (int i = 0; i < fields; ++i) {
        char* const name = H5Tget_member_name(type.get(), static_cast<unsigned>(i));
        names.emplace_back(name == nullptr ? "" : name);
        H5free_memory(name);
    }
    return names;
}

Dataset describe_dataset(hid_t file, const std::string& name, std::string_view file_name) {
    Dataset dataset = describe_shape(file, name, file_name);
    const Type type(check(H5Dget_type(dataset.id.get()), file_name, message("the type of ", name)));
    if (const std::vector<std::string> fields = fields_of(dataset); !fields.empty()) {
        refuse(file_name, "dataset ", name, " is a table with the fields ", joined(fields, ", "),
               "; an array of numbers was expected");
    }
    if (!is_number(type.get())) {
        refuse(file_name, "dataset ", name, " holds no numbers");
    }
    return dataset;
}

Dataset open_dataset(hid_t file, const std::string& name, std::string_view file_name) {
    Dataset dataset = describe_dataset(file, name, file_name);
    require_values(dataset);
    return dataset;
}

void Dataset::read(hid_t memory_type, std::int64_t begin, std::int64_t count, void* out) const {
    if (count * columns == 0) {
        return;
    }
    const std::string what = message("dataset ", name, " could not be read");
    if (count == rows) {
        check(H5Dread(id.get(), memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, out), file, what);
        return;
    }
    const Space stored(check(H5Dget_space(id.get()), file, what));
    const Space memory = select_rows(stored, begin, count, file, what);
    check(H5Dread(id.get(), memory_type, memory.get(), stored.get(), H5P_DEFAULT, out), file, what);
}

bool has_attribute(hid_t object, const char* name) {
    const ErrorsCleared cleared;
    return H5Aexists(object, name) > 0;
}

std::optional<double> number(hid_t object, const char* name) {
    const std::optional<std::vector<double>> values = numbers(object, name);
    return values ? std::optional(values->front()) : std::nullopt;
}

std::optional<std::vector<double>> numbers(hid_t object, const char* name) {
    if (!has_attribute(object, name)) {
        return std::nullopt;
    }
    const ErrorsCleared cleared;
    const Attribute attribute(H5Aopen(object, name, H5P_DEFAULT));
    const Type type(H5Aget_type(attribute.get()));
    const Space space(H5Aget_space(attribute.get()));
    const hssize_t count = H5Sget_simple_extent_npoints(space.get());
    constexpr hssize_t most = 1024; // no header attribute is longer; a larger one is not what it claims to be
    if (H5Tget_class(type.get()) == H5T_STRING) {
        double value = 0;
        return parse_number(trimmed(text(object, name).value_or("")), value) ? std::optional(std::vector{value})
                                                                             : std::nullopt;
    }
    if (!is_number(type.get()) || count < 1 || count > most) {
        return std::nullopt;
    }
    std::vector<double> values(count);
    const bool was_read = H5Aread(attribute.get(), H5T_NATIVE_DOUBLE, values.data()) >= 0;
    return was_read ? std::optional(std::move(values)) : std::nullopt;
}

std::optional<std::string> text(hid_t object, const char* name) {
    if (!has_attribute(object, name)) {
        return std::nullopt;
    }
    const ErrorsCleared cleared;
    const Attribute attribute(H5Aopen(object, name, H5P_DEFAULT));
    const Type type(H5Aget_type(attribute.get()));
    const Space space(H5Aget_space(attribute.get()));
    if (H5Tget_class(type.get()) != H5T_STRING || H5Sget_simple_extent_npoints(space.get()) != 1) {
        return std::nullopt;
    }
    if (H5Tis_variable_str(type.get()) > 0) {
        char* stored = nullptr;
        if (H5Aread(attribute.get(), type.get(), &stored) < 0 || stored == nullptr) {
            return std::nullopt;
        }
        std::string value(stored);
        H5free_memory(stored);
        return value;
    }
    std::string value(H5Tget_size(type.get()), '\0');
    const bool was_read = H5Aread(attribute.get(), type.get(), value.data()) >= 0;
    return was_read ? std::optional(value.substr(0, value.find('\0'))) : std::nullopt;
}

} // namespace kith::io::hdf5
