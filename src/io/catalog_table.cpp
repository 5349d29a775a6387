// Groups or halos as a table in text: CSV (RFC 4180) or ECSV 1.0 (Astropy Proposal for Enhancement 6).
//
// The header of ECSV is YAML in comment lines; texts in it are written as JSON strings, which YAML takes. A unit is
// given only where the numbers are physical as they stand and their unit is known: a comoving length or a mass per h
// has none that ECSV could state.
#include "io/catalog_columns.hpp"
#include "io/halo_columns.hpp"
#include "io/output_file.hpp"
#include "io/refuse.hpp"

#include <nlohmann/json.hpp>

#include <array>
#include <memory>

namespace kith::io {

using detail::append;

namespace {

/// One column of the table: a column of a catalog, or one component of it.
struct TableColumn {
    const FileColumn* column;
    std::string name;
    std::shared_ptr<const ColumnValues> values;
    std::int64_t component;
};

/// What a table is written from.
struct Table {
    const char* row; ///< name of the column of numbers
    const char* description;
    std::vector<FileColumn> columns;
    std::int64_t rows;
    const CatalogSource& source;
};

std::string component_name(const FileColumn& column, std::int64_t component) {
    constexpr std::string_view axes = "xyz";
    if (column.shape == ColumnShape::scalar) {
        return column.name;
    }
    if (column.shape == ColumnShape::vector && column.width <= 3) {
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

std::vector<TableColumn> columns_of_table(const Table& table) {
    const std::array<bool, max_types> types = types_with_members(table.source.catalog);
    std::vector<TableColumn> columns;
    for (const FileColumn& column : table.columns) {
        if (!column.in_table) {
            continue;
        }
        const auto values = std::make_shared<const ColumnValues>(column.values());
        for (std::int64_t component = 0; component < column.width; ++component) {
            if (column.shape != ColumnShape::by_type || types[component]) {
                columns.push_back({&column, component_name(column, component), values, component});
            }
        }
    }
    return columns;
}

void append_value(std::string& line, const TableColumn& column, std::int64_t row) {
    const auto at = static_cast<std::size_t>(row * column.column->width + column.component);
    std::visit(
        [&]<class T>(const std::vector<T>& values) {
            if constexpr (std::is_floating_point_v<T>) {
                if (column.column->type == ColumnType::float32) {
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
    return names[static_cast<std::size_t>(column.column->type)];
}

std::string json_text(std::string_view text) {
    return nlohmann::json(text).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

// The unit in cgs, where no power of a or h is to be applied.
std::string ecsv_unit(ColumnKind kind, const std::optional<Frame>& frame) {
    const std::optional<Scaling> scaling = frame ? scaling_of(kind, *frame) : std::nullopt;
    if (!scaling || !scaling->to_cgs || scaling->a_power != 0 || scaling->h_power != 0) {
        return "";
    }
    const std::string_view unit = kind == ColumnKind::mass               ? "g"
                                  : kind == ColumnKind::length           ? "cm"
                                  : kind == ColumnKind::angular_momentum ? "cm2 / s"
                                                                         : "cm / s";
    return message(*scaling->to_cgs, " ", unit);
}

std::string ecsv_description(const TableColumn& of_table, const std::optional<Frame>& frame) {
    const FileColumn& column = *of_table.column;
    std::string text = column.description;
    if (column.shape == ColumnShape::by_type) {
        text += message("; type ", of_table.component);
    }
    if (unit_of(column.kind) == "none") {
        return text;
    }
    text += message("; ", unit_of(column.kind), ", ", frame_of(column.kind, frame));
    if (const std::optional<Scaling> scaling = frame ? scaling_of(column.kind, *frame) : std::nullopt) {
        text += message("; times a^", scaling->a_power, " h^", scaling->h_power, " for physical units without h");
    }
    return text;
}

std::string ecsv_header(const Table& table, const std::vector<TableColumn>& columns, const Provenance& provenance) {
    const std::optional<Frame>& frame = table.source.snapshot.header.frame;
    std::string text = "# %ECSV 1.0\n# ---\n# delimiter: ','\n# datatype:\n";
    text += message("# - {name: ", table.row, ", datatype: int64, description: ", json_text(table.description), "}\n");
    for (const TableColumn& column : columns) {
        const std::string unit = ecsv_unit(column.column->kind, frame);
        text += message("# - {name: ", column.name, unit.empty() ? "" : ", unit: ", unit.empty() ? "" : json_text(unit),
                        ", datatype: ", ecsv_type(column),
                        ", description: ", json_text(ecsv_description(column, frame)), "}\n");
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
    if (frame) {
        text += message("# - {\"ScaleFactor\": ", frame->scale_factor, "}\n");
    }
    return text + "# schema: astropy-2.0\n";
}

void write_table(const std::filesystem::path& path, TableFormat format, const Table& table,
                 const Provenance& provenance) {
    const std::vector<TableColumn> columns = columns_of_table(table);
    const std::string_view end = format == TableFormat::csv ? "\r\n" : "\n";
    OutputFile file(path);
    std::string text = format == TableFormat::ecsv ? ecsv_header(table, columns, provenance) : "";
    text += table.row;
    for (const TableColumn& column : columns) {
        text += "," + column.name;
    }
    text += end;
    constexpr std::size_t enough = 1 << 20;
    for (std::int64_t row = 0; row < table.rows; ++row) {
        append(text, row);
        for (const TableColumn& column : columns) {
            text += ',';
            append_value(text, column, row);
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

} // namespace

void write_catalog_table(const std::filesystem::path& path, TableFormat format, const Catalog& catalog,
                         const Snapshot& snapshot, const Provenance& provenance) {
    if (catalog.member_array.empty()) {
        require_columns(catalog);
    } else {
        require_consistent(catalog, snapshot);
    }
    const CatalogSource source{catalog, snapshot};
    write_table(path, format,
                {"Group", "number of the group, by decreasing size", columns_of(source), catalog.groups, source},
                provenance);
}

void write_halos_table(const std::filesystem::path& path, TableFormat format, const Halos& halos, const Catalog& groups,
                       const Snapshot& snapshot, const Provenance& provenance, const HaloFileOptions& options) {
    const HaloSource source{halos, {groups, snapshot}, options.circular_velocities};
    require_consistent(source);
    write_table(
        path, format,
        {"Halo", "number of the halo, its row in /Subhalo", columns_of_halo_table(source), halos.halos, source.groups},
        provenance);
}

} // namespace kith::io
