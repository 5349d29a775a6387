// The columns of a catalog, as the help lists them.
#include "cli/catalog_help.hpp"

#include <kith/catalog_file.hpp>

#include <gtest/gtest.h>

namespace {

TEST(CatalogHelp, EveryColumnHasALineWithItsPowersOfAAndH) {
    const std::string help = kith::cli::catalog_help();
    for (const kith::io::CatalogColumn& column : kith::io::catalog_columns()) {
        const std::size_t at = help.find("\n  " + std::string(column.name));
        ASSERT_NE(at, std::string::npos) << column.name;
        const std::string line = help.substr(at + 1, help.find('\n', at + 1) - at);
        EXPECT_NE(line.find(kith::io::unit_of(column)), std::string::npos) << line;
        EXPECT_NE(line.find(column.description), std::string::npos) << line;
    }
    EXPECT_NE(help.find("comoving, a h^-1"), std::string::npos) << help;
}

} // namespace
