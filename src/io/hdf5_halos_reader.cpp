#include "io/hdf5_halos_reader.hpp"

#include "io/hdf5_column_reader.hpp"
#include "io/text_fields.hpp"

#include <kith/halo_file.hpp>

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>
#include <type_traits>

namespace kith::io::hdf5 {

namespace {

/// Without both there is no sphere.
constexpr std::array<std::string_view, 2> sphere_names = {"Group_M_", "Group_R_"};

bool is_of_kith(const CatalogFile& catalog) {
    const auto program = catalog.provenance.find("Program");
    return program != catalog.provenance.end() && program->second.starts_with("kith ");
}

} // namespace

void HaloBuilder::read(const OpenCatalog& opened, CatalogFile& catalog) {
    if (!exists(opened.file.get(), "Subhalo")) {
        return;
    }
    list_columns(opened, "Subhalo", catalog.halo_columns);
    read_spheres(opened, catalog);
    const std::optional<Dataset> lengths = find_column(opened, "Subhalo", {"SubhaloLen"});
    if (!lengths) {
        return;
    }
    has_columns_ = true;
    for_each_field(found_, [&](const HaloColumn& column, auto& values) {
        const bool is_parent_in_group = column.field == "parent" && !is_of_kith(catalog); // AREPO's
        if (column.name.starts_with("Subhalo") && !is_parent_in_group) {
            read_field(opened, column, lengths->rows, values, catalog);
        }
    });
    found_.halos += lengths->rows;
}

template <class T>
void HaloBuilder::read_field(const OpenCatalog& opened, const HaloColumn& column, std::int64_t rows,
                             std::vector<T>& all, CatalogFile& catalog) {
    const std::optional<Dataset> dataset = find_column(opened, "Subhalo", {column.name, column.read_else});
    const std::int64_t width = column.width(3);
    if (found_.halos > 0 && rows > 0 && dataset.has_value() == all.empty()) {
        refuse(opened.name, "Subhalo/", column.name, " is ", dataset ? "here but not in" : "missing, but there in",
               " another file of the set; the files are not of one catalog");
    }
    if (!dataset) {
        return;
    }
    if (dataset->rows != rows || dataset->columns != width) {
        refuse(opened.name, dataset->name, " is ", dataset->rows, " x ", dataset->columns, ", but there are ", rows,
               " halos; ", rows, " x ", width, " was expected");
    }
    append(all, values_of<T>(*dataset));
    for (CatalogFileColumn& listed : catalog.halo_columns) {
        if (dataset->name == message("Subhalo/", listed.name)) {
            listed.field = column.field;
        }
    }
}

void HaloBuilder::read_spheres(const OpenCatalog& opened, const CatalogFile& catalog) {
    for (const CatalogFileColumn& column : catalog.columns) {
        const std::string_view name = column.name;
        if (std::none_of(halo_columns.begin(), halo_columns.end(), [&](const HaloColumn& of_spheres) {
                return of_spheres.shape == ColumnShape::by_overdensity && name.starts_with(of_spheres.name);
            })) {
            continue;
        }
        const std::optional<Dataset> dataset = find_column(opened, "Group", {name});
        if (dataset && dataset->columns == 1) {
            append(spheres_[column.name], values_of<double>(*dataset));
        }
    }
}

/// Overdensities are in the order of the provenance, or of the names.
void HaloBuilder::place_spheres(const CatalogFile& catalog) {
    std::vector<Overdensity>& overdensities = found_.options.overdensities;
    overdensities.clear();
    std::vector<std::string> names;
    const auto groups = static_cast<std::size_t>(catalog.catalog.groups);
    const auto add = [&](const std::optional<Overdensity>& overdensity) {
        const std::string name = overdensity ? column_name(*overdensity) : "";
        const auto is_there = [&](std::string_view begin) {
            const auto found = spheres_.find(message(begin, name));
            return found != spheres_.end() && found->second.size() == groups;
        };
        if (overdensity && std::find(names.begin(), names.end(), name) == names.end() &&
            std::all_of(sphere_names.begin(), sphere_names.end(), is_there)) {
            overdensities.push_back(*overdensity);
            names.push_back(name);
        }
    };
    if (const auto stated = catalog.provenance.find("overdensities"); stated != catalog.provenance.end()) {
        for_each_field(std::string_view(stated->second), Separator::comma,
                       [&](int, std::string_view name) { add(overdensity_named(name)); });
    }
    for (const auto& [name, values] : spheres_) {
        add(overdensity_named(std::string_view(name).substr(sphere_names[0].size())));
    }
    for_each_field(found_, [&]<class T>(const HaloColumn& column, std::vector<T>& values) {
        if constexpr (std::is_same_v<T, double>) {
            if (column.shape == ColumnShape::by_overdensity) {
                place_spheres(column, names, values);
            }
        }
    });
}

/// Nothing where the file lacks a column.
void HaloBuilder::place_spheres(const HaloColumn& column, const std::vector<std::string>& names,
                                std::vector<double>& values) const {
    const std::size_t groups = found_.first_of_group.size();
    const double otherwise = column.kind == ColumnKind::ratio ? std::numeric_limits<double>::quiet_NaN() : 0;
    values.assign(static_cast<std::size_t>(found_.halos) * names.size(), otherwise);
    for (std::size_t i = 0; i < names.size(); ++i) {
        const auto of_groups = spheres_.find(message(column.name, names[i]));
        if (of_groups == spheres_.end() || of_groups->second.size() != groups) {
            values.clear();
            return;
        }
        for (std::size_t group = 0; group < groups; ++group) {
            if (const std::int64_t halo = found_.first_of_group[group]; halo >= 0) {
                values[static_cast<std::size_t>(halo) * names.size() + i] = of_groups->second[group];
            }
        }
    }
}

std::optional<Halos> HaloBuilder::take(const CatalogFile& file) {
    const Catalog& catalog = file.catalog;
    const bool is_own = file.provenance.contains("overdensities"); // kith halos, which may have found none
    if (!has_columns_ && !is_own) {
        return std::nullopt;
    }
    found_.groups = catalog.groups;
    found_.box = catalog.box;
    found_.lengths = catalog.lengths;
    found_.options.min_members = catalog.min_members;
    const std::string name = file.files.front().string();
    if (std::ssize(found_.group) != found_.halos) {
        refuse(name, "there are ", found_.halos, " halos, but no dataset Subhalo/SubhaloGroupNr says of which groups");
    }
    found_.group_offset = catalog.offset;
    found_.group_offset.push_back(catalog.groups == 0 ? 0 : catalog.offset.back() + catalog.count.back());
    found_.first_of_group.assign(static_cast<std::size_t>(catalog.groups), -1);
    for (std::int64_t halo = std::ssize(found_.group) - 1; halo >= 0; --halo) {
        const std::int64_t group = found_.group[halo];
        if (group < 0 || group >= catalog.groups) {
            refuse(name, "halo ", halo, " is of group ", group, ", but there are ", catalog.groups, " groups");
        }
        if (found_.count[halo] < 0 || found_.count[halo] > catalog.count[group]) {
            refuse(name, "halo ", halo, " has ", found_.count[halo], " members, but its group ", group, " has ",
                   catalog.count[group]);
        }
        found_.first_of_group[group] = halo;
    }
    place_spheres(file);
    return std::move(found_);
}

} // namespace kith::io::hdf5
