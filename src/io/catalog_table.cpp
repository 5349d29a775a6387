// Groups as a table in text: CSV (RFC 4180) or ECSV 1.0 (Astropy Proposal for Enhancement 6).
//
// The header of ECSV is YAML in comment lines; texts in it are written as JSON strings, which YAML takes. A unit is
// given only where the numbers are physical as they stand and their unit is known: a comoving length or a mass per h
// has none that ECSV could state.
#include "io/catalog_columns.hpp"
#include "io/output_file.hpp"
#include "io/refuse.hpp"

#include <nlohmann/json.hpp>

#include <array>
#include <memory>

namespace kith::io {

using detail::append;

namespace {

/// One column of the table: a column of the catalog, or one component of it.
struct TableColumn {
    const CatalogColumn* column;
    std::string name;
    std::shared_ptr<const ColumnValues> values;
    std::int64_t width;
    std::int64_t component;
    ColumnType type;
};

std::string component_name(const CatalogColumn& column, std::int64_t component, int dimension) {
    constexpr std::string_view axes = "xyz";
    if (column.shape == ColumnShape::scalar) {
        return std::string(column.name);
    }
    if (column.shape == ColumnShape::vector && dimension <= 3) {
        return message(column.name, "_", axes.substr(static_cast<std::size_t>(component), 1));
    }
    return message(column.name, "_", component);
}

std::array<bool, max_types> types_with_members(const Catalog& catalog) {
    std::array<bool, max_types> present{};
    for (std::size_t i = 0; i < catalog.count_by_type.size(); ++i) {
        present[i % max_types] = present[i % max_types] || catalog.count_by_type[i] > 0;
    }
    return present;
}

std::vector<TableColumn> columns_of_table(const CatalogSource& source) {
    const std::array<bool, max_types> types = types_with_members(source.catalog);
    std::vector<TableColumn> columns;
    for (const CatalogColumn& column : catalog_columns) {
        if (!column.in_table() || !is_present(column, source)) {
            continue;
        }
        const auto values = std::make_shared<const ColumnValues>(values_of(column, source));
        const std::int64_t width = column.width(source.catalog.dimension);
        for (std::int64_t component = 0; component < width; ++component) {
            if (column.shape != ColumnShape::by_type || types[component]) {
                columns.push_back({&column, component_name(column, component, source.catalog.dimension), values, width,
                                   component, type_of(column, source)});
            }
        }
    }
    return columns;
}

void append_value(std::string& line, const TableColumn& column, std::int64_t row) {
    const auto at = static_cast<std::size_t>(row * column.width + column.component);
    std::visit(
        [&]<class T>(const std::vector<T>& values) {
            if constexpr (std::is_floating_point_v<T>) {
                if (column.type == ColumnType::float32) {
                    append(line, static_cast<float>(values[at]));
                    return;
                }
                append(line, values[at]);
            } else {
                append(line, std::int64_t{values[at]});
            }
        },
        *column.values);
}

std::string_view ecsv_type(const TableColumn& column) {
    constexpr std::array<std::string_view, 5> names = {"uint8", "int32", "int64", "float32", "float64"};
    return names[static_cast<std::size_t>(column.type)];
}

std::string json_text(std::string_view text) {
    return nlohmann::json(text).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

// The unit in cgs, where no power of a or h is to be applied.
std::string ecsv_unit(const CatalogColumn& column, const std::optional<Frame>& frame) {
    const std::optional<Scaling> scaling = frame ? scaling_of(column, *frame) : std::nullopt;
    if (!scaling || !scaling->to_cgs || scaling->a_power != 0 || scaling->h_power != 0) {
        return "";
    }
    const std::string_view unit = unit_of(column) == "code mass"     ? "g"
                                  : unit_of(column) == "code length" ? "cm"
                                                                     : "cm / s";
    return message(*scaling->to_cgs, " ", unit);
}

std::string ecsv_description(const TableColumn& column, const CatalogSource& source) {
    const std::optional<Frame>& frame = source.snapshot.header.frame;
    std::string text = description_of(*column.column, source);
    if (column.column->shape == ColumnShape::by_type) {
        text += message("; type ", column.component);
    }
    if (unit_of(*column.column) == "none") {
        return text;
    }
    text += message("; ", unit_of(*column.column), ", ", frame_of(*column.column, frame));
    if (const std::optional<Scaling> scaling = frame ? scaling_of(*column.column, *frame) : std::nullopt) {
        text += message("; times a^", scaling->a_power, " h^", scaling->h_power, " for physical units without h");
    }
    return text;
}

std::string ecsv_header(const std::vector<TableColumn>& columns, const CatalogSource& source,
                        const Provenance& provenance) {
    std::string text = "# %ECSV 1.0\n# ---\n# delimiter: ','\n# datatype:\n";
    text += "# - {name: Group, datatype: int64, description: \"number of the group, by decreasing size\"}\n";
    for (const TableColumn& column : columns) {
        const std::string unit = ecsv_unit(*column.column, source.snapshot.header.frame);
        text += message("# - {name: ", column.name, unit.empty() ? "" : ", unit: ", unit.empty() ? "" : json_text(unit),
                        ", datatype: ", ecsv_type(column),
                        ", description: ", json_text(ecsv_description(column, source)), "}\n");
    }
    text += "# meta: !!omap\n";
    const auto add = [&](std::string_view name, std::string_view value) {
        text += message("# - {", json_text(name), ": ", json_text(value), "}\n");
    };
    add("Program", provenance.program);
    add("Command", provenance.command);
    add("Input", provenance.input);
    for (const auto& [name, value] : provenance.parameters) {
        add(name, value);
    }
    if (const std::optional<Frame>& frame = source.snapshot.header.frame) {
        text += message("# - {\"ScaleFactor\": ", frame->scale_factor, "}\n");
    }
    return text + "# schema: astropy-2.0\n";
}

} // namespace

void write_catalog_table(const std::filesystem::path& path, TableFormat format, const Catalog& catalog,
                         const Snapshot& snapshot, const Provenance& provenance) {
    if (catalog.member_array.empty()) {
        require_columns(catalog);
    } else {
        require_consistent(catalog, snapshot);
    }
    const CatalogSource source{catalog, snapshot};
    const std::vector<TableColumn> columns = columns_of_table(source);
    const std::string_view end = format == TableFormat::csv ? "\r\n" : "\n";
    OutputFile file(path);
    std::string text = format == TableFormat::ecsv ? ecsv_header(columns, source, provenance) : "";
    text += "Group";
    for (const TableColumn& column : columns) {
        text += "," + column.name;
    }
    text += end;
    constexpr std::size_t enough = 1 << 20;
    for (std::int64_t group = 0; group < catalog.groups; ++group) {
        append(text, group);
        for (const TableColumn& column : columns) {
            text += ',';
            append_value(text, column, group);
        }
        text += end;
        if (text.size() > enough) {
            file.write(text);
            text.clear();
        }
    }
    file.write(text);
    file.commit();
}

} // namespace kith::io
