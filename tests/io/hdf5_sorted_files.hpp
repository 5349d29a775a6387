// A small snapshot and its groups, for tests of sorted snapshots; and rows of any type, found by their ids.
#pragma once

#include "io/files.hpp"
#include "io/hdf5_files.hpp"

#include <kith/communicator.hpp>

#include <algorithm>
#include <exception>
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

/// The part of a rank: groups are shared out evenly, and rows so that the second of several ranks has none.
struct SortedPart {
    SortedPart(const Catalog& all, const io::Snapshot& whole, int rank, int ranks) {
        const auto sub = [](const auto& values, std::int64_t begin, std::int64_t end) {
            const std::int64_t size = std::ssize(values);
            return std::vector(values.begin() + std::min(begin, size), values.begin() + std::min(end, size));
        };
        const auto rows_before = [&](int to) {
            return to == 0 ? 0 : to == ranks ? std::ssize(whole.file_rows) : std::ssize(whole.file_rows) * 2 / 5;
        };
        snapshot.header = whole.header;
        snapshot.file_rows = sub(whole.file_rows, rows_before(rank), rows_before(rank + 1));

        const std::int64_t first = all.groups * rank / ranks;
        const std::int64_t last = all.groups * (rank + 1) / ranks;
        const auto members_before = [&](std::int64_t group) {
            return group < all.groups ? all.offset[static_cast<std::size_t>(group)] : all.member_array.size();
        };
        catalog.groups = last - first;
        catalog.dimension = all.dimension;
        catalog.count_by_type = sub(all.count_by_type, max_types * first, max_types * last);
        catalog.first_member = members_before(first);
        for (std::int64_t i = members_before(first); i < members_before(last); ++i) {
            catalog.member_array.vector<std::int64_t>().push_back(all.member_array[i]);
        }
    }
    Catalog catalog;
    io::Snapshot snapshot;
};

/// write_sorted_snapshot() over threads. Errors must be those of all ranks, and are rethrown.
inline std::vector<std::string> write_sorted_over(int ranks, const std::filesystem::path& path, const Catalog& catalog,
                                                  const io::Snapshot& snapshot, const io::Provenance& provenance,
                                                  const Progress& progress = {}) {
    std::vector<std::string> left_out;
    std::vector<std::string> errors(ranks);
    std::exception_ptr failure;
    run_ranks(ranks, [&](Communicator& communicator) {
        const int rank = communicator.rank();
        const SortedPart part(catalog, snapshot, rank, ranks);
        try {
            const auto lines =
                io::write_sorted_snapshot(path, part.catalog, part.snapshot, provenance, progress, &communicator);
            if (rank == 0) {
                left_out = lines;
            }
        } catch (const Error& error) {
            errors[static_cast<std::size_t>(rank)] = error.what();
            if (rank == 0) {
                failure = std::current_exception();
            }
        }
    });
    EXPECT_EQ(errors, std::vector<std::string>(errors.size(), errors.front()));
    if (failure) {
        std::rethrow_exception(failure);
    }
    return left_out;
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
