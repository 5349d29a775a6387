// Tables in text: which lines are rows, which columns are points, and what is refused with line and column.
#include "io/files.hpp"

#include "support/message.hpp"

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

TEST_F(Table, TwoOrThreeColumnsWithoutNamesAreCoordinates) {
    const io::Snapshot plane = read("1 2\n");
    EXPECT_EQ(plane.positions.columns, 2);
    EXPECT_TRUE(plane.header.warnings.empty());
    const io::Snapshot sky = read("RA,Dec,cz\n1,2,3\n");
    EXPECT_EQ(sky.positions.columns, 3);
    EXPECT_TRUE(warns(sky.header, "ra, dec, cz"));
    EXPECT_TRUE(warns(read("# the x and y of stars\n.1 .2 .3\n").header, "does not name each of the 3 columns"));
    refused("# x y\n1 2 3\n", {"line 1, 'x y', names 2 columns", "line 2, has 3 values", "--columns"});
    refused("id,a,b\n1,2,3\n", {"3 columns, none named x and y (id, a, b)", "--columns"});
    refused("1 2 3 4\n", {"4 columns without names", "--columns 2,3,4", "columns= in Python", "x,y,z"});
    refused("1 2 3 4 5 6 7 8 9\n", {"9 columns", "none named x and y", "x,y,z"});
    refused("RA,Dec,cz,mag\n1,2,3,4\n", {"4 columns, none named x and y (ra, dec, cz, mag)", "--columns"});
    refused("x,y,x,z\n1,2,3,4\n", {"several columns are named x", "--columns"});
}

TEST_F(Table, OneColumnOfDistinctWholeNumbersAmongThreeIsWarnedOf) {
    const auto is_warned = [this](std::string_view rows) { return warns(read(rows).header, "distinct whole numbers"); };
    EXPECT_TRUE(is_warned("10 0 0\n20 1 0\n30 5 0\n40 5 1\n"));
    EXPECT_TRUE(warns(read(".5 7 .5\n.25 9 .75\n").header, "column 2 holds distinct whole numbers"));
    EXPECT_TRUE(warns(read(".5 7 .5\n.25 9 .75\n").header, "--columns 1,3"));
    EXPECT_TRUE(is_warned("1000000000000000050 .5 1\n1000000000000000100 .5 1\n")); // alike in float64
    EXPECT_FALSE(is_warned("1 2 3\n4 5 6\n"));                                      // all of them
    EXPECT_FALSE(is_warned("0 0 0\n0 0 1\n0 1 0\n0 1 1\n"));                        // none
    EXPECT_FALSE(is_warned(".5 7 .5\n.25 7 .75\n"));                                // not distinct
    EXPECT_FALSE(is_warned("# x y z\n.5 7 .5\n.25 9 .75\n"));                       // named
}

TEST_F(Table, LinesThatMayBeNamesAreWarnedOfOrRefused) {
    EXPECT_TRUE(warns(read("0,1,2\n.5,1.5,2.5\n").header, "if it numbers the columns, remove it"));
    EXPECT_TRUE(read("0,1,2\n3,4,5.5\n").header.warnings.empty());
    refused("the x y\n1 2 3\n", {"line 1, 'the x y', reads like a sentence"});
    EXPECT_EQ(values(read("name,x,y\nhalo#3,1,2\n").positions), (std::vector<double>{1, 2}));
}

TEST_F(Table, CommentsThatMayNameTwoOrThreeColumnsAreWarnedOf) {
    for (const char* comments : {"# mass pos_x pos_y", "# mass ra dec", "# mass:f8 x:f8 y:f8", "# 1-mass 2-x 3-y",
                                 "# mass<Msun> x<kpc> y<kpc>", "# $m $x $y", "# mass,x y", "# mass, x, y 1",
                                 "#mass[0]x[1]y[2]", "# col 1 mass\n# col 2 x\n# col 3 y", "# mass\n# x\n# y",
                                 "# mass = 1\n# x = 2\n# y = 3", "# x: column 2, y: column 3"}) {
        const io::Snapshot read_so = read(std::string(comments) + "\n.5 1.5 2.5\n.25 .5 .75\n");
        EXPECT_TRUE(warns(read_so.header, "--columns") || read_so.positions.columns == 2) << comments;
    }
    EXPECT_TRUE(read("# of stars in the field, by hand\n.5 1.5 2.5\n").header.warnings.empty());
    EXPECT_TRUE(read("# kpc kpc kpc\n.5 1.5 2.5\n").header.warnings.empty());
}

// As where two files were joined.
TEST_F(Table, CommentsAmongTheRowsThatNameThemDifferentlyAreRefused) {
    refused("# x y z id\n1 2 3 4\n# id x y z\n4 1 2 3\n", {"line 3", "id, x, y, z", "x, y, z, id", "split it"});
    refused(".5 1 2\n.25 3 4\n# mass x y\n", {"line 3", "mass, x, y", "no names"});
    EXPECT_EQ(read("# x y\n1 2\n# x y\n3 4\n# the end of x and y\n").positions.rows(), 2);
}

TEST_F(Table, ColumnsAreChosenByNameOrNumber) {
    const auto chosen = [this](std::string_view content, std::vector<std::string> columns) {
        io::ReadOptions options;
        options.columns = std::move(columns);
        return read(content, options);
    };
    using Values = std::vector<double>;
    EXPECT_EQ(values(chosen("7 1 2 3\n8 4 5 6\n", {"2", "3", "4"}).positions), (Values{1, 2, 3, 4, 5, 6}));
    EXPECT_EQ(values(chosen("1 2 3 4 5\n", {"all"}).positions), (Values{1, 2, 3, 4, 5}));
    EXPECT_EQ(values(chosen("star 1 2 3\nsun 4 5 6\n", {"4", "2"}).positions), (Values{3, 1, 6, 4}));
    EXPECT_EQ(values(chosen("# id ra dec cz\n1 2 3 4\n", {"RA", "dec"}).positions), (Values{2, 3}));
    EXPECT_EQ(values(chosen("x y\n1 2 3\n", {"1", "3"}).positions), (Values{1, 3}));
    EXPECT_EQ(values(chosen("# x y rho\n# y x rho\n1 2 3\n", {"1", "3"}).positions), (Values{1, 3}));
    const io::Snapshot flat = chosen("id,x,y,z,vx,vy,vz,mass\n1,2,3,4,5,6,7,8\n", {"x", "z"});
    EXPECT_EQ(values(flat.positions), (Values{2, 4}));
    EXPECT_EQ(values(*flat.velocities), (Values{5, 7}));
    EXPECT_EQ(values(*flat.masses), (Values{8}));
    const io::Snapshot moving = chosen("x,y,z,vx,vy,vz\n1,2,3,4,5,6\n", {"vx", "vy", "vz"});
    EXPECT_EQ(values(moving.positions), (Values{4, 5, 6}));
    EXPECT_FALSE(moving.velocities);
    const auto masses = [&](std::string_view content, std::vector<std::string> columns) {
        return values(*chosen(content, std::move(columns)).masses);
    };
    EXPECT_EQ(masses("ra,dec,w,mass\n1,2,3,4\n", {"ra", "dec", "mass=W"}), (Values{3}));
    EXPECT_EQ(masses("x,y,w,mass\n1,2,3,4\n", {"mass=w"}), (Values{3})); // x and y by name
    EXPECT_EQ(masses("1 2 3 4\n5 6 7 8\n", {"2", "3", "mass=1"}), (Values{1, 5}));
    EXPECT_FALSE(chosen("1 2 3\n", {"1", "2"}).masses);
    const auto refuses = [&](std::string_view content, std::vector<std::string> columns,
                             std::initializer_list<std::string_view> words) {
        expect_error(ErrorKind::invalid_argument, words, [&] { static_cast<void>(chosen(content, columns)); });
    };
    refuses("1 2 3 4\n", {"2", "5"}, {"no column 5", "from 1 to 4"});
    refuses("1 2 3 4\n", {"x", "y"}, {"no column x", "4, without names"});
    refuses("a,b,c\n1,2,3\n", {"a", "d"}, {"no column d", "a, b, c"});
    refuses("a,b,b\n1,2,3\n", {"a", "b"}, {"several columns are named b"});
    refuses("x,y,c\n1,2,3\n", {"mass=d"}, {"no column d", "x, y, c"});
    refuses("x,y,c\n1,2,3\n", {"x", "y", "mass=2"}, {"column 2 is chosen as a coordinate and as the mass"});
    refuses("a,b,c\n1,2,3\n", {"a"}, {"1 column is chosen", "2 to 8"});
    refuses("a,b,c\n1,2,3\n", {"a", "1"}, {"column 1 is chosen twice"});
    write_bytes(folder_ / "tipsy", "1 0 0\n3\n0\n1\n1\n2\n3\n0\n0\n0\n");
    io::ReadOptions options;
    options.columns = {"1", "2"};
    expect_error(ErrorKind::invalid_argument, {"(1,2)", "Tipsy ASCII", "only text tables"},
                 [&] { static_cast<void>(io::read_snapshot(folder_ / "tipsy", options)); });
}

// Names in any comment, however they are numbered, with units, separated otherwise than the rows.
TEST_F(Table, NamesInComments) {
    const std::string rows = "10 0 0\n20 1 0\n30 5 0\n40 5 1\n";
    const std::vector<double> expected = {0, 0, 1, 0, 5, 0, 5, 1};
    for (const char* head :
         {"# id x y\n# - kpc kpc\n", "# id x y\n#\n", "# 1:id 2:x 3:y\n", "# a comment\n# id x y\n", "#id,x,y\n",
          "# id(0) x(1) y(2)\n", "#id(1)\tX(2)\tY(3)\n", "# (1) id (2) x (3) y\n", "# 1 id\n# 2 x\n# 3 y\n# -----\n",
          "# column 1: id\n# column 2: x [kpc]\n# column 3: y [kpc]\n", "# id x [kpc] y [kpc]\n",
          "# id x(h^-1 Mpc) y(h^-1 Mpc)\n", "# ID X_kpc Y_kpc\n", "# columns: id x y\n# made in 2026\n",
          "# id x y\n4\n", "//id;x;y\n4\n", "## id x y\n"}) {
        const io::Snapshot s = read(head + rows);
        EXPECT_EQ(values(s.positions), expected) << head;
        EXPECT_EQ(s.ids, (std::vector<std::uint64_t>{10, 20, 30, 40})) << head;
        EXPECT_TRUE(s.header.warnings.empty()) << head;
    }
    const io::Snapshot behind = read("1 2 3 # mass x y\n4 5 6 # a heavy one\n");
    EXPECT_EQ(values(behind.positions), (std::vector<double>{2, 3, 5, 6}));
    EXPECT_EQ(values(*behind.masses), (std::vector<double>{1, 4}));
    EXPECT_FALSE(read("# x y M200c\n1 2 3\n").masses);
    EXPECT_FALSE(read("# x y m(200c)\n1 2 3\n").masses);
    EXPECT_TRUE(read("# x y m(1e10 Msun/h)\n1 2 3\n").masses);
    refused("# x y rho\n# y x rho\n1 2 3\n", {"lines 1 and 2 name the columns differently", "--columns"});
    std::string long_comments;
    for (int i = 0; i < 300; ++i) {
        long_comments += "# a note of what was done, and when\n";
    }
    EXPECT_EQ(values(read(long_comments + "# id x y\n" + rows).positions), expected);
}

TEST_F(Table, AsOtherProgramsWriteThem) {
    const std::vector<double> expected = {0, 0, 0, 1, 0, 0, 5, 0, 0, 5, 1, 0};
    for (const char* content :
         {"x,y,z\r0,0,0\r1,0,0\r5,0,0\r5,1,0\r", "x,y,z\r0,0,0\n1,0,0\r\n5,0,0\r5,1,0",
          "x;y;z\n0;0;0\n1;0;0\n5;0;0\n5;1;0\n", "sep=;\nx;y;z\n0;0;0\n1;0;0\n5;0;0\n5;1;0\n",
          "x|y|z\n0|0|0\n1|0|0\n5|0|0\n5|1|0\n", "//X;Y;Z\n4\n0;0;0\n1;0;0\n5;0;0\n5;1;0\n",
          "4\n0 0 0\n1 0 0\n5 0 0\n5 1 0\n",
          "\"x\",\"y\",\"z\"\n\"0\",\"0\",\"0\"\n\"1\",\"0\",\"0\"\n\"5\",\"0\",\"0\"\n\"5\",\"1\",\"0\"\n",
          "x y z\n0.0D+00 0d0 0\n1.0D+00 0 0\n.05D2 0 0\n+5.0d+0 1D0 0\n",
          "\"x\" \"y\" \"z\"\n\"1\" 0 0 0\n\"2\" 1 0 0\n\"3\" 5 0 0\n\"4\" 5 1 0\n", "0,0,0,\n1,0,0,\n5,0,0,\n5,1,0,\n",
          "x,y,z,\n0,0,0,\n1,0,0,\n5,0,0,\n5,1,0,\n", "0 0 0 # seen\n1 0 0 # seen\n5 0 0\n5 1 0 # 2\n",
          "label,x,y,z\n\"a, b\",0,0,0\nc,1,0,0\nd,5,0,0\ne,5,1,0\n",
          "x\ty\tname\tz\n0\t0\tone star\t0\n1\t0\t\t0\n5\t0\tc\t0\n5\t1\td\t0\n"}) {
        const io::Snapshot s = read(content);
        EXPECT_EQ(values(s.positions), expected) << content;
        EXPECT_TRUE(s.header.warnings.empty()) << content << s.header.warnings.front();
    }
    for (const bool is_big : {false, true}) {
        std::string wide = is_big ? "\xfe\xff" : "\xff\xfe";
        for (const char c : std::string_view("x,y,z\r\n0,0,0\r\n1,0,0\r\n5,0,0\r\n5,1,0")) {
            wide += is_big ? std::string{'\0', c} : std::string{c, '\0'};
        }
        EXPECT_EQ(values(read(wide).positions), expected);
        refused(wide + "0", {"UTF-16", "69 bytes"});
        refused(wide.substr(2), {"UTF-16 without a byte order mark"});
    }
}

TEST_F(Table, DecimalCommas) {
    const std::vector<double> expected = {0.5, 0, -1.25, 3};
    for (const char* content : {"x;y\n0,5;0\n-1,25;3\n", "0,5 0\n-1,25 3\n", "x\ty\n0,5\t0\n-1,25\t3,0\n",
                                "\"0,5\",0\n\"-1,25\",3\n", "'x','y'\n'0,5','0'\n'-1,25','3'\n", "5e-1;0\n-1,25;3\n"}) {
        const io::Snapshot s = read(content);
        EXPECT_EQ(values(s.positions), expected) << content;
        EXPECT_TRUE(warns(s.header, "decimal commas")) << content;
    }
    refused("x;y\n0,5;0.5\n",
            {"line 2, column 2 (y): '0.5' has a decimal point", "line 2, column 1 (x): '0,5' a decimal comma"});
    refused("x;y\n0.5;1\n0,5;2\n", {"line 2, column 1 (x): '0.5' has a decimal point"});
    refused("x;y\n1,234;5\n", {"'1,234'", "thousands"});
    refused("x;y\n1,234,567;5\n", {"'1,234,567' is no number"});
}

TEST_F(Table, UnitsAndNumbersOfRowsBeforeTheRows) {
    const io::Snapshot units = read("x,y,mass\n[kpc/h],kpc,10^10 Msun\n1,2,3\n");
    EXPECT_EQ(values(units.positions), (std::vector<double>{1, 2}));
    EXPECT_EQ(values(*units.masses), (std::vector<double>{3}));
    EXPECT_TRUE(warns(units.header, "line 2, '[kpc/h],kpc,10^10 Msun', is taken for units"));
    EXPECT_TRUE(warns(read("x y z\n1\n1 2 3\n4 5 6\n").header, "line 2 announces 1 rows, but there are 2"));
    refused("3\n1 2 3\n4 5 6\n", {"too short: line 1 announces 3 rows", "ends at byte 14, after 2"});
    EXPECT_TRUE(warns(read("x y\n1 2 3\n2 4 5\n").header, "taken for the number of the row"));
    refused("x y\n1 2 3\n4 5 6\n", {"line 1, 'x y', names 2 columns", "line 2, has 3 values"});
}

TEST_F(Table, IdsThatAreNoneAreLeftOut) {
    EXPECT_EQ(read("id x y\n1.0 2 3\n1e12 2 3\n2.000000000000000000e+00 1 1\n").ids,
              (std::vector<std::uint64_t>{1, 1000000000000, 2}));
    for (const char* id : {"-1", "halo_7", "1.5", "nan", "1e300", "9007199254740993e0", ""}) {
        const io::Snapshot s = read(kith::detail::message("id,x,y\n1,2,3\n", id, ",2,3\n4,5,6\n"));
        EXPECT_EQ(values(s.positions), (std::vector<double>{2, 3, 2, 3, 5, 6}));
        EXPECT_TRUE(s.ids.empty());
        EXPECT_TRUE(warns(s.header, kith::detail::message("no ids are read: line 3, column 1 (id): '", id, "'"))) << id;
    }
}

TEST_F(Table, ListsOfHalosArePoints) {
    const io::Snapshot rockstar =
        read("#ID DescID T/|U| X Y Z VX VY VZ\n#a = 1.0\n#Box size: 50.000000 Mpc/h\n#Units: Masses in Msun / h\n"
             "6 -1 1e13 1 2 3 4 5 6\n");
    EXPECT_EQ(values(rockstar.positions), (std::vector<double>{1, 2, 3}));
    EXPECT_EQ(values(*rockstar.velocities), (std::vector<double>{4, 5, 6}));
    EXPECT_EQ(rockstar.ids, (std::vector<std::uint64_t>{6}));
    EXPECT_EQ(rockstar.header.box_size, (std::array<double, 3>{50, 50, 50}));
    const io::Snapshot trees = read("#scale(0) id(1) x(2) y(3) z(4) A[x](5)\n#Full box size = 250.000000 Mpc/h\n"
                                    "1 6 1 2 3 .5\n");
    EXPECT_EQ(values(trees.positions), (std::vector<double>{1, 2, 3}));
    EXPECT_EQ(trees.header.box_size, (std::array<double, 3>{250, 250, 250}));
    const io::Snapshot ahf = read("#ID(1)\thostHalo(2)\tXc(3)\tYc(4)\tZc(5)\tVXc(6)\tVYc(7)\tVZc(8)\n"
                                  "7\t0\t1\t2\t3\t4\t5\t6\t\n");
    EXPECT_EQ(values(ahf.positions), (std::vector<double>{1, 2, 3}));
    EXPECT_EQ(values(*ahf.velocities), (std::vector<double>{4, 5, 6}));
}

TEST_F(Table, NamesAloneAreATableWithoutRows) {
    for (const char* content :
         {"x,y,z\n", "# by hand\nid x y z", "x,y,z\n\n# none\n", "# x y z\n", "# by hand\n# x,y,z\n"}) {
        const io::Snapshot s = read(content);
        EXPECT_EQ(s.positions.columns, 3);
        EXPECT_EQ(s.positions.rows(), 0);
    }
    io::ReadOptions options;
    options.columns = {"b", "c"};
    EXPECT_EQ(read("a,b,c\n", options).positions.rows(), 0);
    EXPECT_EQ(read("a,b,c\n", options).positions.columns, 2);
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
    refused("a b c\nd e f\n1 2 3\n", {"line 2, column 1 (a)", "'d' is no number"});
    refused("x,y,z\n1kpc,2,3\n", {"line 2, column 1 (x)", "'1kpc' is no number"});
    refused("1,2,3\n4,,6\n", {"line 2, column 2", "''"});
    refused("1 2 3\n\n# comment\n4 5\n", {"line 4 has 2 values", "line 1, has 3"});
    refused("1 2 3\n4 5 6 7\n", {"line 2 has 4 values"});
    refused("1,2,3\n4,5,6,\n", {"line 2 has 4 values"});
    refused("1 2 3\n4 5 0x6\n", {"line 2, column 3", "'0x6'"});
    refused("1 2 3\n4.5 5 6,5\n", {"line 2, column 1", "'4.5' has a decimal point", "'6,5'"});
    refused("1 2 3\n4 5 --6\n", {"'--6'"});
    refused("1 2 3\n4 5 +-6\n", {"'+-6'"});
    refused(std::string("1 2 3\n4 5 6\0\n", 13), {"its byte 11 (counted from 0) is 0"});
    refused("1 2 3\n4 5 6\n\x1a", {"its byte 12", "Ctrl-Z"});
    refused("1 2\n" + std::string(3 << 20, '1') + "\n", {"line 2, which begins at byte 4, is longer than"});
}

TEST_F(Table, AFirstRowWithNumbersIsNoLineOfNames) {
    refused("1,2,NA\n4,5,6\n7,8,9\n", {"line 1, column 3", "'NA' is no number"});
    refused("\n# by hand\n1e400 2\n3 4\n", {"line 3, column 1", "'1e400' is no number"});
    refused("0x10 2 3\n4 5 6\n", {"line 1, column 1", "'0x10'"});
    EXPECT_EQ(read("a,b\n1,2\n").header.warnings.size(), 1U);
}

TEST_F(Table, WhatIsNoTableIsRefused) {
    for (const char* content :
         {"hello\nworld\n", "1\n2\n3\n", "hello 5\n", "# only comments\n", "\n\n", "v 1 2 3\nv 1 2 3\n"}) {
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
