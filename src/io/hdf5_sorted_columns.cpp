// Sorted snapshots of inputs that are not HDF5 (Gadget-2 binary, Tipsy), in the layout of Gadget-4.
//
// Each type is read by itself, so that only one is in memory at a time, over ranks this rank's share of it, and a
// column that another type lacks is kept: Coordinates, Velocities, ParticleIDs, and Masses, or an entry of MassTable
// where all masses are one number of the input's table. What else these files hold has no name or unit that would be
// known for sure, and is left out.
#include "io/hdf5_sorted_snapshot.hpp"

#include "io/hdf5_snapshot.hpp"
#include "io/memory.hpp"
#include "io/refuse.hpp"
#include "io/sorted_rows.hpp"

#include <algorithm>
#include <optional>

namespace kith::io {

namespace {

/// Where the columns of one type go; on other ranks than 0 the file is null.
struct TypeTarget {
    hdf5::Ranks& ranks;
    const hdf5::OutputFile* file;
    std::string group;
    Permutation permutation;
};

// This rank's `rows` of a column; columns = 0 makes the dataset one-dimensional.
template <class T>
void write_sorted(const TypeTarget& to, const char* name, const std::vector<T>& rows, std::int64_t columns) {
    const std::string dataset = to.group + name;
    const std::int64_t width = std::max<std::int64_t>(1, columns);
    const std::int64_t row_bytes = width * static_cast<std::int64_t>(sizeof(T));
    const std::int64_t block_rows = std::max<std::int64_t>(1, sorting_block_bytes / row_bytes);
    std::vector<T> sorted;
    hdf5::Handle<H5Dclose> made;
    to.ranks.agreed([&] {
        sorted = allocate<T>(to.permutation.of(to.ranks.rank()).count(), width, dataset);
        if (to.file != nullptr) {
            made = to.file->make_dataset(dataset, hdf5::number_type<T>().stored, to.permutation.rows(), columns);
        }
    });
    std::span<const std::byte> left = std::as_bytes(std::span(rows));
    const auto next = [&] {
        const auto block = left.first(std::min<std::size_t>(left.size(), block_rows * row_bytes));
        left = left.subspan(block.size());
        return block;
    };
    const auto bytes = std::as_writable_bytes(std::span(sorted));
    sort_rows(to.ranks, to.permutation, row_bytes, next, bytes.data());
    write_sorted_rows(to.ranks, to.permutation, row_bytes, bytes.data(), block_rows,
                      [&](std::int64_t first, std::int64_t count, const std::byte* values) {
                          to.file->write_rows(made.get(), dataset, hdf5::number_type<T>().memory, first, count, values);
                      });
}

void write_type(const TypeTarget& to, const Snapshot& particles) {
    const auto write = [&](const char* name, const RealArray& array) {
        std::visit([&](const auto& rows) { write_sorted(to, name, rows, array.columns == 1 ? 0 : array.columns); },
                   array.values);
    };
    write("/Coordinates", particles.positions);
    if (particles.velocities) {
        write("/Velocities", *particles.velocities);
    }
    if (particles.masses) {
        write("/Masses", *particles.masses);
    }
    if (to.ranks.any(!particles.ids.empty())) { // this rank may have no rows
        write_sorted(to, "/ParticleIDs", particles.ids, 0);
    }
}

// Cosmology and units stand in /Header, where Gadget-2 has them, and in /Parameters, where Gadget-4 has them.
void write_header(const hdf5::OutputFile& file, const SnapshotHeader& input, const MassTable& masses) {
    const hdf5::Group header = file.make_group("Header");
    file.set_box_size(header.get(), input.box_size.value_or(std::array<double, 3>{}));
    if (input.time) {
        file.set(header.get(), "Time", *input.time);
    }
    if (input.redshift) {
        file.set(header.get(), "Redshift", *input.redshift);
    }
    const hdf5::Group parameters = file.make_group("Parameters");
    for (const auto& [name, value] : input.parameters) {
        file.set(header.get(), name, value);
        file.set(parameters.get(), name, value);
    }
    hdf5::write_counts(file, input.counts);
    hdf5::write_mass_table(file, masses);
}

} // namespace

std::vector<std::string> write_sorted_columns(hdf5::Ranks& ranks, const std::filesystem::path& path,
                                              const Catalog& catalog, const Snapshot& snapshot,
                                              const Provenance& provenance, const Progress& progress) {
    const SnapshotHeader& input = snapshot.header;
    std::optional<hdf5::OutputFile> file;
    const auto on_first = [&](const auto& body) {
        ranks.agreed([&] {
            if (ranks.is_first()) {
                body();
            }
        });
    };
    on_first([&] { file.emplace(path); });
    MassTable masses{};
    for (std::size_t type = 0; type < input.counts.size(); ++type) {
        on_first([&] { report_sorting(progress, static_cast<double>(type) / max_types); });
        if (input.counts[type] == 0) {
            continue;
        }
        Snapshot particles;
        ranks.agreed([&] {
            ReadOptions options;
            options.types = {TypeSelection::Kind::listed, {static_cast<int>(type)}};
            options.share = {ranks.rank(), ranks.size()};
            particles = read_snapshot(input.files.front(), options);
            require_same_counts(particles.header.counts, input);
        });
        masses[type] = particles.uniform_mass.value_or(0);
        const std::string group = hdf5::group_name(type);
        on_first([&] { static_cast<void>(file->make_group(group.c_str())); });
        write_type({ranks, file ? &*file : nullptr, group, sorted_rows(ranks, catalog, snapshot, type)}, particles);
    }
    on_first([&] {
        write_header(*file, input, masses);
        hdf5::write_provenance_of_copy(*file, provenance);
        file->commit();
    });
    return {message("the input is ", input.format,
                    ": the sorted snapshot has its positions, velocities, masses and ids; "
                    "other columns are left out")};
}

} // namespace kith::io
