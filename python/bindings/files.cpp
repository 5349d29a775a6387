// Snapshots and catalogs in files.
#include "arrays.hpp"
#include "bindings.hpp"
#include "numbers.hpp"
#include "unlocked.hpp"

#include <kith/error.hpp>
#include <kith/io.hpp>
#include <kith/version.hpp>

#include <nanobind/stl/array.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <filesystem>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

namespace kith::python {

namespace {

using io::RealArray;
using io::Snapshot;
using io::SnapshotHeader;

/// The name of a file as the system has it: bytes.
std::string name_of(const nb::bytes& path) {
    return {path.c_str(), path.size()};
}

/// Runs function(name of the file) with Python's lock free.
template <class Function>
auto with_file(const nb::bytes& path, const Function& function) {
    const std::string name = name_of(path);
    const Unlocked unlocked;
    return function(name);
}

nb::object array_of(const RealArray& array, bool is_flat, nb::handle owner) {
    return std::visit(
        [&](const auto& values) {
            return numpy_view(values, is_flat ? 0 : static_cast<std::size_t>(array.columns), owner);
        },
        array.values);
}

/// A property that views a column, if there is one.
auto column_or_none(std::optional<RealArray> Snapshot::*column, bool is_flat) {
    return [column, is_flat](nb::handle self) -> nb::object {
        const std::optional<RealArray>& array = nb::cast<const Snapshot&>(self).*column;
        return array ? array_of(*array, is_flat, self) : nb::none();
    };
}

io::TypeSelection selection_of(nb::handle types) {
    io::TypeSelection selection;
    if (types.is_none()) {
        return selection;
    }
    if (nb::isinstance<nb::str>(types)) {
        if (std::string(nb::cast<nb::str>(types).c_str()) != "all") {
            throw Error(ErrorKind::invalid_argument, std::string("types is '") + nb::cast<nb::str>(types).c_str() +
                                                         "'; it must be None, 'all', or numbers from 0 to 6");
        }
        selection.kind = io::TypeSelection::Kind::all;
        return selection;
    }
    selection.kind = io::TypeSelection::Kind::listed;
    const auto take = [&](nb::handle type) {
        const int number = whole_number(type, -1, max_types, "types must be None, 'all', or whole numbers from 0 to 6");
        if (number < 0 || number >= max_types) {
            throw Error(ErrorKind::invalid_argument, std::string("types holds ") + nb::str(type).c_str() +
                                                         "; particle types are numbers from 0 to 6");
        }
        selection.types.push_back(number);
    };
    if (is_sequence(types)) {
        for (const nb::handle type : nb::iter(types)) {
            take(type);
        }
    } else {
        take(types);
    }
    return selection;
}

/// A snapshot of which only the positions' shape and the rows' names are known, for catalogs of arrays. `to_cgs`: factors
/// of lengths, masses and velocities, if the arrays carry units: physical ones, without powers of a and h.
Snapshot snapshot_of(const Catalog& catalog, std::int64_t rows, bool is_float64, bool has_masses,
                     const std::optional<std::array<std::optional<double>, 3>>& to_cgs,
                     const std::optional<InputArray>& ids) {
    Snapshot snapshot;
    snapshot.header.dimension = catalog.dimension;
    snapshot.header.has_types = false;
    snapshot.header.counts[1] = rows;
    if (is_float64) {
        snapshot.positions.values = std::vector<double>();
    }
    snapshot.positions.columns = catalog.dimension;
    if (has_masses) {
        snapshot.masses.emplace();
    }
    if (to_cgs) {
        snapshot.header.frame = {1, {0, 0, (*to_cgs)[0]}, {0, 0, (*to_cgs)[1]}, {0, 0, (*to_cgs)[2]}};
    }
    snapshot.file_rows.resize(static_cast<std::size_t>(rows));
    std::iota(snapshot.file_rows.begin(), snapshot.file_rows.end(), 0);
    if (ids) {
        const auto given = numbers_of<const std::uint64_t>(*ids, {}, "ids", "uint64");
        snapshot.ids.assign(given.begin(), given.end());
    }
    return snapshot;
}

nb::dict texts_of(const std::map<std::string, std::string>& texts) {
    nb::dict converted;
    for (const auto& [name, text] : texts) {
        converted[text_of(name)] = text_of(text);
    }
    return converted;
}

nb::dict numbers_of(const std::map<std::string, double>& numbers) {
    nb::dict converted;
    for (const auto& [name, number] : numbers) {
        converted[text_of(name)] = number;
    }
    return converted;
}

nb::list texts_of(const std::vector<std::string>& texts) {
    nb::list converted;
    for (const std::string& text : texts) {
        converted.append(text_of(text));
    }
    return converted;
}

nb::object scaling_of(const std::optional<double>& a_power, const std::optional<double>& h_power,
                      const std::optional<double>& to_cgs) {
    return nb::make_tuple(a_power, h_power, to_cgs);
}

/// For lengths, masses and velocities the powers of a and h, and the factor to cgs units, which make them physical.
nb::object frame_of(const SnapshotHeader& header) {
    if (!header.frame) {
        return nb::none();
    }
    nb::dict frame;
    frame["scale_factor"] = header.frame->scale_factor;
    for (const auto& [kind, scaling] :
         {std::pair("length", header.frame->length), std::pair("mass", header.frame->mass),
          std::pair("velocity", header.frame->velocity), std::pair("internal_energy", header.frame->internal_energy)}) {
        frame[kind] = scaling_of(scaling.a_power, scaling.h_power, scaling.to_cgs);
    }
    return frame;
}

/// The same of each column that was read, after its name in the file; None where the file does not state it.
nb::dict scalings_of(const io::CatalogFile& file) {
    nb::dict scalings;
    for (const io::CatalogFileColumn& column : file.columns) {
        if (!column.field.empty()) {
            scalings[nb::str(column.field.data(), column.field.size())] =
                nb::make_tuple(text_of(column.name), scaling_of(column.a_scaling, column.h_scaling, column.to_cgs));
        }
    }
    return scalings;
}

/// One line for people: format, particles, box, time.
std::string describe(const SnapshotHeader& header) {
    std::string text = "<kith.SnapshotHeader: " + header.format;
    for (std::size_t type = 0; type < header.counts.size(); ++type) {
        if (header.counts[type] > 0) {
            text += ", " + std::to_string(header.counts[type]);
            text += header.has_types ? " of type " + std::to_string(type) : " points";
        }
    }
    const auto shown = [](double number) { return std::string(nb::str(nb::float_(number)).c_str()); };
    if (header.box_size) {
        text += ", box " + shown((*header.box_size)[0]) + " x " + shown((*header.box_size)[1]) + " x " +
                shown((*header.box_size)[2]);
    }
    text += header.time ? ", time " + shown(*header.time) : "";
    text += header.redshift ? ", redshift " + shown(*header.redshift) : "";
    return text + ">";
}

/// The units of the columns that were read, by the names of the columns; empty where the file names none.
nb::dict units_of(const std::vector<io::CatalogFileColumn>& columns) {
    nb::dict units;
    for (const io::CatalogFileColumn& column : columns) {
        if (!column.field.empty()) {
            units[nb::str(column.field.data(), column.field.size())] = text_of(column.unit);
        }
    }
    return units;
}

/// An array that owns its numbers.
template <class T>
nb::object owned(std::vector<T> values, std::size_t columns) {
    auto* const kept = new std::vector<T>(std::move(values));
    return numpy_view(*kept, columns, owner_of(kept));
}

/// Linking lengths, then sizes and parents of each level, the number of rows that have labels, and the provenance.
nb::tuple read_fof_levels(const nb::bytes& path) {
    io::FofLevelsFile file = with_file(path, io::read_fof_levels);
    nb::list lengths;
    nb::list sizes;
    nb::list parents;
    for (FofLevel& level : file.levels) {
        lengths.append(level.linking_length);
        sizes.append(owned(std::move(level.sizes), 0));
        parents.append(owned(std::move(level.parents), 0));
    }
    return nb::make_tuple(lengths, sizes, parents, file.rows, texts_of(file.provenance));
}

nb::object read_fof_labels(const nb::bytes& path, std::int64_t level) {
    return owned(with_file(path, [&](const std::string& name) { return io::read_fof_labels(name, level); }), 0);
}

nb::object read_tipsy_array(const nb::bytes& path, bool integers) {
    if (integers) {
        return owned(with_file(path, io::read_tipsy_integers), 0);
    }
    RealArray real = with_file(path, io::read_tipsy_reals);
    const std::size_t columns = real.columns == 1 ? 0 : static_cast<std::size_t>(real.columns);
    return std::visit([&](auto& values) { return owned(std::move(values), columns); }, real.values);
}

io::Provenance provenance_of(const std::string& command, const std::string& input,
                             std::map<std::string, std::string> parameters) {
    return {std::string("kith ") + KITH_VERSION, command, input, std::move(parameters)};
}

} // namespace

void bind_files(nb::module_& module) {
    nb::class_<SnapshotHeader>(
        module, "SnapshotHeader",
        "What a file says of itself.\n\n"
        "`format` is a text, `counts` the numbers of particles of types 0 to 6, `has_types` whether it tells types\n"
        "apart. `dimension` and `is_float64` are those of positions. `box_size` has a period for each axis (0: open)\n"
        "or is None; `invalid_box` is a text if what the file says of the box has no meaning. `time`, `redshift` and\n"
        "`parameters` (other numbers by name) are as in the file, `warnings` texts, `files` the names of all files.\n"
        "`incomplete` is empty, or says which files of the snapshot are missing; `counts` are then those of one file.\n"
        "`frame` is None unless the file is known to be of a cosmological run: then a dict with the `scale_factor` a "
        "and,\n"
        "for each `length`, `mass`, `velocity` and `internal_energy`, a tuple of the powers of a and of h and of the "
        "factor to cgs units "
        "(or\n"
        "None) that make it physical; velocities become peculiar velocities.\n"
        "`softening` is the gravitational softening of types 0 to 6 at this time, Plummer equivalent, in the units of\n"
        "the positions; 0 where the file does not state it.")
        .def("__repr__", [](const SnapshotHeader& header) { return text_of(describe(header)); })
        .def_prop_ro("frame", frame_of)
        .def_prop_ro("format", [](const SnapshotHeader& header) { return text_of(header.format); })
        .def_ro("counts", &SnapshotHeader::counts)
        .def_ro("has_types", &SnapshotHeader::has_types)
        .def_ro("softening", &SnapshotHeader::softening)
        .def_ro("dimension", &SnapshotHeader::dimension)
        .def_prop_ro("is_float64", [](const SnapshotHeader& header) { return header.dtype == DType::float64; })
        .def_ro("box_size", &SnapshotHeader::box_size)
        .def_prop_ro("invalid_box", [](const SnapshotHeader& header) { return text_of(header.invalid_box); })
        .def_ro("time", &SnapshotHeader::time)
        .def_ro("redshift", &SnapshotHeader::redshift)
        .def_prop_ro("parameters", [](const SnapshotHeader& header) { return numbers_of(header.parameters); })
        .def_prop_ro("warnings", [](const SnapshotHeader& header) { return texts_of(header.warnings); })
        .def_prop_ro("incomplete", [](const SnapshotHeader& header) { return text_of(header.incomplete); })
        .def_prop_ro("files", [](const SnapshotHeader& header) {
            nb::list files;
            for (const auto& file : header.files) {
                const std::string& name = file.native();
                files.append(
                    nb::steal(PyUnicode_DecodeFSDefaultAndSize(name.data(), static_cast<Py_ssize_t>(name.size()))));
            }
            return files;
        });
    nb::class_<Snapshot>(module, "Snapshot")
        .def_ro("header", &Snapshot::header)
        .def_ro("uniform_mass", &Snapshot::uniform_mass)
        .def_prop_ro("positions",
                     [](nb::object self) { return array_of(nb::cast<const Snapshot&>(self).positions, false, self); })
        .def_prop_ro("velocities", column_or_none(&Snapshot::velocities, false))
        .def_prop_ro("masses", column_or_none(&Snapshot::masses, true))
        .def_prop_ro("internal_energies", column_or_none(&Snapshot::internal_energies, true))
        .def_prop_ro("types", [](nb::object self) { return numpy_view(nb::cast<Snapshot&>(self).types, 0, self); })
        .def_prop_ro("ids", [](nb::object self) { return numpy_view(nb::cast<Snapshot&>(self).ids, 0, self); })
        .def_prop_ro("file_rows",
                     [](nb::object self) { return numpy_view(nb::cast<Snapshot&>(self).file_rows, 0, self); });

    using io::CatalogFile;
    nb::class_<CatalogFile>(module, "CatalogFile")
        .def_prop_ro("format", [](const CatalogFile& file) { return text_of(file.format); })
        .def_ro("catalog", &CatalogFile::catalog)
        .def_prop_ro("file_rows",
                     [](nb::object self) { return numpy_view(nb::cast<CatalogFile&>(self).file_rows, 0, self); })
        .def_prop_ro("ids", [](nb::object self) { return numpy_view(nb::cast<CatalogFile&>(self).ids, 0, self); })
        .def_prop_ro("box", [](const CatalogFile& file) { return file.catalog.box; })
        .def_ro("linking_length", &CatalogFile::linking_length)
        .def_ro("time", &CatalogFile::time)
        .def_ro("redshift", &CatalogFile::redshift)
        .def_prop_ro("parameters", [](const CatalogFile& file) { return numbers_of(file.parameters); })
        .def_prop_ro("provenance", [](const CatalogFile& file) { return texts_of(file.provenance); })
        .def_prop_ro("units", [](const CatalogFile& file) { return units_of(file.columns); })
        .def_prop_ro("halo_units", [](const CatalogFile& file) { return units_of(file.halo_columns); })
        .def_prop_ro("halos",
                     [](nb::object self) -> nb::object {
                         const auto& halos = nb::cast<const CatalogFile&>(self).halos;
                         return halos ? nb::cast(&*halos, nb::rv_policy::reference_internal, self) : nb::none();
                     })
        .def_prop_ro("scalings", scalings_of)
        .def_prop_ro("warnings", [](const CatalogFile& file) { return texts_of(file.warnings); });

    module.def(
        "read_catalog",
        [](const nb::bytes& path, bool members) {
            return with_file(path,
                             [&](const std::string& name) { return io::read_catalog(name, {.members = members}); });
        },
        nb::arg("path"), nb::arg("members"));
    module.def(
        "read_header",
        [](const nb::bytes& path, const std::vector<std::string>& columns) {
            return with_file(path, [&](const std::string& name) { return io::read_header(name, columns); });
        },
        nb::arg("path"), nb::arg("columns"));
    module.def(
        "read_snapshot",
        [](const nb::bytes& path, nb::handle types, bool velocities, bool masses, bool ids, bool internal_energies,
           const std::vector<std::string>& columns, std::optional<std::int64_t> sample, std::uint64_t seed) {
            const io::ReadOptions options{selection_of(types), velocities, masses, ids, internal_energies, {}, columns};
            return with_file(path, [&](const std::string& name) {
                Snapshot snapshot = io::read_snapshot(name, options);
                if (sample) {
                    io::keep_sample(snapshot, *sample, seed);
                }
                return snapshot;
            });
        },
        nb::arg("path"), nb::arg("types").none(), nb::arg("velocities"), nb::arg("masses"), nb::arg("ids"),
        nb::arg("internal_energies"), nb::arg("columns"), nb::arg("sample").none(), nb::arg("seed"));
    module.def(
        "one_snapshot",
        [](const nb::list& paths) -> nb::object {
            std::vector<std::filesystem::path> files;
            for (const nb::handle path : paths) {
                files.emplace_back(name_of(nb::cast<nb::bytes>(path)));
            }
            std::optional<std::filesystem::path> whole;
            {
                const Unlocked unlocked;
                whole = io::one_snapshot(files);
            }
            return whole ? nb::object(nb::bytes(whole->c_str(), whole->native().size())) : nb::none();
        },
        nb::arg("paths"));
    module.def(
        "write_catalog",
        [](const nb::bytes& path, Catalog& catalog, const Snapshot& snapshot, nb::handle box,
           const std::string& command, const std::string& input, std::map<std::string, std::string> parameters) {
            catalog.box = box_of(box); // which parts and copies of a catalog keep beside it
            with_file(path, [&](const std::string& name) {
                io::write_catalog_hdf5(name, catalog, snapshot, provenance_of(command, input, std::move(parameters)));
            });
        },
        nb::arg("path"), nb::arg("catalog"), nb::arg("snapshot"), nb::arg("box").none(), nb::arg("command"),
        nb::arg("input"), nb::arg("parameters"));
    module.def("read_fof_levels", read_fof_levels, nb::arg("path"));
    module.def("read_fof_labels", read_fof_labels, nb::arg("path"), nb::arg("level"));
    module.def("read_tipsy_array", read_tipsy_array, nb::arg("path"), nb::arg("integers"));
    module.def("snapshot_of", snapshot_of, nb::arg("catalog"), nb::arg("rows"), nb::arg("is_float64"),
               nb::arg("has_masses"), nb::arg("to_cgs").none(), nb::arg("ids").none());
    module.def(
        "write_tipsy",
        [](const nb::bytes& path, const Snapshot& snapshot) {
            with_file(path, [&](const std::string& name) { io::write_tipsy(name, snapshot); });
        },
        nb::arg("path"), nb::arg("snapshot"));
    module.def(
        "write_gtp",
        [](const nb::bytes& path, const Catalog& catalog, double time) {
            with_file(path, [&](const std::string& name) { io::write_gtp(name, catalog, time); });
        },
        nb::arg("path"), nb::arg("catalog"), nb::arg("time"));
}

} // namespace kith::python
