#include "cli/catalog_help.hpp"

#include <kith/catalog_file.hpp>

#include <fmt/format.h>

namespace kith::cli {

namespace {

std::string power(std::string_view symbol, double exponent) {
    return exponent == 0 ? "" : exponent == 1 ? std::string(symbol) : fmt::format("{}^{}", symbol, exponent);
}

// "comoving, a h^-1"
std::string scaling_text(const io::CatalogColumn& column, const io::Frame& frame) {
    const std::optional<io::Scaling> scaling = io::scaling_of(column, frame);
    if (!scaling) {
        return "";
    }
    const std::string a = power("a", scaling->a_power);
    const std::string h = power("h", scaling->h_power);
    const std::string factors = a + (a.empty() || h.empty() ? "" : " ") + h;
    return fmt::format("{}{}{}", io::frame_of(column, frame), factors.empty() ? "" : ", ", factors);
}

std::string name_with_shape(const io::CatalogColumn& column) {
    switch (column.shape) {
    case io::ColumnShape::vector:
        return fmt::format("{}[d]", column.name);
    case io::ColumnShape::by_type:
        return fmt::format("{}[{}]", column.name, max_types);
    default:
        return std::string(column.name);
    }
}

std::string_view presence_text(const io::CatalogColumn& column) {
    switch (column.presence) {
    case io::ColumnPresence::with_velocities:
        return " (if there are velocities)";
    case io::ColumnPresence::beside_sorted_snapshot:
        return " (beside a sorted snapshot)";
    default:
        return "";
    }
}

} // namespace

std::string catalog_help() {
    std::string text = "Columns of /Group; those with * are in tables, too. Numbers are in the input's units. Where "
                       "the input is known to "
                       "be a cosmological snapshot, they become physical by the powers of the scale factor a and of h "
                       "that stand here for "
                       "the conventions of Gadget and SWIFT; the attributes of each column say which holds.\n";
    const io::Frame gadget = io::gadget_frame(1);
    const io::Frame swift = io::swift_frame(1);
    text += fmt::format("  {:<22}{:<15}{:<22}{:<17}{}\n", "name", "unit", "Gadget", "SWIFT", "meaning");
    for (const io::CatalogColumn& column : io::catalog_columns()) {
        text += fmt::format("  {:<22}{:<15}{:<22}{:<17}{}{}\n", name_with_shape(column) + (column.in_table ? " *" : ""),
                            io::unit_of(column), scaling_text(column, gadget), scaling_text(column, swift),
                            column.description, presence_text(column));
    }
    return text;
}

} // namespace kith::cli
