// Making HDF5 files (see hdf5_create.hpp).
#include "io/hdf5_create.hpp"

#include "io/refuse.hpp"

#include <kith/error.hpp>

#include <algorithm>
#include <array>
#include <system_error>
#include <vector>

namespace kith::io::hdf5 {

NumberType number_type(DType dtype) {
    return dtype == DType::float32 ? number_type<float>() : number_type<double>();
}

OutputFile::OutputFile(const std::filesystem::path& target) : replacement_(target) {
    file_ = driver_.create(replacement_.temporary());
    require_written();
    check(file_.get(), name(), "the HDF5 file could not be made");
}

// Failed writes are found here, not in what the library reports (hdf5_driver.hpp).
void OutputFile::require_written() const {
    if (driver_.failure() != 0) {
        refuse(name(), "could not be written (", std::generic_category().message(driver_.failure()), ")");
    }
}

Group OutputFile::make_group(const char* group) const {
    return Group(check(H5Gcreate2(root(), group, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), name(),
                       message("group ", std::string_view(group), " could not be made")));
}

Handle<H5Dclose> OutputFile::make_dataset(const std::string& dataset, hid_t stored, std::int64_t rows,
                                          std::int64_t columns, const std::string& description) const {
    const std::string what = message("dataset ", dataset, " could not be made");
    const std::array<hsize_t, 2> lengths = {static_cast<hsize_t>(rows), static_cast<hsize_t>(columns)};
    const Space space(check(H5Screate_simple(columns == 0 ? 1 : 2, lengths.data(), nullptr), name(), what));
    const PropertyList creation(check(H5Pcreate(H5P_DATASET_CREATE), name(), what));
    check(H5Pset_obj_track_times(creation.get(), false), name(), what);
    Handle<H5Dclose> made(
        check(H5Dcreate2(root(), dataset.c_str(), stored, space.get(), H5P_DEFAULT, creation.get(), H5P_DEFAULT),
              name(), what));
    if (!description.empty()) {
        set_text(made.get(), "description", description);
    }
    return made;
}

Handle<H5Dclose> OutputFile::write(const std::string& dataset, const NumberType& type, const void* values,
                                   std::int64_t rows, std::int64_t columns, const std::string& description) const {
    Handle<H5Dclose> made = make_dataset(dataset, type.stored, rows, columns, description);
    if (rows > 0) {
        check(H5Dwrite(made.get(), type.memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, values), name(),
              message("dataset ", dataset, " could not be written"));
        require_written();
    }
    return made;
}

void OutputFile::write_rows(hid_t dataset, const std::string& path, hid_t memory_type, std::int64_t first,
                            std::int64_t rows, const void* values) const {
    const std::string what = message("dataset ", path, " could not be written");
    const Space place(check(H5Dget_space(dataset), name(), what));
    const Space memory = select_rows(place, first, rows, name(), what);
    const herr_t status = H5Dwrite(dataset, memory_type, memory.get(), place.get(), H5P_DEFAULT, values);
    require_written();
    check(status, name(), what);
}

void OutputFile::write_stream(const std::string& dataset, const NumberType& type, std::int64_t rows,
                              std::int64_t columns, const std::string& description,
                              const std::function<void(std::span<std::byte>)>& fill) const {
    const Handle<H5Dclose> made = make_dataset(dataset, type.stored, rows, columns, description);
    constexpr std::int64_t block_bytes = 1 << 24;
    const std::int64_t row_bytes =
        std::max<std::int64_t>(1, columns) * static_cast<std::int64_t>(H5Tget_size(type.memory));
    const std::int64_t block_rows = std::max<std::int64_t>(1, block_bytes / row_bytes);
    std::vector<std::byte> block(std::min(block_rows, rows) * row_bytes);
    for (std::int64_t first = 0; first < rows; first += block_rows) {
        const std::int64_t count = std::min(block_rows, rows - first);
        fill(std::span(block).first(count * row_bytes));
        write_rows(made.get(), dataset, type.memory, first, count, block.data());
    }
}

void OutputFile::set_numbers(hid_t object, const std::string& attribute, const NumberType& type, const void* values,
                             std::int64_t count, bool is_scalar) const {
    const std::string what = message("attribute ", attribute, " could not be written");
    const auto length = static_cast<hsize_t>(count);
    const Space space(check(is_scalar ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, &length, nullptr), name(), what));
    const Attribute made(
        check(H5Acreate2(object, attribute.c_str(), type.stored, space.get(), H5P_DEFAULT, H5P_DEFAULT), name(), what));
    check(H5Awrite(made.get(), type.memory, values), name(), what);
}

void OutputFile::set_box_size(hid_t header, std::span<const double> periods) const {
    const bool is_one = std::adjacent_find(periods.begin(), periods.end(), std::not_equal_to<>()) == periods.end();
    set_numbers(header, "BoxSize", number_type<double>(), periods.data(), is_one ? 1 : std::ssize(periods), is_one);
}

void OutputFile::set_text(hid_t object, const std::string& attribute, const std::string& value) const {
    const std::string what = message("attribute ", attribute, " could not be written");
    const Type type(check(H5Tcopy(H5T_C_S1), name(), what));
    check(H5Tset_size(type.get(), H5T_VARIABLE), name(), what);
    check(H5Tset_cset(type.get(), H5T_CSET_UTF8), name(), what);
    const Space space(check(H5Screate(H5S_SCALAR), name(), what));
    const Attribute made(
        check(H5Acreate2(object, attribute.c_str(), type.get(), space.get(), H5P_DEFAULT, H5P_DEFAULT), name(), what));
    const char* characters = value.c_str();
    check(H5Awrite(made.get(), type.get(), &characters), name(), what);
}

void OutputFile::set_provenance(hid_t object, const Provenance& provenance) const {
    set_text(object, "Program", provenance.program);
    set_text(object, "Command", provenance.command);
    set_text(object, "Input", provenance.input);
    for (const auto& [parameter, value] : provenance.parameters) {
        if (parameter.empty() || H5Aexists(object, parameter.c_str()) != 0) {
            throw error(ErrorKind::invalid_argument, "a parameter of the provenance cannot be named '", parameter,
                        "': this name is taken in the file");
        }
        set_text(object, parameter, value);
    }
}

void OutputFile::commit() {
    if (!file_.close()) {
        fail(name(), "the HDF5 file could not be closed");
    }
    require_written();
    replacement_.commit();
}

void OutputFile::commit(const Provenance& provenance) {
    set_provenance(root(), provenance);
    commit();
}

} // namespace kith::io::hdf5
