// The particles of an HDF5 snapshot (its header is read in hdf5_snapshot.cpp).
//
// Each column is read for one type after the other, straight to its place. Where the selected types differ in precision
// the widest is taken and a warning says so. A column that some selected type lacks is left out for all, with a
// warning; values are never invented. Masses come from a type's dataset if it has one, else from the header's table.
#include "io/hdf5_signature.hpp"
#include "io/hdf5_snapshot.hpp"
#include "io/memory.hpp"
#include "io/reader.hpp"
#include "io/selection.hpp"

#include "support/message.hpp"

#include <kith/error.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

namespace kith::io {

using detail::message;

namespace {

hid_t memory_type(DType dtype) {
    return dtype == DType::float32 ? H5T_NATIVE_FLOAT : H5T_NATIVE_DOUBLE;
}

// One column across the selected types. Its part for a type without a dataset is absent.
struct Part {
    std::size_t type = 0;
    std::int64_t rows = 0;
    std::optional<hdf5::Dataset> dataset;
};
using Parts = std::vector<Part>;

Parts find_parts(const hdf5::SnapshotFile& file, const SelectedTypes& selected, std::int64_t columns,
                 std::initializer_list<const char*> names) {
    Parts parts;
    for (std::size_t type = 0; type < selected.size(); ++type) {
        const std::int64_t rows = file.header.counts[type];
        if (!selected[type] || rows == 0) {
            continue;
        }
        parts.push_back({type, rows, file.find(type, names)});
        const auto& dataset = parts.back().dataset;
        if (dataset && (dataset->rows != rows || dataset->columns != columns)) {
            throw Error(ErrorKind::file, message(file.name, ": ", dataset->name, " is ", dataset->rows, " x ",
                                                 dataset->columns, ", but PartType", type, "/Coordinates has ", rows,
                                                 " rows; ", rows, " x ", columns, " was expected"));
        }
    }
    return parts;
}

// Whether every part is there; if only some are, the column is left out and a warning names a type that lacks it.
bool complete(const Parts& parts, std::string_view what, SnapshotHeader& header) {
    const auto absent = std::find_if(parts.begin(), parts.end(), [](const Part& part) { return !part.dataset; });
    if (absent != parts.end()) {
        header.warnings.push_back(message("PartType", absent->type, " has no ", what, "; they are left out"));
    }
    return absent == parts.end();
}

DType widest(const Parts& parts, std::string_view what, SnapshotHeader& header) {
    bool narrow = false;
    bool wide = false;
    for (const Part& part : parts) {
        if (part.dataset) {
            (part.dataset->dtype() == DType::float32 ? narrow : wide) = true;
        }
    }
    if (narrow && wide) {
        header.warnings.push_back(
            message("the ", what, " of some types are float32 and of others float64; all are read as float64"));
    }
    return wide ? DType::float64 : DType::float32;
}

RealArray read_reals(const Parts& parts, DType dtype, std::int64_t rows, int columns, std::string_view what) {
    RealArray array = allocate_reals(dtype, rows, columns, what);
    std::visit(
        [&](auto& values) {
            auto* at = values.data();
            for (const Part& part : parts) {
                part.dataset->read(memory_type(dtype), at);
                at += part.rows * columns;
            }
        },
        array.values);
    return array;
}

// Per-row masses where any type has a dataset or the table's entries differ; else one mass for all.
void read_masses(Snapshot& snapshot, const hdf5::SnapshotFile& file, const Parts& parts, std::int64_t rows) {
    const auto table = [&](const Part& part) { return file.mass_table[part.type]; };
    bool any_dataset = false;
    bool one_mass = true;
    for (const Part& part : parts) {
        if (part.dataset && table(part) != 0) {
            snapshot.header.warnings.push_back(message("the header's mass table has ", table(part), " for type ",
                                                       part.type, ", which has masses of its own; these count"));
        }
        if (!part.dataset && table(part) == 0) {
            snapshot.header.warnings.push_back(message("type ", part.type, " has no masses, neither in PartType",
                                                       part.type, " nor in the header's table; masses are left out"));
            return;
        }
        any_dataset = any_dataset || part.dataset;
        one_mass = one_mass && table(part) == table(parts.front());
    }
    if (!any_dataset && one_mass) {
        snapshot.uniform_mass = table(parts.front());
        return;
    }
    const DType dtype = any_dataset ? widest(parts, "masses", snapshot.header) : DType::float64;
    snapshot.masses = allocate_reals(dtype, rows, 1, "masses");
    std::visit(
        [&](auto& values) {
            auto at = values.begin();
            for (const Part& part : parts) {
                if (part.dataset) {
                    part.dataset->read(memory_type(dtype), &*at);
                } else {
                    std::fill_n(at, part.rows, static_cast<std::decay_t<decltype(*at)>>(table(part)));
                }
                at += part.rows;
            }
        },
        snapshot.masses->values);
}

// Ids of any numeric type. Signed ones keep their bits; floating-point ones are whole numbers, exact up to 2^53.
void read_ids(Snapshot& snapshot, const Parts& parts, std::int64_t rows) {
    snapshot.ids = allocate<std::uint64_t>(rows, 1, "particle ids");
    std::uint64_t* at = snapshot.ids.data();
    for (const Part& part : parts) {
        part.dataset->read(part.dataset->is_signed ? H5T_NATIVE_INT64 : H5T_NATIVE_UINT64, at);
        const auto inexact = [](std::uint64_t id) { return id >= std::uint64_t{1} << 53; };
        if (part.dataset->type == H5T_FLOAT && std::any_of(at, at + part.rows, inexact)) {
            snapshot.header.warnings.push_back(message(part.dataset->name, " holds floating-point numbers of 2^53 and "
                                                                           "more: these ids are not exact"));
        }
        at += part.rows;
    }
}

// Some files state their box in other units than their coordinates. Wrapping these would shuffle the particles.
void compare_with_box(Snapshot& snapshot) {
    const auto& box = snapshot.header.box_size;
    const int axes = std::min(snapshot.positions.columns, 3);
    for (int axis = 0; box && axis < axes; ++axis) {
        const double period = (*box)[static_cast<std::size_t>(axis)];
        const double reach = std::visit(
            [&](const auto& values) {
                double farthest = 0;
                for (std::size_t i = static_cast<std::size_t>(axis); i < values.size();
                     i += static_cast<std::size_t>(snapshot.positions.columns)) {
                    farthest = std::max(farthest, std::abs(static_cast<double>(values[i])));
                }
                return farthest;
            },
            snapshot.positions.values);
        if (period > 0 && reach > 2 * period) {
            snapshot.header.warnings.push_back(message("coordinates reach ", reach,
                                                       ", far outside the header's BoxSize ", period,
                                                       "; the two may be in different units: give the box yourself"));
            return;
        }
    }
}

SnapshotHeader hdf5_header(const std::filesystem::path& path) {
    const hdf5::Session session;
    return hdf5::open_snapshot(path).header;
}

Snapshot hdf5_snapshot(const std::filesystem::path& path, const ReadOptions& options) {
    const hdf5::Session session;
    hdf5::SnapshotFile file = hdf5::open_snapshot(path);
    Snapshot snapshot;
    SnapshotHeader& header = snapshot.header;
    header = file.header;
    const SelectedTypes selected = select_types(options.types, header, path);
    const std::int64_t rows = selected_count(header, selected);

    const Parts positions = find_parts(file, selected, header.dimension, {"Coordinates"});
    header.dtype = widest(positions, "coordinates", header);
    snapshot.positions = read_reals(positions, header.dtype, rows, header.dimension, "positions");
    compare_with_box(snapshot);
    if (options.velocities) {
        const Parts parts = find_parts(file, selected, header.dimension, {"Velocities", "Velocity"});
        if (complete(parts, "velocities", header)) {
            const DType dtype = widest(parts, "velocities", header);
            snapshot.velocities = read_reals(parts, dtype, rows, header.dimension, "velocities");
        }
    }
    if (options.masses) {
        read_masses(snapshot, file, find_parts(file, selected, 1, {"Masses", "Mass"}), rows);
    }
    if (options.ids) {
        const Parts parts = find_parts(file, selected, 1, {"ParticleIDs"});
        if (complete(parts, "ids", header)) {
            read_ids(snapshot, parts, rows);
        }
    }
    fill_rows(snapshot, selected);
    return snapshot;
}

} // namespace

const Reader hdf5_reader = {"HDF5 snapshots (Gadget, AREPO, SWIFT)", is_hdf5, hdf5_header, hdf5_snapshot};

} // namespace kith::io
