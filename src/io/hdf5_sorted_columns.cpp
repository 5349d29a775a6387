// Sorted snapshots of inputs that are not HDF5 (Gadget-2 binary, Tipsy), in the layout of Gadget-4.
//
// Each type is read by itself, so that only one is in memory at a time and a column that another type lacks is kept:
// Coordinates, Velocities, ParticleIDs, and Masses, or an entry of MassTable where all masses are one number of the
// input's table. What else these files hold has no name or unit that would be known for sure, and is left out.
#include "io/hdf5_sorted_snapshot.hpp"
#include "io/memory.hpp"
#include "io/refuse.hpp"
#include "io/sorted_rows.hpp"

#include <algorithm>

namespace kith::io {

namespace {

// `rows` in the order of `target`; columns = 0 makes the dataset one-dimensional.
template <class T>
void write_sorted(const hdf5::OutputFile& file, const std::string& dataset, const std::vector<T>& rows,
                  std::int64_t columns, const std::vector<std::int64_t>& target) {
    const std::int64_t width = std::max<std::int64_t>(1, columns);
    std::vector<T> sorted = allocate<T>(std::ssize(target), width, dataset);
    for (std::size_t row = 0; row < target.size(); ++row) {
        std::copy_n(rows.begin() + static_cast<std::int64_t>(row) * width, width, sorted.begin() + target[row] * width);
    }
    file.write_all(dataset, std::span<const T>(sorted), columns, "");
}

void write_type(const hdf5::OutputFile& file, const std::string& group, const Snapshot& particles,
                const std::vector<std::int64_t>& target) {
    const hdf5::Group made = file.make_group(group.c_str());
    const auto write = [&](const char* name, const RealArray& array) {
        std::visit(
            [&](const auto& rows) {
                write_sorted(file, group + name, rows, array.columns == 1 ? 0 : array.columns, target);
            },
            array.values);
    };
    write("/Coordinates", particles.positions);
    if (particles.velocities) {
        write("/Velocities", *particles.velocities);
    }
    if (particles.masses) {
        write("/Masses", *particles.masses);
    }
    if (!particles.ids.empty()) {
        write_sorted(file, group + "/ParticleIDs", particles.ids, 0, target);
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

std::vector<std::string> write_sorted_columns(const std::filesystem::path& path, const Reader& reader,
                                              const Catalog& catalog, const Snapshot& snapshot,
                                              const Provenance& provenance, const Progress& progress) {
    const SnapshotHeader& input = snapshot.header;
    const hdf5::Session session;
    hdf5::OutputFile file(path);
    MassTable masses{};
    for (std::size_t type = 0; type < input.counts.size(); ++type) {
        report_sorting(progress, static_cast<double>(type) / max_types);
        if (input.counts[type] == 0) {
            continue;
        }
        ReadOptions options;
        options.types = {TypeSelection::Kind::listed, {static_cast<int>(type)}};
        const Snapshot particles = reader.read_snapshot(input.files.front(), options);
        require_same_counts(particles.header.counts, input);
        masses[type] = particles.uniform_mass.value_or(0);
        write_type(file, message("PartType", type), particles, sorted_rows(catalog, snapshot, type));
    }
    write_header(file, input, masses);
    hdf5::write_provenance_of_copy(file, provenance);
    file.commit();
    return {message("the input is ", input.format,
                    ": the sorted snapshot has its positions, velocities, masses and ids; "
                    "other columns are left out")};
}

} // namespace kith::io
