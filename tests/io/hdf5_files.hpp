// HDF5 files made and read with the plain C library, independently of the code under test.
#pragma once

#include <gtest/gtest.h>

#include <hdf5.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <type_traits>
#include <vector>

namespace kith::test {

template <class T>
hid_t native_type() {
    if constexpr (std::is_same_v<T, float>) {
        return H5T_NATIVE_FLOAT;
    } else if constexpr (std::is_same_v<T, double>) {
        return H5T_NATIVE_DOUBLE;
    } else if constexpr (std::is_same_v<T, std::uint8_t>) {
        return H5T_NATIVE_UINT8;
    } else if constexpr (std::is_same_v<T, std::int32_t>) {
        return H5T_NATIVE_INT32;
    } else if constexpr (std::is_same_v<T, std::uint32_t>) {
        return H5T_NATIVE_UINT32;
    } else if constexpr (std::is_same_v<T, std::int64_t>) {
        return H5T_NATIVE_INT64;
    } else {
        static_assert(std::is_same_v<T, std::uint64_t>);
        return H5T_NATIVE_UINT64;
    }
}

class Hdf5Maker {
public:
    explicit Hdf5Maker(const std::filesystem::path& path)
        : file_(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT)) {
        EXPECT_GE(file_, 0);
    }
    Hdf5Maker(const Hdf5Maker&) = delete;
    Hdf5Maker& operator=(const Hdf5Maker&) = delete;
    ~Hdf5Maker() { H5Fclose(file_); }

    [[nodiscard]] hid_t id() const { return file_; }
    Hdf5Maker& group(const std::string& name) {
        H5Gclose(H5Gcreate2(file_, name.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
        return *this;
    }
    /// A group's attribute: a scalar for one value, else an array.
    template <class T>
    Hdf5Maker& attribute(const std::string& group, const std::string& name, const std::vector<T>& values) {
        const hsize_t length = values.size();
        const hid_t space = length == 1 ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, &length, nullptr);
        const hid_t object = H5Oopen(file_, group.c_str(), H5P_DEFAULT);
        const hid_t made = H5Acreate2(object, name.c_str(), native_type<T>(), space, H5P_DEFAULT, H5P_DEFAULT);
        EXPECT_GE(H5Awrite(made, native_type<T>(), values.data()), 0);
        H5Aclose(made);
        H5Oclose(object);
        H5Sclose(space);
        return *this;
    }
    Hdf5Maker& text(const std::string& group, const std::string& name, const std::string& value) {
        const hid_t type = H5Tcopy(H5T_C_S1);
        H5Tset_size(type,
                    std::max<std::size_t>(1, value.size())); // options without a value are empty texts of length 1
        const hid_t space = H5Screate(H5S_SCALAR);
        const hid_t object = H5Oopen(file_, group.c_str(), H5P_DEFAULT);
        const hid_t made = H5Acreate2(object, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT);
        EXPECT_GE(H5Awrite(made, type, value.c_str()), 0);
        H5Aclose(made);
        H5Oclose(object);
        H5Sclose(space);
        H5Tclose(type);
        return *this;
    }
    /// rows x columns (columns = 0: one-dimensional), compressed if `chunk` is not 0.
    template <class T>
    Hdf5Maker& dataset(const std::string& name, const std::vector<T>& values, hsize_t columns = 0, hsize_t chunk = 0) {
        const hsize_t lengths[2] = {columns == 0 ? values.size() : values.size() / columns, columns};
        const int rank = columns == 0 ? 1 : 2;
        const hid_t space = H5Screate_simple(rank, lengths, nullptr);
        const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
        if (chunk != 0) {
            const hsize_t chunks[2] = {chunk, columns};
            H5Pset_chunk(creation, rank, chunks);
            H5Pset_deflate(creation, 6);
        }
        const hid_t made = H5Dcreate2(file_, name.c_str(), native_type<T>(), space, H5P_DEFAULT, creation, H5P_DEFAULT);
        EXPECT_GE(H5Dwrite(made, native_type<T>(), H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0) << name;
        H5Dclose(made);
        H5Pclose(creation);
        H5Sclose(space);
        return *this;
    }

private:
    hid_t file_;
};

class Hdf5Checker {
public:
    explicit Hdf5Checker(const std::filesystem::path& path)
        : file_(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT)) {
        EXPECT_GE(file_, 0) << path;
    }
    Hdf5Checker(const Hdf5Checker&) = delete;
    Hdf5Checker& operator=(const Hdf5Checker&) = delete;
    ~Hdf5Checker() { H5Fclose(file_); }

    [[nodiscard]] hid_t id() const { return file_; }
    [[nodiscard]] bool has(const std::string& name) const { return H5Lexists(file_, name.c_str(), H5P_DEFAULT) > 0; }
    [[nodiscard]] std::vector<hsize_t> shape(const std::string& name) const {
        const hid_t dataset = H5Dopen2(file_, name.c_str(), H5P_DEFAULT);
        const hid_t space = H5Dget_space(dataset);
        std::vector<hsize_t> lengths(static_cast<std::size_t>(H5Sget_simple_extent_ndims(space)));
        H5Sget_simple_extent_dims(space, lengths.data(), nullptr);
        H5Sclose(space);
        H5Dclose(dataset);
        return lengths;
    }
    /// The values, which must be stored as exactly this type.
    template <class T>
    [[nodiscard]] std::vector<T> dataset(const std::string& name) const {
        const hid_t opened = H5Dopen2(file_, name.c_str(), H5P_DEFAULT);
        const hid_t type = H5Dget_type(opened);
        const hid_t space = H5Dget_space(opened);
        EXPECT_GT(H5Tequal(type, native_type<T>()), 0) << name << " is stored as another type";
        std::vector<T> values(static_cast<std::size_t>(H5Sget_simple_extent_npoints(space)));
        EXPECT_GE(H5Dread(opened, native_type<T>(), H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0);
        H5Sclose(space);
        H5Tclose(type);
        H5Dclose(opened);
        return values;
    }
    [[nodiscard]] std::vector<double> numbers(const std::string& object, const std::string& name) const {
        const hid_t attribute = H5Aopen_by_name(file_, object.c_str(), name.c_str(), H5P_DEFAULT, H5P_DEFAULT);
        EXPECT_GE(attribute, 0) << object << ": " << name;
        const hid_t space = H5Aget_space(attribute);
        std::vector<double> values(static_cast<std::size_t>(H5Sget_simple_extent_npoints(space)));
        EXPECT_GE(H5Aread(attribute, H5T_NATIVE_DOUBLE, values.data()), 0);
        H5Sclose(space);
        H5Aclose(attribute);
        return values;
    }
    [[nodiscard]] std::string text(const std::string& object, const std::string& name) const {
        const hid_t attribute = H5Aopen_by_name(file_, object.c_str(), name.c_str(), H5P_DEFAULT, H5P_DEFAULT);
        EXPECT_GE(attribute, 0) << object << ": " << name;
        const hid_t type = H5Aget_type(attribute);
        char* stored = nullptr;
        EXPECT_GE(H5Aread(attribute, type, &stored), 0);
        std::string value = stored == nullptr ? "" : stored;
        H5free_memory(stored);
        H5Tclose(type);
        H5Aclose(attribute);
        return value;
    }

private:
    hid_t file_;
};

} // namespace kith::test
