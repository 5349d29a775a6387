// Groups as tables in text.
#include "io/files.hpp"

#include <kith/catalog_file.hpp>

#include <charconv>
#include <sstream>

using namespace kith;
using namespace kith::test;

namespace {

// Two groups of the types 0 and 4 in three dimensions; thirds have no short decimal form.
io::Snapshot snapshot() {
    io::Snapshot s;
    s.positions.values = std::vector<float>(9);
    s.positions.columns = 3;
    s.file_rows = {0, 1, 2};
    s.uniform_mass = 1.0 / 3;
    return s;
}

Catalog catalog() {
    Catalog c;
    c.groups = 2;
    c.dimension = 3;
    c.member_array = std::vector{0, 2, 1};
    c.offset = {0, 2};
    c.count = {2, 1};
    c.count_by_type = {1, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0};
    c.mass = {2.0 / 3, 1.0 / 3};
    c.mass_by_type = {1.0 / 3, 0, 0, 0, 1.0 / 3, 0, 0, 1.0 / 3, 0, 0, 0, 0, 0, 0};
    c.center = {1.0F / 3, -2e-30F, 3, 4, 5, 6};
    c.velocity = {-1, -2, -3, 7, 8, 9};
    c.rms_radius = {0.5, 0};
    c.velocity_dispersion = {2.5, 0};
    c.max_radius = {0.75, 0};
    c.lower = {-1, -2, -3, 0, 0, 0};
    c.upper = {1, 2, 3, 0, 0, 0};
    c.is_ambiguous = {1, 0};
    return c;
}

const io::Provenance provenance = {"kith 0.1.0", "kith fof 'a \"b\"\\.npy'", "a.npy", {{"linking_length", "0.25"}}};

std::vector<std::string> split(const std::string& text, char at) {
    std::vector<std::string> parts;
    std::istringstream stream(text);
    for (std::string part; std::getline(stream, part, at);) {
        parts.push_back(part);
    }
    return parts;
}

template <class T>
T parsed(const std::string& text) {
    T value{};
    EXPECT_EQ(std::from_chars(text.data(), text.data() + text.size(), value).ptr, text.data() + text.size()) << text;
    return value;
}

std::string write(const TemporaryFolder& folder, io::TableFormat format, const io::Snapshot& s = snapshot()) {
    io::write_catalog_table(folder / "table", format, catalog(), s, provenance);
    EXPECT_EQ(folder.entries(), 1U);
    return read_bytes(folder / "table");
}

TEST(CatalogTable, CsvHasALineOfNamesAndOneRowAGroup) {
    const TemporaryFolder folder;
    const std::vector<std::string> lines = split(write(folder, io::TableFormat::csv), '\n');
    ASSERT_EQ(lines.size(), 3U);
    EXPECT_EQ(lines[0],
              "Group,GroupLen,MembersLenType_0,MembersLenType_4,GroupMass,GroupMassType_0,GroupMassType_4,"
              "GroupPos_x,GroupPos_y,GroupPos_z,GroupVel_x,GroupVel_y,GroupVel_z,GroupVelStored_x,"
              "GroupVelStored_y,GroupVelStored_z,GroupVelDisp,GroupRmsRadius,GroupMaxRadius,"
              "GroupLower_x,GroupLower_y,GroupLower_z,GroupUpper_x,GroupUpper_y,GroupUpper_z,GroupIsAmbiguous\r");
    EXPECT_EQ(lines[2], "1,1,1,0,0.3333333333333333,0.3333333333333333,0,4,5,6,7,8,9,7,8,9,0,0,0,0,0,0,0,0,0,0\r");
    const std::vector<std::string> row = split(lines[1], ',');
    EXPECT_EQ(parsed<double>(row[4]), 2.0 / 3);
    EXPECT_EQ(parsed<float>(row[7]), 1.0F / 3);
    EXPECT_EQ(row[7], "0.33333334");
    EXPECT_EQ(parsed<float>(row[8]), -2e-30F);
}

TEST(CatalogTable, EcsvDescribesEveryColumn) {
    const TemporaryFolder folder;
    const std::vector<std::string> lines = split(write(folder, io::TableFormat::ecsv), '\n');
    EXPECT_EQ(lines[0], "# %ECSV 1.0");
    const auto names = std::find_if(lines.begin(), lines.end(), [](const std::string& line) { return line[0] != '#'; });
    ASSERT_EQ(lines.end() - names, 3);
    const auto described = static_cast<std::size_t>(std::count_if(
        lines.begin(), lines.end(), [](const std::string& line) { return line.starts_with("# - {name"); }));
    EXPECT_EQ(described, split(*names, ',').size());
    const auto has = [&](std::string_view words) {
        return std::any_of(lines.begin(), lines.end(),
                           [&](const std::string& line) { return line.find(words) != std::string::npos; });
    };
    EXPECT_TRUE(has("name: GroupLen, datatype: int32"));
    EXPECT_TRUE(has("name: GroupPos_x, datatype: float32"));
    EXPECT_TRUE(has("code length, as in the input"));
    EXPECT_TRUE(has(R"(# - {"Command": "kith fof 'a \"b\"\\.npy'"})"));
    EXPECT_TRUE(has(R"(# - {"linking_length": "0.25"})"));
    EXPECT_FALSE(has("unit:"));
}

// Comoving lengths and masses per h have no unit that a reader could apply to the numbers alone.
TEST(CatalogTable, UnitsAreStatedOnlyWhereTheyAreExact) {
    const TemporaryFolder folder;
    io::Snapshot framed = snapshot();
    framed.header.frame = io::swift_frame(0.5);
    framed.header.frame->length.to_cgs = 3e24;
    framed.header.frame->mass.to_cgs = 2e43;
    const std::string text = write(folder, io::TableFormat::ecsv, framed);
    EXPECT_NE(text.find("name: GroupMass, unit: \"2e+43 g\""), std::string::npos);
    EXPECT_NE(text.find("name: GroupPos_x, datatype"), std::string::npos);
    EXPECT_NE(text.find("code length, comoving; times a^1 h^0 for physical units without h"), std::string::npos);
    EXPECT_NE(text.find("name: GroupVelStored_x, datatype"), std::string::npos);
    framed.header.frame = io::gadget_frame(0.5);
    framed.header.frame->mass.to_cgs = 2e43;
    EXPECT_EQ(write(folder, io::TableFormat::ecsv, framed).find("unit:"), std::string::npos);
}

TEST(CatalogTable, NoGroupsGiveTheNamesAlone) {
    const TemporaryFolder folder;
    Catalog none;
    none.dimension = 2;
    io::Snapshot plane = snapshot();
    plane.positions.columns = 2;
    io::write_catalog_table(folder / "table", io::TableFormat::csv, none, plane, provenance);
    EXPECT_EQ(read_bytes(folder / "table"), "Group,GroupLen,GroupMass,GroupPos_x,GroupPos_y,GroupRmsRadius,"
                                            "GroupMaxRadius,GroupLower_x,GroupLower_y,GroupUpper_x,GroupUpper_y,"
                                            "GroupIsAmbiguous\r\n");
}

TEST(CatalogTable, WhatDoesNotFitTogetherIsRefusedAndNothingIsLeft) {
    const TemporaryFolder folder;
    Catalog missing = catalog();
    missing.center.pop_back();
    expect_error(ErrorKind::invalid_argument, {"center has 5 entries where 6"}, [&] {
        io::write_catalog_table(folder / "table", io::TableFormat::csv, missing, snapshot(), provenance);
    });
    EXPECT_EQ(folder.entries(), 0U);
}

} // namespace
