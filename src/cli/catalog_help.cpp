#include "cli/catalog_help.hpp"

#include <fmt/format.h>

namespace kith::cli {

namespace {

std::string power(std::string_view symbol, double exponent) {
    return exponent == 0 ? "" : exponent == 1 ? std::string(symbol) : fmt::format("{}^{}", symbol, exponent);
}

// "code length; Gadget: comoving, a h^-1; SWIFT: comoving, a"; nothing for columns without unit.
std::string unit_text(const CatalogColumn& column) {
    const io::Frame gadget = io::gadget_frame(1);
    const io::Frame swift = io::swift_frame(1);
    const std::optional<io::Scaling> in_gadget = io::scaling_of(column, gadget);
    const std::optional<io::Scaling> in_swift = io::scaling_of(column, swift);
    if (!in_gadget || !in_swift) {
        return "";
    }
    return fmt::format("{}; Gadget: {}, {}; SWIFT: {}, {}", io::unit_of(column), io::frame_of(column, gadget),
                       powers_text(*in_gadget), io::frame_of(column, swift), powers_text(*in_swift));
}

std::string name_with_shape(const CatalogColumn& column) {
    switch (column.shape) {
    case ColumnShape::vector:
        return fmt::format("{}[d]", column.name);
    case ColumnShape::by_type:
        return fmt::format("{}[{}]", column.name, max_types);
    default:
        return std::string(column.name);
    }
}

std::string_view presence_text(const CatalogColumn& column) {
    switch (column.presence) {
    case ColumnPresence::with_velocities:
        return " (with velocities)";
    case ColumnPresence::beside_sorted_snapshot:
        return " (beside a sorted snapshot)";
    default:
        return "";
    }
}

} // namespace

std::string powers_text(const io::Scaling& scaling) {
    const std::string a = power("a", scaling.a_power);
    const std::string h = power("h", scaling.h_power);
    return a.empty() && h.empty() ? "1" : a + (a.empty() || h.empty() ? "" : " ") + h;
}

std::string catalog_help() {
    std::string text =
        "Columns of the catalog's /Group, and of tables where marked *. Numbers are in the units of the input. To\n"
        "convert those of a cosmological snapshot to physical units, multiply by the powers of a and h listed below;\n"
        "the attributes of each column say which of the two conventions the file has. For other inputs no conversion\n"
        "is given.\n";
    for (const CatalogColumn& column : catalog_columns) {
        const std::string unit = unit_text(column);
        text += fmt::format("  {:<22}{}{}\n", name_with_shape(column) + (column.in_table() ? " *" : ""),
                            column.description, presence_text(column));
        if (!unit.empty()) {
            text += fmt::format("  {:<22}{}\n", "", unit);
        }
    }
    return text;
}

} // namespace kith::cli
