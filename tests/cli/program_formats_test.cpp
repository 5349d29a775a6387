// The program reads every format, and snapshots in several files.
#include "cli/program.hpp"

#include "io/gadget_files.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <utility>

namespace {

using kith::test::GadgetMaker;
using kith::test::npy_values;
using kith::test::Outcome;
using Json = nlohmann::json;

// Points at 0, 1, 3 and 7 on a line, in each format.
class Formats : public kith::test::ProgramTest {
protected:
    void write(std::string_view name, const std::string& content) const {
        kith::test::write_bytes(directory_ / name, content);
    }
    static std::string gadget(int first, std::uint32_t count, int files) {
        GadgetMaker maker;
        maker.counts[1] = count;
        maker.masses[1] = 1;
        maker.totals[1] = 4;
        maker.files = files;
        maker.first = first;
        maker.box = 0;
        return maker.text();
    }
    void expect_neighbors(const std::string& input, const std::vector<std::int32_t>& expected) const {
        const Outcome knn = kith("knn '" + input + "' -k 2 -o out.npz");
        ASSERT_EQ(knn.exit_code, 0) << knn.err;
        EXPECT_EQ(npy_values<std::int32_t>(read("out.npz"), "<i4", 0), expected) << input;
        const Outcome fof = kith("fof '" + input + "' --linking-length 1.8 --min-members 2 -o out.hdf5 --json");
        ASSERT_EQ(fof.exit_code, 0) << fof.err;
        EXPECT_EQ(kith("info '" + input + "'").exit_code, 0);
    }
    const std::vector<std::int32_t> on_a_line_{0, 1, 1, 0, 2, 1, 3, 2};
};

TEST_F(Formats, Text) {
    write("table.csv", "mass,x,y,z\n1,0,0,0\n1,1,0,0\n1,3,0,0\n1,7,0,0\n");
    write("table.txt", "# by hand\n0 0\n1 0\n3 0\n7 0\n");
    write("cloud.ply", "ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\n"
                       "end_header\n0 0 0\n1 0 0\n3 0 0\n7 0 0\n");
    write("tipsy.ascii", "4 0 0\n3\n0\n1 1 1 1\n0 1 3 7\n0 0 0 0\n0 0 0 0\n0 0 0 0\n0 0 0 0\n0 0 0 0\n");
    for (const char* file : {"table.csv", "table.txt", "cloud.ply", "tipsy.ascii"}) {
        expect_neighbors(file, on_a_line_);
    }
}

TEST_F(Formats, AnotherBoxOfASecondFileIsNamed) {
    GadgetMaker maker;
    maker.counts[1] = 4;
    maker.masses[1] = 1;
    maker.totals[1] = 4;
    write("first", maker.text());
    write("same", maker.text());
    maker.box = 14;
    write("other", maker.text());
    for (const auto& [options, words] :
         {std::pair("knn first -k 1 -o out.npz --queries other",
                    "the box is 10 x 10 x 10 (from the file), but 'other' states a box of 14 x 14 x 14"),
          std::pair("pairs first --edges 0,2 --with other", "'other' states a box of 14 x 14 x 14"),
          std::pair("pairs first --edges 0,2 --with other --box 20", "the box is 20 x 20 x 20 (--box), but 'other'"),
          std::pair("pairs first --edges 0,2 --with other --box 14,14,14", "--box is 14 x 14 x 14, but the file"),
          std::pair("pairs first --edges 0,2 --with same", ""),
          std::pair("pairs first --edges 0,2 --with other --box none", "")}) {
        const Outcome outcome = kith(options);
        EXPECT_EQ(outcome.exit_code, 0) << options << outcome.err;
        EXPECT_NE(outcome.err.find(words), std::string::npos) << options << outcome.err;
        EXPECT_EQ(outcome.err.find("states a box of") != std::string::npos, *words != 0) << options << outcome.err;
    }
}

TEST_F(Formats, ColumnsOfATable) {
    write("wide.txt", "70 0 0 .1\n71 1 0 .2\n72 3 0 .3\n73 7 0 .4\n");
    for (const char* command :
         {"info wide.txt", "knn wide.txt -k 2 -o out.npz", "radius wide.txt -r 1 -o out.npz", "mst wide.txt -o out.npz",
          "fof wide.txt --linking-length 1.8 -o out.hdf5", "dbscan wide.txt --eps 1 --min-samples 2 -o out.npy",
          "hierarchy wide.txt --linking-length 1,2 -o out.hdf5"}) {
        const Outcome refused = kith(command);
        EXPECT_EQ(refused.exit_code, 1) << command;
        EXPECT_NE(refused.err.find("--columns 2,3,4"), std::string::npos) << command << refused.err;
        const Outcome chosen = kith(std::string(command) + " --columns 2,3 --json");
        ASSERT_EQ(chosen.exit_code, 0) << command << chosen.err;
        EXPECT_EQ(Json::parse(chosen.out)["dimension"], 2) << command;
    }
    ASSERT_EQ(kith("knn wide.txt --columns 2,3 --queries wide.txt -k 2 -o out.npz").exit_code, 0);
    EXPECT_EQ(npy_values<std::int32_t>(read("out.npz"), "<i4", 0), on_a_line_);
    write("queries.txt", "id,x,y\n3,1,0\n"); // where column 2 is another
    for (const char* columns :
         {"--columns 2,3", "--columns 2,3 --query-columns 2,3", "--columns 2,3 --query-columns y,x"}) {
        ASSERT_EQ(kith(std::string("knn wide.txt --queries queries.txt -k 1 -o out.npz ") + columns).exit_code, 0);
        EXPECT_EQ(npy_values<std::int32_t>(read("out.npz"), "<i4", 0),
                  std::vector<std::int32_t>{std::string_view(columns).ends_with("y,x") ? 0 : 1});
    }
    const Outcome absent = kith("knn wide.txt --columns 2,5 -k 2 -o out.npz");
    EXPECT_EQ(absent.exit_code, 2);
    EXPECT_NE(absent.err.find("no column 5"), std::string::npos) << absent.err;
    EXPECT_NE(kith("knn wide.txt --columns 2,,3 -k 2 -o out.npz").err.find("--columns is '2,,3'"), std::string::npos);
}

TEST_F(Formats, GadgetBinaryInOneFileAndInSeveral) {
    write("whole", gadget(0, 4, 1));
    write("snap.0", gadget(0, 2, 2));
    write("snap.1", gadget(2, 2, 2));
    const std::vector<std::int32_t> in_a_row = {0, 1, 1, 0, 2, 1, 3, 2}; // equal distances: the lower index first
    for (const char* file : {"whole", "snap", "snap.0", "snap.1"}) {
        expect_neighbors(file, in_a_row);
    }
    const Json json = Json::parse(kith("info snap --json").out);
    EXPECT_EQ(json["n"], 4);
    EXPECT_EQ(json["format"], "Gadget-2 binary (format 1, little-endian), 2 files");
    EXPECT_EQ(json["masses"], (std::vector<double>{1, 1}));
}

TEST_F(Formats, AllFilesOfASnapshotAreOneInput) {
    write("snap.0", gadget(0, 2, 2));
    write("snap.1", gadget(2, 2, 2));
    for (const char* command : {"info snap.*", "info snap.1 snap.0", "fof snap.* -o out.hdf5", "fof -o out.hdf5 snap.*",
                                "knn snap.1 snap.0 -k 2 -o out.npz"}) {
        const Outcome outcome = kith(std::string(command) + " --json");
        ASSERT_EQ(outcome.exit_code, 0) << command << outcome.err;
        EXPECT_EQ(Json::parse(outcome.out)["n"], 4) << command;
    }
    EXPECT_EQ(kith("fof snap.* -o snap.1").exit_code, 2);
}

TEST_F(Formats, FilesOfSeveralSnapshotsAreWrongUsageWithTheLoopToType) {
    write_npy("a.npy", std::vector<double>{0, 0, 1, 1}, 2);
    write_npy("b c.npy", std::vector<double>{0, 0, 1, 1, 2, 2}, 2);
    struct Case {
        const char* arguments;
        const char* loop;
    };
    for (const Case& wrong :
         {Case{"info *.npy", "for file in a.npy 'b c.npy'; do kith info \"$file\"; done"},
          Case{"fof *.npy -o x.hdf5", "do kith fof \"$file\" -o \"${file%.*}_groups.hdf5\"; done"},
          Case{"knn *.npy -k 3 -o x.npz", "do kith knn \"$file\" -k 3 -o \"${file%.*}_neighbors.npz\"; done"}}) {
        const Outcome outcome = kith(wrong.arguments);
        EXPECT_EQ(outcome.exit_code, 2) << wrong.arguments;
        EXPECT_NE(outcome.err.find("2 files are not those of one snapshot"), std::string::npos) << outcome.err;
        EXPECT_NE(outcome.err.find(wrong.loop), std::string::npos) << outcome.err;
    }
    EXPECT_EQ(files(), (std::vector<std::string>{"a.npy", "b c.npy"}));
}

TEST_F(Formats, TablesByName) {
    write_npy("in.npy", std::vector<double>{0, 0, 0, 1, 0, 0, 3, 0, 0, 7, 0, 0}, 3);
    ASSERT_EQ(kith("knn in.npy -k 2 -o in.npz").exit_code, 0);
    expect_neighbors("in.npz:distances", {0, 1, 0, 1, 2, 0, 3, 2}); // (0, 1), (0, 1), (0, 2), (0, 4): ties by index
    const Outcome two = kith("info in.npz");
    EXPECT_EQ(two.exit_code, 0) << two.err;
    EXPECT_NE(two.out.find("indices (4 x 2)"), std::string::npos) << two.out;
    EXPECT_NE(two.out.find("distances (4 x 2)"), std::string::npos) << two.out;
    ASSERT_EQ(kith("knn in.npy -k 3 -o in.hdf5").exit_code, 0);
    EXPECT_EQ(Json::parse(kith("info in.hdf5:/distances --json").out)["dimension"], 3);
    EXPECT_EQ(Json::parse(kith("info in.hdf5:indices --json").out)["dtype"], "float64");
    const Outcome overwritten = kith("fof in.hdf5:/distances --linking-length 1 -o in.hdf5");
    EXPECT_EQ(overwritten.exit_code, 2);
    EXPECT_NE(overwritten.err.find("also the input"), std::string::npos) << overwritten.err;
    EXPECT_EQ(kith("knn in.npy --queries in.hdf5:/distances -k 1 -o out.npz").exit_code, 0);
}

TEST_F(Formats, NoFileOfASnapshotIsOverwritten) {
    write("snap.0", gadget(0, 2, 2));
    write("snap.1.hdf5", gadget(2, 2, 2));
    std::filesystem::rename(directory_ / "snap.0", directory_ / "snap.0.hdf5"); // names do not matter
    const std::string before = read("snap.1.hdf5");
    for (const char* input : {"snap", "snap.0.hdf5"}) {
        for (const char* command : {"knn -k 1 -o snap.1.hdf5 ", "fof -o snap.1.hdf5 "}) {
            const Outcome outcome = kith(std::string(command) + input);
            EXPECT_EQ(outcome.exit_code, 2) << outcome.err;
            EXPECT_NE(outcome.err.find("also the input"), std::string::npos) << outcome.err;
        }
    }
    EXPECT_EQ(read("snap.1.hdf5"), before);
    EXPECT_EQ(files(), (std::vector<std::string>{"snap.0.hdf5", "snap.1.hdf5"}));
}

TEST_F(Formats, AMissingFileOfASnapshotIsNamed) {
    write("snap.0", gadget(0, 2, 2));
    const Outcome search = kith("knn -k 1 -o near.npz snap");
    EXPECT_EQ(search.exit_code, 1);
    EXPECT_NE(search.err.find("snap.1 is missing"), std::string::npos) << search.err;
    const Outcome info = kith("info snap");
    EXPECT_EQ(info.exit_code, 0);
    EXPECT_NE(info.err.find("snap.1 is missing"), std::string::npos) << info.err;
    EXPECT_NE(info.out.find("1 of 2 files"), std::string::npos) << info.out;
}

TEST_F(Formats, TheHelpNamesThem) {
    for (const char* command : {"info", "knn", "fof"}) {
        const Outcome outcome = kith(std::string(command) + " --help");
        EXPECT_EQ(outcome.exit_code, 0);
        for (const char* format : {"HDF5", "Gadget-2", "Tipsy", "PLY", "tables in text", ".npy", ".npz", "stem",
                                   "halos.hdf5:/Group/GroupPos"}) {
            EXPECT_NE(outcome.out.find(format), std::string::npos) << outcome.out;
        }
    }
}

// Real snapshots, from the file to a catalog.
TEST_F(Formats, RealSnapshots) {
    const auto folder = std::filesystem::absolute(std::filesystem::path(KITH_SHARED_DATA));
    if (!std::filesystem::exists(folder)) {
        GTEST_SKIP() << "the real files are not here: " << folder;
    }
    struct Known {
        const char* file;
        int points;
    };
    for (const Known& known :
         {Known{"gadget_bin/galaxy_littleendian.dat", 60000}, Known{"gadget_bin/gassphere_bigendian.dat", 1472},
          Known{"gadget_bin/snap_002", 800}, Known{"tipsy/run99.ascii", 8579}, Known{"pointcloud/igea.ply", 134345}}) {
        const std::string input = "'" + (folder / known.file).string() + "'";
        const Outcome fof = kith("fof " + input + " --types all -o out.hdf5 --json");
        ASSERT_EQ(fof.exit_code, 0) << fof.err;
        EXPECT_EQ(Json::parse(fof.out)["n"], known.points);
        const Outcome knn = kith("knn " + input + " --types all -k 4 -o out.npz --json");
        ASSERT_EQ(knn.exit_code, 0) << knn.err;
        EXPECT_EQ(Json::parse(knn.out)["queries"], known.points);
    }
}

} // namespace
