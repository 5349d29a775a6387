// The columns of a catalog, as the help lists them.
#include "cli/catalog_help.hpp"

#include <kith/catalog_file.hpp>

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

namespace {

TEST(CatalogHelp, EveryColumnHasItsMeaningUnitAndPowersOfAAndH) {
    const std::string help = kith::cli::catalog_help();
    for (const kith::CatalogColumn& column : kith::catalog_columns) {
        const std::size_t at = help.find("\n  " + std::string(column.name));
        ASSERT_NE(at, std::string::npos) << column.name;
        const std::string entry = help.substr(at + 1, help.find("\n  Group", at + 1) - at);
        EXPECT_NE(entry.find(column.description), std::string::npos) << entry;
        if (kith::io::unit_of(column) != "none") {
            EXPECT_NE(entry.find(kith::io::unit_of(column)), std::string::npos) << entry;
        }
    }
    EXPECT_NE(help.find("code length; Gadget: comoving, a h^-1; SWIFT: comoving, a\n"), std::string::npos) << help;
}

// docs/catalogs.md has a line for each: `NAME` | unit | Gadget | SWIFT | meaning.
TEST(CatalogHelp, TheDocumentationListsEveryColumn) {
    std::ifstream file(KITH_SOURCE "/docs/catalogs.md");
    const std::string page(std::istreambuf_iterator<char>(file), {});
    ASSERT_FALSE(page.empty());
    const auto scaled = [](const kith::CatalogColumn& column, const kith::io::Frame& frame) -> std::string {
        const auto scaling = kith::io::scaling_of(column, frame);
        return scaling ? std::string(kith::io::frame_of(column, frame)) + ", " + kith::cli::powers_text(*scaling) : "";
    };
    for (const kith::CatalogColumn& column : kith::catalog_columns) {
        const bool has_unit = kith::io::unit_of(column) != "none";
        const std::string line =
            "| `" + std::string(column.name) + "` | " + (has_unit ? std::string(kith::io::unit_of(column)) : "") +
            " | " + scaled(column, kith::io::gadget_frame(1)) + " | " + scaled(column, kith::io::swift_frame(1)) +
            " | " + std::string(column.description) + " |\n";
        EXPECT_NE(page.find(line), std::string::npos) << line;
    }
}

} // namespace
