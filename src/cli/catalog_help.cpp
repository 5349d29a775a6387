#include "cli/catalog_help.hpp"

#include <fmt/format.h>

namespace kith::cli {

namespace {

std::string power(std::string_view symbol, double exponent) {
    return exponent == 0 ? "" : exponent == 1 ? std::string(symbol) : fmt::format("{}^{}", symbol, exponent);
}

// "code length; Gadget: comoving, a h^-1; SWIFT: comoving, a"; nothing for columns without unit.
std::string unit_text(ColumnKind kind) {
    const io::Frame gadget = io::gadget_frame(1);
    const io::Frame swift = io::swift_frame(1);
    const std::optional<io::Scaling> in_gadget = io::scaling_of(kind, gadget);
    const std::optional<io::Scaling> in_swift = io::scaling_of(kind, swift);
    if (!in_gadget || !in_swift) {
        return "";
    }
    return fmt::format("{}; Gadget: {}, {}; SWIFT: {}, {}", io::unit_of(kind), io::frame_of(kind, gadget),
                       powers_text(*in_gadget), io::frame_of(kind, swift), powers_text(*in_swift));
}

std::string shape_text(ColumnShape shape, std::string_view dimension) {
    switch (shape) {
    case ColumnShape::vector:
        return fmt::format("[{}]", dimension);
    case ColumnShape::by_type:
        return fmt::format("[{}]", max_types);
    case ColumnShape::by_overdensity:
        return "...";
    default:
        return "";
    }
}

std::string_view presence_text(ColumnPresence presence) {
    switch (presence) {
    case ColumnPresence::with_velocities:
        return " (with velocities)";
    case ColumnPresence::with_gravity:
        return " (if G is known)";
    case ColumnPresence::with_velocities_and_gravity:
        return " (with velocities, if G is known)";
    case ColumnPresence::with_ids:
        return " (with ids)";
    case ColumnPresence::beside_sorted_snapshot:
        return " (beside a sorted snapshot)";
    default:
        return "";
    }
}

template <class Field>
std::string line_of(const Column<Field>& column, std::string_view dimension) {
    constexpr int width = 24;
    const std::string unit = unit_text(column.kind);
    return fmt::format(
               "  {:<{}} {}{}\n",
               fmt::format("{}{}{}", column.name, shape_text(column.shape, dimension), column.in_table() ? " *" : ""),
               width, column.description, presence_text(column.presence)) +
           (unit.empty() ? "" : fmt::format("  {:<{}} {}\n", "", width, unit));
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
        text += line_of(column, "d");
    }
    return text;
}

std::string halo_help() {
    std::string text =
        "Columns of /Subhalo, and those of /Group that are about halos, for each overdensity one of Group_M_...; "
        "marked *\n"
        "those of tables. kith fof --help lists the others of /Group, and says what the powers of a and h are for.\n";
    for (const HaloColumn& column : halo_columns) {
        text += column.presence == ColumnPresence::not_in_files ? "" : line_of(column, "3");
    }
    return text;
}

} // namespace kith::cli
