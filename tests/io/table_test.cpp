// Tables in text: which lines are rows, which columns are points, and what is refused with line and column.
#include "io/files.hpp"

#include <cmath>
#include <limits>

using namespace kith;
using namespace kith::test;

namespace {

class Table : public testing::Test {
protected:
    [[nodiscard]] io::Snapshot read(std::string_view content, const io::ReadOptions& options = {}) const {
        write_bytes(folder_ / "points", content);
        return io::read_snapshot(folder_ / "points", options);
    }
    [[nodiscard]] static const std::vector<double>& values(const io::RealArray& array) {
        return std::get<std::vector<double>>(array.values);
    }
    void refused(std::string_view content, std::initializer_list<std::string_view> words) const {
        expect_error(ErrorKind::file, words, [&] { static_cast<void>(read(content)); });
    }
    TemporaryFolder folder_;
};

TEST_F(Table, CommasOrBlanksWithOrWithoutNames) {
    const std::vector<double> expected = {1, 2, 3, 4, 5, 6};
    for (const char* content :
         {"x,y,z\n1,2,3\n4,5,6\n", "1,2,3\n4,5,6", "1 2 3\n4 5 6\n", "  1\t2   3 \r\n\r\n4 5 6\r\n",
          "# made by hand\n1 2 3\n% more\n  # still more\n4 5 6\n", "\xef\xbb\xbfx,y,z\n1,2,3\n4,5,6\n",
          "\xef\xbb\xbf"
          "1,2,3\n4,5,6\n",
          "# x y z\n1 2 3\n4 5 6\n", "\"X\" , 'Y' , Z\n 1 , +2 , 3e0\n4.0,.5e1,6.\n", "// x,y,z\n1,2,3\n4,5,6\n",
          "z y x\n3 2 1\n6 5 4\n"}) {
        const io::Snapshot s = read(content);
        EXPECT_EQ(values(s.positions), expected) << content;
        EXPECT_EQ(s.positions.columns, 3);
        EXPECT_EQ(s.header.dimension, 3);
        EXPECT_EQ(s.header.dtype, DType::float64);
        EXPECT_EQ(s.header.counts[1], 2);
        EXPECT_FALSE(s.header.has_types || s.velocities || s.masses || s.uniform_mass);
        EXPECT_TRUE(s.types.empty() && s.ids.empty());
        EXPECT_EQ(s.file_rows, (std::vector<std::int64_t>{0, 1}));
        EXPECT_TRUE(s.header.warnings.empty()) << content;
        EXPECT_EQ(io::read_header(folder_ / "points").format, std::string_view(content).find(',') == std::string::npos
                                                                  ? "text table"
                                                                  : "text table (comma-separated)");
    }
}

TEST_F(Table, NamesChooseColumns) {
    const char* content = "name,vz,id,mass,y,x,vx,z,vy\n"
                          "sun,9,18446744073709551615,0.5,2,1,7,3,8\n"
                          "moon, -9,0,1.5,5,4,-7,6,-8\n";
    const io::Snapshot s = read(content);
    EXPECT_EQ(values(s.positions), (std::vector<double>{1, 2, 3, 4, 5, 6}));
    EXPECT_EQ(values(*s.velocities), (std::vector<double>{7, 8, 9, -7, -8, -9}));
    EXPECT_EQ(values(*s.masses), (std::vector<double>{0.5, 1.5}));
    EXPECT_EQ(s.ids, (std::vector<std::uint64_t>{std::numeric_limits<std::uint64_t>::max(), 0}));
    io::ReadOptions few;
    few.velocities = false;
    few.masses = false;
    few.ids = false;
    const io::Snapshot positions = read(content, few);
    EXPECT_EQ(values(positions.positions), values(s.positions));
    EXPECT_FALSE(positions.velocities || positions.masses);
    EXPECT_TRUE(positions.ids.empty());

    const io::Snapshot half = read("x,y,z,vx\n1,2,3,4\n");
    EXPECT_FALSE(half.velocities);
    EXPECT_TRUE(warns(half.header, "x, y, z, vx; velocities take one for each of 3 axes"));

    const io::Snapshot flat = read("id,x,y,vx,vy,vz\n1,2,3,4,5,6\n");
    EXPECT_EQ(values(flat.positions), (std::vector<double>{2, 3}));
    EXPECT_EQ(values(*flat.velocities), (std::vector<double>{4, 5}));
}

TEST_F(Table, WithoutNamesAllColumnsAreCoordinates) {
    const io::Snapshot plane = read("1 2\n");
    EXPECT_EQ(plane.positions.columns, 2);
    EXPECT_TRUE(plane.header.warnings.empty());
    const io::Snapshot wide = read("1 2 3 4 5 6 7 8\n");
    EXPECT_EQ(wide.positions.columns, 8);
    EXPECT_TRUE(warns(wide.header, "8 columns have no names"));
    const io::Snapshot sky = read("RA,Dec,cz\n1,2,3\n");
    EXPECT_EQ(sky.positions.columns, 3);
    EXPECT_TRUE(warns(sky.header, "ra, dec, cz"));
    refused("1 2 3 4 5 6 7 8 9\n", {"9 columns", "none named x and y", "x,y,z"});
}

TEST_F(Table, NamesAloneAreATableWithoutRows) {
    for (const char* content : {"x,y,z\n", "# by hand\nid x y z", "x,y,z\n\n# none\n"}) {
        const io::Snapshot s = read(content);
        EXPECT_EQ(s.positions.columns, 3);
        EXPECT_EQ(s.positions.rows(), 0);
    }
}

TEST_F(Table, NumbersAtTheEdge) {
    const io::Snapshot s = read("1e308,-1e-308\n-0,5e-324\nnan,-inf\n0.1,123456789012345678901234567890\n");
    EXPECT_EQ(at(s.positions, 0), 1e308);
    EXPECT_EQ(at(s.positions, 3), 5e-324);
    EXPECT_TRUE(std::signbit(at(s.positions, 2)));
    EXPECT_TRUE(std::isnan(at(s.positions, 4)));
    EXPECT_EQ(at(s.positions, 5), -std::numeric_limits<double>::infinity());
    EXPECT_EQ(at(s.positions, 6), 0.1);
    EXPECT_EQ(at(s.positions, 7), 123456789012345678901234567890.0);
    EXPECT_EQ(at(read("1,2\n-1e-400,3\n").positions, 2), 0);
    refused("1,2\n1e400,3\n", {"line 2, column 1", "'1e400'", "float64"});
}

TEST_F(Table, WhatIsWrongIsNamedByLineAndColumn) {
    refused("x,y,z\n1,2,3\n4,five,6\n", {"line 3, column 2 (y)", "'five' is no number"});
    refused("x,y,z\nu,v,w\n1,2,3\n", {"line 2, column 1 (x)", "'u' is no number"});
    refused("x,y,z\n1kpc,2,3\n", {"line 2, column 1 (x)", "'1kpc' is no number"});
    refused("1,2,3\n4,,6\n", {"line 2, column 2", "''"});
    refused("1 2 3\n\n# comment\n4 5\n", {"line 4 has 2 values", "line 1, has 3"});
    refused("1 2 3\n4 5 6 7\n", {"line 2 has 4 values"});
    refused("1,2,3\n4,5,6,\n", {"line 2 has 4 values"});
    refused("1 2 3\n4 5 0x6\n", {"line 2, column 3", "'0x6'"});
    refused("1 2 3\n4 5 6,5\n", {"line 2, column 3", "'6,5'"});
    refused("1 2 3\n4 5 --6\n", {"'--6'"});
    refused("1 2 3\n4 5 +-6\n", {"'+-6'"});
    refused(std::string("1 2 3\n4 5 6\0\n", 13), {"no known format"});
    refused("id x y\n1 2 3\n-1 2 3\n", {"line 3, column 1 (id)", "'-1' is no id"});
    refused("1 2\n" + std::string(3 << 20, '1') + "\n", {"line 2, which begins at byte 4, is longer than"});
}

TEST_F(Table, AFirstRowWithNumbersIsNoLineOfNames) {
    refused("1,2,NA\n4,5,6\n7,8,9\n", {"line 1, column 3", "'NA' is no number"});
    refused("\n# by hand\n1e400 2\n3 4\n", {"line 3, column 1", "'1e400' is no number"});
    refused("0x10 2 3\n4 5 6\n", {"line 1, column 1", "'0x10'"});
    EXPECT_EQ(read("a,b\n1,2\n").header.warnings.size(), 1U);
}

TEST_F(Table, WhatIsNoTableIsRefused) {
    for (const char* content : {"hello\nworld\n", "1\n2\n3\n", "1;2;3\n", "x,y\n1,2,3\n", "x;y;z\n1;2;3\n",
                                "# only comments\n", "\n\n", "a b c\nd e f\n1 2 3\n", "v 1 2 3\nv 1 2 3\n"}) {
        refused(content, {"points", "Formats read"});
    }
}

// More rows than a buffer holds, of all lengths, so that every kind of cut happens.
TEST_F(Table, ManyRows) {
    std::string content = "x y\n";
    constexpr int rows = 300000;
    for (int i = 0; i < rows; ++i) {
        content += std::to_string(i * (i % 7)) + ' ' + std::to_string(-i) + (i % 3 == 0 ? "\r\n" : "\n");
    }
    const io::Snapshot s = read(content);
    ASSERT_EQ(s.positions.rows(), rows);
    for (int i = 0; i < rows; ++i) {
        const auto row = static_cast<std::size_t>(i);
        ASSERT_EQ(at(s.positions, 2 * row), i * (i % 7));
        ASSERT_EQ(at(s.positions, 2 * row + 1), -i);
    }
}

// A cut table may still be one: it gives points or an error.
TEST_F(Table, EveryTruncation) {
    const std::string content = "# by hand\nid,x,y,z\n1,2,3,4\n\n5,6,7,8\n";
    for (std::size_t length = 0; length < content.size(); ++length) {
        try {
            EXPECT_LE(read(content.substr(0, length)).positions.rows(), 2);
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), ErrorKind::file);
        }
    }
}

} // namespace
