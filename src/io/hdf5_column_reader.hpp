// Columns of catalogs as they are read.
#pragma once

#include "io/hdf5_catalog_header.hpp"
#include "io/hdf5_create.hpp"
#include "io/memory.hpp"
#include "io/refuse.hpp"

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace kith::io::hdf5 {

/// The first of these datasets that the group has; empty names are left out.
inline std::optional<Dataset> find_column(const OpenCatalog& opened, const char* group,
                                          std::initializer_list<std::string_view> datasets) {
    if (!exists(opened.file.get(), group)) {
        return std::nullopt;
    }
    const Group in(H5Gopen2(opened.file.get(), group, H5P_DEFAULT));
    for (const std::string_view name : datasets) {
        if (!name.empty() && in.get() >= 0 && exists(in.get(), std::string(name))) {
            return open_dataset(opened.file.get(), message(group, "/", name), opened.name);
        }
    }
    return std::nullopt;
}

/// All numbers of a dataset. Throws Error(file) if whole ones are wanted and it holds others.
template <class T>
std::vector<T> values_of(const Dataset& dataset) {
    if (!std::is_same_v<T, double> && dataset.type != H5T_INTEGER) {
        refuse(dataset.file, "dataset ", dataset.name, " must hold whole numbers");
    }
    std::vector<T> values = allocate<T>(dataset.rows, dataset.columns, dataset.name);
    // Ids that were stored as signed numbers keep their bits.
    const bool keeps_bits = std::is_same_v<T, std::uint64_t> && dataset.is_signed;
    dataset.read(keeps_bits ? H5T_NATIVE_INT64 : number_type<T>().memory, values.data());
    return values;
}

/// Those of one file of a set behind those of the files before.
template <class T>
void append(std::vector<T>& all, std::vector<T> more) {
    if (all.empty()) {
        all = std::move(more);
    } else {
        all.insert(all.end(), more.begin(), more.end());
    }
}

} // namespace kith::io::hdf5
