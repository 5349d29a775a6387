// A small snapshot and its groups, for tests of sorted snapshots; and rows of any type, found by their ids.
#pragma once

#include "io/files.hpp"
#include "io/hdf5_files.hpp"

#include <map>

namespace kith::test {

inline const io::Provenance sorted_provenance = {
    "kith 0.1.0", "kith fof a.hdf5", "a.hdf5", {{"linking_length", "0.25"}, {"psi", "3"}, {"types", "all"}}};

/// Particles whose columns all tell their ids.
template <class T>
std::vector<T> per_id(const std::vector<int>& ids, std::size_t columns, double factor = 1) {
    std::vector<T> values;
    for (const int id : ids) {
        for (std::size_t column = 0; column < columns; ++column) {
            values.push_back(static_cast<T>(factor * (id + static_cast<double>(column) / 4)));
        }
    }
    return values;
}

inline void add_type(Hdf5Maker& file, const std::string& group, const std::vector<int>& ids) {
    file.group(group)
        .dataset(group + "/Coordinates", per_id<float>(ids, 3), 3)
        .dataset(group + "/Velocities", per_id<float>(ids, 3, -1), 3)
        .dataset(group + "/ParticleIDs", per_id<std::uint64_t>(ids, 1))
        .dataset(group + "/Masses", per_id<double>(ids, 1, 0.5));
}

inline void add_header(Hdf5Maker& file, const std::vector<std::uint32_t>& here, const std::vector<std::uint32_t>& total,
                       std::int32_t files = 1) {
    file.group("Header")
        .attribute<std::uint32_t>("Header", "NumPart_ThisFile", here)
        .attribute<std::uint32_t>("Header", "NumPart_Total", total)
        .attribute<std::uint32_t>("Header", "NumPart_Total_HighWord", std::vector<std::uint32_t>(total.size()))
        .attribute<std::int32_t>("Header", "NumFilesPerSnapshot", {files})
        .attribute<double>("Header", "BoxSize", {1000})
        .attribute<double>("Header", "Time", {0.5});
}

/// A catalog of these groups, each given by the ids of its members.
inline Catalog groups_of(const io::Snapshot& snapshot, const std::vector<std::vector<int>>& groups) {
    Catalog catalog;
    catalog.groups = static_cast<std::int64_t>(groups.size());
    catalog.dimension = 3;
    catalog.count_by_type.resize(groups.size() * max_types);
    for (std::size_t group = 0; group < groups.size(); ++group) {
        catalog.offset.push_back(catalog.member_array.size());
        for (std::size_t row = 0; row < snapshot.ids.size(); ++row) {
            const auto id = static_cast<int>(snapshot.ids[row]);
            if (std::find(groups[group].begin(), groups[group].end(), id) != groups[group].end()) {
                catalog.member_array.vector<std::int32_t>().push_back(static_cast<std::int32_t>(row));
                ++catalog.count_by_type[group * max_types + snapshot.types[row]];
            }
        }
        catalog.count.push_back(static_cast<std::int64_t>(groups[group].size()));
    }
    return catalog;
}

/// The bytes of every row as stored, by the id of its particle.
inline std::map<std::uint64_t, std::string> rows_by_id(const std::filesystem::path& path, const std::string& group,
                                                       const std::string& name) {
    const Hdf5Checker file(path);
    const std::vector<std::uint64_t> ids = file.dataset<std::uint64_t>(group + "/ParticleIDs");
    const hid_t dataset = H5Dopen2(file.id(), (group + "/" + name).c_str(), H5P_DEFAULT);
    EXPECT_GE(dataset, 0) << path << ": " << group << "/" << name;
    const hid_t type = H5Dget_type(dataset);
    const hid_t space = H5Dget_space(dataset);
    const auto values = static_cast<std::size_t>(H5Sget_simple_extent_npoints(space));
    std::string bytes(values * H5Tget_size(type), '\0');
    EXPECT_GE(H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data()), 0) << name;
    H5Sclose(space);
    H5Tclose(type);
    H5Dclose(dataset);
    std::map<std::uint64_t, std::string> rows;
    const std::size_t length = bytes.size() / ids.size();
    for (std::size_t row = 0; row < ids.size(); ++row) {
        rows[ids[row]] = bytes.substr(row * length, length);
    }
    EXPECT_EQ(rows.size(), ids.size());
    return rows;
}

inline bool same_type(const std::filesystem::path& left, const std::filesystem::path& right, const std::string& name) {
    const Hdf5Checker files[2] = {Hdf5Checker(left), Hdf5Checker(right)};
    hid_t types[2] = {};
    for (int i = 0; i < 2; ++i) {
        const hid_t dataset = H5Dopen2(files[i].id(), name.c_str(), H5P_DEFAULT);
        types[i] = H5Dget_type(dataset);
        H5Dclose(dataset);
    }
    const bool same = H5Tequal(types[0], types[1]) > 0;
    H5Tclose(types[0]);
    H5Tclose(types[1]);
    return same;
}

} // namespace kith::test
