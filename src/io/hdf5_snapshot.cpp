// The header of Gadget-like HDF5 snapshots: Gadget-2 to Gadget-4, AREPO, SWIFT and what others derive from them.
//
// Particles are in /PartType0 to /PartType6, metadata in attributes of /Header; Gadget-4 keeps cosmology and units in
// /Parameters, SWIFT in /Cosmology and /Units. Counts come from the shapes of the datasets; where the header says
// otherwise a warning is given. Attributes may be scalars or arrays, of any numeric type, and any may be missing.
#include "io/hdf5_snapshot.hpp"

#include "io/frame.hpp"
#include "io/hdf5_box.hpp"
#include "io/hdf5_frame.hpp"
#include "io/hdf5_link.hpp"
#include "io/hdf5_result.hpp"
#include "io/hdf5_table.hpp"
#include "io/joined.hpp"
#include "io/refuse.hpp"
#include "io/result_file.hpp"

#include <kith/error.hpp>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace kith::io::hdf5 {

namespace {

// The first of several places that has a number under one of several names.
std::optional<std::vector<double>> first_of(const std::vector<const Object*>& places,
                                            std::initializer_list<const char*> names) {
    for (const char* name : names) {
        for (const Object* place : places) {
            if (auto values = numbers(place->get(), name)) {
                return values;
            }
        }
    }
    return std::nullopt;
}

[[noreturn]] void refuse_other_hdf5(const SnapshotFile& snapshot) {
    const hid_t file = snapshot.file.get();
    if (const auto result = describe_result_in(file, snapshot.name)) {
        refuse(snapshot.name, about_result(*result));
    }
    std::string remedy;
    if (exists(file, "Group")) {
        const Object header = open_if_there(file, "Header");
        const std::string input = text(header.get(), "Input").value_or("");
        remedy = message("; it is a halo catalog, which kith info and read_catalog read: where points are needed, give "
                         "the snapshot that it was made from",
                         input.empty() ? "" : ", '" + input + "'");
    } else if (exists(file, "Groups")) {
        remedy = "; it looks like a halo catalog";
    }
    const std::string points = first_points(file, snapshot.name);
    refuse(snapshot.name, "this HDF5 file is no snapshot: it has no particles in /PartType0 to /PartType",
           max_types - 1, remedy, " (its root holds ", list_of_names_in(file), ")",
           points.empty()
               ? ""
               : message("; to read one of its datasets as points, name it, as in ", snapshot.name, ":", points));
}

// Gadget-2 and AREPO keep the upper 32 bits of each total apart.
std::optional<TypeCounts> totals(const Object& header) {
    const auto low = first_of({&header}, {"NumPart_Total", "TotalNumberOfParticles"});
    const auto high = numbers(header.get(), "NumPart_Total_HighWord").value_or(std::vector<double>{});
    if (!low) {
        return std::nullopt;
    }
    TypeCounts sum{};
    for (std::size_t type = 0; type < std::min(low->size(), sum.size()); ++type) {
        const double total = (*low)[type] + (type < high.size() ? std::ldexp(high[type], 32) : 0);
        sum[type] = total >= 0 && total < 0x1p62 ? static_cast<std::int64_t>(total) : -1;
    }
    return sum;
}

std::int64_t number_of_files(const SnapshotFile& snapshot, const Object& header) {
    const double files = number(header.get(), "NumFilesPerSnapshot").value_or(1);
    if (!(files >= 0 && files < 0x1p31)) {
        refuse(snapshot.name, "attribute NumFilesPerSnapshot of /Header is ", files,
               "; a number of files was expected");
    }
    return std::max(std::int64_t{1}, static_cast<std::int64_t>(files));
}

// Counts, dimension and precision from the shapes of the coordinates. Whether their values are there is found out for
// the types that are read.
void survey_types(const SnapshotFile& snapshot, FileSummary& summary, const std::vector<double>& announced) {
    SnapshotHeader& header = summary.header;
    std::optional<std::int64_t> columns;
    for (std::size_t type = 0; type < header.counts.size(); ++type) {
        const double claim = type < announced.size() ? announced[type] : 0;
        if (const std::string dangling =
                describe_dangling(snapshot.file.get(), message(group_name(type), "/Coordinates"));
            !dangling.empty()) {
            summary.faults[type] = message(snapshot.name, ": ", dangling);
            header.counts[type] = claim > 0 && claim < 0x1p62 ? static_cast<std::int64_t>(claim) : 0;
            header.warnings.push_back(summary.faults[type]);
            continue;
        }
        if (!exists(snapshot.file.get(), group_name(type))) {
            if (claim > 0) {
                header.warnings.push_back(message("the header announces ", claim, " particles of type ", type,
                                                  ", but there is no group ", group_name(type)));
            }
            continue;
        }
        const std::optional<Dataset> coordinates = snapshot.describe(type, {"Coordinates"});
        if (!coordinates) {
            if (snapshot.describe(type, {"IntCoordinates"})) {
                throw error(ErrorKind::unsupported, snapshot.name, ": ", group_name(type),
                            " holds IntCoordinates, which are not read; write Coordinates instead");
            }
            header.warnings.push_back(message(group_name(type), " has no Coordinates and is ignored"));
            continue;
        }
        if (coordinates->type != H5T_FLOAT) {
            refuse(snapshot.name, coordinates->name, " holds whole numbers; floating-point coordinates were expected");
        }
        if (coordinates->columns < 2 || coordinates->columns > max_dimension ||
            columns.value_or(coordinates->columns) != coordinates->columns) {
            refuse(snapshot.name, coordinates->name, " has ", coordinates->columns, " columns; 2 to ", max_dimension,
                   " were expected, the same for every type");
        }
        columns = coordinates->columns;
        header.counts[type] = coordinates->rows;
        if (coordinates->rows > 0 && coordinates->dtype() == DType::float64) {
            header.dtype = DType::float64;
        }
        if (!announced.empty() && claim != static_cast<double>(coordinates->rows)) {
            header.warnings.push_back(message("the header announces ", claim, " particles of type ", type, ", but ",
                                              coordinates->name, " has ", coordinates->rows, " rows; the rows count"));
        }
    }
    for (std::size_t type = header.counts.size(); type < announced.size(); ++type) { // NTYPES of Gadget-4 and AREPO
        if (announced[type] > 0) {
            header.warnings.push_back(
                message(announced[type], " particles of type ", type, " are not read: types are 0 to ", max_types - 1));
        }
    }
    header.dimension = static_cast<int>(columns.value_or(3));
}

std::string format_name(const SnapshotFile& snapshot, const Object& header) {
    const hid_t file = snapshot.file.get();
    const RunCode code = code_of(file);
    if (code == RunCode::swift) {
        return "HDF5 (SWIFT)";
    }
    if (exists(file, "Config") && (exists(file, "Parameters") || code != RunCode::other)) {
        const bool arepo = code == RunCode::arepo ||
                           (code == RunCode::other && numbers(header.get(), "NumPart_Total_HighWord").has_value());
        return arepo ? "HDF5 (AREPO)" : "HDF5 (Gadget-4)";
    }
    return "HDF5 (Gadget-like)";
}

// What is wrong with periods for points of that dimension; nothing if they can be used.
std::string fault_of(const std::vector<double>& periods, int dimension) {
    const auto entries = static_cast<int>(periods.size());
    if (!std::all_of(periods.begin(), periods.end(), [](double l) { return std::isfinite(l) && l >= 0; })) {
        return "a period is a finite number, 0 or more";
    }
    if (std::all_of(periods.begin(), periods.end(), [](double l) { return l == 0; })) {
        return "";
    }
    if (entries > 1 && entries < dimension) {
        return message("it has ", entries, " periods for ", dimension, " axes");
    }
    return entries > 3 || dimension > 3 ? "boxes are read for at most 3 axes" : "";
}

// The first place that states a BoxSize decides, whatever it states. One that has no meaning is not read as open space:
// it is kept as header.invalid_box, and whoever needs the box refuses the file.
void read_box(const SnapshotFile& snapshot, SnapshotHeader& header,
              const std::vector<std::pair<const char*, const Object*>>& places) {
    for (const auto& [group, place] : places) {
        if (!has_attribute(place->get(), "BoxSize")) {
            continue;
        }
        const std::optional<std::vector<double>> size = numbers(place->get(), "BoxSize");
        const std::string fault = size ? fault_of(*size, header.dimension) : "a period is a number";
        if (!fault.empty()) {
            const std::optional<std::string> words = text(place->get(), "BoxSize");
            const std::string numbers = size ? joined(*size, ", ") : "";
            const std::string value = size    ? (size->size() == 1 ? numbers : "[" + numbers + "]")
                                      : words ? "'" + *words + "'"
                                              : "of another type";
            header.invalid_box =
                message(snapshot.name, ": attribute BoxSize of /", group, " is ", value, ", but ", fault);
        } else if (size->size() <= 3) {
            RunBox box = box_of_run(snapshot.file.get(), *size);
            header.box_size = box.periods;
            if (!box.fault.empty()) {
                header.box_size.reset();
                header.invalid_box = message(snapshot.name, ": ", box.fault);
            }
            std::move(box.warnings.begin(), box.warnings.end(), std::back_inserter(header.warnings));
        }
        if (!header.invalid_box.empty()) {
            header.warnings.push_back(header.invalid_box + "; no box is taken from the file");
        }
        return;
    }
}

} // namespace

std::string group_name(std::size_t type) {
    return message("PartType", type);
}

std::optional<Dataset> SnapshotFile::find(std::size_t type, std::initializer_list<const char*> names) const {
    const std::string group = group_name(type);
    const Group opened(check(H5Gopen2(file.get(), group.c_str(), H5P_DEFAULT), name,
                             message(group, " could not be opened as a group")));
    for (const char* candidate : names) {
        if (exists(opened.get(), candidate)) {
            return open_dataset(file.get(), message(group, "/", candidate), name);
        }
    }
    return std::nullopt;
}

std::optional<Dataset> SnapshotFile::describe(std::size_t type, std::initializer_list<const char*> names) const {
    const std::string group = group_name(type);
    check(Group(H5Gopen2(file.get(), group.c_str(), H5P_DEFAULT)).get(), name,
          message(group, " could not be opened as a group"));
    for (const char* candidate : names) {
        const std::string path = message(group, "/", candidate);
        const bool is_linked = H5Lexists(file.get(), path.c_str(), H5P_DEFAULT) > 0;
        if (is_linked && describe_dangling(file.get(), path).empty()) {
            return describe_dataset(file.get(), path, name);
        }
    }
    return std::nullopt;
}

SnapshotFile open_snapshot(const std::filesystem::path& path) {
    SnapshotFile snapshot{path.string(), hdf5::open_file(path)};
    const Object attributes = open_if_there(snapshot.file.get(), "Header");
    bool any = first_of({&attributes}, {"NumPart_ThisFile", "NumPart_This"}).has_value();
    for (std::size_t type = 0; type < static_cast<std::size_t>(max_types); ++type) {
        any = any || H5Lexists(snapshot.file.get(), group_name(type).c_str(), H5P_DEFAULT) > 0;
    }
    if (!any) {
        refuse_other_hdf5(snapshot);
    }
    return snapshot;
}

FileSummary summarize(const SnapshotFile& snapshot) {
    const hid_t file = snapshot.file.get();
    const Object attributes = open_if_there(file, "Header");
    const Object parameters = open_if_there(file, "Parameters");
    const Object cosmology = open_if_there(file, "Cosmology");
    const Object units = open_if_there(file, "Units");

    FileSummary summary;
    summary.files = number_of_files(snapshot, attributes);
    summary.totals = totals(attributes);
    SnapshotHeader& header = summary.header;
    header.format = format_name(snapshot, attributes);
    survey_types(snapshot, summary,
                 first_of({&attributes}, {"NumPart_ThisFile", "NumPart_This"}).value_or(std::vector<double>{}));
    if (const auto table = numbers(attributes.get(), "MassTable")) {
        std::copy_n(table->begin(), std::min(table->size(), summary.mass_table.size()), summary.mass_table.begin());
    }
    read_box(snapshot, header, {{"Header", &attributes}, {"Parameters", &parameters}});
    header.redshift = number(attributes.get(), "Redshift");
    for (const char* name : kept_parameters) {
        if (const auto values = first_of({&attributes, &parameters, &cosmology, &units}, {name})) {
            header.parameters.emplace(name, values->front());
        }
    }
    name_as_gadget_does(header.parameters);
    read_time_and_frame(snapshot, header, {attributes, parameters, cosmology});
    return summary;
}

} // namespace kith::io::hdf5
