// Making HDF5 files: a file that appears whole or not at all, datasets and attributes.
//
// The same content makes the same bytes: no times are stored. File types are little-endian. Text is variable-length
// UTF-8, which has no limit of length.
#pragma once

#include "io/hdf5_driver.hpp"
#include "io/hdf5_handle.hpp"
#include "io/output_file.hpp"

#include <kith/io.hpp>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <iterator>
#include <span>
#include <string>
#include <type_traits>

namespace kith::io::hdf5 {

/// How a number is stored and how it lies in memory.
struct NumberType {
    hid_t stored;
    hid_t memory;
};
template <class T>
[[nodiscard]] NumberType number_type() {
    if constexpr (std::is_floating_point_v<T>) {
        return sizeof(T) == 4 ? NumberType{H5T_IEEE_F32LE, H5T_NATIVE_FLOAT}
                              : NumberType{H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE};
    } else if constexpr (std::is_signed_v<T>) {
        return sizeof(T) == 4 ? NumberType{H5T_STD_I32LE, H5T_NATIVE_INT32}
                              : NumberType{H5T_STD_I64LE, H5T_NATIVE_INT64};
    } else {
        return sizeof(T) == 1 ? NumberType{H5T_STD_U8LE, H5T_NATIVE_UINT8}
                              : NumberType{H5T_STD_U64LE, H5T_NATIVE_UINT64};
    }
}
[[nodiscard]] NumberType number_type(DType dtype);

class OutputFile {
public:
    explicit OutputFile(const std::filesystem::path& target);

    [[nodiscard]] hid_t root() const noexcept { return file_.get(); }
    [[nodiscard]] std::string name() const { return replacement_.target().string(); }
    [[nodiscard]] Group make_group(const char* group) const;

    /// A dataset of rows x columns values of `memory`, stored as `stored`; columns = 0 makes it one-dimensional.
    /// `description` becomes an attribute; an empty one is left out. Returns the dataset, for further attributes.
    Handle<H5Dclose> write(const std::string& dataset, const NumberType& type, const void* values, std::int64_t rows,
                           std::int64_t columns, const std::string& description = {}) const;

    /// An empty dataset as write() makes it, and rows of one that is open, from `first` on.
    [[nodiscard]] Handle<H5Dclose> make_dataset(const std::string& dataset, hid_t stored, std::int64_t rows,
                                                std::int64_t columns, const std::string& description = {}) const;
    void write_rows(hid_t dataset, const std::string& path, hid_t memory_type, std::int64_t first, std::int64_t rows,
                    const void* values) const;

    /// A dataset as write() makes it, of values that are made block by block: fill(bytes of the block).
    void write_stream(const std::string& dataset, const NumberType& type, std::int64_t rows, std::int64_t columns,
                      const std::string& description,
                      const std::function<void(std::span<std::byte> block)>& fill) const;

    /// A dataset of all `values` in rows of `columns`, or one-dimensional for 0.
    template <class T>
    void write_all(const std::string& dataset, std::span<const T> values, std::int64_t columns,
                   const std::string& description) const {
        const std::int64_t rows = std::ssize(values) / std::max<std::int64_t>(1, columns);
        write(dataset, number_type<T>(), values.data(), rows, columns, description);
    }

    template <class T>
    void set(hid_t object, const std::string& attribute, T value) const {
        set_numbers(object, attribute, number_type<T>(), &value, 1, true);
    }
    /// BoxSize, of 0 where space is open: one number, or one for each axis where these differ.
    template <class T>
    void set_all(hid_t object, const std::string& attribute, std::span<const T> values) const {
        set_numbers(object, attribute, number_type<T>(), values.data(), std::ssize(values), false);
    }
    void set_box_size(hid_t header, std::span<const double> periods) const;
    void set_text(hid_t object, const std::string& attribute, const std::string& value) const;

    /// Program, command, input and every parameter, as text. Throws Error(invalid_argument) for a parameter whose name
    /// is empty or already an attribute of `object`.
    void set_provenance(hid_t object, const Provenance& provenance) const;

    /// Throws Error(file) if the disk took no more. The library itself reports no failed write (hdf5_driver.hpp).
    void require_written() const;

    void commit();
    /// The same, with the provenance as attributes of the root.
    void commit(const Provenance& provenance);

private:
    void set_numbers(hid_t object, const std::string& attribute, const NumberType& type, const void* values,
                     std::int64_t count, bool is_scalar) const;

    Replacement replacement_;
    WritingDriver driver_;
    File file_;
};

} // namespace kith::io::hdf5
