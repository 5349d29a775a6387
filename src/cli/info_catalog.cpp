// kith info of a halo catalog: its groups, how they were found, and what its columns are; and of other results.
#include "cli/info_catalog.hpp"

#include "cli/options.hpp"
#include "cli/progress_bar.hpp"
#include "cli/report.hpp"

#include <kith/catalog_reader.hpp>
#include <kith/io.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

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
    json["columns"] = Json::array();
    for (const io::CatalogFileColumn& column : file.columns) {
        json["columns"].push_back(json_of(column));
    }
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
    for (std::size_t i = 0; i < file.columns.size(); ++i) {
        print_line(i == 0 ? "columns" : "", summary_of(file.columns[i]));
    }
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
