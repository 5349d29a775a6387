// The attributes of halo catalogs: /Header as Gadget-4, AREPO and kith write it, /Parameters, and those of columns.
#include "io/hdf5_catalog_header.hpp"

#include "io/hdf5_box.hpp"
#include "io/hdf5_result.hpp"
#include "io/hdf5_snapshot.hpp"
#include "io/refuse.hpp"
#include "io/result_file.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <vector>

namespace kith::io::hdf5 {

namespace {

std::optional<double> finite(const std::optional<double>& value) {
    return value && std::isfinite(*value) ? value : std::nullopt;
}

// A text of the provenance; empty if there is none.
std::string_view text_in(const CatalogFile& catalog, const char* name) {
    const auto found = catalog.provenance.find(name);
    return found == catalog.provenance.end() ? std::string_view() : found->second;
}

// The attribute `Cosmology` of kith's catalogs ends in ": Redshift, Omega0": values that the input did not state and
// that stand there because other readers need some.
bool is_made_up(const CatalogFile& catalog, std::string_view name) {
    const std::string_view text = text_in(catalog, "Cosmology");
    const std::size_t colon = text.rfind(':');
    const std::string_view names = colon == std::string_view::npos ? "" : text.substr(colon + 1);
    return message(",", names, ",").find(message(" ", name, ",")) != std::string::npos;
}

// How many particles of each type the input holds, as "1000 262144 0 0 0 0 0".
void read_input_counts(const Object& header, CatalogFile& catalog) {
    const auto counts = numbers(header.get(), "InputCounts");
    if (!counts ||
        !std::all_of(counts->begin(), counts->end(), [](double count) { return count >= 0 && count < 0x1p53; })) {
        return;
    }
    std::string text;
    for (const double count : *counts) {
        text += message(text.empty() ? "" : " ", static_cast<std::int64_t>(count));
    }
    catalog.provenance.emplace("InputCounts", text);
}

// By their names: the library's walk through all attributes crashes on some damaged files.
void read_provenance(const Object& header, CatalogFile& catalog) {
    const auto read = [&](const char* name) {
        if (const auto value = text(header.get(), name)) {
            catalog.provenance.emplace(name, *value);
        }
    };
    for (const char* name : {"Masses", "Cosmology", "SortedSnapshot"}) {
        read(name);
    }
    std::for_each(provenance_names.begin(), provenance_names.end(), read);
}

void read_parameters(const OpenCatalog& opened, CatalogFile& catalog) {
    const Object parameters = open_if_there(opened.file.get(), "Parameters");
    for (const char* name : kept_parameters) {
        if (const std::optional<double> value = number(parameters.get(), name)) {
            catalog.parameters.emplace(name, *value);
        }
        const std::optional<double> value = number(opened.header.get(), name);
        if (value && !is_made_up(catalog, name)) {
            catalog.parameters.emplace(name, *value);
        }
    }
}

void read_box(const OpenCatalog& opened, int dimension, CatalogFile& catalog) {
    if (!has_attribute(opened.header.get(), "BoxSize")) {
        catalog.warnings.emplace_back("the header has no BoxSize; space is taken as open");
        return;
    }
    const auto periods = numbers(opened.header.get(), "BoxSize");
    const bool usable =
        periods && (periods->size() == 1 || periods->size() == static_cast<std::size_t>(dimension)) &&
        std::all_of(periods->begin(), periods->end(), [](double l) { return std::isfinite(l) && l >= 0; });
    if (!usable) {
        refuse(opened.name,
               "attribute BoxSize of /Header must be one finite number of 0 "
               "or more, or one for each of ",
               dimension, " axes");
    }
    std::vector<double> of_axes(dimension, periods->front());
    std::copy(periods->begin(), periods->end(), of_axes.begin());
    if (dimension <= 3) { // catalogs of Gadget-4 and AREPO have the options of the run, as their snapshots do
        RunBox box = box_of_run(opened.file.get(), *periods);
        if (!box.fault.empty()) {
            refuse(opened.name, box.fault);
        }
        std::copy_n(box.periods.begin(), dimension, of_axes.begin());
        std::move(box.warnings.begin(), box.warnings.end(), std::back_inserter(catalog.warnings));
    }
    catalog.catalog.box = Box::periodic(of_axes);
}

std::string format_of(const CatalogFile& catalog) {
    const std::string_view program = text_in(catalog, "Program");
    return message("HDF5 catalog (", program.starts_with("kith ") ? program : "Gadget-4 or AREPO", ")");
}

std::optional<CatalogFileColumn> describe_column(const OpenCatalog& opened, const std::string& path,
                                                 const std::string& name) {
    const Object object(H5Oopen(opened.file.get(), path.c_str(), H5P_DEFAULT));
    if (object.get() < 0 || H5Iget_type(object.get()) != H5I_DATASET) {
        return std::nullopt;
    }
    CatalogFileColumn column;
    column.name = name;
    const Space space(H5Dget_space(object.get()));
    hsize_t lengths[2] = {0, 1};
    if (H5Sget_simple_extent_ndims(space.get()) == 2) {
        H5Sget_simple_extent_dims(space.get(), lengths, nullptr);
    }
    column.columns = static_cast<std::int64_t>(lengths[1]);
    column.description = text(object.get(), "description").value_or("");
    column.unit = text(object.get(), "unit").value_or("");
    column.frame = text(object.get(), "frame").value_or("");
    column.a_scaling = number(object.get(), "a_scaling");
    column.h_scaling = number(object.get(), "h_scaling");
    column.to_cgs = number(object.get(), "to_cgs");
    return column;
}

} // namespace

bool holds_catalog(hid_t file) {
    if (!exists(file, "Group")) {
        return false;
    }
    const Object header = open_if_there(file, "Header");
    const Object groups = open_if_there(file, "Group");
    return (groups.get() >= 0 && H5Iget_type(groups.get()) == H5I_GROUP && exists(groups.get(), "GroupLen")) ||
           has_attribute(header.get(), "Ngroups_ThisFile");
}

OpenCatalog open_catalog(const std::filesystem::path& path) {
    OpenCatalog opened{path.string(), open_file(path), {}};
    const hid_t file = opened.file.get();
    opened.header = open_if_there(file, "Header");
    if (!holds_catalog(file)) {
        if (const auto result = describe_result_in(file, opened.name)) {
            refuse(opened.name, "this is no halo catalog: ", about_result(*result));
        }
        const bool particles = has_attribute(opened.header.get(), "NumPart_ThisFile");
        refuse(opened.name,
               "this HDF5 file is no halo catalog: it has neither /Group/GroupLen nor the attribute "
               "Ngroups_ThisFile of /Header",
               particles ? "; it is a snapshot, whose groups kith fof finds" : "", " (its root holds ",
               list_of_names_in(file), ")");
    }
    return opened;
}

std::optional<std::int64_t> count_attribute(const OpenCatalog& catalog, const char* name) {
    if (!has_attribute(catalog.header.get(), name)) {
        return std::nullopt;
    }
    const double value = number(catalog.header.get(), name).value_or(-1);
    if (!(value >= 0 && value < 0x1p62) || value != std::floor(value)) {
        refuse(catalog.name, "attribute ", name, " of /Header is no whole number of 0 or more");
    }
    return static_cast<std::int64_t>(value);
}

void read_catalog_header(const OpenCatalog& opened, int dimension, CatalogFile& catalog) {
    read_provenance(opened.header, catalog);
    read_input_counts(opened.header, catalog);
    catalog.format = format_of(catalog);
    read_box(opened, dimension, catalog);
    catalog.time = finite(number(opened.header.get(), "Time"));
    if (!is_made_up(catalog, "Redshift")) {
        catalog.redshift = finite(number(opened.header.get(), "Redshift"));
    }
    read_parameters(opened, catalog);
}

void list_columns(const OpenCatalog& opened, const char* group, std::vector<CatalogFileColumn>& columns) {
    const Group in(H5Gopen2(opened.file.get(), group, H5P_DEFAULT));
    for (const std::string& name : names_in(in.get())) {
        const auto known = [&](const CatalogFileColumn& column) { return column.name == name; };
        if (std::none_of(columns.begin(), columns.end(), known)) {
            if (auto column = describe_column(opened, message(group, "/", name), name)) {
                columns.push_back(std::move(*column));
            }
        }
    }
}

std::optional<double> number_in(const CatalogFile& catalog, const char* parameter) {
    const std::string_view text = text_in(catalog, parameter);
    double value = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool whole = failure == std::errc() && end == text.data() + text.size() && std::isfinite(value);
    return whole ? std::optional(value) : std::nullopt;
}

} // namespace kith::io::hdf5
