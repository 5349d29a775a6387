// The columns of groups and halos, as the help and the documentation list them.
#include "cli/catalog_help.hpp"

#include <kith/catalog_file.hpp>

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

namespace {

/// The entries of columns in a help text, each from its name to the next.
template <class Columns>
void expect_entries(const std::string& help, const Columns& columns) {
    for (const auto& column : columns) {
        if (column.presence == kith::ColumnPresence::not_in_files) {
            continue;
        }
        const std::size_t at = help.find("\n  " + std::string(column.name));
        ASSERT_NE(at, std::string::npos) << column.name;
        const std::string entry = help.substr(at + 1, help.find(column.description, at) - at);
        EXPECT_EQ(entry.find('\n'), std::string::npos) << entry;
        const std::string unit = help.substr(help.find('\n', at + 1) + 1, 60);
        if (kith::io::unit_of(column.kind) != "none") {
            EXPECT_NE(unit.find(kith::io::unit_of(column.kind)), std::string::npos) << unit;
        }
    }
}

TEST(CatalogHelp, EveryColumnHasItsMeaningUnitAndPowersOfAAndH) {
    const std::string help = kith::cli::catalog_help();
    expect_entries(help, kith::catalog_columns);
    EXPECT_NE(help.find("code length; Gadget: comoving, a h^-1; SWIFT: comoving, a\n"), std::string::npos) << help;
    const std::string of_halos = kith::cli::halo_help();
    expect_entries(of_halos, kith::halo_columns);
    EXPECT_NE(of_halos.find("code velocity; Gadget: physical, 1; SWIFT: physical, 1\n"), std::string::npos) << of_halos;
}

/// A page has a line for each: `NAME` | unit | Gadget | SWIFT | meaning.
template <class Columns>
void expect_lines(const std::string& name, const Columns& columns) {
    std::ifstream file(KITH_SOURCE "/docs/" + name);
    const std::string page(std::istreambuf_iterator<char>(file), {});
    ASSERT_FALSE(page.empty());
    const auto scaled = [](kith::ColumnKind kind, const kith::io::Frame& frame) -> std::string {
        const auto scaling = kith::io::scaling_of(kind, frame);
        return scaling ? std::string(kith::io::frame_of(kind, frame)) + ", " + kith::cli::powers_text(*scaling) : "";
    };
    for (const auto& column : columns) {
        if (column.presence == kith::ColumnPresence::not_in_files) {
            continue;
        }
        const bool has_unit = kith::io::unit_of(column.kind) != "none";
        const std::string more = column.shape == kith::ColumnShape::by_overdensity ? "..." : "";
        const std::string line = "| `" + std::string(column.name) + more + "` | " +
                                 (has_unit ? std::string(kith::io::unit_of(column.kind)) : "") + " | " +
                                 scaled(column.kind, kith::io::gadget_frame(1)) + " | " +
                                 scaled(column.kind, kith::io::swift_frame(1)) + " | " +
                                 std::string(column.description) + " |\n";
        EXPECT_NE(page.find(line), std::string::npos) << line;
    }
}

TEST(CatalogHelp, TheDocumentationListsEveryColumn) {
    expect_lines("catalogs.md", kith::catalog_columns);
    expect_lines("halos.md", kith::halo_columns);
}

} // namespace
