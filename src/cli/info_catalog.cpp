// kith info of a halo catalog: its groups, how they were found, and what its columns are; and of other results.
#include "cli/info_catalog.hpp"

#include "cli/halo_arguments.hpp"
#include "cli/options.hpp"
#include "cli/progress_bar.hpp"
#include "cli/report.hpp"

#include <kith/catalog_reader.hpp>
#include <kith/io.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace kith::cli {

namespace {

std::int64_t members_of(const Catalog& catalog) {
    return std::accumulate(catalog.count.begin(), catalog.count.end(), std::int64_t{0});
}

template <class Value>
Json json_of(const std::optional<Value>& value) {
    return value ? Json(*value) : Json(nullptr);
}

Json json_of(const io::CatalogFileColumn& column) {
    Json json;
    json["name"] = column.name;
    json["columns"] = column.columns;
    json["unit"] = column.unit;
    json["frame"] = column.frame;
    json["a_scaling"] = json_of(column.a_scaling);
    json["h_scaling"] = json_of(column.h_scaling);
    json["to_cgs"] = json_of(column.to_cgs);
    json["description"] = column.description;
    return json;
}

Json json_of(const std::vector<io::CatalogFileColumn>& columns) {
    Json json = Json::array();
    for (const io::CatalogFileColumn& column : columns) {
        json.push_back(json_of(column));
    }
    return json;
}

/// Of halos and what they were found with, whose names are those of the provenance.
Json json_of(const Halos& halos, const io::CatalogFile& file) {
    const auto [least, most] = std::minmax_element(halos.mass.begin(), halos.mass.end());
    Json json;
    json["count"] = halos.halos;
    json["bound"] = std::accumulate(halos.count.begin(), halos.count.end(), std::int64_t{0});
    json["largest"] = largest_of(halos.count);
    json["masses"] = halos.mass.empty() ? Json(nullptr) : Json{*least, *most};
    json["overdensities"] = names_of(halos.options.overdensities);
    json["columns"] = json_of(file.halo_columns);
    return json;
}

void print_json_of(const io::CatalogFile& file, const std::string& path) {
    const Catalog& catalog = file.catalog;
    const auto [least, most] = std::minmax_element(catalog.mass.begin(), catalog.mass.end());
    std::vector<double> box;
    for (int axis = 0; axis < catalog.dimension; ++axis) {
        box.push_back(file.catalog.box.period(axis));
    }
    Json json;
    json["file"] = path;
    json["format"] = file.format;
    json["groups"] = catalog.groups;
    json["dimension"] = catalog.dimension;
    json["dtype"] = name_of(file.dtype);
    json["min_members"] = catalog.min_members;
    json["members"] = members_of(catalog);
    json["largest"] = largest_of(catalog.count);
    json["masses"] = catalog.mass.empty() ? Json(nullptr) : Json{*least, *most};
    json["linking_length"] = json_of(file.linking_length);
    json["box_size"] = box;
    json["time"] = json_of(file.time);
    json["redshift"] = json_of(file.redshift);
    json["parameters"] = file.parameters;
    json["provenance"] = file.provenance;
    json["columns"] = json_of(file.columns);
    json["halos"] = file.halos ? json_of(*file.halos, file) : Json(nullptr);
    json["warnings"] = file.warnings;
    json["peak_rss_bytes"] = peak_rss_bytes();
    print_json(json);
}

/// "x 3, code length, comoving", of what is known.
std::string summary_of(const io::CatalogFileColumn& column) {
    std::string text = column.columns == 1 ? "" : fmt::format(" x {}", column.columns);
    if (!column.unit.empty() && column.unit != "none") {
        text += ", " + column.unit;
    }
    if (!column.frame.empty() && column.frame != "none") {
        text += ", " + column.frame;
    }
    return column.name + text;
}

void print_columns(std::string label, const std::vector<io::CatalogFileColumn>& columns) {
    for (const io::CatalogFileColumn& column : columns) {
        print_line(std::exchange(label, ""), summary_of(column));
    }
}

/// The numbers with these names in the provenance, as "G = 43.0, H = 100".
std::string numbers_of(const io::CatalogFile& file, std::initializer_list<const char*> names) {
    std::vector<std::string> texts;
    for (const char* name : names) {
        if (const auto found = file.provenance.find(name); found != file.provenance.end()) {
            texts.push_back(fmt::format("{} = {}", name, found->second));
        }
    }
    return fmt::format("{}", fmt::join(texts, ", "));
}

void print_halos_of(const io::CatalogFile& file) {
    const Halos& halos = *file.halos;
    print_line("halos",
               fmt::format("{} with {} bound members", format_count(halos.halos),
                           format_count(std::accumulate(halos.count.begin(), halos.count.end(), std::int64_t{0}))));
    if (halos.halos > 0) {
        print_line("", fmt::format("largest {}", fmt::join(largest_of(halos.count), ", ")));
    }
    if (!halos.mass.empty()) {
        const auto [least, most] = std::minmax_element(halos.mass.begin(), halos.mass.end());
        print_line("", fmt::format("masses {} to {}", *least, *most));
    }
    if (!halos.options.overdensities.empty()) {
        print_line("spheres", fmt::format("{}", fmt::join(names_of(halos.options.overdensities), ", ")));
    }
    for (const std::string& text : {numbers_of(file, {"G", "H", "omega_matter"}),
                                    numbers_of(file, {"softening", "softening_kernel", "least_radius", "unbind"})}) {
        if (!text.empty()) {
            print_line("", text);
        }
    }
}

void print_summary_of(const io::CatalogFile& file, const std::string& path) {
    const Catalog& catalog = file.catalog;
    print_line("file", path);
    print_line("format", file.format);
    print_line("groups", fmt::format("{} of {} or more members, in {} dimensions", format_count(catalog.groups),
                                     format_count(catalog.min_members), catalog.dimension));
    print_line("members", format_count(members_of(catalog)));
    if (catalog.groups > 0) {
        print_line("largest", fmt::format("{}", fmt::join(largest_of(catalog.count), ", ")));
    }
    if (!catalog.mass.empty()) {
        const auto [least, most] = std::minmax_element(catalog.mass.begin(), catalog.mass.end());
        print_line("masses", fmt::format("{} to {}", *least, *most));
    }
    if (file.halos) {
        print_halos_of(file);
    }
    if (file.linking_length) {
        const auto relative = file.provenance.find("b");
        print_line("linking", format_length(*file.linking_length, file.dtype) +
                                  (relative == file.provenance.end() ? "" : ", b = " + relative->second));
    }
    if (const auto psi = file.provenance.find("psi"); psi != file.provenance.end()) {
        print_line("psi", psi->second);
    }
    print_line("box", describe(catalog.box, catalog.dimension));
    print_if_known("time", file.time);
    print_if_known("redshift", file.redshift);
    for (const auto& [label, name] : {std::pair("input", "Input"), std::pair("types", "types")}) {
        const auto found = file.provenance.find(name);
        if (found != file.provenance.end() && !found->second.empty()) {
            print_line(label, found->second);
        }
    }
    print_columns("columns", file.columns);
    print_columns("of halos", file.halo_columns);
    for (const auto& [name, value] : file.parameters) {
        print_line("", fmt::format("{} = {}", name, value));
    }
}

} // namespace

void show_result(const io::ResultFile& result, const std::string& path, bool as_json) {
    if (as_json) {
        Json json;
        json["file"] = path;
        json["format"] = result.format;
        json["kind"] = result.kind;
        json["arrays"] = Json::array();
        for (const io::ResultArray& array : result.arrays) {
            json["arrays"].push_back(
                {{"name", array.name}, {"shape", array.shape}, {"description", array.description}});
        }
        json["provenance"] = result.provenance;
        json["peak_rss_bytes"] = peak_rss_bytes();
        print_json(json);
        return;
    }
    print_line("file", path);
    print_line("format", result.format);
    print_line("holds", result.kind);
    for (std::size_t i = 0; i < result.arrays.size(); ++i) {
        const io::ResultArray& array = result.arrays[i];
        print_line(i == 0 ? "arrays" : "", fmt::format("{} ({}){}{}", array.name, fmt::join(array.shape, " x "),
                                                       array.description.empty() ? "" : ": ", array.description));
    }
    for (const auto& [name, value] : result.provenance) {
        print_line("", fmt::format("{} = {}", name, value));
    }
}

void show_catalog(const std::string& path, bool as_json) {
    ProgressBar bar;
    bar.announce("reading");
    const io::CatalogFile file = io::read_catalog(path, {.members = false});
    bar.erase();
    print_warnings(file.warnings);
    if (as_json) {
        print_json_of(file, path);
    } else {
        print_summary_of(file, path);
    }
}

} // namespace kith::cli
